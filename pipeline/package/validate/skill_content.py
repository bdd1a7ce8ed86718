"""Whether a skill speaks of this benchmark: its fields, its names, its labels, its report."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from pipeline.package.headings import TITLES, canonical
from pipeline.package.reading import Block, Reading, Section, Table
from pipeline.package.validate import row_files
from pipeline.package.validate.check import Check, Rule, counted, listed
from pipeline.package.validate.data import Data
from pipeline.package.validate.skill_sections import FUNNEL, SCHEMA, TAXONOMY, TEMPLATE, text

LEAST_LABELS = 2
LEAST_STAGES = 3
LEAST_TITLES = 8
LEAST_NAMES = 2
# Fields that the format knows at the top of a row, whether rows have them or not.
OWNED = frozenset(
    "_ng_task_index _ng_rollout_index _ng_attempt_index stage_index agent_ref skills_ref reward "
    "reward_components mask_sample _ng_failure_class _ng_failure_terminal response "
    "_ng_failure_judge_error responses_create_params ng_perf ng_trajectory ng_model_call_capture "
    "ng_agent_observations".split()
)
# `LABEL: rule`, `LABEL (cause) - rule`: a label, and something to detect it by.
LABELLED = re.compile(r"\W*[\w./ -]{2,60}?(?:\([^)]*\))?\W*\s*[:\u2013\u2014=-]\s*\S")
FIELDS = Rule(
    "skill.fields",
    "input schema names fields of the rollouts",
    "An agent that follows the schema would miss the fields that matter.",
    "Name the real fields of the rows; `blade init` writes them with types and examples.",
)
FOREIGN = Rule(
    "skill.foreign_fields",
    "input schema names no other fields",
    "The schema speaks of top-level fields that no rollout has.",
    "Correct the names, or say that the field is optional and where it occurs.",
)
STAGES = Rule(
    "skill.stages",
    "workflow funnel has ordered stages",
    "Without stages nobody can say where rollouts are lost.",
    "List the stages in order, such as "
    "started, attempted the core action, reached verifier, received feedback, passed.",
)
LABELS = Rule(
    "skill.labels",
    "failure taxonomy has labels with detection rules",
    "A label without a rule is applied differently by everyone who reads it.",
    "Give at least two labels, each with how to detect it, as a table or a list of `LABEL: rule`.",
)
TITLED = Rule(
    "skill.template",
    "report template names the sections of a BLADE report",
    "Reports written by this skill would lack sections that the golden report has.",
    f"List the sections: {', '.join(TITLES)}.",
)
SPECIFIC = Rule(
    "skill.specific",
    "skill is benchmark-specific",
    "It could be the skill of any benchmark: it names nothing of this one.",
    "Name the benchmark, its tools, verifier fields, categories and failure modes.",
)


def about_itself(
    sections: Mapping[str, list[Section]], reading: Reading, name: str
) -> Iterator[Check]:
    """What can be said without the rollouts; sections that are absent are told elsewhere."""
    if FUNNEL in sections:
        n_stages = _n_entries(sections[FUNNEL])
        told = f"{counted(n_stages, 'stage')} in a list, a table or an arrowed line"
        yield STAGES.held(n_stages >= LEAST_STAGES, told, file=name)
    if TAXONOMY in sections:
        n_labels = _n_labels(sections[TAXONOMY])
        told = counted(n_labels, "label") + " with a rule"
        yield LABELS.held(n_labels >= LEAST_LABELS, told, file=name)
    if TEMPLATE in sections:
        yield _titles(sections[TEMPLATE], reading, name)


def about_data(
    sections: Mapping[str, list[Section]], body: str, known: Data | None, name: str
) -> Iterator[Check]:
    """What the rollouts say of it."""
    if known is None:
        reason = "there are no rollouts to hold it against"
        yield from (FIELDS.skipped(reason, file=name), SPECIFIC.skipped(reason, file=name))
        return
    if SCHEMA in sections:
        yield from _fields(sections[SCHEMA], known, name)
    yield _specific(body, known, name)


def _fields(schema: list[Section], known: Data, name: str) -> Iterator[Check]:
    told = text(schema)
    lacking, found = [], []
    for purpose, names in known.fields.items():
        if not names or (purpose == row_files.ROLLOUT_ID and _n_repeats(known) < 2):
            continue
        there = [each for each in names if _names(told, each)]
        found += there
        if not there:
            lacking.append(f"{purpose} (such as {names[0]})")
    if lacking:
        line = schema[0].line
        yield FIELDS.failed(f"no field named for {listed(lacking, most=6)}", file=name, line=line)
    elif found:
        yield FIELDS.passed(listed(found, most=8), file=name)
    foreign = _foreign(schema, known)
    if foreign:
        yield FOREIGN.warned(f"no row has {listed(foreign)}", file=name, line=schema[0].line)


def _foreign(schema: list[Section], known: Data) -> list[str]:
    """Fields that open a row or an item of the schema and stand in no rollout."""
    own = {name for names in known.fields.values() for name in names} | OWNED
    tops = {name.partition(".")[0] for name in own}
    named = dict.fromkeys(
        block.text[start:end]
        for section in schema
        for block in _openers(section)
        for start, end in block.codes[:1]
        if start < 4
    )
    plain = re.compile(r"[A-Za-z_][\w.\[\]*]*")
    return [
        each for each in named if plain.fullmatch(each) and re.split(r"[.\[]", each)[0] not in tops
    ]


def _openers(section: Section) -> Iterator[Block]:
    for part in section.parts:
        if isinstance(part, Table):
            yield from (row.cells[0] for row in part.rows if row.cells)
        elif part.kind == "item":
            yield part


def _specific(body: str, known: Data, name: str) -> Check:
    verifier = [*known.fields[row_files.VERIFIER], *known.fields[row_files.METADATA]]
    candidates = list(dict.fromkeys([*verifier, *known.names]))
    found = [each for each in candidates if _names(body, each)]
    benchmarks = sorted({run.benchmark for run in known.runs})
    is_named = any(_names(_plain(body), _plain(each)) for each in benchmarks)
    if len(found) < min(LEAST_NAMES, len(candidates)):
        told = f"names {len(found)} of its fields, tools and failure modes"
        return SPECIFIC.failed(f"{told}, at least {LEAST_NAMES} wanted", file=name)
    if not is_named:
        # A folder that was copied may go by another name.
        return SPECIFIC.warned(f"does not name the benchmark ({listed(benchmarks)})", file=name)
    return SPECIFIC.passed(f"names the benchmark and {listed(found)}", file=name)


def _titles(template: list[Section], reading: Reading, name: str) -> Check:
    told = text(template).lower()
    at = template[0].line
    headings = {canonical(each.title) for each in reading.sections if each.line >= at}
    found = [title for title in TITLES if title.lower() in told or title in headings]
    lacking = [title for title in TITLES if title not in found]
    message = f"{len(found)} of {len(TITLES)}"
    if len(found) >= LEAST_TITLES:
        return TITLED.passed(message, file=name)
    return TITLED.failed(f"{message}; no {listed(lacking)}", file=name, line=at)


def _n_entries(sections: list[Section]) -> int:
    """The longest enumeration there is: items, rows, deeper headings, arrows in a line."""
    parts = [part for section in sections for part in section.parts]
    blocks = [part for part in parts if isinstance(part, Block)]
    return max(
        sum(block.kind == "item" for block in blocks),
        max((len(part.rows) for part in parts if isinstance(part, Table)), default=0),
        len(sections) - 1,
        max((len(re.findall(r"->|\u2192|=>", block.text)) + 1 for block in blocks), default=0),
    )


def _n_labels(sections: list[Section]) -> int:
    """Rows with a label and a rule, items that define one, or headings with text below."""
    labels = set()
    for section in sections:
        for part in section.parts:
            if isinstance(part, Table):
                full = [row for row in part.rows if _is_defined([c.text for c in row.cells])]
                labels |= {row.cells[0].text.strip() for row in full}
            elif part.kind == "item" and LABELLED.match(part.text):
                labels.add(part.text.partition(":")[0].strip())
    labels |= {section.title for section in sections[1:] if section.parts}
    return len(labels)


def _is_defined(cells: list[str]) -> bool:
    return bool(cells and cells[0].strip()) and any(len(cell.split()) > 1 for cell in cells[1:])


def _names(told: str, name: str) -> bool:
    return re.search(rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])", told) is not None


def _plain(words: str) -> str:
    return re.sub(r"[-_ ]+", " ", words).lower()


def _n_repeats(known: Data) -> int:
    return max((run.n_repeats for run in known.runs), default=1)
