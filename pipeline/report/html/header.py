"""Content -> the head of the page: for each benchmark what changed, and where its runs stand."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pipeline.report.comparisons import Comparison, leading
from pipeline.report.content import Content, RunContent
from pipeline.report.figures import Row

MOST_BENCHMARKS = 4
MOST_RUNS = 6
MOST_COMPARISONS = 3
BUCKETS = ("always", "sometimes", "never", "missing")


@dataclass(frozen=True)
class Tile:
    """A run at a glance."""

    run_id: str
    head: Row
    # Shares of the tasks in a hundred, in the order of BUCKETS; none where nothing is settled.
    shares: list[tuple[str, float, float]]


@dataclass(frozen=True)
class Benchmark:
    """A benchmark at a glance."""

    name: str
    tiles: list[Tile]
    n_runs: int
    comparisons: list[Comparison]


def benchmarks(content: Content) -> list[Benchmark]:
    """Each benchmark with its first runs and leading comparisons; what was decided stands first."""
    compared: dict[str, list[Comparison]] = {}
    for each in content.comparisons:
        compared.setdefault(each.benchmark, []).append(each)
    found = [_benchmark(content, name, compared.get(name, [])) for name in content.benchmarks]
    most = MOST_COMPARISONS if len(found) == 1 else 1
    return [
        replace(each, comparisons=leading(each.comparisons, most))
        for each in sorted(
            found,
            key=lambda each: (
                not any(pair.is_named for pair in each.comparisons),
                not each.comparisons,
                -each.n_runs,
                each.name,
            ),
        )
    ]


def _benchmark(content: Content, name: str, compared: list[Comparison]) -> Benchmark:
    own = [run for run in content.runs if run.benchmark == name]
    return Benchmark(
        name,
        [Tile(run.run_id, run.headline, _shares(run)) for run in own[:MOST_RUNS]],
        len(own),
        compared,
    )


def _shares(run: RunContent) -> list[tuple[str, float, float]]:
    counts = [(name, run.headline.values[f"n_{name}_tasks"]) for name in BUCKETS]
    total = sum(count or 0 for _, count in counts)
    if not total or any(count is None for _, count in counts):
        return []
    shares, start = [], 0
    for name, count in counts:
        shares.append((name, round(100 * start / total, 1), round(100 * count / total, 1)))
        start += count
    return [each for each in shares if each[2]]
