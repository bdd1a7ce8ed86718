"""D3, the metrics sidecar: its keys, its values recomputed, and the report beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pipeline.files import UnreadableError
from pipeline.package.files import names_in, object_of
from pipeline.package.layout import Golden
from pipeline.package.numbers import Number
from pipeline.package.sanitize.policy import LOG_NAME
from pipeline.package.statements import Statement
from pipeline.package.validate.check import Check, Rule, counted, listed
from pipeline.package.validate.data import Data, Run
from pipeline.package.verify import sidecar

REQUIRED = ("model_name", "benchmark", "pass_at_1", "pass_at_k", "total_tasks", "total_rollouts")
# Names of published sidecars, by ours.
SYNONYMS = {**sidecar.SYNONYMS, "n_tasks": "total_tasks", "n_rollouts": "total_rollouts"}
FIGURES = REQUIRED[2:]
MOST_DEPTH = 12
LARGEST = 1e300
MOST_TOLD = 10
# Keys whose values are read from what was said.
OF_TEXTS = re.compile(r"(failure_modes|root_causes|recommendations|dominant_failure)")
REDACTED = "Compare with the package as it was before `blade sanitize`."
# A folder without a profile gives its own name to the benchmark.
RENAMED = 'Say `benchmark = "NAME"` in the blade.toml of the package, or correct the sidecar.'
PRESENT = Rule(
    "metrics.present",
    "metrics sidecar",
    "Golden report has no structured metric JSON.",
    "Add <model>_golden_report_metrics.json, such as "
    "the metrics.json that `blade analyze` wrote for the run.",
    "missing metrics sidecar",
)
KEYS = Rule(
    "metrics.keys",
    "metrics sidecar has its keys",
    "A program that reads the sidecar finds no value under the names that every sidecar has.",
    f"Give {', '.join(REQUIRED)}; figures as JSON numbers.",
)
RUN = Rule(
    "metrics.run",
    "metrics sidecar names its run",
    "It is not clear which of the package's runs the figures are of.",
    "Give `run_id`, or a `model_name` that one run has; `blade metrics` lists them.",
)
VALUES = Rule(
    "metrics.values",
    "metrics sidecar equals the rollouts",
    "The figures were recomputed from the rollouts, and are not what the sidecar says.",
    "Use the real values: copy the metrics.json that `blade analyze` writes for the run.",
)
STATED = Rule(
    "metrics.report",
    "metrics sidecar matches the report",
    "Report and sidecar tell different figures, or the report does not tell them at all.",
    "State the sidecar's headline figures in the report, as percentages or rates, with counts.",
)


def checks(golden: Golden, told: Sequence[Statement], known: Data | None) -> list[Check]:
    """All checks of one sidecar."""
    name = f"golden_reports/{golden.metrics.name}"
    try:
        values = {SYNONYMS.get(k, k): v for k, v in sorted(object_of(golden.metrics).items())}
    except UnreadableError as error:
        return [PRESENT.failed(f"{name} {error}", file=name)]
    lacking = [key for key in REQUIRED if not _is_given(key, values.get(key))]
    if lacking:
        keys = KEYS.failed(f"{name}: no usable {listed(lacking, most=6)}", file=name)
    else:
        keys = KEYS.passed(f"{name}: {', '.join(REQUIRED)}", file=name)
    return [
        PRESENT.passed(name, file=name),
        keys,
        *_recomputed(golden, values, known, name),
        *_stated(values, told, name),
    ]


def run_of(golden: Golden, values: Mapping[str, Any], known: Data) -> Run | None:
    """The run that a sidecar, or else the report's name, speaks of."""
    names = [values.get("run_id"), values.get("model_name"), golden.model]
    given = [name for name in names if isinstance(name, str) and name]
    # A run that is named outright and is not there must not be taken for another.
    return known.run_called(*(given[:1] if isinstance(values.get("run_id"), str) else given))


def _is_given(key: str, value: Any) -> bool:
    return _is_number(value) if key in FIGURES else isinstance(value, str) and bool(value.strip())


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    # An integer may be larger than any float.
    return abs(value) < LARGEST


def _recomputed(
    golden: Golden, values: Mapping[str, Any], known: Data | None, name: str
) -> Iterator[Check]:
    if known is None:
        yield VALUES.skipped("there are no rollouts to recompute it from", file=name)
        return
    run = run_of(golden, values, known)
    if run is None:
        runs = listed([f"{run.run_id} ({run.model})" for run in known.runs])
        told = values.get("run_id") or values.get("model_name") or golden.model
        yield RUN.failed(f"{name}: {told} is not one run of: {runs}", file=name)
        return
    yield _named(golden, values, run, known.run_called(golden.model), name)
    yield from _compared(golden, values, known.metrics.get(run.run_id, {}), name)


