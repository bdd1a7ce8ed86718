"""What findings and comparisons say, in sentences: the same for a page and a terminal.

The words are in report_templates/sentences; a voice is how a medium prints what they hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..text import one_line, plural
from . import templates, wording
from .comparisons import Change, Ledger
from .figures import Figure, Row

# How many names a sentence lists.
MOST_NAMES = 8
EFFECTS = wording.WORDS["effects"]
# What one metric says, each label with the macro of its name.
LABELS = (
    "verdict, change, new tasks, same tasks, missing, significance, decided by, pairing, why"
).split(", ")
# Kinds of findings whose sentence counts the other runs that it holds for.
OF_OTHERS = ("unscored", "unsettled", "unknown", "reported", "none_pass", "missing")
# Doubts and changes of the last tier come after what failures show.
LAST_TIER = 3
# So many of the others come before what failures show.
MOST_FIRST = 2


@dataclass(frozen=True)
class Benchmark:
    """What sentences on findings read of a benchmark: its runs, modes, and where these are."""

    runs: Sequence[Row]
    modes: list[Row]
    mode_parts: list[Row]
    concentrations: list[Row]


class Voice:
    """How a medium prints what a sentence holds: figures with their sources, or bare.

    `shown` makes of a format of numbers one of figures. The formats are attributes: `voice.pct`.
    """

    def __init__(
        self,
        shown: Callable[[Callable[[Any], str]], Callable[[Figure], str]],
        *,
        name: Callable[[str], str],
        text: Callable[[str], str],
        excerpt: Callable[[str, int], str],
        answer: Callable[[str, Row, str], str] = lambda word, _row, _expression: word,
    ) -> None:
        self.formats = {form: shown(formatted) for form, formatted in wording.FORMATS.items()}
        self.name = name
        self.text = text
        self.excerpt = excerpt
        self.answer = answer

    def __getattr__(self, form: str) -> Callable[[Figure], str]:
        if form not in wording.FORMATS:
            raise AttributeError(f"a voice has no format {form}")
        return self.formats[form]

    def level(self, of: Change | Row, figure: Figure) -> str:
        """A run's figure in the unit of the metric."""
        return self.pct(figure) if of.metric == "pass_at_1" else self.num(figure)

    def bare(self, of: Change | Row, figure: Figure) -> str:
        """A difference of two such figures, with its sign and without its unit."""
        return self.points(figure) if of.metric == "pass_at_1" else self.signed(figure)

    def change(self, of: Change | Row, figure: Figure) -> str:
        has_unit = of.metric == "pass_at_1" and figure.value is not None
        return self.bare(of, figure) + (" points" if has_unit else "")

    def span(self, of: Change | Row, low: Figure, high: Figure) -> str:
        """From the lower end of an interval to its upper one."""
        if low.value is None or high.value is None:
            return self.num(low)
        return f"{self.bare(of, low)} to {self.change(of, high)}"

    def listed(self, names: Sequence[str]) -> str:
        """A few names, the rest counted."""
        shown = ", ".join(self.name(name) for name in names[:MOST_NAMES])
        rest = len(names) - MOST_NAMES
        return f"{shown} and {rest} more" if rest > 0 else shown

    def many(self, figure: Figure, noun: str) -> str:
        """A count of things: 1 task, 2 tasks."""
        return f"{self.count(figure)} {noun if figure.value == 1 else plural(noun)}"

    @cache  # noqa: B019, there are two voices and they last
    def macros(self, name: str) -> Any:
        """The sentences of a template as functions."""
        environment = templates.environment("sentences", None, autoescape=False)
        environment.filters |= {
            **self.formats,
            "name": self.name,
            "text": self.text,
            "excerpt": self.excerpt,
            "listed": self.listed,
            "many": self.many,
            "answer": self.answer,
            "agree": agree,
            "one_line": one_line,
            "cause": wording.cause,
            "unsigned": lambda text: text.removeprefix("+"),
            "widest": widest,
            "moving": moving,
        }
        environment.globals |= {
            **wording.WORDS,
            "level": self.level,
            "bare": self.bare,
            "moved": self.change,
            "span": self.span,
        }
        return environment.get_template(f"{name}.j2").module

    def finding(self, row: Row, beside: Benchmark, *, is_of_several: bool = False) -> str:
        """A finding in one sentence, with the denominator of every share.

        Beside findings of other benchmarks one that names no run begins with its benchmark.
        """
        sentence = str(getattr(self.macros("findings"), row.kind)(row, beside))
        is_named = not is_of_several or row.values["run_id"] is not None
        return sentence if is_named else f"{self.name(row.benchmark)}: {sentence}"

    def counts(self, row: Row) -> str:
        """How many failures and passes have a mode, of how many that record it."""
        return str(self.macros("findings").counts(row))

    def statements(self, change: Change) -> list[tuple[str, str]]:
        """All that one metric says, a labelled sentence each; what is undefined says why."""
        if not change.row.n_common_tasks.value:
            return [("nothing shared", "the runs have no task in common")]
        macros = self.macros("comparisons")
        sentences = [(label, getattr(macros, label.replace(" ", "_"))(change)) for label in LABELS]
        return [(label, sentence) for label, sentence in sentences if sentence]

    def says(self, what: str) -> Callable[[Any], str]:
        """A sentence on a comparison, a change of it or a line of a ledger, by its macro."""
        return lambda of: str(getattr(self.macros("comparisons"), what)(of))


