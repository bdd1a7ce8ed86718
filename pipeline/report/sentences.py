"""What a comparison says, in sentences: the same for a page and a terminal, each in its voice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pipeline.report.comparisons import Change, Comparison, Ledger
from pipeline.report.figures import Figure, Row

METRICS = {"pass_at_1": "pass@1", "mean_reward": "mean reward"}
TESTS = {
    "signs of tasks": "sign-flip test over tasks",
    "signs of groups": "sign-flip test over groups of tasks",
    "t of tasks' differences": "t test over tasks",
}
EFFECTS = {"mix": " (share of tasks)", "reward": " (reward of those that end here)"}
MOST_LINES = 3
# Of fewer tasks than these a sentence says so.
FEW_TASKS = 10

Statement = tuple[str, str]


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

    def level(self, change: Change, figure: Figure) -> str:
        """A run's figure in the unit of the metric."""
        return self.percent(figure) if change.metric == "pass_at_1" else self.number(figure)

    def change(self, change: Change, figure: Figure) -> str:
        """A difference of two such figures, with its sign."""
        if change.metric != "pass_at_1":
            return self.signed(figure)
        return f"{self.points(figure)} points" if figure.value is not None else self.points(figure)

    def span(self, change: Change, low: Figure, high: Figure) -> str:
        """From the lower end of an interval to its upper one."""
        if low.value is None or high.value is None:
            return self.number(low)
        if change.metric != "pass_at_1":
            return f"{self.signed(low)} to {self.signed(high)}"
        return f"{self.points(low)} to {self.points(high)} points"


def statements(change: Change, voice: Voice) -> list[Statement]:
    """All that one metric says, a labelled sentence each; what is undefined says why."""
    row = change.row
    if not row.n_common_tasks.value:
        return [("nothing shared", "the runs have no task in common")]
    told = [
        ("verdict", verdict(change, voice)),
        ("change", _change(change, voice)),
        ("new tasks", _new_tasks(change, voice)),
        ("same tasks", _same_tasks(change, voice)),
        ("missing", _missing(change, voice)),
        ("significance", _chance(change, voice)),
        ("pairing", _pairing(change, voice)),
        ("why", contributors(change, voice)),
    ]
    return [(label, sentence) for label, sentence in told if sentence]


def headline(comparison: Comparison, voice: Voice) -> str:
    """One sentence: what changed by each metric, and the verdict where there is one."""
    row = comparison.lead.row
    pair = f"{voice.name(comparison.candidate)} vs {voice.name(comparison.base)}"
    if not row.n_common_tasks.value:
        return f"{pair}: no task in common, so nothing can be compared."
    told = "; ".join(_moved(change, voice) for change in comparison.told)
    said = decided(comparison.lead, voice)
    n_common = f"{voice.count(row.n_common_tasks)} common {_tasks(row.n_common_tasks)}"
    return f"{pair} on {n_common}: {told}{', ' if said else ''}{said}."


def decided(change: Change, voice: Voice) -> str:
    """The verdict; without a baseline, whether the interval leaves out no change."""
    told = verdict(change, voice, is_corrected=True)
    low, high = change.row.ci_new_tasks_low.value, change.row.ci_new_tasks_high.value
    if told or low is None or high is None:
        return told
    return "significant" if low > 0 or high < 0 else "not significant"


def _moved(change: Change, voice: Voice) -> str:
    row = change.row
    told = f"{METRICS[change.metric]} {voice.change(change, row.delta)}"
    if row.ci_new_tasks_low.value is None:
        return told
    low, high = row.ci_new_tasks_low, row.ci_new_tasks_high
    print_ = voice.points if change.metric == "pass_at_1" else voice.signed
    return f"{told} (95% CI {print_(low)} to {print_(high)})"


def verdict(change: Change, voice: Voice, *, is_corrected: bool = False) -> str:
    """The verdict in words, corrected for all candidates; none where no base was named."""
    row = change.row
    said = row.verdict_holm if is_corrected else row.verdict
    if not isinstance(said, str):
        return ""
    if row.could_reverse:
        n = (row.n_base_only.value or 0) + (row.n_candidate_only.value or 0)
        tasks = "the task that only one run has" if n == 1 else "the tasks that only one run has"
        return f"{said}: {tasks} could reverse it"
    told = said
    if said == "no change":
        told = f"no change beyond {voice.change(change, row.margin).lstrip('+')}"
    if said != row.verdict_holm:
        told += f" by itself, {row.verdict_holm} among all candidates"
    return told


def _change(change: Change, voice: Voice) -> str:
    row = change.row
    told = (
        f"{voice.change(change, row.delta)} on {voice.count(row.n_common_tasks)} common "
        f"{_tasks(row.n_common_tasks)}, from {voice.level(change, row.base_common)} to "
        f"{voice.level(change, row.candidate_common)}"
    )
    if not row.n_base_tasks.value == row.n_candidate_tasks.value == row.n_common_tasks.value:
        told += (
            f"; over all tasks of each run {voice.change(change, row.total_change)}, from "
            f"{voice.level(change, row.base_value)} to {voice.level(change, row.candidate_value)}"
        )
    return told


