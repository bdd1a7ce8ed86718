"""Draft facts of a golden report, from what has a form: rows, labels, citations, quotes, sources.

A cause is a label in a column or before a colon, a count is a figure with its query. A mode is the
text that a column of modes or the query of a block names; a sentence that repeats it speaks of it.
The words between them are not read. A person edits the drafts.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from operator import itemgetter
from pathlib import Path

from pipeline.citation import parse
from pipeline.package.blocks import QUOTED, Block, read
from pipeline.package.facts import HIGH, LOW, MEDIUM, SHORTEST, Fact, Subject, Value
from pipeline.package.layout import UNSAFE
from pipeline.package.verify.units import (
    CELLS,
    HEADS,
    Unit,
    head,
    is_headed,
    names_in,
    short_names,
    title_task,
    units,
    visible,
)
from pipeline.report.cited import literal

LONGEST, MOST_TERMS, ENOUGH_TERMS = 420, 8, 5
TOLD = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
PREDICATES, WORTH = TOLD["predicates"], TOLD["worth"]
FORM = {name: re.compile(told) for name, told in TOLD["patterns"].items()}
COMMON = frozenset(TOLD["words"]["common"].split())
QUANTITIES = ("count", "rate", "bucket")
# What is said of rollouts; the rest is said of a task once.
OF_ROLLOUTS = ("outcome", "other")
NAMELESS = "names no task, rollout or mode, quotes nothing, and has no source"
REPEATED = "says of its subject what another fact says"
SURPASSED = "tells less than those chosen"

# Predicate, value, what it is about, the text, and the query of the value.
Claim = tuple[str, Value, Subject, str, str | None]
# What a fact is worth, its line, and the fact.
Candidate = tuple[float, int, Fact]


@dataclass(frozen=True)
class Drafted:
    """The facts in the order of the report, and how many other statements are none, and why."""

    facts: tuple[Fact, ...]
    left_out: tuple[tuple[str, int], ...]


def draft(text: str, *, model: str, most: int) -> Drafted:
    """At most so many facts of a golden report: each subject and predicate once, spread widely."""
    reader = _Reader(text)
    found: dict[tuple[object, ...], Candidate] = {}
    reasons: Counter[str] = Counter()
    for unit in reader.units:
        # Of several claims of one sentence the one that says most.
        told = {each[2].fact: each for each in sorted(reader.candidates(unit), key=itemgetter(0))}
        reasons[NAMELESS] += not told
        for fact, each in ((each[2], each) for each in told.values()):
            about: object = (fact.section, fact.value)
            if fact.subject.task is not None:
                about = fact.subject if fact.predicate in OF_ROLLOUTS else fact.subject.task
            key = (fact.subject.run, about, fact.predicate)
            reasons[REPEATED] += key in found
            found[key] = each if key not in found or each[0] > found[key][0] else found[key]
    chosen = _spread(list(found.values()), most)
    reasons[SURPASSED] += len(found) - len(chosen)
    name = UNSAFE.sub("-", model).strip("-") or "fact"
    facts = tuple(replace(fact, id=f"{name}-{n:02d}") for n, fact in enumerate(chosen, 1))
    return Drafted(facts, tuple((why, n) for why, n in sorted(reasons.items()) if n))


def _spread(found: list[Candidate], most: int) -> list[Fact]:
    """The best, each time counting what its section, its task and its predicate have already.

    A sentence is taken once, and no more than half of the facts are quantities.
    """
    used: Counter[tuple[str, object]] = Counter()
    chosen: list[Candidate] = []

    def marks(fact: Fact) -> list[tuple[str, object]]:
        task = fact.subject.task or fact.fact
        return [("section", fact.section), ("task", task), ("predicate", fact.predicate)]

    def worth(each: Candidate) -> tuple[float, int, str]:
        value, line, fact = each
        spent = sum(WORTH[mark[0]] * used[mark] for mark in marks(fact))
        return value - spent, -line, fact.predicate

    while found and len(chosen) < most:
        best = max(found, key=worth)
        chosen.append(best)
        used.update(marks(best[2]))
        is_full = 2 * sum(fact.predicate in QUANTITIES for *_, fact in chosen) + 2 > most
        found = [each for each in found if each[2].fact != best[2].fact]
        found = [each for each in found if not (is_full and each[2].predicate in QUANTITIES)]
    return [fact for _, _, fact in sorted(chosen, key=lambda each: (each[1], each[2].fact))]


class _Reader:
    """A report with the names that it uses for runs and tasks."""

    def __init__(self, text: str) -> None:
        report = read(text)
        every = units(report)
        cited = [each for unit in every for each in unit.cited]
        told = "\n".join(source.text for block in report.blocks for source in block.sources)
        runs = Counter([each.run_id for each in cited] + FORM["run"].findall(told))
        self.run = max(sorted(runs), key=runs.__getitem__) if runs else None
        # What tells runs apart may stand for them, as a model's name does.
        self.runs = {
            run: re.compile(rf"(?<![^\W_]){re.escape(short)}(?![\w-])")
            for run, short in short_names(runs).items()
        }
        self.modes = {name.replace("''", "'") for name in FORM["mode"].findall(told)}
        self.modes |= {
            _told("mode", visible(unit.raw(span)))
            for unit in every
            if unit.is_row
            for span in unit.spans
            if is_headed(span, "mode")
        }
        self.modes -= {""}
        self.tasks = {task for unit in every for _, task in unit.tasks}
        self.tasks |= {each.task_id for each in cited}
        # Whose the tasks below a heading are: the run that is cited there first.
        self.below: dict[tuple[str, ...], str] = {}
        for unit in every:
            for each in unit.cited:
                self.below.setdefault(unit.block.path, each.run_id)
        self.words = Counter(word.casefold() for word in FORM["words"].findall(text))
        self.units = [
            unit
            for unit in every
            if unit.block.kind != "heading"
            and not FORM["apart"].search("".join(unit.block.path[:1]))
        ]
        # The block read last, and the task that it spoke of.
        self.last: tuple[Block | None, str] = (None, "")

    def candidates(self, unit: Unit) -> Iterator[Candidate]:
        """What one sentence or row claims."""
        if any(told.startswith("blade ") for *_, told in unit.codes):
            return
        # Words of the record; one or two may be a name.
        words = (said for *_, said in unit.quotes if len(said.split()) > 2)
        quotes = tuple(dict.fromkeys(words))
        has_event = any(each.seq is not None for each in unit.cited)
        for predicate, value, subject, told, sql in self._claims(unit, quotes):
            text = " ".join(FORM["hidden"].sub("", told).split())
            if not SHORTEST <= len(text) <= LONGEST or text.endswith((":", "?")):
                continue
            is_about = bool(unit.cites or subject.task)
            level = HIGH if has_event or (quotes and is_about) else MEDIUM if is_about else LOW
            fact = Fact(
                id="",
                fact=text,
                difficulty=level,
                section=unit.block.path[0] if unit.block.path else None,
                subject=subject,
                predicate=predicate,
                value=value,
                sql=sql,
                citations=tuple(dict.fromkeys(str(each) for each in unit.cited)),
                quotes=quotes,
                terms=self._terms(unit, text),
            )
            worth = PREDICATES[predicate]["worth"] + WORTH[level]
            worth += 1.0 * bool(quotes) + 0.5 * bool(sql) - 0.5 * unit.is_row
            worth -= 3.0 * bool(FORM["dangling"].match(text)) + (subject.task is None)
            yield worth, unit.line, fact

    def _claims(self, unit: Unit, quotes: tuple[str, ...]) -> Iterator[Claim]:
        subject, prefix = self._subject(unit)
        if unit.is_row:
            yield from self._of_row(unit, subject)
            return
        seen = FORM["hidden"].sub("", visible(unit.text)).strip()
        text = prefix + seen
        names = [*self._names(unit), *(each[1:-1] for each in QUOTED.findall(seen))]
        labels = [*filter(None, (unit.label(span, start) for span, start, *_ in unit.cites))]
        modes = self._modes(seen)
        if subject.task and (match := FORM["cause"].search(seen)):
            yield "cause", match["cause"], subject, text, _query("cause", subject)
        # A mode may hold the word, and is no call.
        others = re.sub(r"`([^`]*)`", lambda code: "" if code[1] in self.modes else code[0], seen)
        noted = FORM["noted"].match(names[0]) if names else None
        if subject.task and noted:
            query = _query("expected_call", subject, tool=noted["tool"])
            yield "expected_call", noted["tool"], subject, text, query
        elif subject.task and names and (match := FORM["expected"].search(others)):
            query = _query("expected_call", subject, tool=names[0])
            is_tool = match[0].endswith(":")
            yield "expected_call", names[0], subject, text, query if is_tool else None
        if subject.task and names and FORM["check"].match(seen):
            yield "check", names[0], subject, text, None
        if labels and len(subject.rollouts) == 1:
            yield "outcome", labels[0], subject, text, _query("outcome", subject)
        elif len(modes) == 1 and (subject.task or unit.cites or unit.block.sources):
            yield "mode", modes[0], subject, text, _query("mode", subject, mode=modes[0])
        yield from _figures(unit, subject, text)
        if unit.cites or (subject.task and (names or quotes)):
            yield "other", None, subject, text, None

    def _of_row(self, unit: Unit, subject: Subject) -> Iterator[Claim]:
        cells = {head(span): visible(unit.raw(span)).strip(" *") for span in unit.spans}
        whole = {name: f"{name}: {told}".lstrip(": ") for name, told in cells.items() if told}
        for name, cell in cells.items():
            predicate = next((each for each in TOLD["rows"] if HEADS[each].fullmatch(name)), "")
            value = _told(predicate, cell) if predicate else ""
            listed = unit.listed_tasks if predicate == "cause" else []
            for about in [Subject(self.run, task) for task in listed] or [subject]:
                if value and (predicate == "mode" or about.task):
                    rest = "; ".join(each for other, each in whole.items() if other != name)
                    said = {"task": about.task, "value": value, "rest": rest}
                    also = {"mode": value} if predicate == "mode" else {}
                    is_asked = predicate != "check" and (predicate != "outcome" or about.rollouts)
                    query = _query(predicate, about, **also) if is_asked else None
                    yield predicate, value, about, TOLD["rows"][predicate].format(**said), query
        first, text = next(iter(cells.values()), ""), "; ".join(whole.values())
        if re.match(r"\W*[^\W\d]", first) and not first.casefold().startswith(("total", "all")):
            yield from _figures(unit, subject, f"{text[:1].upper()}{text[1:]}.")

    def _subject(self, unit: Unit) -> tuple[Subject, str]:
        """What a unit is about, and how to name it where only what stands before it does."""
        titles = (self._title(title) for title in unit.block.path[::-1])
        before = next((task for task in titles if task), "")
        if unit.block.kind == "paragraph" and unit.block is self.last[0] and self.last[1]:
            before = self.last[1]
        cited = unit.cited
        own = [each for each in cited if each.task_id == before] or cited
        codes = [told for *_, told in unit.codes if parse(told) is None and told not in self.runs]
        named = [task for _, task in unit.tasks]
        named += [each.strip("`") for each in FORM["named"].findall(unit.text)]
        named = named or [told for told in codes if told in self.tasks]
        named = named or [told for told in codes if FORM["id"].fullmatch(told) and not self.runs]
        runs = [run for run, name in self.runs.items() if name.search(unit.text)]
        run = self.run if not runs else runs[0] if len(runs) == 1 else None
        subject, prefix = Subject(run), ""
        if len({(each.run_id, each.task_id) for each in own}) == 1:
            indexes = sorted({each.rollout_index for each in own})
            subject = Subject(own[0].run_id, own[0].task_id, tuple(indexes))
        elif len({each.task_id for each in own} or set(named)) == 1:
            subject = Subject(run, own[0].task_id if own else named[0])
        elif before and not cited and not named:
            run = run if runs else self.below.get(unit.block.path, run)
            subject, prefix = Subject(run, before), f"Task `{before}`: "
        self.last = (unit.block, subject.task or "")
        return subject, prefix

    def _title(self, title: str) -> str:
        """The one task that a heading names."""
        plain = title.replace("`", "").strip()
        if re.match(r"tasks\b", plain, re.IGNORECASE):
            return ""
        return title_task(title) or (plain if plain in self.tasks else "")

    def _modes(self, seen: str) -> list[str]:
        """The modes that a sentence names; what else stands in code may be anybody's text."""
        bare = re.sub(r"`([^`]*)`", lambda code: code[1] if code[1] in self.modes else "|", seen)
        return names_in(bare, self.modes)

    def _names(self, unit: Unit) -> list[str]:
        plain = [told for *_, told in unit.codes if parse(told) is None]
        return [told for told in plain if told not in {*self.tasks, *self.runs, *self.modes}]

    def _terms(self, unit: Unit, text: str) -> tuple[str, ...]:
        """Names first, then words that the report uses least."""
        names = [each[1:-1] for each in QUOTED.findall(text) if len(each.split()) < 3]
        names += self._names(unit) + self._modes(text) + FORM["names"].findall(text)
        short = [name for name in dict.fromkeys(names) if 2 < len(name) <= 40][:MOST_TERMS]
        words = FORM["words"].findall(re.sub(r"`[^`]*`|\"[^\"]*\"", " ", text))
        told = set(map(str.casefold, words)) - COMMON - {name.casefold() for name in short}
        rare = sorted(told, key=lambda each: (self.words[each], each))
        return (*short, *rare[: max(0, ENOUGH_TERMS - len(short))])