def _named(
    golden: Golden, values: Mapping[str, Any], run: Run, of_report: Run | None, name: str
) -> Check:
    """Report, sidecar and rollouts are of one run and one benchmark."""
    benchmark = values.get("benchmark")
    if of_report not in (None, run):
        told = f"the figures are of {run.run_id}, but the report is called {golden.model}"
        return RUN.failed(f"{name}: {told}", file=name)
    if isinstance(benchmark, str) and benchmark != run.benchmark:
        told = f"{name}: benchmark {benchmark}, but the rollouts are of {run.benchmark}"
        return RUN.warned(told, file=name, fix=RENAMED)
    return RUN.passed(f"{name}: {run.run_id}", file=name)


def _compared(
    golden: Golden, values: Mapping[str, Any], fresh: Mapping[str, Any], name: str
) -> Iterator[Check]:
    """Every number that an analysis writes too, under the same name."""
    pairs = list(_pairs(values, fresh, ""))
    differing = [each for each in pairs if not _agrees(*each, fresh)]
    # What was taken out of the texts may hide why an attempt failed, but not whether it did.
    hidden = [each for each in differing if _is_sanitized(golden) and OF_TEXTS.match(each[0])]
    wrong = [each for each in differing if each not in hidden]
    for path, ours, value in wrong[:MOST_TOLD]:
        told = f"{name}: {path} is {_shown(value)}, expected {_shown(ours)}"
        yield VALUES.failed(told, file=name)
    if len(wrong) > MOST_TOLD:
        yield VALUES.failed(f"{name}: {len(wrong) - MOST_TOLD} more values differ", file=name)
    if hidden:
        told = f"{name}: {listed([path for path, _, _ in hidden])} differ since texts are redacted"
        yield VALUES.warned(told, file=name, fix=REDACTED)
    elif pairs and not wrong:
        others = sum(_is_number(value) for key, value in values.items() if key not in fresh)
        left = f"; {counted(others, 'other value')} not known to blade" if others else ""
        yield VALUES.passed(f"{name}: {counted(len(pairs), 'value')} recomputed{left}", file=name)


def _pairs(values: Any, fresh: Any, path: str, depth: int = 0) -> Iterator[tuple[str, Any, Any]]:
    """Numbers of the sidecar beside ours of the same name, to any depth that ours has."""
    if depth > MOST_DEPTH:
        return
    if isinstance(values, dict) and isinstance(fresh, dict):
        for key in sorted(values, key=str):
            if key in fresh:
                yield from _pairs(values[key], fresh[key], f"{path}{key}.", depth + 1)
    elif isinstance(values, list) and isinstance(fresh, list):
        for place, (value, ours) in enumerate(zip(values, fresh, strict=False)):
            yield from _pairs(value, ours, f"{path}{place}.", depth + 1)
    elif _is_number(values) or _is_number(fresh):
        yield path.rstrip("."), fresh, values


def _is_sanitized(golden: Golden) -> bool:
    """Whether the package has the log of what was taken out."""
    return LOG_NAME in names_in(golden.report.parent.parent)


def _agrees(path: str, ours: Any, value: Any, fresh: Mapping[str, Any]) -> bool:
    # Both ways to say pass@k are in use: any of those there are, and the unbiased estimate.
    accepted = [ours, _unbiased(fresh)] if path == "pass_at_k" else [ours]
    return any(_is_close(value, each) for each in accepted)


def _unbiased(fresh: Mapping[str, Any]) -> Any:
    curve = fresh.get("pass_at")
    return curve.get(str(fresh.get("k"))) if isinstance(curve, dict) else None


def _is_close(value: Any, ours: Any) -> bool:
    """Equal, or equal as far as the digits go that are given: two at least."""
    if not (_is_number(value) and _is_number(ours)):
        return value is None and ours is None
    if isinstance(ours, int) and float(value).is_integer():
        return bool(value == ours)
    decimals = len(repr(float(value)).partition(".")[2])
    return bool(abs(value - ours) <= 0.5 * 10.0 ** -max(2, decimals) + 1e-9)


def _stated(values: Mapping[str, Any], told: Sequence[Statement], name: str) -> Iterator[Check]:
    """Headline figures of the sidecar that stand nowhere in the report."""
    given = [key for key in FIGURES if _is_given(key, values.get(key))]
    numbers = [number for statement in told for number in statement.numbers]
    lacking = [key for key in given if not any(_states(each, key, values[key]) for each in numbers)]
    if lacking:
        shown = listed([f"{key} {_shown(values[key])}" for key in lacking])
        yield STATED.failed(f"{name}: the report does not state {shown}", file=name)
    elif given:
        yield STATED.passed(f"{name}: the report states {', '.join(given)}", file=name)


def _states(number: Number, key: str, value: float) -> bool:
    if key.startswith("total"):
        return not number.unit and number.value == value
    is_rate = number.unit == "percent" or (not number.unit and number.decimals >= 2)
    return is_rate and number.agrees(value)


def _shown(value: Any) -> str:
    if value is None:
        return "no value"
    return f"{value:.6g}" if isinstance(value, float) else str(value)[:60]
