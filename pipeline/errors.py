"""The one family of errors that becomes a clean message; a bug keeps its traceback."""

from __future__ import annotations


class BladeError(Exception):
    """What went wrong and where, with what to do next as the hint."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


def is_interrupt(error: BaseException) -> bool:
    """Is this Ctrl-C? The engine wraps it in errors of its own when it strikes inside a query."""
    if isinstance(error, KeyboardInterrupt):
        return True
    is_wrapped = type(error).__module__ in ("duckdb", "_duckdb", "builtins")
    message = f"{type(error).__name__} {error}".lower()
    return is_wrapped and ("keyboardinterrupt" in message or "interrupted" in message)


class UsageError(BladeError):
    """The call itself is wrong: an unknown name, a bad option, a query that does not parse."""

    exit_code = 2


class InputError(BladeError):
    """The input cannot be used: absent, empty, unreadable, or without rollouts."""

    exit_code = 3
