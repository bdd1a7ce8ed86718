"""What a comparison says, in sentences: the same for a page and a terminal, each in its voice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pipeline.report.comparisons import Change, Comparison, Ledger
from pipeline.report.figures import Figure, Row

METRICS = {"pass_at_1": "pass@1", "mean_reward": "mean reward"}
TESTS = {
    "signs of tasks": "sign-flip test of task differences",
    "signs of groups": "sign-flip test of groups of tasks",
    "t of tasks' differences": "t-test of task differences, since repeats differ",
}
EFFECTS = {"mix": " (share of tasks)", "reward": " (reward of those that end here)"}
# Of contributors in one sentence; what a sentence says of fewer tasks is said "of these tasks".
MOST_NAMED = 2
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
        return [("nothing shared", "The runs have no task in common: nothing can be compared.")]
    told = [
        ("verdict", verdict(change, voice)),
        ("change", _change(change, voice)),
        ("new tasks", _new_tasks(change, voice)),
        ("same tasks", _same_tasks(change, voice)),
        ("missing rows", _missing(change, voice)),
        ("chance", _chance(change, voice)),
        ("tasks", _pairing(change, voice)),
        ("why", contributors(change, voice)),
    ]
    return [(label, sentence) for label, sentence in told if sentence]


def headline(comparison: Comparison, voice: Voice) -> str:
    """One sentence: what changed by each metric, and the verdict where there is one."""
    n_common = comparison.lead.row.n_common_tasks
    if not n_common.value:
        return "they have no task in common, so nothing can be compared."
    told = "; ".join(_moved(change, voice) for change in comparison.told)
    reach = "; of other tasks this says nothing" if n_common.value == 1 else ""
    return f"{told}, on {voice.count(n_common)} {_tasks(n_common)} of both{reach}."


def _moved(change: Change, voice: Voice) -> str:
    row = change.row
    told = verdict(change, voice, is_corrected=True)
    parts = [told] if told else []
    if row.ci_new_tasks_low.value is not None:
        span = voice.span(change, row.ci_new_tasks_low, row.ci_new_tasks_high)
        parts.append(f"95% interval for new tasks {span}")
    decided = f" ({'; '.join(parts)})" if parts else ""
    moved = f"{way(row.delta)} {voice.change(change, row.delta)}"
    return f"{METRICS[change.metric]} {moved}{decided}{_mainly(change, voice)}"


def way(delta: Figure) -> str:
    """Which way a figure moved."""
    value = delta.value or 0
    return "rises" if value > 0 else "falls" if value < 0 else "does not move:"


def _mainly(change: Change, voice: Voice) -> str:
    """The one slice or task that moves it most, the way it moved."""
    is_up = (change.row.delta.value or 0) > 0
    tasks = change.gains if is_up else change.losses
    if not tasks or not change.row.delta.value:
        return ""
    best = max(
        (
            line
            for ledger in change.ledger("slices")
            for line in ledger.lines
            if line.effect == "rate"
        ),
        key=lambda line: line.amount.value * (1 if is_up else -1),
        default=None,
    )
    said = f", most at task {voice.name(tasks[0].candidate_example)}"
    if best is not None and best.line:
        part = voice.change(change, best.shown)
        said += f" ({voice.name(best.slice_key)} {voice.name(best.line)} {part})"
    return said


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
        f"{voice.change(change, row.delta)} on {voice.count(row.n_common_tasks)} "
        f"{_tasks(row.n_common_tasks)} of both, from {voice.level(change, row.base_common)} to "
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
        return "n/a: the runs share one task, so what differs on it says nothing of other tasks"
    if row.ci_new_tasks_low.value is None:
        return "n/a: the tasks do not tell how others would fare"
    told = voice.span(change, row.ci_new_tasks_low, row.ci_new_tasks_high)
    seen = _detectable(change, row.mde_new_tasks, voice)
    return f"95% CI {told}{seen}"


def _same_tasks(change: Change, voice: Voice) -> str:
    row = change.row
    words = {
        "higher": "on these tasks the candidate is higher",
        "lower": "on these tasks the candidate is lower",
        "not told apart": "on these tasks the runs cannot be told apart",
    }
    found = words.get(row.on_these_tasks) if isinstance(row.on_these_tasks, str) else None
    if found is not None and row.on_these_tasks_counted_as_fail != row.on_these_tasks:
        found += ", which missing rows as failures would not show"
    if row.ci_same_tasks_low.value is not None:
        span = voice.span(change, row.ci_same_tasks_low, row.ci_same_tasks_high)
        seen = _detectable(change, row.mde_same_tasks, voice)
        return f"95% CI {span}{seen}; {found}"
    if found is not None:
        return f"{found}, comparing their repeats task by task; too few mixed tasks for an interval"
    if row.se_same_tasks.value is None:
        return "n/a: without repeats in both runs nothing says how these tasks would fare again"
    return "n/a: too few tasks vary between repeats to say how these would fare again"


def _detectable(change: Change, figure: Figure, voice: Voice) -> str:
    if figure.value is None:
        return ""
    size = voice.change(change, figure).lstrip("+")
    return f"; minimum detectable change {size} (80% power)"


def _missing(change: Change, voice: Voice) -> str:
    row = change.row
    if row.bound_low.value is None:
        return "n/a: rewards have no bounds here, so what is missing could have made anything of it"
    if row.bound_low.value == row.bound_high.value:
        return ""
    told = f"{voice.change(change, row.delta_counted_as_fail)} with missing rows as failures"
    if row.ci_counted_as_fail_low.value is not None:
        span = voice.span(change, row.ci_counted_as_fail_low, row.ci_counted_as_fail_high)
        told += f" (95% CI {span}, used for the verdict)"
    told += f"; {voice.span(change, row.bound_low, row.bound_high)} if all had failed or passed"
    if not row.is_expected_known:
        told += ", had every task the usual repeats: nothing says what was expected"
    return told


def _chance(change: Change, voice: Voice) -> str:
    row = change.row
    told = []
    if row.p_mean.value is not None:
        mean = f"{TESTS[row.test]}, p = {voice.chance(row.p_mean)}"
        if row.p_holm.value is not None and row.p_holm.value != row.p_mean.value:
            mean += f" ({voice.chance(row.p_holm)} by Holm, over all candidates)"
        told.append(mean + _drawn(row.n_draws, voice))
    if row.p_any.value is not None:
        dealt = f"permutation test (no task changed), p = {voice.chance(row.p_any)}"
        told.append(dealt + _drawn(row.n_draws_any, voice))
    return "; ".join(told)


def _drawn(n_draws: Figure, voice: Voice) -> str:
    return "" if n_draws.value is None else f", from {voice.count(n_draws)} draws"


def _pairing(change: Change, voice: Voice) -> str:
    row = change.row
    parts = [f"{voice.count(row.n_verified)} ask the same question in both"]
    for figure, words in (
        (row.n_unverified, "paired by id alone, since their questions are empty or vary"),
        (row.n_contradicted, "refused: one id, different questions"),
        (row.n_not_scored, "not scored in one of the runs"),
        (row.n_base_only, "only in the base"),
        (row.n_candidate_only, "only in the candidate"),
    ):
        if figure.value:
            parts.append(f"{voice.count(figure)} {words}")
    if 1 < (row.n_common_tasks.value or 0) < FEW_TASKS:
        parts.append("so few tasks say little of others")
    return "; ".join(parts)


def contributors(change: Change, voice: Voice) -> str:
    """What moved the figure most: tasks, then failure modes and the slice that parts them best."""
    told = []
    for tasks, verb in ((change.gains, "gave"), (change.losses, "took")):
        if tasks:
            named = _listed(
                [(voice.name(task.candidate_example), task.amount) for task in tasks[:MOST_NAMED]],
                change,
                voice,
            )
            told.append(f"{named} {verb} most")
    for ledger in widest(change.ledger("failure modes")):
        told.append(f"by failure mode {_extremes(ledger, change, voice)}{_rates(ledger, voice)}")
    for ledger in widest(change.ledger("slices")):
        told.append(f"by {voice.name(ledger.slice_key)} {_extremes(ledger, change, voice)}")
    return "; ".join(told)


def extremes(ledger: Ledger, voice: Voice) -> str:
    """The lines that gave and took most, in the unit of the ledger's metric."""
    is_rate = ledger.total.metric == "pass_at_1"
    return ", ".join(
        f"{name} {voice.points(figure) if is_rate else voice.signed(figure)}"
        for name, figure in _most(ledger, voice)
    )


