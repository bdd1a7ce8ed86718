"""The one family of errors that becomes a clean message; a bug keeps its traceback."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from pipeline.text import one_line

LONGEST_NAME = 60
MOST_NAMES = 12


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


def no_such(what: str, name: str, known: Sequence[str]) -> UsageError:
    """A name that leads nowhere, with the names that lead somewhere."""
    hint = f"{did_you_mean(name, known)}{what.capitalize()}s: {listed(known) or 'none'}"
    return UsageError(f"{one_line(name, LONGEST_NAME)}: no such {what}.", hint=hint)


def did_you_mean(name: str, known: Iterable[str], *, cutoff: float = 0.6, prefix: str = "") -> str:
    """The beginning of a hint: the closest of the names, if one is close."""
    close = difflib.get_close_matches(name[:100], list(known), n=1, cutoff=cutoff)
    return f"Did you mean {prefix}{close[0]}? " if close else ""


def listed(names: Collection[Any], most: int = MOST_NAMES) -> str:
    """Some names on one line, and how many more there are."""
    shown = [one_line(str(name), LONGEST_NAME) for name in [*names][:most]]
    return ", ".join(shown) + (f" and {len(names) - most} more" if len(names) > most else "")


def is_interrupt(error: BaseException) -> bool:
    """Is this Ctrl-C? The engine wraps it in errors of its own when it strikes inside a query."""
    if isinstance(error, KeyboardInterrupt):
        return True
    is_wrapped = type(error).__module__ in ("duckdb", "_duckdb", "builtins")
    message = f"{type(error).__name__} {error}".lower()
    return is_wrapped and ("keyboardinterrupt" in message or "interrupted" in message)
