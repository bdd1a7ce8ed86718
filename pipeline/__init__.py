"""blade: a folder of evaluation results -> a DuckDB warehouse anyone can query.

The functions here are the Python API, imported as `blade`.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers treat it as true; importing typing takes long

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Any

    import polars

    from .errors import BladeError, InputError, UsageError
    from .notebook import Comparisons, Rollout, Story, Suite
    from .run import Analysis
    from .warehouse import Warehouse

__version__ = "0.1.0"
__all__ = [
    "BladeError",
    "InputError",
    "UsageError",
    "analyze",
    "compare",
    "failures",
    "findings",
    "health",
    "open_warehouse",
    "render",
    "rollout",
    "runs",
    "suite",
    "why",
]


def __getattr__(name: str) -> Any:
    """Import the errors on first use: Ctrl-C must work before anything is imported."""
    if name in __all__:
        from . import errors

        return getattr(errors, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def main() -> None:
    """Run the command `blade`."""
    from .cli import main as run_command

    run_command()


def analyze(
    results: str | Path | Sequence[str | Path],
    *,
    out: str | Path = "blade_out",
    run_names: Mapping[str, str | Path] | None = None,
    profile: str | Path | None = None,
    benchmark: str | None = None,
    baselines: str | Sequence[str] = (),
    pass_threshold: float | None = None,
    templates: str | Path | None = None,
    follow_links: bool = False,
) -> Analysis:
    """Read a results folder, a rollout file or several; write warehouse, report and metrics."""
    from pathlib import Path

    from . import remote
    from .run import run
    from .settings import Settings

    paths = [results] if isinstance(results, (str, Path)) else list(results)
    settings = Settings(
        results=remote.local([str(path) for path in paths], Path(out)),
        out=Path(out),
        run_names=tuple((name, Path(path)) for name, path in (run_names or {}).items()),
        profile=None if profile is None else Path(profile),
        benchmark=benchmark,
        baselines=(baselines,) if isinstance(baselines, str) else tuple(baselines),
        pass_threshold=pass_threshold,
        templates=None if templates is None else Path(templates),
        follow_links=follow_links,
    )
    return run(settings)


def open_warehouse(path: str | Path = "blade_out/warehouse.duckdb") -> Warehouse:
    """Open a warehouse read-only; `.sql(query)` gives Polars frames, `.arrow(query)` Arrow."""
    from .warehouse import open_warehouse as open_

    return open_(path)


def compare(
    path: str | Path = "blade_out",
    base: str | None = None,
    *candidates: str,
    metric: str | None = None,
    margin: float = 0.02,
) -> Comparisons:
    """Compare runs, as `blade compare --json` does; `.frame()` has one row per comparison.

    With a base alone, all other runs of its benchmark are compared with it; without a base, the
    comparisons of the analysis are returned.
    """
    from .answers.comparisons import compared_objects
    from .notebook import Comparisons
    from .settings import warehouse_file

    names = _names(base, candidates)
    comparisons = compared_objects(warehouse_file(path), names, metric=metric, margin=margin)[
        "comparisons"
    ]
    return Comparisons(comparisons)


def suite(
    path: str | Path = "blade_out",
    base: str | None = None,
    *candidates: str,
    suite_file: str | Path | None = None,
) -> Suite:
    """Entrants by benchmarks, as `blade suite --json` prints them; shown as the command's page.

    The frames `.standings`, `.cells` and `.comparisons` have the same rows: none where there is
    one benchmark alone, and the page says what to do.
    """
    from pathlib import Path

    from .answers import suites
    from .cli.suite import text_page
    from .notebook import Suite
    from .settings import warehouse_file

    names = _names(base, candidates)
    file = None if suite_file is None else Path(suite_file)
    try:
        with suites.opened(warehouse_file(path), file, names) as warehouse:
            answer = suites.answer(warehouse, names)
            return Suite(answer, text_page(answer), suites.tables(warehouse, names))
    except suites.NoSuiteError as error:
        if names:
            raise
        with open_warehouse(warehouse_file(path)) as warehouse:
            text = f"{str(error).capitalize()} {error.hint}"
            return Suite(suites.answer(warehouse), text, suites.tables(warehouse))


def _names(base: str | None, candidates: Sequence[str]) -> list[str]:
    return [] if base is None else [base, *candidates]


def runs(path: str | Path = "blade_out") -> polars.DataFrame:
    """The score of each run, with its interval for new tasks."""
    from .answers.frames import frame

    return frame(path, "runs")


def findings(path: str | Path = "blade_out") -> polars.DataFrame:
    """The findings of each benchmark's summary, with their counts and a rollout to open."""
    from .answers.frames import frame

    return frame(path, "findings")


def failures(path: str | Path = "blade_out", run: str | None = None) -> polars.DataFrame:
    """Failure modes with the failures and the passes that have them, of all runs or of one."""
    from .answers.frames import failures as failures_

    return failures_(path, run)


def health(path: str | Path = "blade_out") -> polars.DataFrame:
    """How much of each run's record is healthy, unhealthy or not observed."""
    from .answers.frames import frame

    return frame(path, "health")


def why(path: str | Path, task: str) -> Story:
    """A task in all runs and its attempts in one, as `blade why --json` prints them."""
    from .answers.tasks import refuse_malformed, task_story
    from .notebook import Story

    refuse_malformed(task)
    with open_warehouse(path) as warehouse:
        return Story(task_story(warehouse, task))


def rollout(path: str | Path, citation: str) -> Rollout:
    """One rollout, or one of its events, as `blade show --json` prints it; for notebooks too."""
    from .answers.tasks import cited_rollout
    from .notebook import Rollout

    with open_warehouse(path) as warehouse:
        return Rollout(cited_rollout(warehouse, citation))


def render(
    path: str | Path = "blade_out/warehouse.duckdb",
    *,
    runs: str | Sequence[str] = (),
    sections: str | Sequence[str] = (),
    as_html: bool = False,
    templates: str | Path | None = None,
    labels: str | Path | None = None,
) -> str:
    """Render the report of a warehouse as Markdown or HTML; all runs and sections by default."""
    from pathlib import Path

    from .answers.rerender import render as render_

    return render_(
        Path(path),
        runs=[runs] if isinstance(runs, str) else runs,
        sections=[sections] if isinstance(sections, str) else sections,
        as_html=as_html,
        templates=None if templates is None else Path(templates),
        labels=None if labels is None else Path(labels),
    ).text
