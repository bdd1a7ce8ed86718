"""Whether a package can be shared: what a look for private data found in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.package.sanitize.policy import Policy
from pipeline.package.sanitize.share import check, survey
from pipeline.package.validate.check import Check, Rule, counted, listed

MOST_FILES = 20
SANITIZED = Rule(
    "sanitized.clean",
    "sanitization",
    "Credentials, endpoints, user names, paths or other private data stand in the package.",
    "Run `blade sanitize` on the package and share its output; a policy says what is cleared.",
)


@dataclass(frozen=True)
class Leak:
    """Something private: where it stands and what kind it is; never what it says."""

    file: str
    line: int
    kind: str


def leaks(folder: Path, policy: Policy) -> list[Leak]:
    """All that is private in a folder; a file that cannot be looked into may hold anything."""
    given = survey([folder], policy)
    found = [Leak(*each.places[0], each.kind) for each in check(given, policy)]
    return [*found, *(Leak(each.name, 0, "unchecked file") for each in given.unchecked)]


def checks(leaks: Sequence[Leak] | None) -> Iterator[Check]:
    """One failure a file."""
    if leaks is None:
        yield SANITIZED.skipped("nobody looked for private data; run `blade sanitize --check`")
        return
    by_file: dict[str, list[Leak]] = {}
    for leak in leaks:
        by_file.setdefault(leak.file, []).append(leak)
    for file, found in sorted(by_file.items())[:MOST_FILES]:
        kinds = Counter(leak.kind for leak in found)
        shown = listed([f"{kinds[kind]} {kind}" for kind in sorted(kinds)])
        # Line 0 is the file's name, or the file as a whole.
        line = min((leak.line for leak in found if leak.line), default=None)
        place = f"{file}:{line}" if line else file
        told = f"{place} {counted(len(found), 'finding')}: {shown}"
        yield SANITIZED.failed(told, file=file, line=line)
    if len(by_file) > MOST_FILES:
        yield SANITIZED.failed(f"{len(by_file) - MOST_FILES} more files")
    if not by_file:
        yield SANITIZED.passed("nothing private found")
