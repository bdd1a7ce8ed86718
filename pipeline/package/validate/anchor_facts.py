"""D3, the anchor facts: enough of them, concrete, distinct, true to the report and the rollouts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline import citation
from pipeline.citation import Citation
from pipeline.files import UnreadableError
from pipeline.package.facts import DIFFICULTIES, SHORTEST
from pipeline.package.files import object_of
from pipeline.package.layout import Golden
from pipeline.package.statements import Statement, of_text
from pipeline.package.validate.check import Check, Rule, counted, listed
from pipeline.package.validate.data import Data, cited
from pipeline.package.validate.fact_matching import copies_of, is_in_report

MOST_FACTS = 500
AGGREGATE = re.compile(
    r"pass@|pass\^|pass rate|mean reward|average|accuracy|overall|aggregate"
    r"|total (?:of|tasks|rollouts)|\bin (?:total|all)\b|altogether"
    r"|\b(?:has|have|holds?|are|with) [\d,]+ (?:tasks|rollouts|rows|runs)\b"
    r"|consistency|coverage|score of|\bscored?\b",
    re.IGNORECASE,
)
PRESENT = Rule(
    "facts.present",
    "anchor facts",
    "Golden report has no judge anchor facts.",
    "Generate them with `blade extract-anchor-facts`, and review <model>_anchor_facts.json.",
    "missing anchor facts",
)
SHAPE = Rule(
    "facts.shape",
    "anchor facts have their fields",
    "A judge cannot read a fact without its text, or weigh one without a known difficulty.",
    'Give each `{"id": ..., "fact": "...", "difficulty": "high|medium|low"}`, no id twice, '
    "and `benchmark` and `model` of the package.",
)
COUNT = Rule(
    "facts.count",
    "enough anchor facts",
    "Too few facts cannot tell a good report from a lucky one; weak and repeated facts "
    "do not count.",
    "Add facts: each one finding of the report that only reading the evidence can give.",
)
LENGTH = Rule(
    "facts.length",
    "anchor facts are whole statements",
    f"A fact of fewer than {SHORTEST} characters claims nothing that can be checked.",
    "Write each fact as a sentence: who did what, where, how often.",
)
CONCRETE = Rule(
    "facts.concrete",
    "anchor facts are concrete",
    "A fact that only restates an aggregate, or names nothing, can be guessed without evidence.",
    "Name the task, rollout, tool, failure mode or message it is about; remove weak facts.",
)
DISTINCT = Rule(
    "facts.distinct",
    "anchor facts are distinct",
    "A fact that says the same as another counts one finding twice.",
    "Remove the repeats, and add facts of other findings.",
)
EXIST = Rule(
    "facts.exist",
    "anchor facts speak of things that exist",
    "The fact names a task or a rollout that the package does not have.",
    "Correct the task or citation, or remove the fact.",
)
REPORTED = Rule(
    "facts.reported",
    "anchor facts are in the report",
    "The golden report itself does not make this claim: it could not meet its own measure.",
    "Say it in the report, or take the fact's words and numbers from the report.",
)
REVIEWED = Rule(
    "facts.reviewed",
    "anchor facts are reviewed",
    "`review_required` is still true: nobody has said that these facts are worth asking for.",
    "Read each fact, remove weak ones, then set `review_required` to false.",
)


@dataclass(frozen=True)
class Fact:
    """A fact as given, and as read."""

    place: int
    id: str
    text: str
    entry: Mapping[str, Any]
    statement: Statement

    @property
    def name(self) -> str:
        """How a person finds it."""
        return self.id or f"fact {self.place}"


def checks(
    golden: Golden, told: Sequence[Statement], known: Data | None, *, least: int
) -> list[Check]:
    """All checks of one file of facts."""
    name = f"golden_reports/{golden.anchor_facts.name}"
    try:
        content = object_of(golden.anchor_facts)
    except UnreadableError as error:
        return [PRESENT.failed(f"{name} {error}", file=name)]
    entries = content.get("anchor_facts")
    if not isinstance(entries, list) or not 0 < len(entries) <= MOST_FACTS:
        lack = f"has no list of 1 to {MOST_FACTS} facts under anchor_facts"
        return [PRESENT.failed(f"{name} {lack}", file=name)]
    facts = [each for place, entry in enumerate(entries, 1) if (each := _fact(place, entry))]
    repeats = copies_of([fact.statement for fact in facts])
    short = [fact for fact in facts if len(fact.text.strip()) < SHORTEST]
    once = [fact for fact, first in zip(facts, repeats, strict=True) if first is None]
    vague = [fact for fact in once if fact not in short and not _is_concrete(fact.statement)]
    sound = [fact for fact in once if fact not in (*short, *vague)]
    unsaid = [fact for fact in once if not is_in_report(fact.statement, told)]
    return [
        PRESENT.passed(f"{name}: {counted(len(facts), 'fact')}", file=name),
        *_shape(golden, content, entries, facts, known, name),
        *_each(LENGTH, short, facts, name),
        *_each(CONCRETE, vague, facts, name),
        *_repeated(facts, repeats, name),
        COUNT.held(
            len(sound) >= least,
            f"{name}: {len(sound)} distinct, concrete facts, at least {least} wanted",
            file=name,
        ),
        *_existing(facts, known, name),
        *_each(REPORTED, unsaid, facts, name),
        *_reviewed(content, facts, name),
    ]


def _fact(place: int, entry: Any) -> Fact | None:
    if not isinstance(entry, dict) or not isinstance(entry.get("fact"), str):
        return None
    text = entry["fact"]
    own = entry.get("id")
    return Fact(place, "" if own is None else str(own), text, entry, of_text(text))


def _is_concrete(fact: Statement) -> bool:
    """It names something, or counts something that is no aggregate."""
    names = [name for name in fact.names if not AGGREGATE.search(name)]
    if fact.tasks or fact.citations or names or fact.quotes:
        return True
    return bool(fact.numbers) and AGGREGATE.search(fact.text) is None


def _shape(
    golden: Golden,
    content: Mapping[str, Any],
    entries: list[Any],
    facts: Sequence[Fact],
    known: Data | None,
    name: str,
) -> Iterator[Check]:
    faults = []
    if len(facts) < len(entries):
        faults.append(
            f"{len(entries) - len(facts)} of {len(entries)} entries have no text in `fact`"
        )
    ids = [fact.id for fact in facts]
    if "" in ids or len(set(ids)) < len(ids):
        faults.append("ids are absent or repeated")
    odd = [fact.name for fact in facts if fact.entry.get("difficulty") not in DIFFICULTIES]
    if odd:
        faults.append(f"no difficulty of {', '.join(DIFFICULTIES)}: {listed(odd)}")
    faults += _whose(golden, content, known)
    yield from SHAPE.each_failed(faults, "id, fact, difficulty, benchmark, model", file=name)


def _whose(golden: Golden, content: Mapping[str, Any], known: Data | None) -> Iterator[str]:
    benchmark, model = content.get("benchmark"), content.get("model")
    benchmarks = _benchmarks(golden, known)
    if not isinstance(benchmark, str) or (benchmarks and benchmark not in benchmarks):
        yield f"benchmark is {str(benchmark)[:60]}, expected {' or '.join(benchmarks) or 'a name'}"
    own = known.run_called(golden.model) if known else None
    accepted = {golden.model} | ({own.model, own.run_id} if own else set())
    if not isinstance(model, str) or model not in accepted:
        # A report may be named after a model in other words; then the name must be a run's.
        named = known.run_called(model) if known and isinstance(model, str) else None
        if named is None or (own is not None and named != own):
            yield f"model is {str(model)[:60]}, expected {' or '.join(sorted(accepted))}"


def _benchmarks(golden: Golden, known: Data | None) -> list[str]:
    """By the rollouts, or by the sidecar: a folder that was copied may go by another name."""
    names = {run.benchmark for run in known.runs} if known else set()
    try:
        told = object_of(golden.metrics).get("benchmark")
    except UnreadableError:
        told = None
    return sorted(names | {told} if isinstance(told, str) else names)


def _each(rule: Rule, bad: Sequence[Fact], facts: Sequence[Fact], name: str) -> Iterator[Check]:
    if facts:
        faults = [f'{fact.name}: "{fact.text[:100]}"' for fact in bad]
        yield from rule.each_failed(faults, f"all {len(facts)}", file=name)


def _repeated(facts: Sequence[Fact], repeats: Sequence[int | None], name: str) -> Iterator[Check]:
    groups: dict[int, list[str]] = {}
    for fact, first in zip(facts, repeats, strict=True):
        if first is not None:
            groups.setdefault(first, []).append(fact.name)
    faults = []
    for first, names in groups.items():
        same = f"{listed(names)} repeat{'s' if len(names) == 1 else ''} {facts[first].name}"
        faults.append(f'{same}: "{facts[first].text[:80]}"')
    if facts:
        yield from DISTINCT.each_failed(faults, f"all {len(facts)}", file=name)


def _existing(facts: Sequence[Fact], known: Data | None, name: str) -> Iterator[Check]:
    if known is None:
        yield EXIST.skipped("there are no rollouts to look them up in", file=name)
        return
    rollouts = {fact.place: _cited(fact) for fact in facts}
    unknown = set(known.unknown([each for found in rollouts.values() for each in found]))
    tasks = {fact.place: _tasks(fact) for fact in facts}
    there = known.known_tasks(task for found in tasks.values() for task in found)
    faults = []
    for fact in facts:
        lost = [str(each) for each in rollouts[fact.place] if each in unknown]
        lost += [f"task {task}" for task in tasks[fact.place] if task not in there]
        if lost:
            faults.append(f"{fact.name}: no {listed(lost)}")
    n_named = sum(bool(rollouts[fact.place] or tasks[fact.place]) for fact in facts)
    well = f"{n_named} of {counted(len(facts), 'fact')} name some"
    yield from EXIST.each_failed(faults, well, file=name)


def _cited(fact: Fact) -> list[Citation]:
    texts = [each for each in _given(fact, "rollouts") if isinstance(each, str)]
    parsed = [each for each in map(citation.parse, texts) if each]
    return list(dict.fromkeys([*cited(fact.statement), *parsed]))


def _tasks(fact: Fact) -> list[str]:
    named = [str(each) for each in _given(fact, "tasks") if isinstance(each, (str, int))]
    own = {each.task_id for each in fact.statement.citations}
    return [task for task in dict.fromkeys([*fact.statement.tasks, *named]) if task not in own]


def _given(fact: Fact, key: str) -> list[Any]:
    listed_there = fact.entry.get(key)
    return listed_there if isinstance(listed_there, list) else []


def _reviewed(content: Mapping[str, Any], facts: Sequence[Fact], name: str) -> Iterator[Check]:
    waiting = [fact.name for fact in facts if fact.entry.get("review_required")]
    if content.get("review_required"):
        yield REVIEWED.warned(f"{name}: the file wants a review", file=name)
    elif waiting:
        yield REVIEWED.warned(f"{name}: {listed(waiting)}", file=name)
    else:
        yield REVIEWED.passed(name, file=name)
