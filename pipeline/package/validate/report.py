"""D3, the golden report itself: its sections, its evidence, its denominators."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from pipeline.citation import Citation
from pipeline.package.headings import TITLES, section_of
from pipeline.package.layout import Golden
from pipeline.package.reading import Reading, Section, read
from pipeline.package.statements import Statement, statements
from pipeline.package.validate.check import Check, Rule, counted, listed
from pipeline.package.validate.data import Data, cited
from pipeline.package.validate.denominators import bare_percentages
from pipeline.package.validate.prose import BLANK, substance

LEAST_WORDS = 20
LEAST_TASKS = 3
LEAST_OWN = 10
DIGITS = re.compile(r"\d[\d.,]*")
COMPARISON = "Cross-Model Comparison"
SOMETIMES = "Sometimes-Pass Deep Dives"
NEVER = "Never-Pass Deep Dives"
MODES = "Dominant Failure Modes"
OF_COMPARISONS = ("Executive Summary", COMPARISON, "Recommendations")
SECTIONS = Rule(
    "golden.sections",
    "report sections present",
    "A golden report is the measure of others: what it leaves out nobody is asked for.",
    f"Write the missing sections; a whole report has {', '.join(TITLES)}.",
)
SUBSTANCE = Rule(
    "golden.substance",
    "report sections substantive",
    "A heading with nothing, filler or repeated sentences below it says nothing.",
    "Write what the evidence shows; where there is nothing to say, say why.",
)
EVIDENCE = Rule(
    "golden.evidence",
    "report cites task-level evidence",
    "Diagnosis without task ids and rollout ids cannot be checked; tables alone are no diagnosis.",
    "Cite rollouts as `RUN/TASK:ROLLOUT` in the failure modes and in every deep dive.",
)
RESOLVE = Rule(
    "golden.citations",
    "citations lead to rollouts",
    "The report cites what the rollouts of this package do not have.",
    "Correct each citation; `blade show RUN/TASK:ROLLOUT` opens one that exists.",
)
DENOMINATORS = Rule(
    "golden.denominators",
    "percentages state their denominators",
    "A percentage of an unknown number cannot be checked, nor compared.",
    "Write `14 of 57 (24.6%)`, or say in the paragraph or the table how many it is of.",
)
CURATED = Rule(
    "golden.curated",
    "report is curated",
    "The report is still a draft: what only a person can say is not in it.",
    "Write each place that `<!-- curate: ... -->` marks after reading the rollouts it names, "
    "and remove the comment.",
)


def checks(golden: Golden, reading: Reading, known: Data | None) -> list[Check]:
    """All checks of one report's text."""
    name = f"golden_reports/{golden.report.name}"
    told = statements(reading)
    by_title: dict[str, list[Section]] = {}
    for section in reading.sections:
        title = section_of(section)
        if title:
            by_title.setdefault(title, []).append(section)
    return [
        _sections(golden, by_title, known, name),
        *_substance(by_title, name, known),
        *_evidence(golden, told, known, name),
        _denominators(reading, name),
        _curated(golden, reading, told, known, name),
    ]


def wanted(golden: Golden, known: Data | None) -> tuple[str, ...]:
    """The sections that this report needs: some only where there are repeats, or several runs."""
    if golden.is_comparison:
        return OF_COMPARISONS
    left_out = set()
    if known is not None and len(known.runs) < 2:
        left_out.add(COMPARISON)
    if known is not None and all(run.n_repeats < 2 for run in known.runs):
        left_out.add(SOMETIMES)
    return tuple(title for title in TITLES if title not in left_out)


def _sections(
    golden: Golden, by_title: Mapping[str, list[Section]], known: Data | None, name: str
) -> Check:
    titles = wanted(golden, known)
    lacking = [title for title in titles if title not in by_title]
    message = f"{name}: {len(titles) - len(lacking)} of {len(titles)}"
    if lacking:
        return SECTIONS.failed(f"{message}; no {listed(lacking, most=11)}", file=name)
    return SECTIONS.passed(message, file=name)


def _substance(
    by_title: Mapping[str, list[Section]], name: str, known: Data | None
) -> Iterator[Check]:
    """Every section of BLADE's that is there; a short one where there is nothing to dive into."""
    seen: set[str] = set()
    thin = []
    for title in (title for title in TITLES if title in by_title):
        found = substance(by_title[title], seen, with_code=False)
        lack = found.lack(5 if _is_idle(title, known) else LEAST_WORDS)
        if lack:
            thin.append((title, by_title[title][0].line, lack))
    blank = [(title, line) for title, line, lack in thin if lack == BLANK]
    if blank:
        where = listed([f"{title} (line {line})" for title, line in blank], most=11)
        yield SUBSTANCE.failed(f"{name}: blank: {where}", file=name, line=blank[0][1])
    for title, line, lack in (each for each in thin if each[2] != BLANK):
        yield SUBSTANCE.failed(f"{name}:{line} {title} {lack}", file=name, line=line)
    if by_title and not thin:
        yield SUBSTANCE.passed(f"{name}: all {len(by_title)}", file=name)


