"""What a call finds in files, and what both ways of writing have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pipeline.errors import InputError
from pipeline.package.sanitize import detect, log
from pipeline.package.sanitize.folder import Source, Survey, survey
from pipeline.package.sanitize.ledger import Ledger, highest_in, highest_seen, taken
from pipeline.package.sanitize.rewrite import Block, sanitized, screened
from pipeline.package.sanitize.values import KINDS, Finding, Policy, Span, Unchecked


@dataclass(frozen=True)
class Shared:
    """What was written: the log, the files that changed, and those whose own name is private."""

    survey: Survey
    log: log.RedactionLog
    changed: tuple[str, ...]
    renamed: tuple[str, ...]
    counted: Counter[str]  # by kind, what this call took out


def findings(paths: Sequence[Path], policy: Policy) -> Iterator[Finding]:
    """What must go below these paths; nothing is written."""
    yield from survey_findings(survey(paths, policy), policy)


def survey_findings(given: Survey, policy: Policy) -> Iterator[Finding]:
    """The same of a survey: of each file first its name (line 0), then its lines."""
    ledger = Ledger()
    for source in given.files:
        for span in name_spans(source.name, policy):
            ledger.put(span, source.name, 0)
        if not source.is_cleared:
            for block in read_blocks(source, policy):
                sanitized(block, source.name, policy, ledger)
                yield from taken(ledger)
        yield from taken(ledger)


def earlier_log(given: Survey) -> log.RedactionLog | None:
    """The log that an earlier call left with the files."""
    return log.read(given.log) if given.log.is_file() else None


def begun(given: Survey, earlier: log.RedactionLog | None) -> Ledger:
    """A ledger whose numbers begin above all that stand in the files, their names or their log."""
    files = [source.path for source in given.files]
    highest = highest_seen([*files, given.log] if earlier else files)
    names = " ".join(source.name for source in given.files).encode("utf-8", "surrogateescape")
    return Ledger(highest | highest_in(names))


def write(source: Source, target: Path, name: str, policy: Policy, ledger: Ledger) -> bool:
    """Write a file's blocks without what must go; say whether any changed."""
    is_changed = False
    with target.open("wb") as file:
        for block in read_blocks(source, policy):
            clean = sanitized(block, name, policy, ledger)
            taken(ledger)
            is_changed = is_changed or clean != block.content
            file.write(clean)
    return is_changed


def read_blocks(source: Source, policy: Policy) -> Iterator[Block]:
    """The blocks of a file, looked over."""
    try:
        yield from screened(source.path, policy)
    except OSError as error:
        raise InputError(f"{source.path}: cannot be read: {error.strerror}.") from error


def name_spans(name: str, policy: Policy) -> list[Span]:
    """What must go of a file's name, one folder after the other."""
    return [span for part in PurePosixPath(name).parts for span in detect.spans(part, policy)]


def clean_name(name: str, policy: Policy, ledger: Ledger) -> str:
    """A file's name without what must go, in the letters that names of runs are made of."""
    parts = []
    for part in PurePosixPath(name).parts:
        kept, last = "", 0
        for span in detect.spans(part, policy):
            joint = "_" if part[span.end : span.end + 1].isdigit() else ""
            kept += part[last : span.start] + ledger.entry(span).bare + joint
            last = span.end
        parts.append(kept + part[last:])
    return "/".join(parts)


def unchecked_names(given: Survey, policy: Policy, ledger: Ledger) -> list[Unchecked]:
    """What could not be read, as the log may tell of it."""
    return [Unchecked(clean_name(u.file, policy, ledger), u.reason) for u in given.unchecked]


def told(
    given: Survey,
    made: log.RedactionLog,
    changed: Sequence[str],
    names: dict[str, str],
    ledger: Ledger,
) -> Shared:
    """The outcome of a call that wrote files; `names` are those it gave to them."""
    counted: Counter[str] = Counter()
    for entry in ledger.by_secret.values():
        counted[entry.kind] += entry.count
    renamed = tuple(name for name, shown in names.items() if name != shown)
    return Shared(given, made, tuple(changed), renamed, +counted)


def by_kind(counted: Counter[str]) -> dict[str, int]:
    """Counts in the order in which a summary lists the kinds."""
    return {kind: counted[kind] for kind in KINDS if counted[kind]}


def summary(counted: Counter[str], n_files: int, verb: str) -> str:
    """How many of what kind, in a line."""
    files = f"{n_files} file" if n_files == 1 else f"{n_files} files"
    if not counted:
        return f"nothing found in {files}"
    kinds = ", ".join(f"{n} {kind}" for kind, n in by_kind(counted).items())
    return f"{sum(counted.values())} {verb} {files}: {kinds}"


def warnings(shared: Shared, *, is_copy: bool) -> list[tuple[str, str]]:
    """Files that a person must look at before anything is shared, each with why."""
    given = shared.survey
    fate = "not copied" if is_copy else "left as it is, and cannot be cleared"
    found = [(item.file, f"{item.reason}; {fate}") for item in given.unchecked]
    fate = "not copied" if is_copy else "left as it is; do not share it"
    found += [(name, f"a policy, which holds private names; {fate}") for name in given.policies]
    if not is_copy:
        private = "the name of the file is private; --out writes a copy with another"
        found += [(name, private) for name in shared.renamed]
    return found