def _new_tasks(change: Change, voice: Voice) -> str:
    row = change.row
    if row.n_common_tasks.value == 1:
        return "n/a: one common task says nothing of other tasks"
    if row.ci_new_tasks_low.value is None:
        return "n/a: too few tasks for a CI"
    told = voice.span(change, row.ci_new_tasks_low, row.ci_new_tasks_high)
    return f"95% CI {told}{_detectable(change, row.mde_new_tasks, voice)}"


def _same_tasks(change: Change, voice: Voice) -> str:
    row = change.row
    words = {
        "higher": "the candidate is higher",
        "lower": "the candidate is lower",
        "not told apart": "no significant difference",
    }
    found = words.get(row.on_these_tasks) if isinstance(row.on_these_tasks, str) else None
    if found is not None and row.on_these_tasks_counted_as_fail != row.on_these_tasks:
        found += ", but not with missing attempts counted as failures"
    if row.ci_same_tasks_low.value is not None:
        span = voice.span(change, row.ci_same_tasks_low, row.ci_same_tasks_high)
        seen = _detectable(change, row.mde_same_tasks, voice)
        return f"95% CI {span}{seen}; {found}"
    if found is not None:
        return f"{found} (repeats compared task by task; too few mixed tasks for a CI)"
    if row.se_same_tasks.value is None:
        return "n/a: it takes repeats in both runs"
    return "n/a: too few tasks vary between repeats"


def _detectable(change: Change, figure: Figure, voice: Voice) -> str:
    if figure.value is None:
        return ""
    size = voice.change(change, figure).lstrip("+")
    return f"; minimum detectable change {size} (80% power)"


def _missing(change: Change, voice: Voice) -> str:
    row = change.row
    if row.bound_low.value is None:
        return "n/a: rewards have no bounds"
    if row.bound_low.value == row.bound_high.value:
        return ""
    moved = voice.change(change, row.delta_counted_as_fail)
    told = f"{moved} if all missing attempts count as failed"
    if row.ci_counted_as_fail_low.value is not None:
        span = voice.span(change, row.ci_counted_as_fail_low, row.ci_counted_as_fail_high)
        told += f" (95% CI {span}; the verdict uses this)"
    told += f"; at most {voice.span(change, row.bound_low, row.bound_high)}"
    if not row.is_expected_known:
        told += " (with as many repeats as usual: what was expected is not recorded)"
    return told


def _chance(change: Change, voice: Voice) -> str:
    row = change.row
    told = []
    if row.p_mean.value is not None:
        mean = f"{TESTS[row.test]}, p = {voice.chance(row.p_mean)}"
        if row.p_holm.value is not None and row.p_holm.value != row.p_mean.value:
            mean += f" ({voice.chance(row.p_holm)} by Holm over all candidates)"
        told.append(mean + _drawn(row.n_draws, voice))
    if row.p_any.value is not None:
        any_task = f"permutation test (no task changed), p = {voice.chance(row.p_any)}"
        told.append(any_task + _drawn(row.n_draws_any, voice))
    return "; ".join(told)


def _drawn(n_draws: Figure, voice: Voice) -> str:
    return "" if n_draws.value is None else f", from {voice.count(n_draws)} draws"


def _pairing(change: Change, voice: Voice) -> str:
    row = change.row
    parts = [f"{voice.count(row.n_verified)} {_tasks(row.n_verified)} with the same question"]
    for figure, words in (
        (row.n_unverified, "paired by id alone"),
        (row.n_contradicted, "refused (one id, different questions)"),
        (row.n_not_scored, "not scored in one run"),
        (row.n_base_only, "only in the base"),
        (row.n_candidate_only, "only in the candidate"),
    ):
        if figure.value:
            parts.append(f"{voice.count(figure)} {words}")
    if 1 < (row.n_common_tasks.value or 0) < FEW_TASKS:
        parts.append("few tasks, so little is known of others")
    return "; ".join(parts)


def contributors(change: Change, voice: Voice) -> str:
    """The failure modes that moved the figure most; without any, the slices."""
    for name in ("failure modes", "slices"):
        for ledger in widest(change.ledger(name)):
            by = "failure mode" if name == "failure modes" else voice.name(ledger.slice_key)
            lines = [line for line in ledger.lines if line.shown.value][:MOST_LINES]
            return f"by {by}, " + ", ".join(_line(line, change, voice) for line in lines)
    return ""


def _line(line: Row, change: Change, voice: Voice) -> str:
    """What a line adds to the change, and how often attempts fail so in each run."""
    told = f"{line_name(line, voice)} {voice.change(change, line.shown)}"
    if line.base_rate.value is None:
        return told
    rates = f"{voice.percent(line.base_rate)} to {voice.percent(line.candidate_rate)}"
    return f"{told} ({rates} of attempts)"


def widest(ledgers: Sequence[Ledger]) -> list[Ledger]:
    """Of ledgers of one kind the one whose largest line is largest, if any line moves at all."""

    def size(ledger: Ledger) -> float:
        return max(abs(float(line.amount.value)) for line in ledger.lines)

    return sorted((each for each in ledgers if size(each) > 0), key=size, reverse=True)[:1]


def line_name(line: Row, voice: Voice) -> str:
    """What a line of a ledger is about; the last may stand for several."""
    if line.n_others.value is not None:
        return f"{voice.count(line.n_others)} other lines"
    name = voice.name(line.line) if line.line else "in none of them"
    return name + EFFECTS.get(line.effect, "")


def _tasks(n_tasks: Figure) -> str:
    return "task" if n_tasks.value == 1 else "tasks"
