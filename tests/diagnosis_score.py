"""How well a diagnosis finds what the simulator planted: modes, causes and decisive events."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pipeline
from tests.lean import only
from tests.simulated import simulator

Key = tuple[str, str, int]
# Of these no attempt was played wrongly, so that no call of theirs departs from a pass.
NOT_PLAYED = frozenset({"DUPLICATE_PROMPT", "UNGRADED", "REFERENCE_CONTRADICTION"})


@dataclass
class Score:
    """Counts over any number of simulated folders."""

    # (planted mode, primary mode) and (planted mode, divergence points at the planted event)
    modes: Counter[tuple[str, str]] = field(default_factory=Counter)
    divergences: Counter[tuple[str, bool]] = field(default_factory=Counter)

    @property
    def accuracy(self) -> float:
        """The share of failing attempts whose primary mode is the planted one."""
        return self._n_right / self.modes.total()

    @property
    def macro_f1(self) -> float:
        """The mean over planted modes of the harmonic mean of precision and recall."""
        planted_modes = sorted({mode for mode, _ in self.modes} - {NOTHING})
        return sum(map(self.f1, planted_modes)) / len(planted_modes)

    @property
    def divergence_rate(self) -> float:
        """The share of sometimes-pass pairs that part at the planted event."""
        hits = sum(n for (_, is_hit), n in self.divergences.items() if is_hit)
        return hits / self.divergences.total()

    @property
    def _n_right(self) -> int:
        return sum(n for (wanted, got), n in self.modes.items() if wanted == got)

    def f1(self, mode: str) -> float:
        """Of one mode."""
        right = self.modes[mode, mode]
        wrong = sum(n for pair, n in self.modes.items() if mode in pair) - right
        return 2 * right / (2 * right + wrong)

    def lines(self) -> list[str]:
        """A table by planted mode, with what it was taken for: the confusion, row by row."""
        lines = [f"{'planted mode':26}{'n':>5}{'F1':>6}  {'divergence':>10}  taken for"]
        for mode in sorted({mode for mode, _ in self.modes}):
            taken = {got: n for (wanted, got), n in self.modes.items() if wanted == mode}
            others = ", ".join(f"{got} {n}" for got, n in sorted(taken.items()) if got != mode)
            parted = self.divergences[mode, True], self.divergences[mode, False]
            pairs = f"{parted[0]}/{sum(parted)}" if sum(parted) else ""
            n = sum(taken.values())
            lines.append(f"{mode:26}{n:5}{self.f1(mode):6.2f}  {pairs:>10}  {others}")
        return lines


NOTHING = "(passed)"


def score(folder: Path, seeds: Iterable[int]) -> Score:
    """Simulate a demo for each seed, analyse it, and compare."""
    found = Score()
    for seed in seeds:
        results, out = folder / f"results_{seed}", folder / f"out_{seed}"
        simulator().write_demo(results, seed=seed)
        with only("rollout_modes", "contrasts"):
            pipeline.analyze(results, out=out)
        _add(found, results, out)
    return found


def _add(found: Score, results: Path, out: Path) -> None:
    with pipeline.open_warehouse(out / "warehouse.duckdb") as warehouse:
        modes = _by_key(warehouse, "rollout_modes where is_primary", "mode")
        parted = _by_key(warehouse, "contrasts", "seq")
    planted = (results / ".planted" / "planted_causes.jsonl").read_text(encoding="utf-8")
    for row in map(json.loads, planted.splitlines()):
        mode, key = row["mode"], (row["run"], str(row["_ng_task_index"]), row["_ng_rollout_index"])
        found.modes[mode, modes.pop(key, NOTHING)] += 1
        if key in parted and mode not in NOT_PLAYED:
            # The events of its output that show it; none, where there is no row or no output.
            is_hit = parted[key] == row["event_seq"] or parted[key] in row["also_seq"]
            found.divergences[mode, is_hit] += 1
    # A mode on an attempt that nothing is wrong with.
    for mode in modes.values():
        found.modes[NOTHING, mode] += 1


def _by_key(warehouse: Any, source: str, column: str) -> dict[Key, Any]:
    rows = warehouse.execute(f"select run_id, task_id, rollout_index, {column} from {source}")
    return {(run, task, index): value for run, task, index, value in rows.fetchall()}
