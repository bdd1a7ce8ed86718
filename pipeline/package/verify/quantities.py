"""The quantities that the data know: each a value with its place, its names and its words."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pipeline.package.numbers import Number
from pipeline.package.verify.data import Relations
from pipeline.package.verify.printed import number_of
from pipeline.report.wording import BEHAVIOURS, MEASURES

# Which columns of a relation say what a row is about; the rest are its quantities.
RELATIONS: Mapping[str, tuple[str, ...]] = {
    "run_metrics": ("run_id",),
    "pass_curve": ("run_id", "k"),
    "estimates": ("run_id", "metric", "k"),
    "denominators": ("run_id", "policy"),
    "bucket_counts": ("run_id", "bucket"),
    "slice_metrics": ("run_id", "slice_key", "slice_value"),
    "resource_stats": ("run_id", "outcome", "measure"),
    "reward_components": ("run_id", "component"),
    "report.modes": ("run_id", "mode"),
    "report.mode_totals": ("mode",),
    "report.funnels": ("run_id", "stage_no", "stage"),
    "report.causes": ("run_id", "cause"),
    "interventions": ("run_id", "intervention"),
    "error_signatures": ("run_id", "source", "signature"),
    "report.separators": ("run_id", "feature"),
    "ablation": ("run_id", "step_no", "step"),
    "selection_value": ("run_id", "k"),
    "run_health": ("run_id",),
    "report.health_checks": ("run_id", "scope", "check_id"),
    "report.failure_classes": ("run_id", "failure_class"),
    "report.never_counts": ("run_id",),
    "report.task_totals": ("benchmark",),
    "report.never_totals": ("benchmark",),
    "comparisons": ("base", "candidate", "metric"),
    "comparison_metrics": ("base", "candidate", "metric", "k"),
    "report.transitions": ("base", "candidate", "bucket_before", "bucket_after"),
    "report.run_inventory": ("run_id", "kind"),
    "report.inventory": ("kind",),
    "artifacts": ("path", "kind"),
    "report.reported": ("run_id", "status", "reason"),
    "report.findings": ("finding_no", "run_id", "base"),
    "report.gaps": ("run_id", "gap_no"),
    "report.series": ("series", "place_no", "run_id"),
}
OF_TASKS: Mapping[str, tuple[str, ...]] = {
    "task_outcomes": ("run_id", "task_id"),
    "report.dives": ("run_id", "task_id"),
    "report.contrasts": ("run_id", "task_id"),
    "suspicions": ("run_id", "task_id", "rule"),
    "bucket_matrix": ("benchmark", "task_id"),
}
# Keys that need no naming: they follow from the words of the quantity itself.
IMPLIED = frozenset(
    "stage_no step_no scope metric slice_key source k status reason finding_no gap_no series "
    "place_no kind rule".split()
)
BUCKET_COUNTS = ("n_always_tasks", "n_sometimes_tasks", "n_never_tasks")
RUNS = ("run_id", "base", "candidate")
# The words of a column: any of the lists, each word of it near the number.
WORDS: Mapping[str, str] = {
    "n_tasks": "task",
    "n_scored_tasks": "task",
    "n_always_tasks|n_always": "always|every attempt|all attempt|consistent",
    "n_sometimes_tasks|n_sometimes": "sometim|some|flaky|mixed",
    "n_never_tasks|n_never": "never|none|fail every|fail all",
    "n_missing_tasks|n_missing": "miss|without trace|no trace|no scor|absent",
    "n_partial_tasks": "part|partial",
    "n_rollouts": "rollout|attempt|failur|case|time|count|fail|record",
    "n_expected": "expect|rollout|attempt|plann|repeat",
    "n_scored|n_expected_scored": "scor|rollout|attempt|repeat",
    "n_unscored": "unscor|not scor|usabl reward|without score|scor",
    "n_failed_attempts": "fail attempt|attempt",
    "n_unexpected": "unexpect|not expect",
    "n_passed": "pass|succe|solv",
    "n_failed": "fail|not pass",
    "n_failures": "failur|fail|not pass",
    "k|k_min|k_max": "repeat|attempt",
    "pass_at_1": "pass@1|pass rate|solv",
    "pass_at_k|pass_at_k_unbiased": "pass@k|any pass|least one|pass@{k}|retr|any attempt",
    "pass_hat_k": "pass^k|all attempt|pass^{k}",
    "pass_at": "pass@{k}|any",
    "pass_hat": "pass^{k}|all",
    "max_at|best_reward|max_reward": "best",
    "maj_at|majority_value": "majority",
    "retry_value": "retr|choice|selection|attempt",
    "rollout_pass_rate": "rollout|attempt",
    "pass_rate": "pass|attempt|solv",
    "mean_reward|min_reward|reward_std": "reward",
    "consistency": "consisten|every",
    "coverage": "coverage|scor",
    "value": "pass@{k}|pass^{k}|reward",
    "share_of_failures": "failur|share|not pass|of fail|primary",
    "n_concerned|n_total|share": "failur|rollout|task|attempt|fail",
    "low|high|stake": "point|from|anything|between|pass|return|gain",
    "n_of": "rollout|task|line|attempt|row",
    "n_checks": "check",
    "n_implied": "without",
    "n_out_of_order": "after|order",
    "n_matched": "match|bear|show|sign|rollout|attempt",
    "gain_low|gain_high|gain": "point|gain|return|mend|pass@1|recover",
    "n_reached|reach_rate|n_observed": "reach|all|rollout|stage|get|complet|expect|record|seen",
    "n_lost|lost_rate": "lost|lose|drop|stop|no further|verdict|largest",
    "step_rate": "stage before|previous|step|of those",
    "n_all": "rollout|all|expect",
    "task_rate": "task|share",
    "median": "median|typical",
    "mean|mean_value|mean_when_passed|mean_when_failed": "mean|average|pass|fail",
    "p90": "90th|p90|percentile",
    "max|max_value": "highest|max|longest|most",
    "n_curated|n_strong|n_moderate|n_weak": "curat|strong|moderate|weak",
    "rate_when_passed": "pass",
    "rate_when_failed": "fail",
    "odds_ratio|odds_ratio_low|odds_ratio_high": "odds",
    "difference_low|difference_high|mean_difference": "difference|more|fewer|less",
    "p_value|p_holm|q_value": "chance|holm|p|q|test|significan",
    "n_healthy": "healthy",
    "n_unhealthy": "unhealthy",
    "n_unobserved": "unobserv",
    "clean_rate": "clean",
    "n_findings|n_places": "find|check|rollout|time|found",
    "n_attempts": "attempt|fail",
    "n_passed_elsewhere|n_passing_runs|n_passed_nowhere": "other run|another run|run pass|"
    "elsewhere|run|nowhere|model",
    "n_runs": "run",
    "n_with_mode": "attempt|share|mode",
    "n_with_cause": "caus|task",
    "pass_at_1_common|common_pass_at_1": "pass@1|common",
    "n_at_last_stage": "stop|stage|attempt",
    "n_with_error": "error|attempt",
    "n_with|n_failing": "attempt|show|fail",
    "n_matched_actions|n_expected_actions": "expect|chang|action|call|writ",
    "n_common_first|n_common": "alike|common|same|call",
    "failing_chars|passing_chars": "character",
    "delta|total_change|delta_counted_as_fail": "point|chang|ris|fall|gain|lower|higher|ahead|"
    "behind|differ|gap",
    "base_value|candidate_value|base_common|candidate_common": "pass@1|pass|mean|median|token|"
    "turn|call|common|both|share",
    "n_common_tasks": "task|common|both|shar",
    "n_gains|n_losses": "gain|los|better|worse|improv",
    "n_verified": "verif|same",
    "mde_new_tasks|mde_same_tasks": "detect|smallest",
    "n_lines|n_rows|n_rejects|n_blank|n_other|n_files|n_bytes": "line|row|reject|blank|file|"
    "byte|record|read",
    "n_all_lines|n_all_rows|n_all_rejects|n_all_files|n_all_other|n_all_blank": "line|row|"
    "reject|blank|file|read|used",
    "n_left_out": "left|drop|not scor|miss",
    "pass_at_1_worst|pass_at_1_best|bound_low|bound_high": "fail|pass|anything|could|miss|"
    "worst|best|from",
    "within_variance|between_variance": "task|sampling|spread|varian",
    "se_with_twice_the_tasks|se_with_twice_the_repeats": "twice|double",
    "n_figures": "equal|figur|recomput",
    "n_tested|n_informative": "test",
}
INTERVAL = re.compile(r"(?:^|_)(?:ci|se)_")
INTERVAL_WORDS = ("interval", "ci", "standard error", "95%", "between", "from")
BUCKETS = {
    "always": "always|every attempt|all attempt",
    "sometimes": "sometim|some|flaky|mixed",
    "never": "never|none|fail every",
    "missing": "miss|no scor",
}


@dataclass(frozen=True, eq=False)
class Quantity:
    """A value of the data, and what has to be said beside a number for it to be meant."""

    source: str
    # The relation and column it is of.
    column: tuple[str, str]
    value: float
    # All of these are named, one alternative of each: a mode, a stage, a slice.
    names: tuple[str, ...]
    runs: tuple[str, ...]
    task: str | None
    # Any of these is said: lists of stems, all of one list near the number.
    phrases: tuple[tuple[str, ...], ...]
    # Whether it is a share or a difference of shares, printed in hundredths.
    is_rate: bool


@dataclass(frozen=True)
class Quantities:
    """Quantities by value, so that those a number may mean are found at once."""

    every: tuple[Quantity, ...]
    values: tuple[float, ...]

    @cached_property
    def by_column(self) -> dict[tuple[str, str], list[Quantity]]:
        """Those of each column of a relation."""
        found: dict[tuple[str, str], list[Quantity]] = {}
        for each in self.every:
            found.setdefault(each.column, []).append(each)
        return found

    def near(self, number: Number) -> list[Quantity]:
        """Those whose value would be printed like the number."""
        half = 0.5 * 10.0**-number.decimals * (1 + 1e-9) + 1e-9 * max(1.0, abs(number.value))
        # A difference of shares is told in points, in tables often without the word.
        scales = (0.01,) if number.unit else (1.0, 0.01) if number.is_signed else (1.0,)
        signs = (1.0,) if number.is_signed else (1.0, -1.0)
        found: list[Quantity] = []
        for sign in signs:
            for scale in scales:
                middle = sign * number.value * scale
                low = bisect_left(self.values, middle - half * scale)
                high = bisect_right(self.values, middle + half * scale)
                near = self.every[low:high]
                found += near if scale == 1.0 else [each for each in near if each.is_rate]
        return list(dict.fromkeys(found))


def sorted_by_value(found: Iterable[Quantity]) -> Quantities:
    """Quantities in order of their values."""
    every = sorted(found, key=lambda each: (each.value, each.source))
    return Quantities(tuple(every), tuple(each.value for each in every))


def of_data(data: Relations) -> Quantities:
    """All quantities of runs, modes, stages, slices and comparisons."""
    of_rows = (
        quantity
        for relation, keys in RELATIONS.items()
        for row in data.table(relation)
        for quantity in of_row(relation, keys, row)
    )
    return sorted_by_value([*of_rows, *_numbers_of_rows(data)])


def _numbers_of_rows(data: Relations) -> Iterator[Quantity]:
    """How many modes a run has, and all runs together."""
    counted: dict[tuple[str, str], int] = {}
    for relation in ("report.modes", "ablation", "report.mode_totals"):
        for row in data.table(relation):
            if row["mode"] is not None:
                place = (relation, row.get("run_id", ""))
                counted[place] = counted.get(place, 0) + 1
    for (relation, run), value in counted.items():
        source = f"the rows of {relation}{f' of {run}' if run else ''}"
        runs = (run,) if run else ()
        column = (relation, "rows")
        yield Quantity(source, column, float(value), (), runs, None, (("mode",),), is_rate=False)


def of_tasks(data: Relations, tasks: Iterable[str]) -> dict[str, Quantities]:
    """The quantities of each of these tasks, in every run."""
    found: dict[str, list[Quantity]] = {}
    wanted = sorted(set(tasks))
    for relation, keys in OF_TASKS.items():
        if relation not in data.columns:
            continue
        columns = list(data.columns[relation])
        for (task,), rows in data.looked_up(
            relation, ("task_id",), [(task,) for task in wanted], columns
        ).items():
            for row in rows:
                found.setdefault(task, []).extend(of_row(relation, keys, row))
    return {task: sorted_by_value(each) for task, each in found.items()}


def of_row(relation: str, keys: tuple[str, ...], row: Mapping[str, Any]) -> Iterator[Quantity]:
    """Every number of a row that is no key of it."""
    key = "&".join(f"{name}={row[name]}" for name in keys if row.get(name) is not None)
    runs = tuple(str(row[name]) for name in RUNS if name in keys and row.get(name) is not None)
    names = tuple(
        _alternatives(name, str(row[name]))
        for name in keys
        if name not in (*RUNS, "task_id", "benchmark", *IMPLIED) and row.get(name) is not None
    )
    task = str(row["task_id"]) if "task_id" in keys else None
    for column, value in _derived(relation, row).items():
        number = number_of(value)
        if column in keys or number is None:
            continue
        phrases = _phrases(relation, column, row)
        named = () if column.startswith("n_all_") else names
        source = f"{relation}?{key}#{column}"
        place, is_rate = (relation, column), _is_rate(column, number)
        yield Quantity(source, place, number, named, runs, task, phrases, is_rate)


def _derived(relation: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of a row, and what readers work out from two of them."""
    found = dict(row)
    if relation == "task_outcomes" and row["n_scored"] and row["n_passed"] is not None:
        found["n_failed"] = row["n_scored"] - row["n_passed"]
    if relation == "run_metrics":
        # A sidecar need not have them, nor as numbers.
        told = {name: row.get(name) for name in BUCKET_COUNTS}
        counts = {name: count for name, count in told.items() if isinstance(count, (int, float))}
        if "n_always_tasks" in counts and "n_sometimes_tasks" in counts:
            both = counts["n_always_tasks"] + counts["n_sometimes_tasks"]
            found["n_always_tasks + n_sometimes_tasks"] = both
        n_scored = row.get("n_scored_tasks")
        if n_scored and isinstance(n_scored, (int, float)):
            found |= {f"{name} / n_scored_tasks": n / n_scored for name, n in counts.items()}
    return found


