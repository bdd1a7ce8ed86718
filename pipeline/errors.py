"""The errors that are printed as a message; any other exception is a bug with a traceback."""

from __future__ import annotations

import difflib
import re
import resource
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from .text import one_line

LONGEST_NAME = 60
MOST_NAMES = 12


class BladeError(Exception):
    """What went wrong and where; the hint says what to do next."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class UsageError(BladeError):
    """The call itself is wrong: an unknown name, a bad option, a query that does not parse."""

    exit_code = 2


class TimeLimitError(UsageError):
    """The query exceeded its time limit."""


class MemoryLimitError(UsageError):
    """The query exceeded its memory limit."""


class InputError(BladeError):
    """The input cannot be used: absent, empty, unreadable, or without rollouts."""

    exit_code = 3


def address_space_limit() -> int | None:
    """The address space of this process in bytes, if `ulimit -v` limits it."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if limit == resource.RLIM_INFINITY else limit


def memory_error(*, is_refused: bool) -> MemoryLimitError:
    """The error for a query that ran out of memory; `is_refused`: by the system."""
    limit = address_space_limit()
    if is_refused and limit is not None:
        message = f"out of memory: the shell limits this process to {limit >> 20:,} MB."
        return MemoryLimitError(message, hint="Allow more with: ulimit -v unlimited")
    return MemoryLimitError(
        "the query needs more memory than its limit allows.",
        hint="Ask for less, or allow more with --memory-limit.",
    )


def resolved(what: str, name: str, known: Sequence[str], *, within: str = "") -> str:
    """The name that is meant: written in full, or as a beginning or part of only one name."""
    matches = matching(name, known)
    if len(matches) == 1:
        return matches[0]
    shown = one_line(name, LONGEST_NAME) or "''"
    if matches:
        hint = f"Give more of the name: {listed(matches)}"
        raise UsageError(f"{shown}: {len(matches)} {what}s{within} match.", hint=hint)
    hint = f"{did_you_mean(name, known)}{what.capitalize()}s: {listed(known) or 'none'}"
    raise UsageError(f"{shown}: no such {what}{within}.", hint=hint)


def matching(name: str, known: Sequence[str]) -> list[str]:
    """The name itself, else those that begin with it, else those that contain it.

    A number is never cut: 7 is not part of task_17, nor step_100 the beginning of step_1000.
    """
    if name in known or not name:
        return [name] if name else []
    part = re.escape(name.casefold())
    part = rf"(?<!\d){part}" if name[0].isdigit() else part
    pattern = re.compile(rf"{part}(?!\d)" if name[-1].isdigit() else part)
    searched = [(each, pattern.search(each.casefold())) for each in known]
    beginning = [each for each, place in searched if place and not place.start()]
    return beginning or [each for each, place in searched if place]


def did_you_mean(name: str, known: Iterable[str], *, cutoff: float = 0.6, prefix: str = "") -> str:
    """The beginning of a hint: the most similar name, if any is similar."""
    close = difflib.get_close_matches(name[:100], list(known), n=1, cutoff=cutoff)
    return f"Did you mean {prefix}{close[0]}? " if close else ""


def listed(names: Collection[Any], most: int = MOST_NAMES, *, longest: int = LONGEST_NAME) -> str:
    """Some names on one line, and the number of the others."""
    shown = [one_line(str(name), longest) for name in [*names][:most]]
    return ", ".join(shown) + (f" and {len(names) - most} more" if len(names) > most else "")


def is_interrupt(error: BaseException) -> bool:
    """Is this Ctrl-C? DuckDB wraps it in its own errors when it happens inside a query."""
    if isinstance(error, KeyboardInterrupt):
        return True
    is_wrapped = type(error).__module__ in ("duckdb", "_duckdb", "builtins")
    message = f"{type(error).__name__} {error}".lower()
    return is_wrapped and ("keyboardinterrupt" in message or "interrupted" in message)