def _told(predicate: str, cell: str) -> str:
    """The value that a cell gives; nothing where it gives none."""
    if predicate == "check":
        return cell.strip("`")
    if predicate == "mode":
        code = re.search(r"`([^`]+)`", cell)
        name = (code[1] if code else cell).strip(" *")
        return "" if FORM["no_mode"].fullmatch(name) else name
    match = CELLS[predicate].fullmatch(cell.strip("`"))
    if match is None or predicate == "cause":
        return match[0] if match else ""
    return match["bucket"].lower() if predicate == "bucket" else match.lastgroup or ""


def _figures(unit: Unit, subject: Subject, text: str) -> Iterator[Claim]:
    """The first figure of a unit that says something of a task, a rollout, a row or a query."""
    queries = _queries(unit.block)
    is_telling = bool(subject.task or unit.cites or unit.is_row)
    for token in (each for each in unit.tokens if each.value is not None):
        assert token.value is not None
        sql = queries.get(token.start)
        if token.is_signed and token.unit and (not sql or FORM["compared"].search(sql)):
            side = "higher" if token.value > 0 else "lower"
            query = f"select if(({sql}) > 0, 'higher', 'lower')" if sql else None
            candidate = FORM["candidate"].search(sql or "")
            about = replace(subject, run=candidate[1]) if candidate else subject
            yield "direction", side, about, text, query
            return
        if token.unit != "points" and (sql or is_telling):
            value = token.value if token.decimals else int(token.value)
            value = round(value / 100, token.decimals + 2) if token.unit else value
            yield "rate" if token.unit else "count", value, subject, text, sql
            return


