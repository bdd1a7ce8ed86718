"""The one family of errors that becomes a clean message; a bug keeps its traceback."""

from __future__ import annotations


class BladeError(Exception):
    """What went wrong and where, with what to do next as the hint."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class UsageError(BladeError):
    """The call itself is wrong: an unknown name, a bad option, a query that does not parse."""

    exit_code = 2


class InputError(BladeError):
    """The input cannot be used: absent, empty, unreadable, or without rollouts."""

    exit_code = 3
