"""What findings and comparisons say, in sentences: the same for a page and a terminal.

The words stand in report_templates/sentences; a voice is how a medium prints what they hold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from pipeline.report import templates, wording
from pipeline.report.comparisons import Change, Comparison, Ledger
from pipeline.report.figures import Figure, Row
from pipeline.text import one_line

METRICS, EFFECTS = wording.WORDS["metrics"], wording.WORDS["effects"]
# What one metric says, each label with the macro of its name.
LABELS = "verdict, change, new tasks, same tasks, missing, significance, pairing, why".split(", ")


@dataclass(frozen=True)
class Voice:
    """How a medium prints what a sentence holds: figures with their sources, or bare."""

    percent: Callable[[Figure], str]
    points: Callable[[Figure], str]
    number: Callable[[Figure], str]
    signed: Callable[[Figure], str]
    count: Callable[[Figure], str]
    chance: Callable[[Figure], str]
    name: Callable[[str], str]
    text: Callable[[str], str]

    def level(self, of: Change | Row, figure: Figure) -> str:
        """A run's figure in the unit of the metric."""
        return self.percent(figure) if of.metric == "pass_at_1" else self.number(figure)

    def bare(self, of: Change | Row, figure: Figure) -> str:
        """A difference of two such figures, with its sign and without its unit."""
        return self.points(figure) if of.metric == "pass_at_1" else self.signed(figure)

    def change(self, of: Change | Row, figure: Figure) -> str:
        """The same with its unit."""
        has_unit = of.metric == "pass_at_1" and figure.value is not None
        return self.bare(of, figure) + (" points" if has_unit else "")

    def span(self, of: Change | Row, low: Figure, high: Figure) -> str:
        """From the lower end of an interval to its upper one."""
        if low.value is None or high.value is None:
            return self.number(low)
        return f"{self.bare(of, low)} to {self.change(of, high)}"

    def many(self, figure: Figure, noun: str) -> str:
        """A count of things: 1 task, 2 tasks."""
        return f"{self.count(figure)} {noun}{'' if figure.value == 1 else 's'}"


def agree(figure: Figure, one: str, several: str) -> str:
    """The verb of a count: 1 is, 2 are."""
    return one if figure.value == 1 else several


@cache
def spoken(name: str, voice: Voice) -> Any:
    """The sentences of a template as functions, in a voice."""
    made = templates.environment("sentences", None, autoescape=False)
    made.filters |= {**vars(voice), "many": voice.many, "agree": agree, "one_line": one_line}
    made.filters |= {
        "cause": wording.cause,
        "unsigned": lambda told: told.removeprefix("+"),
        "widest": widest,
    }
    made.globals |= {"level": voice.level, "bare": voice.bare, "moved": voice.change}
    made.globals |= {"span": voice.span, **wording.WORDS}
    return made.get_template(f"{name}.j2").module


def statements(change: Change, voice: Voice) -> list[tuple[str, str]]:
    """All that one metric says, a labelled sentence each; what is undefined says why."""
    if not change.row.n_common_tasks.value:
        return [("nothing shared", "the runs have no task in common")]
    macros = spoken("comparisons", voice)
    told = [(label, getattr(macros, label.replace(" ", "_"))(change)) for label in LABELS]
    return [(label, sentence) for label, sentence in told if sentence]


def headline(comparison: Comparison, voice: Voice) -> str:
    """One sentence: what changed by each metric, and the verdict where there is one."""
    return str(spoken("comparisons", voice).headline(comparison))


def verdict(change: Change, voice: Voice) -> str:
    """The verdict in words; none where no base was named."""
    return str(spoken("comparisons", voice).verdict(change))


def line_name(line: Row, voice: Voice) -> str:
    """What a line of a ledger is about; the last may stand for several."""
    return str(spoken("comparisons", voice).line_name(line))


def widest(ledgers: Sequence[Ledger]) -> list[Ledger]:
    """Of ledgers of one kind the one whose largest line is largest, if any line moves at all."""

    def size(ledger: Ledger) -> float:
        return max(abs(float(line.amount.value)) for line in ledger.lines)

    return sorted((each for each in ledgers if size(each) > 0), key=size, reverse=True)[:1]
