"""Analyze a results folder: warehouse, draft report, metrics."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .. import engines, remote, report
from ..answers.runs import first_comparisons, inventory
from ..errors import UsageError, is_interrupt
from ..report import sentences, sidecar, tables
from ..report.comparisons import Change
from ..report.figures import Row as Finding
from ..report.sentences import Benchmark
from ..settings import DEFAULT_MAX_LINE_BYTES, EVENTS_FOLDER, EVENTS_LIST, Settings
from ..text import json_text, neutral, one_line
from ..warehouse import Warehouse, open_warehouse
from .options import (
    DEFAULT_OUT,
    PATH,
    Number,
    follow_option,
    joined,
    json_option,
    memory_option,
    shown_progress,
    templates_option,
    where,
)
from .terminal import PLAIN, print_page, run_name, show_aliases

if TYPE_CHECKING:
    from ..run import Analysis

LARGEST_LINE_LIMIT = 1 << 30
FIELD_NAMES = "task prompt output messages score pass model agent repeat key group answer".split()
MOST_JOBS = 256
MOST_SECONDS = 86400
# The marks of the bar of tasks, from always to missing.
BAR = {
    "n_always_tasks": "█",
    "n_sometimes_tasks": "▓",
    "n_never_tasks": "░",
    "n_missing_tasks": "·",
}
BAR_WIDTH = 16
MOST_WARNINGS = 12
MOST_OF_A_KIND = 2
NOT_READ = "warn_rejects"
FIRST_NUMBER = re.compile(r"\d[\d,]*")
MOST_COMPARED = 4
MOST_RUNS = 40
MOST_FINDINGS = 3
LONGEST_WARNING = 400
EQUAL_WITHIN = 1e-9
# The event of a citation, which `blade why` does not accept.
EVENT = re.compile(r"#[0-9]+$")


def _named(
    _context: click.Context, _parameter: click.Parameter, values: Sequence[str]
) -> tuple[tuple[str, Path], ...]:
    for value in values:
        if not all(value.partition("=")):
            raise click.BadParameter(f"{value!r} is not NAME=PATH")
    return tuple((name, Path(path)) for name, _, path in (each.partition("=") for each in values))


def _fields(
    _context: click.Context, _parameter: click.Parameter, values: Sequence[str]
) -> tuple[tuple[str, str], ...]:
    chosen = tuple((name, path) for name, _, path in (each.partition("=") for each in values))
    for name, path in chosen:
        # A column may have a comma in its name, but no role after it.
        roles = [part.partition("=")[0].strip() for part in path.split(",")[1:] if "=" in part]
        if name in FIELD_NAMES and any(role in FIELD_NAMES for role in roles):
            each = " ".join(f"--field {part.strip()}" for part in f"{name}={path}".split(","))
            raise click.BadParameter(f"one ROLE=COLUMN each: {each}")
        if "," in name:
            raise click.BadParameter("one ROLE=COLUMN each; repeat --field for another")
        if name not in FIELD_NAMES or not path:
            names = ", ".join(FIELD_NAMES)
            raise click.BadParameter(f"{name!r} is not one of {names}, with =COLUMN after it")
    return chosen


@click.command()
@click.argument("results", nargs=-1)
@click.option("--out", type=PATH, default=DEFAULT_OUT, help="Output folder.")
@click.option(
    "--run",
    "run_names",
    callback=_named,
    metavar="NAME=PATH",
    multiple=True,
    help="Name the run of a file or folder; files with one name are pooled. May be repeated.",
)
@click.option(
    "--profile",
    type=PATH,
    help="Profile of the benchmark.  [default: blade.toml in RESULTS, if there is one]",
)
@click.option(
    "--suite",
    type=PATH,
    help="Entrants and benchmarks of a suite.  [default: suite.toml in RESULTS, if there is one]",
)
@click.option(
    "--field",
    "fields",
    callback=_fields,
    metavar="ROLE=COLUMN",
    multiple=True,
    help="The column of a table, or the field of a row, that is the task, prompt, output, "
    "messages, score, model, agent, repeat, key, group or answer; pass=WORD is the word of the "
    "score that passes. May be repeated.",
)
@click.option("--benchmark", metavar="NAME", help="Name of the benchmark that all runs belong to.")
@click.option(
    "--baseline",
    "baselines",
    metavar="RUN",
    multiple=True,
    help="Run to compare the other runs of its benchmark with. May be repeated.",
)
@click.option(
    "--pass-threshold",
    type=Number(),
    help="Lowest reward that is a pass.  [default: 1.0 if all rewards are within 0..1, else none]",
)
@follow_option
@click.option(
    "--max-line-bytes",
    type=click.IntRange(1, LARGEST_LINE_LIMIT),
    default=DEFAULT_MAX_LINE_BYTES,
    metavar="N",
    help="Reject lines longer than this. Memory use grows with this limit.",
)
@click.option(
    "--jobs",
    "--threads",
    "threads",
    type=click.IntRange(1, MOST_JOBS),
    metavar="N",
    help="Number of parallel workers.  [default: one per core; one for small results]",
)
@click.option(
    "--engine",
    type=click.Choice(engines.NAMES),
    default=engines.NAMES[0],
    help="Read files on this machine or on a Ray cluster.",
)
@click.option(
    "--address",
    default="auto",
    show_default=False,
    metavar="HOST:PORT",
    help="Address of the Ray cluster.  [default: one that runs, else a new one on this machine]",
)
@click.option(
    "--whole",
    "is_whole",
    is_flag=True,
    help="Put all events into the warehouse, also of large results that an engine reads.",
)
@click.option(
    "--no-cache",
    "use_cache",
    is_flag=True,
    flag_value=False,
    default=True,
    show_default=False,
    help="Ignore the cache and rebuild everything.",
)
@click.option(
    "--rehash",
    "by_content",
    is_flag=True,
    help="Detect changed files by content hash instead of inode, size and modification time.",
)
@click.option(
    "--watch", is_flag=True, help="Analyze again whenever results change. Stop with Ctrl-C."
)
@click.option(
    "--interval",
    type=click.FloatRange(0, MOST_SECONDS),
    default=5,
    metavar="SECONDS",
    help="With --watch: how often to look for changes.",
)
@click.option(
    "--quiet",
    type=click.FloatRange(0, MOST_SECONDS),
    default=2,
    metavar="SECONDS",
    help="With --watch: wait until nothing has changed for this long, at most ten times as long.",
)
@memory_option
@templates_option
@json_option
def analyze(
    results: tuple[str, ...],
    as_json: bool,
    watch: bool,
    interval: float,
    quiet: float,
    **chosen: Any,
) -> None:
    """Analyze RESULTS (folders, files, patterns or URLs) and write the output folder.

    The output is warehouse.duckdb, report.md, report.html, metrics.json and manifest.json.

    \b
    Examples:
      blade analyze results/
      blade analyze results/ --profile blade.toml
      blade analyze a_rollouts.jsonl b_rollouts.jsonl.gz --out compared
      blade analyze my_results.csv --field score=is_right
      blade analyze my_results.csv --field score=label --field pass=supported
      blade analyze --run base=runs/1 --run candidate=runs/2 --benchmark evalplus
    """
    echo = partial(click.echo, err=True)
    if watch and any("://" in name for name in results):
        raise UsageError("--watch: remote results cannot be watched.", hint="Copy them first.")
    settings = Settings(results=remote.local(results, chosen["out"], note=echo), **chosen)
    benchmark = settings.benchmark
    if not results and not settings.run_names:
        hint = "For example: blade analyze results/ --out blade_out"
        raise UsageError("no results given.", hint=hint)
    for option, names in (("--benchmark", [benchmark]), ("--baseline", settings.baselines)):
        if any(name is not None and not name.strip() for name in names):
            raise UsageError(f"{option}: the name is empty.", hint=f"Give a name after {option}.")
    show = print_json if as_json else print_summary
    if watch:
        _watch(settings, show, interval=interval, quiet=quiet)
        return
    from ..run import run

    with shown_progress() as progress:
        analysis = run(settings, progress=progress)
    show(analysis)
    cache = settings.out / remote.CACHE_NAME
    if cache.is_dir():
        size = f"{remote.n_bytes(cache) / 1e6:,.1f} MB"
        echo(neutral(f"{cache}: {size} cached for the next analysis; blade clean deletes it"))


def _watch(settings: Settings, show: Callable[[Analysis], None], **how: float) -> None:
    from .. import watch
    from ..run import Progress

    try:
        # No progress bar: it would stay on screen for hours.
        progress = Progress(note=partial(click.echo, err=True))
        for analysis in watch.analyses(settings, progress=progress, **how):
            show(analysis)
            sys.stdout.flush()
            click.echo("watching for changes; stop with Ctrl-C", err=True)
    except BaseException as error:
        is_stop = isinstance(error, SystemExit) or is_interrupt(error)
        if not is_stop:
            raise
        click.echo("stopped watching; the output is complete", err=True)


def print_summary(analysis: Analysis) -> None:
    """Print one row per run, the main findings, warnings, and what to run next."""
    with open_warehouse(analysis.warehouse) as warehouse:
        kinds = inventory(warehouse)
        runs = [row.values for row in tables.rows(warehouse, report.TABLES["headlines"])]
        compared, n_small = first_comparisons(warehouse, MOST_COMPARED)
        ranked = sentences.foremost(*_findings(warehouse), MOST_FINDINGS)
        beside = report.benchmarks(warehouse)
        show_aliases(warehouse)
    rest = neutral(where(analysis.warehouse))
    shown_pairs = {(row.base, row.run_id) for row in ranked if row.kind == "change"}
    print_page(
        "analyze",
        kinds=kinds,
        runs=runs,
        most_runs=MOST_RUNS,
        compared=[row for row in compared if (row["base"], row["candidate"]) not in shown_pairs],
        n_small=n_small,
        findings=with_commands(ranked, beside, rest),
        bar=_bar,
        unlike=PLAIN.says("unlike"),
        undecided=_undecided,
        **_columns(runs),
    )
    _print_warnings(analysis, rest)
    print_page(
        "analyzed",
        out=str(analysis.out),
        rest=rest,
        has_benchmarks=len({run["benchmark"] for run in runs}) > 1,
        has_events=(analysis.out / EVENTS_FOLDER / EVENTS_LIST).is_file(),
        has_compared=bool(compared),
    )


def _undecided(row: Mapping[str, Any]) -> str:
    """What the report says of a change that is not significant though its interval leaves out 0."""
    low, high = row["ci_new_tasks_low"], row["ci_new_tasks_high"]
    if row["is_changed"] or low is None or high is None or low <= 0 <= high:
        return ""
    compared = Finding("comparisons", ("base", "candidate", "metric"), row)
    return PLAIN.says("decided")(Change(compared, [], []))


def _columns(runs: Sequence[Mapping[str, Any]]) -> dict[str, bool]:
    """Show benchmarks unless run names contain them, and mean rewards that differ from pass@1."""
    benchmarks = {run["benchmark"] for run in runs}
    is_named = all(run["run_id"].startswith(run["benchmark"]) for run in runs)
    is_graded = any(
        (run["pass_at_1"] is None) != (run["mean_reward"] is None)
        or abs((run["pass_at_1"] or 0) - (run["mean_reward"] or 0)) > EQUAL_WITHIN
        for run in runs
    )
    return {"has_benchmark": len(benchmarks) > 1 and not is_named, "has_rewards": is_graded}


def print_json(analysis: Analysis) -> None:
    with open_warehouse(analysis.warehouse) as warehouse:
        content = {
            "warehouse": str(analysis.warehouse),
            "runs": [sidecar.run_object(run) for run in report.runs(warehouse)],
            "findings": finding_objects(
                [row for part in _findings(warehouse) for row in part], report.benchmarks(warehouse)
            ),
            "inventory": inventory(warehouse),
            "warnings": [vars(warning) for warning in analysis.warnings],
        }
    click.echo(json_text(content, indent=2))


def _bar(run: Mapping[str, Any]) -> str:
    """A bar of marks in proportion, rounded by largest remainder so that it is always full."""
    counts = [run[name] for name in BAR]
    if None in counts or not sum(counts):
        return "n/a"
    total = sum(counts)
    widths = [BAR_WIDTH * count // total for count in counts]
    remainders = [BAR_WIDTH * count % total for count in counts]
    by_remainder = sorted(range(len(counts)), key=lambda place: -remainders[place])
    for place in by_remainder[: BAR_WIDTH - sum(widths)]:
        widths[place] += 1
    return "".join(mark * width for mark, width in zip(BAR.values(), widths, strict=True))


def _print_warnings(analysis: Analysis, rest: str) -> None:
    """Print warnings to stderr; `rest` is appended to the commands in their hints."""
    sys.stdout.flush()
    lines = brief_warnings(analysis.warnings)
    for subject, message, hint in lines[:MOST_WARNINGS]:
        click.echo(f"! {one_line(f'{run_name(subject)}: {message}', LONGEST_WARNING)}", err=True)
        if hint:
            end = rest if hint.startswith("blade ") else ""
            click.echo(f"    {one_line(hint, LONGEST_WARNING)}{end}", err=True)
    if (n_hidden := len(lines) - MOST_WARNINGS) > 0:
        click.echo(f"! and {n_hidden} more; the report lists all", err=True)


def brief_warnings(warnings: Sequence[Any]) -> list[tuple[str, str, str]]:
    """Subject, message and hint of each warning, files that were not read first.

    Of more than two of one kind the one with the largest number, and how many others there are.
    """
    kinds: dict[tuple[str, str], list[Any]] = {}
    for warning in warnings:
        # Files are not read for different reasons.
        reason = FIRST_NUMBER.sub("", warning.message) if warning.check == NOT_READ else ""
        kinds.setdefault((warning.check, reason), []).append(warning)
    lines = []
    for _, own in sorted(kinds.items(), key=lambda kind: kind[0][0] != NOT_READ):
        if len(own) <= MOST_OF_A_KIND:
            lines += [(each.subject, each.message, each.hint) for each in own]
            continue
        worst = max(own, key=_first_number)
        others = f"; {len(own) - 1} others like this"
        lines.append((worst.subject, worst.message + others, worst.hint))
    return lines


def _first_number(warning: Any) -> int:
    number = FIRST_NUMBER.search(warning.message)
    return int(number[0].replace(",", "")) if number else 0


def _findings(warehouse: Warehouse) -> tuple[list[Finding], list[Finding]]:
    """Doubts and changes of runs, and what the failures of each benchmark show."""
    return (
        tables.rows(warehouse, report.TABLES["findings"]),
        tables.rows(warehouse, report.TABLES["observations"]),
    )


def with_commands(
    ranked: Sequence[Finding], beside: Mapping[str, Benchmark], rest: str
) -> list[tuple[str, str]]:
    """The sentence of each finding and a command to see more; `rest` is appended to it."""
    lines = []
    for row in ranked:
        command = finding_command(row)
        sentence = PLAIN.finding(row, beside[row.benchmark], is_of_several=len(beside) > 1)
        lines.append((sentence, f"{joined(['blade', *command])}{rest}" if command else ""))
    return lines


def finding_command(row: Finding) -> list[str]:
    """The command that shows more of a finding; empty if its sentence says what to do."""
    citation = row.values.get("citation")
    if citation is not None:
        return ["why", EVENT.sub("", citation)]
    match row.kind:
        case "change":
            return ["compare", row.values["base"], row.values["run_id"]]
        case "reported":
            return ["sql", "from reported_checks where status = 'differs'"]
        case "graders":
            return ["sql", "from comparison_settings where gives_rewards"]
        case "constant" | "unscored" | "missing" | "unknown":
            return ["health", row.values["run_id"]]
        case "unsettled":
            return []
    return ["failures"]


def finding_objects(
    findings: Sequence[Finding], beside: Mapping[str, Benchmark]
) -> list[dict[str, Any]]:
    return [
        {
            **{name: row.values[name] for name in ("kind", "benchmark", "run_id")},
            "sentence": PLAIN.finding(row, beside[row.benchmark]),
            "example": row.values.get("example", row.values.get("citation")),
        }
        for row in findings
    ]
