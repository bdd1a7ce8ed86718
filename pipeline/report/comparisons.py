"""Relations -> what a comparison of two runs says: its figures by metric, and why they changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from .declared import OF_PAIRS
from .figures import Row, grouped
from .tables import Source, read
from .wording import rounded

STANDING = ("regressed", "improved", "")
# Of fewer common tasks nothing can be shown; more such pairs than this are one line.
FEWEST_TASKS = 10
MOST_SMALL = 3
MOST_IN_ORDER = 10


@dataclass(frozen=True)
class Ledger:
    """One way to take a change apart; its lines add up to its total."""

    name: str
    policy: str
    slice_key: str
    rows: list[Row]

    @property
    def lines(self) -> list[Row]:
        """Every line, without the one that sums up several on a page."""
        return [row for row in self.rows if row.values["line_no"] > 0]

    @property
    def page(self) -> list[Row]:
        """The lines that a page has room for, and that move; the last may sum up several."""
        is_matrix = self.name == "bucket transitions"
        return [row for row in self.rows if row.is_shown and (is_matrix or row.amount.value)]

    @property
    def total(self) -> Row:
        """A row that holds the total: every line does."""
        return self.rows[0]

    @property
    def has_rates(self) -> bool:
        """Whether its lines say how many attempts of each run they are about."""
        return any(row.base_rate.value is not None for row in self.page)


@dataclass(frozen=True)
class Change:
    """What changed by one metric, with its ledgers and the tasks that changed most."""

    row: Row
    ledgers: list[Ledger]
    changed: list[Row]

    @property
    def metric(self) -> str:
        return str(self.row.values["metric"])

    @property
    def gains(self) -> list[Row]:
        return [task for task in self.changed if task.is_gain]

    @property
    def losses(self) -> list[Row]:
        return [task for task in self.changed if not task.is_gain]

    def ledger(self, name: str) -> list[Ledger]:
        """The ledgers of a name: one, none, or one a slice."""
        return [each for each in self.ledgers if (each.name, each.policy) == (name, "dropped")]


@dataclass(frozen=True)
class Comparison:
    """A candidate beside its base: the metric that leads first."""

    base: str
    candidate: str
    changes: list[Change]
    settings: list[Row]
    transitions: list[Row]
    refused: list[Row]
    metrics: list[Row]
    flips: list[Row]
    flip_signs: list[Row] = field(default_factory=list)
    # All rows about the pair, by table.
    tables: Mapping[str, list[Row]] = field(default_factory=dict)

    @property
    def differing(self) -> list[Row]:
        """The settings that both runs record, and in which they differ."""
        sides = ("base_value", "candidate_value", "n_tasks")
        return [
            row
            for row in self.settings
            if not row.unrecorded_by and any(row.values[side] is not None for side in sides)
        ]

    @property
    def unlike(self) -> list[str]:
        """What gives the compared rewards, where it is recorded not to be the same."""
        return sorted(row.setting for row in self.differing if row.values["gives_rewards"])

    @property
    def only_setting(self) -> Row | None:
        """The one setting that differs, if the runs are neither called by it nor scored with it."""
        return next((row for row in self.settings if row.values["is_only"]), None)

    @property
    def unrecorded(self) -> dict[str, list[Row]]:
        """By run the settings that the other run alone records."""
        return grouped([row for row in self.settings if row.unrecorded_by], "unrecorded_by")

    @property
    def has_no_model(self) -> bool:
        """Whether neither run records its model: it may differ as well."""
        known = sum(map(len, self.unrecorded.values()), len(self.differing))
        return known < len(self.settings)

    @property
    def is_of_one_model(self) -> bool:
        """Whether both runs record the same model: what else differs is what was tried."""
        return all(row.setting != "model" for row in self.settings)

    @property
    def is_alike(self) -> bool:
        """Whether none of their common tasks changed."""
        values = self.lead.row.values
        return not (values["delta"] or values["n_gains"] or values["n_losses"])

    @property
    def lead(self) -> Change:
        return self.changes[0]

    @property
    def shown_changes(self) -> list[Change]:
        """The first change, and those that move otherwise: not where rewards are passes."""
        names = ("base_value", "candidate_value", "delta")
        moves = [[rounded(change.row.values[name]) for name in names] for change in self.changes]
        return [
            self.lead,
            *(c for c, own in zip(self.changes, moves, strict=True) if own != moves[0]),
        ]

    @property
    def benchmark(self) -> str:
        return str(self.lead.row.values["benchmark"])

    @property
    def standing(self) -> str:
        """Which way it is decided, with all candidates allowed for; empty where it is not."""
        verdict = self.lead.row.values["verdict_holm"] or ""
        # A policy has words of its own.
        return "regressed" if verdict.startswith("FAIL") else verdict if verdict in STANDING else ""

    @property
    def changed_by(self) -> float:
        """How far a change without a verdict is from none; 0 where none is shown."""
        values = self.lead.row.values
        is_undecided = values["is_changed"] and not self.is_named
        return abs(values["delta"] or 0) if is_undecided else 0

    @property
    def is_small(self) -> bool:
        """Whether it has too few tasks to show anything, and shows nothing."""
        values = self.lead.row.values
        is_decided = self.standing or values["is_changed"]
        return not is_decided and values["n_common_tasks"] < FEWEST_TASKS

    @property
    def is_named(self) -> bool:
        """Whether the base was named, so that there is a verdict."""
        return bool(self.lead.row.values["is_named"])


def hides_small(n_small: int, n_others: int) -> bool:
    """Whether pairs of few tasks are one line: beside others, or where they are many."""
    return n_small > 0 and (n_others > 0 or n_small > MOST_SMALL)


def telling(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Those that may show something; all of them where only a few have too few tasks."""
    others = [each for each in comparisons if not each.is_small]
    return others if hides_small(len(comparisons) - len(others), len(others)) else [*comparisons]


