"""D1 and D3: the skill, and golden reports with their metrics, facts and baselines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pipeline import citation
from pipeline.files import UnreadableError
from pipeline.package.files import names_in, object_of
from pipeline.package.headings import TITLES, canonical
from pipeline.package.layout import DRAFTS, GOLDEN_REPORTS, Golden
from pipeline.package.validate.subject import (
    FAIL,
    PASS,
    SKIP,
    WARN,
    Outcome,
    Outcomes,
    Subject,
    counted,
    listed,
    name,
    read,
    reports,
)
from pipeline.package.verify import CONTRADICTED, VERIFIED, Finding, sidecar
from pipeline.package.verify.evidence import evidence
from pipeline.package.verify.units import units
from pipeline.report import blocks

REQUIRED = ("model_name", "benchmark", "pass_at_1", "pass_at_k", "total_tasks", "total_rollouts")
DIFFICULTIES = ("high", "medium", "low")
CITED = ("citation", "task")
LEAST_SECTIONS, LEAST_TASKS, SHORTEST_FACT, MOST_FACTS, MOST_FAILURES = 3, 3, 20, 500, 10
SHALLOW_SHARE = 0.6
CURATE = re.compile(r"<!--\s*curate\b")
FRONTMATTER = re.compile(r"---[ \t]*\n(?P<lines>.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,99}")
# A rule of a golden report that needs no more than its text.
OfReport = Callable[[Subject, Golden, str], Outcomes]


def skill_present(subject: Subject) -> Outcomes:
    """A skill that says something."""
    if subject.package.skill is None:
        yield Outcome(FAIL, "neither skill/SKILL.md nor SKILL.md")
        return
    text = read(subject.package.skill)
    file = _skill_name(subject)
    if isinstance(text, UnreadableError):
        yield Outcome(FAIL, f"{file} {text}", file)
    else:
        yield Outcome(
            PASS if text.strip() else FAIL, file if text.strip() else f"{file} is blank", file
        )


def skill_frontmatter(subject: Subject) -> Outcomes:
    """Agents find a skill by its name and description."""
    text, file = _skill(subject), _skill_name(subject)
    if not text:
        return
    match = FRONTMATTER.match(text)
    given: dict[str, str] = {}
    key = ""
    for line in match["lines"].split("\n") if match else ():
        if begun := re.match(r"(\w[\w-]*):[ \t]*(.*)", line):
            key = begun[1]
            given[key] = begun[2].strip("\"'>| ")
        elif key:
            given[key] = f"{given[key]} {line.strip()}".strip()
    lacking = [] if match else ["frontmatter between two lines of ---"]
    if match and not NAME.fullmatch(given.get("name", "")):
        lacking.append("a plain `name`")
    if match and not given.get("description"):
        lacking.append("a `description`")
    told = f"no {' and no '.join(lacking)}" if lacking else "name and description"
    yield Outcome(FAIL if lacking else PASS, f"{file}: {told}", file)


def skill_sections(subject: Subject) -> Outcomes:
    """Headings with something below them."""
    text, file = _skill(subject), _skill_name(subject)
    if text:
        yield from _sections(FRONTMATTER.sub("", text, count=1), file)


def skill_fields(subject: Subject) -> Outcomes:
    """The fields of these rows, not of any."""
    text, file = _skill(subject), _skill_name(subject)
    if not text:
        return
    if subject.data is None:
        yield Outcome(SKIP, "there are no rollouts to read fields of", file)
        return
    named = {each.task_field for each in subject.data.files if each.n_rollouts}
    fields = {"_ng_task_index" if each == "index" else each for each in named if each}
    lacking = [each for each in (*sorted(fields)[:1], "reward") if each not in text]
    told = (
        f"does not name {listed(lacking)}" if lacking else f"names {listed(sorted(fields))}, reward"
    )
    yield Outcome(FAIL if lacking else PASS, f"{file}: {told}", file)


def skill_curated(subject: Subject) -> Outcomes:
    """Nothing waits for a person."""
    if text := _skill(subject):
        yield _curated(text, _skill_name(subject))


def golden_present(subject: Subject) -> Outcomes:
    """A report that is no draft."""
    goldens = subject.package.goldens
    broken = [(each, told) for each in goldens if not isinstance(told := read(each.report), str)]
    for golden, told in broken:
        yield Outcome(FAIL, f"{name(golden.report)} {told}", name(golden.report))
    if not goldens:
        drafts = names_in(subject.package.folder / GOLDEN_REPORTS / DRAFTS)
        waiting = f"; {counted(len(drafts), 'file')} in drafts" if drafts else ""
        yield Outcome(FAIL, f"no golden_reports/*_golden_report.md{waiting}")
    elif not broken:
        found = listed([golden.report.name for golden in goldens])
        yield Outcome(PASS, f"{counted(len(goldens), 'report')}: {found}")


def golden_sections(subject: Subject) -> Outcomes:
    """Sections, none of them blank; those of BLADE that no heading names are told."""
    for golden, text in reports(subject):
        file = name(golden.report)
        found = [*_sections(text, file)]
        yield from found
        titles = {canonical(block.path[-1]) for block in blocks.read(text).blocks if block.path}
        missing = [title for title in TITLES if title not in titles]
        if found[0].status == PASS and missing and not golden.is_comparison:
            yield Outcome(WARN, f"{file}: no heading names {listed(missing, 11)}", file)


def golden_curated(subject: Subject) -> Outcomes:
    """Nothing waits for a person."""
    for golden, text in reports(subject):
        yield _curated(text, name(golden.report))


def golden_evidence(subject: Subject) -> Outcomes:
    """Tasks and rollouts are cited that exist."""
    for golden, found in _verified(subject):
        if golden.is_comparison:
            continue
        cited = {each.claim for each in found if each.check in CITED and each.status == VERIFIED}
        parsed = {each and each.task_id for each in map(citation.parse, cited)} - {None}
        n_tasks = max(len(parsed), len({each for each in cited if citation.parse(each) is None}))
        told = f"{name(golden.report)}: cites {counted(n_tasks, 'task')} of the rollouts"
        yield Outcome(PASS if n_tasks >= LEAST_TASKS else FAIL, told, name(golden.report))


def golden_citations(subject: Subject) -> Outcomes:
    """Every citation leads somewhere."""
    for golden, found in _verified(subject):
        of_kind = [each for each in found if each.check in CITED]
        yield from _contradicted(of_kind, name(golden.report), "citation")


def golden_verified(subject: Subject) -> Outcomes:
    """Verify contradicts nothing else."""
    for golden, found in _verified(subject):
        others = [each for each in found if each.check not in (*CITED, sidecar.CHECK)]
        yield from _contradicted(others, name(golden.report), "claim")
    for golden, _ in reports(subject):
        if subject.data is None:
            yield Outcome(SKIP, "there are no rollouts to compare it with", name(golden.report))


def golden_orphans(subject: Subject) -> Outcomes:
    """Every file belongs to a report."""
    folder = subject.package.folder / GOLDEN_REPORTS
    owned = {each for golden in subject.package.goldens for each in _files(golden)}
    for file in names_in(folder):
        is_ours = re.search(r"[_-](?:metrics|anchor[_-]facts)\.json\Z|[_-]shallow\.md\Z", file)
        if is_ours and file not in owned:
            yield Outcome(WARN, f"{GOLDEN_REPORTS}/{file}", f"{GOLDEN_REPORTS}/{file}")


def metrics_present(subject: Subject) -> Outcomes:
    """A sidecar that is a JSON object."""
    for golden in _whole(subject):
        told = _object(golden.metrics)
        reason = "" if isinstance(told, dict) else f" {told}"
        file = name(golden.metrics)
        yield Outcome(FAIL if reason else PASS, f"{file}{reason}", file)


def metrics_keys(subject: Subject) -> Outcomes:
    """The keys that every sidecar has, with figures that can be."""
    for golden in _whole(subject):
        told, file = _object(golden.metrics), name(golden.metrics)
        if isinstance(told, dict):
            given = sidecar.canonical(told)
            bad = [key for key in REQUIRED if not _is_given(key, given.get(key))]
            shown = f"no usable {listed(bad, 6)}" if bad else ", ".join(REQUIRED)
            yield Outcome(FAIL if bad else PASS, f"{file}: {shown}", file)


def metrics_values(subject: Subject) -> Outcomes:
    """The figures of the sidecar are those of the rollouts."""
    for golden, found in _verified(subject):
        of_kind = [each for each in found if each.check == sidecar.CHECK]
        if not golden.is_comparison and isinstance(_object(golden.metrics), dict):
            yield from _contradicted(of_kind, name(golden.metrics), "value")
    for golden in _whole(subject):
        if subject.data is None:
            yield Outcome(SKIP, "there are no rollouts to recompute it from", name(golden.metrics))


def facts_present(subject: Subject) -> Outcomes:
    """A list of facts."""
    for golden in _whole(subject):
        told, file = _facts(golden), name(golden.anchor_facts)
        is_there = isinstance(told, list)
        shown = (
            f"{file}: {counted(len(told), 'fact')}" if isinstance(told, list) else f"{file} {told}"
        )
        yield Outcome(PASS if is_there else FAIL, shown, file)


def facts_shape(subject: Subject) -> Outcomes:
    """Each has an id of its own, a text and a difficulty."""
    for file, facts in _fact_files(subject):
        ids = [each.get("id") for each in facts]
        faults = []
        if n_bare := sum(not isinstance(each.get("fact"), str) for each in facts):
            faults.append(f"{n_bare} of {len(facts)} entries have no text in `fact`")
        if None in ids or "" in ids or len({str(each) for each in ids}) < len(ids):
            faults.append("ids are absent or repeated")
        odd = [str(each.get("id")) for each in facts if each.get("difficulty") not in DIFFICULTIES]
        if odd:
            faults.append(f"no difficulty of {', '.join(DIFFICULTIES)}: {listed(odd)}")
        yield from _each(faults, file, "id, fact, difficulty")


def facts_length(subject: Subject) -> Outcomes:
    """Each is a statement."""
    for file, facts in _fact_files(subject):
        short = [_text(each) for each in facts if 0 < len(_text(each)) < SHORTEST_FACT]
        yield from _each([f'"{each}"' for each in short], file, f"all {len(facts)}")


def facts_distinct(subject: Subject) -> Outcomes:
    """None is another once more, in other case or spacing."""
    for file, facts in _fact_files(subject):
        seen: dict[str, list[str]] = {}
        for each in facts:
            seen.setdefault(_plain(_text(each)), []).append(str(each.get("id")))
        repeated = [f"{listed(ids[1:])} repeat {ids[0]}" for ids in seen.values() if len(ids) > 1]
        yield from _each(repeated, file, f"all {len(facts)}")


def facts_count(subject: Subject) -> Outcomes:
    """Enough of them; short and repeated ones do not count."""
    for file, facts in _fact_files(subject):
        texts = {_plain(_text(each)) for each in facts if len(_text(each)) >= SHORTEST_FACT}
        told = f"{file}: {len(texts)} distinct facts, at least {subject.least_facts} wanted"
        yield Outcome(PASS if len(texts) >= subject.least_facts else FAIL, told, file)


def facts_exist(subject: Subject) -> Outcomes:
    """What they cite is there."""
    for file, facts in _fact_files(subject):
        if subject.data is None:
            yield Outcome(SKIP, "there are no rollouts to look them up in", file)
            continue
        cited = [(str(each.get("id")), cite) for each in facts for cite in _cites(each)]
        known = evidence(subject.data.warehouse, [cite for _, cite in cited])
        lost = [f"{owner}: no {cite}" for owner, cite in cited if not known.exists(cite)]
        yield from _each(lost, file, f"{counted(len(cited), 'citation')} in {len(facts)} facts")


def facts_reviewed(subject: Subject) -> Outcomes:
    """Somebody has read them."""
    for golden in _whole(subject):
        told, file = _object(golden.anchor_facts), name(golden.anchor_facts)
        if isinstance(told, dict):
            is_waiting = bool(told.get("review_required"))
            yield Outcome(WARN if is_waiting else PASS, file, file)


def shallow_present(subject: Subject) -> Outcomes:
    """A baseline with headings or tables."""
    for golden in _whole(subject):
        told, file = read(golden.shallow), name(golden.shallow)
        kinds = (
            {block.kind for block in blocks.read(told).blocks} if isinstance(told, str) else set()
        )
        reason = "has neither headings nor tables" if isinstance(told, str) else str(told)
        is_there = bool(kinds & {"heading", "table"})
        yield Outcome(PASS if is_there else FAIL, file if is_there else f"{file} {reason}", file)


def shallow_shallow(subject: Subject) -> Outcomes:
    """It cites nothing, and says much less."""
    for golden, text in reports(subject):
        told, file = read(golden.shallow), name(golden.shallow)
        if golden.is_comparison or not isinstance(told, str):
            continue
        n_cited = sum(len(unit.cites) for unit in units(blocks.read(told)))
        n_words, n_all = len(told.split()), len(text.split())
        is_shallow = not n_cited and n_words <= SHALLOW_SHARE * n_all
        shown = f"{counted(n_cited, 'citation')}, {n_words:,} words to {n_all:,} of the report"
        yield Outcome(PASS if is_shallow else FAIL, f"{file}: {shown}", file)


def clean(subject: Subject) -> Outcomes:
    """A look for private data found none."""
    if subject.leaks is None:
        yield Outcome(SKIP, "nobody looked for private data; run `blade sanitize --check`")
        return
    by_file: dict[str, list[tuple[int, str]]] = {}
    for file, line, kind in subject.leaks:
        by_file.setdefault(file, []).append((line, kind))
    for file, found in sorted(by_file.items()):
        first = min((at for at, _ in found if at), default=None)
        kinds = listed(sorted({kind for _, kind in found}))
        place = f"{file}:{first}" if first else file
        yield Outcome(FAIL, f"{place} {counted(len(found), 'finding')}: {kinds}", file, first)
    if not by_file:
        yield Outcome(PASS, "nothing private found")


def _skill(subject: Subject) -> str:
    text = read(subject.package.skill) if subject.package.skill else ""
    return text if isinstance(text, str) and text.strip() else ""


def _skill_name(subject: Subject) -> str:
    path = subject.package.skill
    return path.relative_to(subject.package.folder).as_posix() if path else "skill/SKILL.md"


def _sections(text: str, file: str) -> Outcomes:
    """Some sections, and none that is a heading with nothing below it."""
    lines = text.split("\n")
    places = [block.line for block in blocks.read(text).blocks if block.kind == "heading"]
    levels = [len(lines[at - 1]) - len(lines[at - 1].lstrip().lstrip("#")) for at in places]
    blank = []
    for at, until, level, below in zip(
        places, [*places[1:], len(lines) + 1], levels, [*levels[1:], 0], strict=True
    ):
        told = re.sub(r"<!--.*?-->", "", "\n".join(lines[at : until - 1]), flags=re.DOTALL)
        if below <= level and not told.strip():
            blank.append(f"{lines[at - 1].strip(' #')} (line {at})")
    told = f"blank: {listed(blank)}" if blank else counted(len(places), "heading")
    yield _held(not blank and len(places) >= LEAST_SECTIONS, told, file)


def _curated(text: str, file: str) -> Outcome:
    found = [text.count("\n", 0, match.start()) + 1 for match in CURATE.finditer(text)]
    if not found:
        return Outcome(PASS, file, file)
    told = f"{file}:{found[0]} {counted(len(found), 'place')} to curate"
    return Outcome(FAIL, told, file, found[0])


def _verified(subject: Subject) -> Iterator[tuple[Golden, list[Finding]]]:
    """Each report that was compared with the rollouts, with what verify found."""
    for golden in subject.package.goldens if subject.data else ():
        if golden.report in subject.findings:
            yield golden, [*subject.findings[golden.report]]


def _contradicted(found: list[Finding], file: str, noun: str) -> Outcomes:
    wrong = [each for each in found if each.status == CONTRADICTED]
    for each in wrong[:MOST_FAILURES]:
        expected = f", expected {each.expected}" if each.expected else ""
        place = f"{GOLDEN_REPORTS}/{each.file}:{each.line}"
        yield Outcome(
            FAIL, f"{place} {each.claim}{expected}", f"{GOLDEN_REPORTS}/{each.file}", each.line
        )
    if len(wrong) > MOST_FAILURES:
        yield Outcome(FAIL, f"{file}: {len(wrong) - MOST_FAILURES} more", file)
    if not wrong:
        n_held = sum(each.status == VERIFIED for each in found)
        yield Outcome(PASS, f"{file}: {counted(n_held, noun)} verified", file)


def _held(is_met: bool, told: str, file: str) -> Outcome:
    return Outcome(PASS if is_met else FAIL, f"{file}: {told}", file)


def _each(faults: list[str], file: str, well: str) -> Outcomes:
    for fault in faults[:MOST_FAILURES]:
        yield Outcome(FAIL, f"{file}: {fault}", file)
    if len(faults) > MOST_FAILURES:
        yield Outcome(FAIL, f"{file}: {len(faults) - MOST_FAILURES} more", file)
    if not faults:
        yield Outcome(PASS, f"{file}: {well}", file)


def _whole(subject: Subject) -> list[Golden]:
    """Reports that need metrics, facts and a baseline."""
    return [golden for golden, _ in reports(subject) if not golden.is_comparison]


def _files(golden: Golden) -> tuple[str, ...]:
    if golden.is_comparison:
        return ()
    return golden.metrics.name, golden.anchor_facts.name, golden.shallow.name


def _object(path: Any) -> dict[str, Any] | UnreadableError:
    try:
        return object_of(path)
    except UnreadableError as error:
        return error


def _facts(golden: Golden) -> list[Any] | str:
    told = _object(golden.anchor_facts)
    if not isinstance(told, dict):
        return str(told)
    facts = told.get("anchor_facts")
    if isinstance(facts, list) and 0 < len(facts) <= MOST_FACTS:
        return facts
    return f"has no list of 1 to {MOST_FACTS} facts under anchor_facts"


def _fact_files(subject: Subject) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    for golden in _whole(subject):
        facts = _facts(golden)
        if isinstance(facts, list):
            yield (
                name(golden.anchor_facts),
                [each if isinstance(each, dict) else {} for each in facts],
            )


def _text(fact: Mapping[str, Any]) -> str:
    text = fact.get("fact")
    return text.strip() if isinstance(text, str) else ""


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def _cites(fact: Mapping[str, Any]) -> list[citation.Citation]:
    given = fact.get("citations")
    told = [
        *(given if isinstance(given, list) else ()),
        *re.findall(r"`([^`\n]{3,300})`", _text(fact)),
    ]
    parsed = [citation.parse(each) for each in told if isinstance(each, str)]
    return [each for each in parsed if each and not any(map(str.isspace, each.run_id))]


def _is_given(key: str, value: Any) -> bool:
    """A name, a rate between 0 and 1, or a count."""
    if key in REQUIRED[:2]:
        return isinstance(value, str) and bool(value.strip())
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return 0 <= value <= 1 if key.startswith("pass") else value >= 0 and value == value // 1