def widest(ledgers: Sequence[Ledger]) -> list[Ledger]:
    """Of ledgers of one kind the one whose largest line is largest, if any line moves at all."""

    def size(ledger: Ledger) -> float:
        return max(abs(float(line.amount.value)) for line in ledger.lines)

    return sorted((each for each in ledgers if size(each) > 0), key=size, reverse=True)[:1]


def _extremes(ledger: Ledger, change: Change, voice: Voice) -> str:
    """The lines that gave and took most."""
    return _listed(_most(ledger, voice), change, voice)


def _rates(ledger: Ledger, voice: Voice) -> str:
    """How often attempts fail in the way that moved most, in each run."""
    line = max(ledger.lines, key=lambda line: abs(line.amount.value))
    if line.n_others.value is not None or line.base_rate.value is None:
        return ""
    way = "fell" if line.base_rate.value > line.candidate_rate.value else "rose"
    return (
        f" ({line_name(line, voice)} {way} from {voice.percent(line.base_rate)} to "
        f"{voice.percent(line.candidate_rate)} of attempts)"
    )


def _most(ledger: Ledger, voice: Voice) -> list[tuple[str, Figure]]:
    ranked = sorted(ledger.lines, key=lambda line: line.amount.value)
    up = [line for line in reversed(ranked) if line.amount.value > 0][:MOST_NAMED]
    down = [line for line in ranked if line.amount.value < 0][:MOST_NAMED]
    return [(line_name(line, voice), line.shown) for line in [*up, *down]]


def line_name(line: Row, voice: Voice) -> str:
    """What a line of a ledger is about; the last may stand for several."""
    if line.n_others.value is not None:
        return f"{voice.count(line.n_others)} other lines"
    name = voice.name(line.line) if line.line else "in none of them"
    return name + EFFECTS.get(line.effect, "")


def _listed(named: Sequence[tuple[str, Figure]], change: Change, voice: Voice) -> str:
    return ", ".join(f"{name} {voice.change(change, figure)}" for name, figure in named)


def _tasks(n_tasks: Figure) -> str:
    return "task" if n_tasks.value == 1 else "tasks"
