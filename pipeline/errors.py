"""The one family of errors that becomes a clean message; a bug keeps its traceback."""

from __future__ import annotations

import difflib
import re
import resource
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


class TimeLimitError(UsageError):
    """The query took longer than it may."""


class MemoryLimitError(UsageError):
    """The query needs more memory than it may take."""


class InputError(BladeError):
    """The input cannot be used: absent, empty, unreadable, or without rollouts."""

    exit_code = 3


def address_space_limit() -> int | None:
    """How many bytes of addresses this process may use, where `ulimit -v` says so."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if limit == resource.RLIM_INFINITY else limit


def memory_error(*, is_refused: bool) -> MemoryLimitError:
    """What to say of a query that ran out of memory; `is_refused` where the system gave none."""
    limit = address_space_limit()
    if is_refused and limit is not None:
        message = f"memory ran out: the shell allows this process {limit >> 20:,} MB of it."
        return MemoryLimitError(message, hint="Allow more with: ulimit -v unlimited")
    return MemoryLimitError(
        "the query needs more memory than it may take.",
        hint="Ask for less, or allow more with --memory-limit.",
    )


def resolved(what: str, name: str, known: Sequence[str], *, within: str = "") -> str:
    """The name that is meant: given in full, or by a beginning or part that only one name has."""
    found = matching(name, known)
    if len(found) == 1:
        return found[0]
    shown = one_line(name, LONGEST_NAME) or "''"
    if found:
        hint = f"Give more of the name: {listed(found)}"
        raise UsageError(f"{shown}: {len(found)} {what}s{within} match.", hint=hint)
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
    found = [(each, pattern.search(each.casefold())) for each in known]
    begun = [each for each, place in found if place and not place.start()]
    return begun or [each for each, place in found if place]


def did_you_mean(name: str, known: Iterable[str], *, cutoff: float = 0.6, prefix: str = "") -> str:
    """The beginning of a hint: the closest of the names, if one is close."""
    close = difflib.get_close_matches(name[:100], list(known), n=1, cutoff=cutoff)
    return f"Did you mean {prefix}{close[0]}? " if close else ""


def listed(names: Collection[Any], most: int = MOST_NAMES, *, longest: int = LONGEST_NAME) -> str:
    """Some names on one line, and how many more there are."""
    shown = [one_line(str(name), longest) for name in [*names][:most]]
    return ", ".join(shown) + (f" and {len(names) - most} more" if len(names) > most else "")


def is_interrupt(error: BaseException) -> bool:
    """Is this Ctrl-C? The engine wraps it in errors of its own when it strikes inside a query."""
    if isinstance(error, KeyboardInterrupt):
        return True
    is_wrapped = type(error).__module__ in ("duckdb", "_duckdb", "builtins")
    message = f"{type(error).__name__} {error}".lower()
    return is_wrapped and ("keyboardinterrupt" in message or "interrupted" in message)