def leading(comparisons: Iterable[Comparison], most: int | None = None) -> list[Comparison]:
    """Those with a verdict first, what is decided before what is not, then by tasks in common.

    Of changes without a verdict those of one model are first, then the largest; runs that are alike
    in every task are last. Of so many only the first; a regression is never left out.
    """
    every = list(comparisons)
    ranked = sorted(
        every,
        key=lambda each: (
            not each.is_named,
            STANDING.index(each.standing),
            each.is_alike,
            not each.changed_by,
            not each.is_of_one_model,
            -each.changed_by,
            -each.lead.row.values["n_common_tasks"],
            # Of many pairs that show nothing the first in the order of names would be any one.
            -abs(each.lead.row.values["delta"] or 0) if len(every) > MOST_IN_ORDER else 0,
        ),
    )
    n_first = len(ranked) if most is None else most
    return ranked[:n_first] + [each for each in ranked[n_first:] if each.standing == "regressed"]


def compared(rows: Mapping[str, list[Row]]) -> list[Comparison]:
    """Every comparison, by benchmark and pair, of the tables about pairs."""
    tables = {table.name: grouped(rows[table.name], "base", "candidate") for table in OF_PAIRS}
    return [
        Comparison(
            base=pair[0],
            candidate=pair[1],
            changes=_changes(own, tables["ledgers"][pair], tables["changed_tasks"][pair]),
            settings=tables["comparison_settings"][pair],
            transitions=tables["transitions"][pair],
            refused=tables["refused_tasks"][pair],
            metrics=tables["comparison_metrics"][pair],
            flips=tables["flips"][pair],
            flip_signs=tables["flip_signs"][pair],
            tables={name: by_pair[pair] for name, by_pair in tables.items()},
        )
        for pair, own in tables["comparisons"].items()
    ]


def comparisons(source: Source) -> list[Comparison]:
    return compared(read(source, OF_PAIRS))


def _changes(own: list[Row], ledgers: list[Row], changed: list[Row]) -> list[Change]:
    lines, tasks = grouped(ledgers, "metric"), grouped(changed, "metric")
    changes = []
    for row in own:
        parts = grouped(lines[row.metric], "ledger", "policy", "slice_key").items()
        by_name = [Ledger(name, policy, key, part) for (name, policy, key), part in parts]
        changes.append(Change(row, by_name, tasks[row.metric]))
    return changes
