"""One thing asked of a package, and how it stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipeline.text import one_line

PASS = "PASS"
FAIL = "FAIL"
WARN = "WARN"
SKIP = "SKIP"
SKILL = "skill"
ROLLOUTS = "rollouts"
GOLDEN = "golden"
SHARING = "sharing"
PHASES = (SKILL, ROLLOUTS, GOLDEN, SHARING)
PHASE_OF = {
    "skill": SKILL,
    "rollouts": ROLLOUTS,
    **dict.fromkeys(("golden", "metrics", "facts", "shallow"), GOLDEN),
    "sanitized": SHARING,
}
LONGEST_MESSAGE = 400
LONGEST_NAME = 120
MOST_LISTED = 5
MOST_FAILURES = 10


@dataclass(frozen=True)
class Check:
    """A line of the answer; `meaning` and `fix` speak only where it does not pass."""

    id: str
    phase: str
    status: str
    check: str
    message: str
    meaning: str = ""
    fix: str = ""
    file: str = ""
    line: int | None = None


@dataclass(frozen=True)
class Rule:
    """What is asked: its name, what it means where it does not hold, and how to mend it."""

    id: str
    title: str
    meaning: str
    fix: str
    # The name of the failure where it has one of its own.
    failure: str = ""

    @property
    def phase(self) -> str:
        """The phase it is asked in, by how its id begins."""
        return PHASE_OF[self.id.partition(".")[0]]

    def passed(self, message: str, *, file: str = "") -> Check:
        """It holds."""
        return Check(self.id, self.phase, PASS, self.title, _told(message), file=_name(file))

    def failed(
        self, message: str, *, file: str = "", line: int | None = None, fix: str = ""
    ) -> Check:
        """It does not."""
        return self._lacking(FAIL, message, file, line, fix)

    def warned(
        self, message: str, *, file: str = "", line: int | None = None, fix: str = ""
    ) -> Check:
        """It holds, but someone should look."""
        return self._lacking(WARN, message, file, line, fix)

    def held(self, is_met: bool, message: str, *, file: str = "") -> Check:
        """It holds or it does not, in the same words."""
        return self.passed(message, file=file) if is_met else self.failed(message, file=file)

    def each_failed(self, faults: Sequence[str], well: str, *, file: str) -> Iterator[Check]:
        """A failure for each of the first faults, and how many more; else all is `well`."""
        for fault in faults[:MOST_FAILURES]:
            yield self.failed(f"{file}: {fault}", file=file)
        if len(faults) > MOST_FAILURES:
            yield self.failed(f"{file}: {len(faults) - MOST_FAILURES} more", file=file)
        if not faults:
            yield self.passed(f"{file}: {well}", file=file)

    def skipped(self, message: str, *, file: str = "") -> Check:
        """Nothing could be said."""
        told = _told(f"not checked: {message}")
        return Check(self.id, self.phase, SKIP, self.title, told, file=_name(file))

    def _lacking(self, status: str, message: str, file: str, line: int | None, fix: str) -> Check:
        return Check(
            self.id,
            self.phase,
            status,
            self.failure or self.title if status == FAIL else self.title,
            _told(message),
            self.meaning,
            _told(fix) if fix else self.fix,
            _name(file),
            line,
        )


def listed(names: list[str] | tuple[str, ...], *, most: int = MOST_LISTED) -> str:
    """The first of many, and how many more there are."""
    shown = ", ".join(one_line(name, LONGEST_NAME) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def counted(number: int, noun: str) -> str:
    """`1 row`, `2 rows`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _told(message: str) -> str:
    return one_line(message, LONGEST_MESSAGE)


def _name(file: str) -> str:
    return one_line(file, LONGEST_MESSAGE)