def _is_idle(title: str, known: Data | None) -> bool:
    if known is None:
        return False
    if title == COMPARISON:
        return len(known.runs) < 2
    counts = {SOMETIMES: "n_sometimes", NEVER: "n_never"}
    return title in counts and all(getattr(run, counts[title]) == 0 for run in known.runs)


def _evidence(
    golden: Golden, told: Sequence[Statement], known: Data | None, name: str
) -> Iterator[Check]:
    found = list(dict.fromkeys(each for statement in told for each in cited(statement)))
    if known is None:
        yield EVIDENCE.skipped("there are no rollouts to look citations up in", file=name)
        return
    unknown = known.unknown(found)
    good = set(found) - set(unknown)
    tasks = {each.task_id for each in good}
    least = min(LEAST_TASKS, max((run.n_tasks for run in known.runs), default=LEAST_TASKS))
    without = [] if golden.is_comparison else _without_citation(told, good, known)
    message = f"{name}: {counted(len(good), 'citation')} of {counted(len(tasks), 'task')}"
    if len(tasks) < least:
        yield EVIDENCE.failed(f"{message}, at least {least} tasks wanted", file=name)
    elif without:
        yield EVIDENCE.failed(f"{message}, but none in {listed(without)}", file=name)
    else:
        yield EVIDENCE.passed(message, file=name)
    yield from _resolve(told, set(unknown), len(found), name)


def _without_citation(told: Sequence[Statement], good: set[Citation], known: Data) -> list[str]:
    """Diagnostic sections without evidence, though there is something to diagnose."""
    proven = {
        section_of(statement.section)
        for statement in told
        if any(each in good for each in cited(statement))
    }
    there = {section_of(statement.section) for statement in told}
    return [
        title
        for title in (MODES, SOMETIMES, NEVER)
        if title in there and title not in proven and not _is_idle(title, known)
    ]


def _resolve(
    told: Sequence[Statement], unknown: set[Citation], n_cited: int, name: str
) -> Iterator[Check]:
    for line, lost in dict.fromkeys(
        (statement.line, each) for statement in told for each in cited(statement) if each in unknown
    ):
        yield RESOLVE.failed(f"{name}:{line} {lost}: not there", file=name, line=line)
    if n_cited and not unknown:
        yield RESOLVE.passed(f"{name}: all {n_cited}", file=name)


def _denominators(reading: Reading, name: str) -> Check:
    n_percentages, bare = bare_percentages(reading)
    if bare:
        lines = listed([f"line {line} {text}" for line, text in bare])
        message = f"{name}: {len(bare)} of {counted(n_percentages, 'percentage')} without: {lines}"
        return DENOMINATORS.failed(message, file=name, line=bare[0][0])
    return DENOMINATORS.passed(f"{name}: {counted(n_percentages, 'percentage')}", file=name)


def _curated(
    golden: Golden, reading: Reading, told: Sequence[Statement], known: Data | None, name: str
) -> Check:
    """No place is left open, and some sentences are a person's: not all stand in the draft."""
    waiting = reading.curations
    if waiting:
        lines = listed([str(line) for line, _ in waiting])
        message = f"{name}: {counted(len(waiting), 'place')} wait for a person: line {lines}"
        return CURATED.failed(message, file=name, line=waiting[0][0])
    run = known.run_called(golden.model) if known else None
    draft = known.drafts.get(run.run_id, "") if known and run else ""
    drafted = {_flat(each) for each in statements(read(draft))}
    said = [each for each in told if not each.is_row]
    n_own = sum(_flat(each) not in drafted for each in said)
    message = f"{name}: {n_own} of {counted(len(said), 'sentence')} not the draft's"
    if n_own < LEAST_OWN:
        return CURATED.failed(f"{message}, at least {LEAST_OWN} wanted", file=name)
    return CURATED.passed(f"{message}; no place waits for a person", file=name)


def _flat(statement: Statement) -> str:
    """Its words: a draft of other figures is a draft as well."""
    return DIGITS.sub("#", " ".join(statement.text.split()))