def _phrases(relation: str, column: str, row: Mapping[str, Any]) -> tuple[tuple[str, ...], ...]:
    plain = column.split(" ")[0]
    words = COLUMN_WORDS.get(plain, plain.removeprefix("n_").replace("_", " "))
    if " + " in column:
        words = "least once|ever pass|solv|any pass|pass"
    if relation == "bucket_counts":
        words = "task"
    told = words.replace("{k}", str(row.get("k", "k")))
    phrases = [tuple(each.split()) for each in told.split("|")]
    phrases.append(tuple(plain.removeprefix("n_").removeprefix("all_").split("_")))
    if INTERVAL.search(column):
        phrases = [tuple(each.split()) for each in INTERVAL_WORDS]
    return tuple(phrases)


def _alternatives(name: str, value: str) -> str:
    """What a part of a key may be called in a text, apart by bars."""
    if name in ("measure", "metric"):
        return f"{MEASURES.get(value, value)}|{value.removeprefix('n_').replace('_', ' ')}"
    if name == "feature":
        return BEHAVIOURS.get(value, value.removeprefix("calls "))
    if name == "bucket" or name.startswith("bucket_"):
        return BUCKETS.get(value, value)
    if name == "outcome":
        return {"passed": "pass", "failed": "fail"}.get(value, value)
    if name == "policy":
        return value.replace("_", " ").split()[0]
    if name == "signature":
        return value[:24]
    return "|".join(dict.fromkeys([value, value.replace("_", " "), value.replace("_", "-")]))


def _is_rate(column: str, value: float) -> bool:
    is_count = column.startswith("n_") and "/" not in column
    return not is_count and -1.0 <= value <= 1.0


COLUMN_WORDS = {column: words for columns, words in WORDS.items() for column in columns.split("|")}