@lru_cache(maxsize=1)
def _queries(block: Block) -> dict[int, str]:
    """The query of each figure by its place, where the sources have one column for each."""
    found = []
    for source in block.sources:
        columns, _, rest = (source.query or "").partition("\n")
        if not source.text.lower().startswith("from") or "(" in columns:
            return {}
        found += [f"select {column.strip()} {rest}" for column in columns[7:].split(",")]
    places = [token.start for token in block.tokens]
    return dict(zip(places, found, strict=True)) if len(places) == len(found) else {}


def _query(predicate: str, subject: Subject, **also: str) -> str | None:
    """What a relation says of a task, or of some of its rollouts; none where the run is unknown.

    A mode may be one of the whole run.
    """
    if subject.run is None or (subject.task is None and predicate != "mode"):
        return None
    select, relation = PREDICATES[predicate]["select"], PREDICATES[predicate]["from"]
    where = f"run_id = {literal(subject.run)}"
    if subject.task is not None:
        where += f" and task_id = {literal(subject.task)}"
    if subject.rollouts and relation in ("rollouts", "rollout_modes"):
        where += f" and rollout_index in ({', '.join(map(str, subject.rollouts))})"
    where += "".join(f" and {name} = {literal(value)}" for name, value in also.items())
    return f"select {select} from {relation} where {where}"
