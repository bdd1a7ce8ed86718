"""Package -> one table of rules: what each means, how to fix it, and its status."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

from .. import citation, errors
from ..files import UnreadableError, read_queries
from ..report.registers import REGISTERS, of_package
from ..text import counted, one_line
from . import blocks, sidecar
from .evidence import QUERIES as EVIDENCE
from .facts import DIFFICULTIES, SHORTEST, facts_file
from .files import names_in, object_of, text_of
from .findings import CONTRADICTED, VERIFIED, Finding
from .layout import DRAFTS, GOLDEN_REPORTS, Golden, Package
from .passages import passages
from .queries import Opened
from .verify import verify

PASS, FAIL, WARN, SKIP = "PASS", "FAIL", "WARN", "SKIP"
LONGEST, MOST_FAILURES = 400, 10
T = TypeVar("T")
# The phase of a rule, by how its id begins.
PHASE_OF = {
    "skill": "skill",
    "rollouts": "rollouts",
    **dict.fromkeys(("golden", "metrics", "facts", "shallow"), "golden"),
    "sanitized": "sharing",
}
SKILL, ROLLOUTS, GOLDEN, SHARING = PHASES = ("skill", "rollouts", "golden", "sharing")
MOVE = (
    "If this is a results folder, make a package of it with `blade init --benchmark-dir PACKAGE "
    "--benchmark NAME --results THIS_FOLDER`; else move the files into rollouts/."
)
COUNTED = {"passed": PASS, "failed": FAIL, "warnings": WARN, "not_checked": SKIP}
REQUIRED = ("model_name", "benchmark", "pass_at_1", "pass_at_k", "total_tasks", "total_rollouts")
listed = partial(errors.listed, most=5, longest=120)
LEAST_SECTIONS, LEAST_TASKS, MOST_FACTS, SHALLOW_SHARE = 3, 3, 500, 0.6
CURATE = re.compile(r"<!--\s*curate\b")
FRONTMATTER = re.compile(r"---[ \t]*\n(?P<lines>.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
SETTING = re.compile(r"^(?P<key>name|description):[ \t]*(?P<value>.*(?:\n[ \t]+.*)*)", re.MULTILINE)
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,99}")


@dataclass(frozen=True)
class Rule:
    """What is asked, what it means where it does not hold, and how to fix it."""

    id: str
    title: str
    meaning: str
    fix: str

    @property
    def phase(self) -> str:
        return PHASE_OF[self.id.partition(".")[0]]

    @property
    def query(self) -> str | None:
        """Of a rule on rollouts: what gives status, message and file of each finding."""
        return QUERIES.get(self.id.replace(".", "_"))


TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
RULES = {
    f"{part}.{name}": Rule(f"{part}.{name}", **row)
    for part, rules in TABLE["rules"].items()
    for name, row in rules.items()
}
QUERIES = read_queries("package/validate")
# What the queries of rules read, each after those before it.
RELATIONS = ", ".join(
    f"{name} as ({QUERIES[name]})" for name in ("files", "scored", "copies", "pairs")
)


@dataclass(frozen=True)
class Subject:
    """A package, its rollouts as an analysis read them, and what others found."""

    package: Package
    # None where nothing is known of its rollouts; then `reason` says why.
    warehouse: Opened | None
    reason: str = ""
    least_facts: int = 8
    # What a look for private data found, by place; none where nobody looked.
    leaks: Sequence[tuple[str, int, str]] | None = None
    # What verify found in each report.
    findings: Mapping[Path, Sequence[Finding]] = field(default_factory=dict)

    def rows(self, query: str) -> list[Any]:
        assert self.warehouse is not None
        result: list[Any] = self.warehouse.execute(f"with {RELATIONS} {query}").fetchall()
        return result


@dataclass(frozen=True)
class Check:
    """A line of the answer; `meaning` and `fix` are set only where it does not pass."""

    id: str
    phase: str
    status: str
    check: str
    message: str
    meaning: str = ""
    fix: str = ""
    file: str = ""
    line: int | None = None


Checks = Iterator[Check]


def findings(package: Package, warehouse: Opened | None) -> dict[Path, list[Finding]]:
    """What `blade verify` finds in each golden report that can be read, its sidecar and facts."""
    by_report = {}
    for golden in package.goldens:
        text, metrics = read(golden.report, text_of), read(golden.metrics, text_of)
        if isinstance(text, str):
            side = sidecar.read(metrics, golden.metrics.name) if isinstance(metrics, str) else None
            anchors = facts_file(golden.anchor_facts)
            by_report[golden.report] = verify(
                text, golden.report.as_posix(), warehouse, side, anchors
            )
    return by_report


def read(path: Path, how: Callable[[Path], T]) -> T | UnreadableError:
    """What is in a file, or why nothing is."""
    try:
        return how(path)
    except UnreadableError as error:
        return error


def outcome(
    id_: str, status: str, message: str, file: str = "", line: int | None = None, fix: str = ""
) -> Check:
    """The check of a rule; `fix` where this case has one of its own."""
    rule = RULES[id_]
    shown = one_line(f"not checked: {message}" if status == SKIP else message, LONGEST)
    advice = (rule.meaning, fix or rule.fix) if status in (FAIL, WARN) else ("", "")
    return Check(id_, rule.phase, status, rule.title, shown, *advice, one_line(file, LONGEST), line)


def verdict(id_: str, is_met: bool, message: str, file: str = "", line: int | None = None) -> Check:
    """It holds or it does not, in the same words."""
    placed = f"{file}: {message}" if file else message
    return outcome(id_, PASS if is_met else FAIL, placed, file, line)


def every(
    id_: str, faults: Sequence[str], file: str, well: str, lines: Sequence[int] = ()
) -> Checks:
    """A failure for each of the first faults, and how many more; else all is `well`."""
    for place, fault in enumerate(faults[:MOST_FAILURES]):
        yield verdict(id_, False, fault, file, lines[place] if lines else None)
    if len(faults) > MOST_FAILURES:
        yield verdict(id_, False, f"{len(faults) - MOST_FAILURES} more", file)
    if not faults:
        yield verdict(id_, True, well, file)


def validate(subject: Subject, phases: Sequence[str] = PHASES) -> list[Check]:
    """The checks of some phases; a rule without anything to check gives none."""
    order = {rule: place for place, rule in enumerate(RULES)}
    checks = [each for phase in phases for each in CHECKS[phase](subject)]
    return sorted(checks, key=lambda each: order[each.id])


def count(checks: Sequence[Check], status: str) -> int:
    return sum(each.status == status for each in checks)


def readiness(checks: Sequence[Check]) -> list[dict[str, Any]]:
    """The checklist; an item without a check behind it fails, for nothing shows that it holds."""
    items = []
    for start, words in TABLE["checklist"].items():
        behind = [each for each in checks if each.id.startswith(f"{start}.")]
        counts = {f"n_{key}": count(behind, status) for key, status in COUNTED.items()}
        is_failed = bool(counts["n_failed"]) or not behind
        status = FAIL if is_failed else SKIP if counts["n_not_checked"] else PASS
        items.append({"item": words, "status": status, **counts})
    return items


def as_json(checks: Sequence[Check], items: Sequence[dict[str, Any]], phase: str) -> dict[str, Any]:
    """All of it for a program; readiness only where there is a checklist."""
    counts = {key: count(checks, status) for key, status in COUNTED.items()}
    ready = {"is_ready": all(item["status"] == PASS for item in items)} if items else {}
    return {
        "checks": [asdict(each) for each in checks],
        "readiness": [*items],
        "summary": {"phase": phase, **counts, **ready},
    }


def _skill(subject: Subject) -> Checks:
    """The skill: there, found by agents, whole, of these rows, and no draft."""
    path = subject.package.skill
    if path is None:
        yield verdict("skill.present", False, "neither skill/SKILL.md nor SKILL.md")
        return
    file, text = path.relative_to(subject.package.folder).as_posix(), read(path, text_of)
    is_there = isinstance(text, str) and bool(text.strip())
    message = "" if is_there else "it is blank" if isinstance(text, str) else str(text)
    yield verdict("skill.present", is_there, message or "it is there", file)
    if not isinstance(text, str) or not is_there:
        return
    match = FRONTMATTER.match(text)
    settings = {
        setting["key"]: setting["value"]
        for setting in SETTING.finditer(match["lines"] if match else "")
    }
    is_named = NAME.fullmatch(settings.get("name", "").strip("\"' ")) is not None
    lacking = [] if is_named else ["a plain `name`"]
    lacking += [] if settings.get("description", "").strip("\"'>| \n") else ["a `description`"]
    message = f"no {' and no '.join(lacking)}" if lacking else "name and description"
    yield verdict("skill.frontmatter", not lacking, message, file)
    body = FRONTMATTER.sub("", text, count=1)
    yield _sections("skill.sections", body, file)
    titles = _titles(body)
    absent = [
        part
        for part, words in TABLE["parts"].items()
        if not any(re.search(words, title, re.IGNORECASE) for title in titles)
    ]
    message = f"no heading names {listed(absent, most=6)}" if absent else ", ".join(TABLE["parts"])
    yield verdict("skill.parts", not absent, message, file)
    if subject.warehouse is None:
        yield outcome("skill.fields", SKIP, "there are no rollouts to read fields of", file)
    else:
        ((field,),) = subject.rows("select min(task_field) from files")
        wanted = {None: (), "index": ("_ng_task_index",)}.get(field, (field,))
        missing = [name for name in (*wanted, "reward") if name not in text]
        message = f"does not name {listed(missing)}" if missing else "names task id and reward"
        yield verdict("skill.fields", not missing, message, file)
    yield _curated("skill.curated", text, file)


def _rollouts(subject: Subject) -> Checks:
    """Files, then how runs compare, then what rows hold, by the queries of the rules."""
    elsewhere = names_in(subject.package.folder, ".jsonl")
    if not subject.package.rollouts and elsewhere:
        message = (
            f"no rollout file; {counted(len(elsewhere), 'file')} at the top: {listed(elsewhere)}"
        )
        yield outcome("rollouts.present", FAIL, message, fix=MOVE)
    elif subject.warehouse is None:
        yield verdict("rollouts.present", False, subject.reason or "no file holds rollouts")
    elif not subject.rows("from files"):
        yield verdict("rollouts.present", False, "no file holds rollouts")
    else:
        for rule in RULES.values():
            for row in subject.rows(rule.query) if rule.query else ():
                yield outcome(rule.id, *row)


def _golden(subject: Subject) -> Checks:
    """The golden reports, each by itself, and files that belong to none."""
    goldens, folder = subject.package.goldens, subject.package.folder / GOLDEN_REPORTS
    if not goldens:
        drafts = names_in(folder / DRAFTS)
        waiting = f"; {counted(len(drafts), 'file')} in drafts" if drafts else ""
        yield verdict("golden.present", False, f"no golden_reports/*_golden_report.md{waiting}")
    for each_golden in goldens:
        yield from _report(subject, each_golden)
    whole = [golden for golden in goldens if not golden.is_comparison]
    owned = {
        path.name for each in whole for path in (each.metrics, each.anchor_facts, each.shallow)
    }
    for file in names_in(folder):
        is_ours = re.search(r"[_-](?:metrics|anchor[_-]facts)\.json\Z|[_-]shallow\.md\Z", file)
        if is_ours and file not in owned:
            orphan = f"{GOLDEN_REPORTS}/{file}"
            yield outcome("golden.orphans", WARN, orphan, orphan)
    yield from _registers(subject)


def _registers(subject: Subject) -> Checks:
    """Each register that is there beside what the rollouts give now."""
    folder = subject.package.folder / GOLDEN_REPORTS
    there = [name for name in REGISTERS if (folder / name).is_file()]
    if subject.warehouse is None or not there:
        return
    now = of_package(subject.warehouse)
    for name in there:
        file, text = f"{GOLDEN_REPORTS}/{name}", read(folder / name, text_of)
        if text == now.get(name):
            yield verdict("golden.registers", True, "as the rollouts give it", file)
        elif subject.warehouse.execute(EVIDENCE["redacted"]).fetchall():
            message = f"{file}: not compared, since the rollouts are redacted"
            yield outcome("golden.registers", WARN, message, file)
        else:
            message = "stale: the rollouts give another" if isinstance(text, str) else str(text)
            yield verdict("golden.registers", False, message, file)


def _report(subject: Subject, golden: Golden) -> Checks:
    file, text = f"{GOLDEN_REPORTS}/{golden.report.name}", read(golden.report, text_of)
    if not isinstance(text, str):
        yield verdict("golden.present", False, str(text), file)
        return
    yield verdict("golden.present", True, "it is there", file)
    yield _sections("golden.sections", text, file)
    yield _curated("golden.curated", text, file)
    findings = subject.findings.get(golden.report, [])
    others = [each for each in findings if each.file == golden.report.name]
    yield from _contradicted("golden.verified", subject, others, file, "claim")
    if subject.warehouse is not None:
        cited = [
            e.claim for e in others if e.check in ("citation", "task") and e.status == VERIFIED
        ]
        parsed = [citation.parse(claim) for claim in cited]
        n_tasks = len({each.task_id for each in parsed if each}) or len({*cited})
        if not golden.is_comparison:
            message = f"cites {counted(n_tasks, 'task')} of the rollouts"
            yield verdict("golden.evidence", n_tasks >= LEAST_TASKS, message, file)
    if not golden.is_comparison:
        yield from _metrics(subject, golden, [*findings])
        yield from _facts(subject, golden, findings)
        yield from _shallow(golden, text)


def _metrics(subject: Subject, golden: Golden, findings: list[Finding]) -> Checks:
    content, file = read(golden.metrics, object_of), f"{GOLDEN_REPORTS}/{golden.metrics.name}"
    if not isinstance(content, dict):
        yield verdict("metrics.present", False, str(content), file)
        return
    yield verdict("metrics.present", True, "it is there", file)
    values = sidecar.canonical(content)
    bad = [key for key in REQUIRED if key not in values or not _is_usable(key, values[key])]
    message = f"no usable {listed(bad, most=6)}" if bad else ", ".join(REQUIRED)
    yield verdict("metrics.keys", not bad, message, file)
    of_sidecar = [each for each in findings if each.check == sidecar.CHECK]
    yield from _contradicted("metrics.values", subject, of_sidecar, file, "value")


def _facts(subject: Subject, golden: Golden, findings: Sequence[Finding]) -> Checks:
    own = golden.anchor_facts.name
    content, file = read(golden.anchor_facts, object_of), f"{GOLDEN_REPORTS}/{own}"
    listed_facts = content.get("anchor_facts") if isinstance(content, dict) else None
    if not isinstance(listed_facts, list) or not 0 < len(listed_facts) <= MOST_FACTS:
        lack = f"no list of 1 to {MOST_FACTS} facts under anchor_facts"
        message = lack if isinstance(content, dict) else str(content)
        yield verdict("facts.present", False, message, file)
        return
    facts = [fact if isinstance(fact, dict) else {} for fact in listed_facts]
    names = [str(fact.get("id") or "") for fact in facts]
    texts = [str(fact.get("fact") or "").strip() for fact in facts]
    yield verdict("facts.present", True, counted(len(facts), "fact"), file)
    faults = ["ids are absent or repeated"] if "" in names or len({*names}) < len(names) else []
    plain: dict[str, list[str]] = {}
    for name, text, fact in zip(names, texts, facts, strict=True):
        if len(text) < SHORTEST:
            faults.append(f'{name}: "{text}" is no statement of {SHORTEST} characters')
            continue
        plain.setdefault(" ".join(re.findall(r"\w+", text.casefold())), []).append(name)
        if fact.get("difficulty") not in DIFFICULTIES:
            faults.append(f"{name}: no difficulty of {', '.join(DIFFICULTIES)}")
    yield from every("facts.shape", faults, file, "id, fact, difficulty")
    twice = [f"{listed(ids[1:])} repeat {ids[0]}" for ids in plain.values() if len(ids) > 1]
    yield from every("facts.distinct", twice, file, f"all {len(facts)}")
    shown = f"{len(plain)} distinct facts, at least {subject.least_facts} wanted"
    yield verdict("facts.count", len(plain) >= subject.least_facts, shown, file)
    of_facts = [each for each in findings if each.file == own]
    fault = next((each.expected for each in of_facts if each.claim == own), None)
    if fault:
        yield outcome("facts.exist", SKIP, fault, file)
    else:
        yield from _contradicted("facts.exist", subject, of_facts, file, "claim")
    if isinstance(content, dict) and content.get("review_required"):
        yield outcome("facts.reviewed", WARN, file, file)


def _shallow(golden: Golden, text: str) -> Checks:
    shallow, file = read(golden.shallow, text_of), f"{GOLDEN_REPORTS}/{golden.shallow.name}"
    report = blocks.read(shallow if isinstance(shallow, str) else "")
    is_there = any(block.kind in ("heading", "table") for block in report.blocks)
    reason = "neither headings nor tables" if isinstance(shallow, str) else str(shallow)
    yield verdict("shallow.present", is_there, "it is there" if is_there else reason, file)
    if isinstance(shallow, str):
        n_cited = sum(len(each.cites) for each in passages(report))
        n_words, n_all = len(shallow.split()), len(text.split())
        shown = f"{counted(n_cited, 'citation')}, {n_words:,} words to {n_all:,} of the report"
        is_shallow = not n_cited and n_words <= SHALLOW_SHARE * n_all
        yield verdict("shallow.shallow", is_shallow, shown, file)


def _sharing(subject: Subject) -> Checks:
    """What a look for private data found, file by file."""
    if subject.leaks is None:
        message = "nobody looked for private data; run `blade sanitize --check`"
        yield outcome("sanitized.clean", SKIP, message)
    elif not subject.leaks:
        yield verdict("sanitized.clean", True, "nothing private found")
    for file in sorted({file for file, _, _ in subject.leaks or ()}):
        here = [(line, kind) for at, line, kind in subject.leaks or () if at == file]
        first = min((line for line, _ in here if line), default=None)
        message = f"{counted(len(here), 'finding')}: {listed(sorted({kind for _, kind in here}))}"
        place = f"{file}:{first}" if first else file
        yield outcome("sanitized.clean", FAIL, f"{place} {message}", file, first)


def _titles(text: str) -> list[str]:
    report = blocks.read(text).blocks
    return [span.text for each in report if each.level for span in each.spans]


def _sections(id_: str, text: str, file: str) -> Check:
    """Some sections, and none that is a heading with nothing below it."""
    lines = text.split("\n")
    headings = [(block.line, block.level) for block in blocks.read(text).blocks if block.level]
    blank = []
    for (at, level), (until, below) in pairwise([*headings, (len(lines) + 1, 0)]):
        body = re.sub(r"<!--.*?-->", "", "\n".join(lines[at : until - 1]), flags=re.DOTALL)
        if below <= level and not body.strip():
            blank.append(f"{lines[at - 1].strip(' #')} (line {at})")
    message = f"blank: {listed(blank)}" if blank else counted(len(headings), "heading")
    return verdict(id_, not blank and len(headings) >= LEAST_SECTIONS, message, file)


def _curated(id_: str, text: str, file: str) -> Check:
    lines = [text.count("\n", 0, match.start()) + 1 for match in CURATE.finditer(text)]
    message = (
        f"line {lines[0]}: {counted(len(lines), 'place')} to curate" if lines else "no place left"
    )
    return verdict(id_, not lines, message, file, lines[0] if lines else None)


def _contradicted(
    id_: str, subject: Subject, findings: Sequence[Finding], file: str, noun: str
) -> Checks:
    wrong = [finding for finding in findings if finding.status == CONTRADICTED]
    if subject.warehouse is None and not wrong:
        yield outcome(id_, SKIP, "there are no rollouts to compare it with", file)
        return
    faults = [
        f"line {finding.line}: {finding.claim}"
        + (f", expected {finding.expected}" if finding.expected else "")
        for finding in wrong
    ]
    n_held = sum(finding.status == VERIFIED for finding in findings)
    lines = [finding.line for finding in wrong]
    yield from every(id_, faults, file, f"{counted(n_held, noun)} verified", lines)


def _is_usable(key: str, value: Any) -> bool:
    """A name, a rate between 0 and 1, or a count; a model that is not recorded is null."""
    if key == "model_name" and value is None:
        return True
    if key in REQUIRED[:2]:
        return isinstance(value, str) and bool(value.strip())
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return 0 <= value <= 1 if key.startswith("pass") else value >= 0 and value == value // 1


# What answers the rules of a phase, each outcome with the id of its rule.
CHECKS: dict[str, Callable[[Subject], Checks]] = {
    SKILL: _skill,
    ROLLOUTS: _rollouts,
    GOLDEN: _golden,
    SHARING: _sharing,
}