def agree(figure: Figure, one: str, several: str) -> str:
    return one if figure.value == 1 else several


def foremost(ranked: Iterable[Row], observations: Iterable[Row], most: int) -> list[Row]:
    """What matters most: doubts and changes, what failures show, then lesser doubts and changes.

    What questions the scores themselves comes before any change between them. What one doubt says
    of other runs too is not repeated for each. The third is what failures show. Benchmarks take
    turns, those with most failures first. Fewer are the first of more.
    """
    of_runs: list[Row] = []
    for row in ranked:
        if row.kind not in OF_OTHERS or all(row.kind != each.kind for each in of_runs):
            of_runs.append(row)
    first = [row for row in of_runs if row.values["tier"] < LAST_TIER]
    last = [row for row in of_runs if row.values["tier"] == LAST_TIER]
    by_turns = sorted(
        observations,
        key=lambda row: (
            row.values["finding_no"],
            -(row.values["n_failures"] or 0),
            row.values["benchmark"],
        ),
    )
    # A mode that another benchmark shows too comes after all others.
    modes: set[str] = set()
    others: list[Row] = []
    again: list[Row] = []
    for row in by_turns:
        mode = row.values["mode"]
        (again if mode is not None and mode in modes else others).append(row)
        modes.add(mode)
    by_turns = [*others, *again]
    of_scores = [row for row in by_turns if row.values["is_of_scores"]][:1]
    by_turns = [row for row in by_turns if row not in of_scores]
    of_changes = [*first[:MOST_FIRST], *by_turns[:1], *first[MOST_FIRST:], *by_turns[1:], *last]
    return [*of_scores, *of_changes][:most]


def moving(lines: Sequence[Row], delta: Figure) -> list[Row]:
    """The lines of a ledger that go the way of the change, and no further."""
    change = float(delta.value or 0)
    return [
        line
        for line in lines
        if line.line != "no shared sign"
        and line.shown.value
        and 0 < float(line.amount.value) * change <= change**2 * (1 + 1e-9)
    ]


def widest(ledgers: Sequence[Ledger]) -> list[Ledger]:
    """Of ledgers of one kind the one whose largest line is largest, if any line moves at all.

    That failures without a shared sign became more or fewer says nothing alone.
    """

    def size(ledger: Ledger) -> float:
        telling = [line for line in ledger.lines if line.line != "no shared sign"]
        return max((abs(float(line.amount.value)) for line in telling), default=0.0)

    return sorted((each for each in ledgers if size(each) > 0), key=size, reverse=True)[:1]


def parts(change: Change) -> list[Ledger]:
    """The ledgers by which a page takes a change apart.

    Where tasks of one run only move the whole score, how; then by failure modes, else by the widest
    slices.
    """
    mix = [each for each in change.ledger("task mix") if len(each.page) > 1]
    return [*mix, *(widest(change.ledger("failure modes")) or widest(change.ledger("slices")))]
