"""Charts: true to their rows, inert, well-formed, and nothing where there is nothing to draw."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import pipeline
from pipeline import report
from pipeline.report.charts import CHARTS, Chart, chosen, draw, svg
from pipeline.report.comparisons import Change, Comparison, Ledger
from pipeline.report.content import Content, RunContent
from pipeline.report.declared import OF_RUNS
from pipeline.report.figures import Row
from pipeline.report.templates import OURS

BENCHMARK = "desk"
BUCKETS = ("always", "sometimes", "never", "missing")


class Values(dict[str, Any]):
    """Of the columns that are not given there is no value."""

    def __missing__(self, _: str) -> None:
        return None


def row(relation: str, key: str, **values: Any) -> Row:
    """A row of a relation by its key."""
    return Row(relation, tuple(key.split()), Values(values))


def run(
    run_id: str = "a",
    *,
    pass_at_1: float | None = 0.5,
    buckets: Sequence[int | None] = (None,) * 4,
    **tables: list[Row],
) -> RunContent:
    """A run with these tables and tasks by bucket, all others empty."""
    head = row(
        "run_metrics",
        "run_id",
        run_id=run_id,
        benchmark=BENCHMARK,
        pass_at_1=pass_at_1,
        mean_reward=0.5 if pass_at_1 is None else pass_at_1,
        n_tasks=20,
        n_scored_tasks=19,
        **{f"n_{name}_tasks": n for name, n in zip(BUCKETS, buckets, strict=True)},
        **{
            f"{metric}_ci_new_tasks_{end}": None if pass_at_1 is None else pass_at_1 * factor
            for metric in ("pass_at_1", "mean_reward")
            for end, factor in (("low", 0.5), ("high", 1.5))
        },
    )
    return RunContent(head, {**{table.name: [] for table in OF_RUNS}, **tables})


def content(runs: Sequence[RunContent] = (), actual: Sequence[Comparison] = ()) -> Content:
    """Of these runs and comparisons."""
    empty: dict[str, Any] = {each.name: [] for each in fields(Content)}
    return Content(**{**empty, "runs": list(runs), "comparisons": list(actual), "aliases": {}})


def bands(
    run_id: str, at: Sequence[float | None], hat: Sequence[float | None] = (), *, spread: Any = None
) -> list[Row]:
    """pass@k and pass^k from k = 1."""
    return [
        row(
            "estimates",
            "run_id metric k",
            run_id=run_id,
            metric=metric,
            k=k,
            value=value,
            n_tasks=20,
            ci_new_tasks_low=None if spread is None or value is None else value - spread,
            ci_new_tasks_high=None if spread is None or value is None else value + spread,
        )
        for metric, values in (("pass_at", at), ("pass_hat", hat))
        for k, value in enumerate(values, 1)
    ]


def funnel(run_id: str, reached: Sequence[int], *, names: Sequence[str] = ()) -> list[Row]:
    """Stages with so many rollouts."""
    lost = [before - n for before, n in zip([reached[0], *reached], reached, strict=False)]
    return [
        row(
            "funnel",
            "run_id stage_no",
            run_id=run_id,
            stage_no=place + 1,
            stage=names[place] if names else f"stage {place + 1}",
            n_reached=n,
            n_lost=lost[place],
            reach_rate=n / reached[0] if reached[0] else None,
            drop_rank=1 if lost[place] == max(lost) > 0 else None,
        )
        for place, n in enumerate(reached)
    ]


def slices(run_id: str, values: Sequence[float | None], *, name: str = "mail") -> list[Row]:
    """A slice a value."""
    return [
        row(
            "slice_metrics",
            "run_id slice_key slice_value",
            run_id=run_id,
            slice_key="category",
            slice_value=f"{name} {place}",
            pass_at_1=value,
            mean_reward=value,
            n_scored_tasks=4,
            ci_new_tasks_low=None if value is None else value / 2,
            ci_new_tasks_high=None if value is None else (1 + value) / 2,
        )
        for place, value in enumerate(values)
    ]


def ledger(name: str, lines: Sequence[tuple[str, float]], *, explains: str) -> Ledger:
    """Lines with their amounts, which are shown as they are."""
    total = sum(amount for _, amount in lines)
    return Ledger(
        name,
        "dropped",
        "",
        [
            row(
                "report.ledgers",
                "ledger line_no",
                ledger=name,
                line_no=place,
                line=line,
                effect="",
                amount=amount,
                shown=round(amount, 3),
                total_shown=round(total, 3),
                explains=explains,
                n_others=None,
                is_shown=True,
            )
            for place, (line, amount) in enumerate(lines, 1)
        ],
    )


def compared(
    ledgers: Sequence[Ledger], values: tuple[Any, Any], common: tuple[Any, Any], **names: str
) -> Comparison:
    """Base and candidate by pass@1: over all tasks of each, and over those of both."""
    pair = {"base": "a", "candidate": "b", **names}
    reported = row(
        "comparisons",
        "base candidate metric",
        **pair,
        metric="pass_at_1",
        base_value=values[0],
        candidate_value=values[1],
        base_common=common[0],
        candidate_common=common[1],
    )
    change = Change(reported, list(ledgers), [])
    return Comparison(
        **pair, changes=[change], settings=[], transitions=[], refused=[], metrics=[], flips=[]
    )


CSS = OURS / "html" / "charts.css"
PAIR = {"base": "a", "candidate": "b", "metric": "pass_at_1"}
OF_RUN = {"run_id": "a"}
OF_BENCHMARK = {"benchmark": BENCHMARK}
SHARED = "shared tasks"
HOSTILE = "\"'--></title></svg><script>alert(1)</script> \u202e\x1b[2J\ufffe\n" + "long " * 90


def places(collected: Content) -> list[tuple[str, Mapping[str, str]]]:
    """Every declared chart with each key that a report could ask for."""
    keys = [{"benchmark": name} for name in collected.benchmarks]
    keys += [{"run_id": run.run_id} for run in collected.runs]
    keys += [
        {"base": pair.base, "candidate": pair.candidate, "metric": change.metric}
        for pair in collected.comparisons
        for change in pair.changes
    ]
    return [
        (name, key) for name, chart in CHARTS.items() for key in keys if chart.key == tuple(key)
    ]


def tree(drawn: str) -> ElementTree.Element:
    """A chart read as XML."""
    return ElementTree.fromstring(drawn)


def written(drawn: str) -> list[str]:
    """What a reader sees, piece by piece."""
    return ["".join(found.itertext()) for found in tree(drawn).iter("text")]


@pytest.fixture(scope="module")
def demo_content(demo: Path) -> Content:
    """The demo's content."""
    with pipeline.open_warehouse(demo) as warehouse:
        return report.collect(warehouse)


def points(path: str) -> list[tuple[float, float]]:
    """The places that a path goes through."""
    return [(float(x), float(y)) for x, y in re.findall(r"[ML]([\d.]+) ([\d.]+)", path)]


def paths(drawn: str, kind: str) -> list[str]:
    """The paths of a class, in order."""
    found = [each for each in tree(drawn).iter("path") if kind in each.get("class", "").split()]
    return [each.get("d", "") for each in found]


def bars(drawn: str, kind: str) -> list[tuple[float, float]]:
    """From where to where the bars of a class go."""
    ends = [re.match(r"M([\d.]+) [\d.]+h([\d.]+)v", path) for path in paths(drawn, kind)]
    return [(float(end[1]), round(float(end[1]) + float(end[2]), 1)) for end in ends if end]


def across(drawn: str) -> list[tuple[float, float]]:
    """The ticks below a chart: where each is, and its words."""
    ticks = [each for each in tree(drawn).iter("text") if each.get("class") == "tick"]
    below = [each for each in ticks if each.get("text-anchor") == "middle"]
    return [(float(each.get("x", "")), float((each.text or "").rstrip("%"))) for each in below]


def read_back(drawn: str, place: float) -> float:
    """The label of a place, by the first and the last tick."""
    (start, low), *_, (end, high) = across(drawn)
    return low + (place - start) / (end - start) * (high - low)


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_is_declared_whole(name: str, demo_content: Content) -> None:
    """It has a macro, a place in a section, and something to draw in the demo."""
    assert name in svg.macros("charts"), f"write its macro {name} in charts.svg.j2"
    sections = [path.read_text(encoding="utf-8") for path in (OURS / "markdown").glob("*.j2")]
    placed = any(f'chart("{name}"' in text for text in sections)
    assert placed, f'place it in a template of report_templates/markdown: chart("{name}", ...)'
    pictures = [draw(each, key, demo_content) for each, key in places(demo_content) if each == name]
    assert pictures and all(pictures), f"{name} draws nothing of the demo: check its key and values"


def test_a_chart_without_a_macro_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawing it says what to write, and where."""
    monkeypatch.setitem(CHARTS, "pies", Chart((), lambda _key, _content: {"n": 1}))
    with pytest.raises(LookupError, match=r"write the macro pies in report_templates/charts"):
        draw("pies", {}, content([], []))


def test_every_chart_of_the_demo(demo_content: Content) -> None:
    """Charts are well-formed, say what they are, have ids of their own and no style or script."""
    drawn = [draw(name, key, demo_content) for name, key in places(demo_content)]
    ids = Counter(i for each in drawn for i in re.findall(r' id="([^"]*)"', each))
    assert set(ids.values()) == {1}
    for each in drawn:
        figure = tree(each)
        assert figure.tag == "figure" and figure.get("class") == "chart"
        picture = figure.find("svg")
        assert picture is not None and "width" not in picture.attrib
        labelled = picture.get("aria-labelledby", "").split()
        assert [found.get("id") for found in (picture[0], picture[1])] == labelled
        assert re.search(r"\d", picture[1].text or "") and figure.find("figcaption") is not None
        assert not re.search(r"style=|<script|href|<style|https?:|font-family|\bon\w+=", each)
        assert not re.search(r"\d\.\d{3,}(?=[^<>]*\"/>)", each)


def test_classes_are_coloured(demo_content: Content) -> None:
    """Every class that a chart uses is in the style sheet, and every pattern in the page."""
    used = {
        name
        for place, key in places(demo_content)
        for found in re.findall(r'class="([^"]*)"', draw(place, key, demo_content))
        for name in found.split()
    }
    css = CSS.read_text(encoding="utf-8")
    assert [name for name in sorted(used) if f".{name}" not in css] == []
    page = (OURS / "html" / "page.html.j2").read_text(encoding="utf-8")
    kinds = set(re.findall(r'url\("#hatch-(\w+)"\)', css))
    assert kinds == {"lost", "loss", "sometimes"} and all(f'"{kind}"' in page for kind in kinds)


def test_figures_are_the_rows_they_cite(demo_content: Content, demo: Path) -> None:
    """What is printed with a source is, to its digits, what a query for that source gives."""
    cited: dict[str, set[tuple[str, str]]] = {}
    for name, key in places(demo_content):
        for found in tree(draw(name, key, demo_content)).iter():
            source = found.get("data-figure")
            if source:
                relation = source.partition("?")[0]
                cited.setdefault(relation, set()).add((source, found.text or ""))
    with pipeline.open_warehouse(demo) as warehouse:
        for relation, sources in cited.items():
            result = warehouse.execute(f"from {relation}")
            columns = [column[0] for column in result.description or []]
            rows = [dict(zip(columns, values, strict=True)) for values in result.fetchall()]
            for source, printed in sources:
                names = re.findall(r"[?&](\w+)=", source)
                (value,) = (
                    found[source.partition("#")[2]]
                    for found in rows
                    if row(relation, " ".join(names), **found).place == source.partition("#")[0]
                )
                number = float(printed.rstrip("%").replace(",", ""))
                is_rate = "%" in printed or ("metric=pass_at_1&" in source and "." in printed)
                error = abs(number - (100 if is_rate else 1) * value)
                is_short = is_rate or relation == "resource_stats"
                assert error <= (0.0501 if is_short else 0.0000501), (source, printed)
    assert {"estimates", "funnel", "run_metrics", "slice_metrics"} < set(cited)


def test_curve_goes_through_its_values() -> None:
    """Reading the picture back gives pass@k, pass^k and the ends of the interval."""
    at, hat = [0.25, 0.5, 0.625, 0.75], [0.25, 0.125, 0.0625, 0.0]
    found = content([run("a", estimates=bands("a", at, hat, spread=0.1))])
    drawn = draw("pass_curve", OF_BENCHMARK, found)
    levels = [points(path)[0][1] for path in paths(drawn, "grid") if "L" in path]
    zero, whole = max(levels), min(levels)

    def back(path: str) -> list[tuple[float, float]]:
        return [(read_back(drawn, x), (zero - y) / (zero - whole)) for x, y in points(path)]

    for kind, values in (("line", at), ("dashed", hat)):
        seen = back(paths(drawn, kind)[0])
        assert [k for k, _ in seen] == pytest.approx([1, 2, 3, 4], abs=0.001)
        assert [value for _, value in seen] == pytest.approx(values, abs=0.0005)
    ends = [value for _, value in back(paths(drawn, "band")[0])]
    expected = [value + 0.1 for value in at] + [value - 0.1 for value in reversed(at)]
    assert ends == pytest.approx(expected, abs=0.0005)


def test_scores_are_dots_with_whiskers() -> None:
    """One row per run: its dot, its interval and both as figures; n/a where there is none."""
    runs = [run("a", pass_at_1=0.4), run("b", pass_at_1=0.6), run("c", pass_at_1=None)]
    drawn = draw("scores", OF_BENCHMARK, content(runs))
    dots = [float(each.get("cx", "")) for each in tree(drawn).iter("circle")]
    assert [read_back(drawn, x) for x in dots] == pytest.approx([40, 60], abs=0.1)
    whiskers = [re.findall(r"[MH]([\d.]+)", path) for path in paths(drawn, "interval")]
    ends = [(read_back(drawn, float(x[0])), read_back(drawn, float(x[-1]))) for x in whiskers]
    assert ends == [pytest.approx((20, 60), abs=0.1), pytest.approx((30, 90), abs=0.1)]
    assert {"40.0%", "20.0% to 60.0%", "n/a"} <= set(written(drawn))
    rewards = draw("scores", OF_BENCHMARK, content([run("c", pass_at_1=None)]))
    assert "mean reward" in written(rewards) and paths(rewards, "interval") == []


def test_funnel_bars_are_as_long_as_their_counts() -> None:
    """A bar's length over its count is one and the same, and lost follows on reached."""
    counts = [80, 60, 60, 15]
    drawn = draw("funnel", OF_RUN, content([run(funnels=funnel("a", counts))]))
    reached = bars(drawn, "reached")
    unit = (reached[0][1] - reached[0][0]) / 80
    assert [end - start for start, end in reached] == pytest.approx(
        [n * unit for n in counts], abs=0.2
    )
    lost = bars(drawn, "lost")
    assert [end - start for start, end in lost] == pytest.approx([20 * unit, 45 * unit], abs=0.2)
    assert [start for start, _ in lost] == [reached[1][1], reached[3][1]]
    assert len(bars(drawn, "largest")) == 1
    assert {"80", "15", "18.8%", "20 lost", "45 lost, the most"} <= set(written(drawn))


def test_buckets_fill_the_width() -> None:
    """The pieces of a bar touch, add up to its width, and are as wide as their counts."""
    drawn = draw("buckets", OF_BENCHMARK, content([run(buckets=(7, 5, 7, 1))]))
    # The first of each is its square in the legend.
    pieces = [bars(drawn, name)[1] for name in ("always", "sometimes", "never", "missing")]
    whole = svg.PLOT_END - svg.PLOT_START
    assert [end - start for start, end in pieces] == pytest.approx(
        [whole * n / 20 for n in (7, 5, 7, 1)], abs=0.1
    )
    for before, after in pairwise(pieces):
        assert before[1] == pytest.approx(after[0], abs=0.11)


def check_adds_up(drawn: str) -> int:
    """In coordinates: each bar begins where the last ended, the last is the candidate's."""
    n_panels = 0
    at: float | None = None
    for path in tree(drawn).iter("path"):
        kind = path.get("class", "")
        found = re.match(r"M([\d.]+) 0h([\d.]+)v", path.get("d", ""))
        if kind not in ("end", "gain", "loss") or found is None:
            continue
        start, end = float(found[1]), round(float(found[1]) + float(found[2]), 1)
        if kind == "end":
            assert at in (None, end)
            n_panels += at is not None
            at = end if at is None else None
        else:
            before, after = (start, end) if kind == "gain" else (end, start)
            assert before == at
            at = after
    assert at is None
    return n_panels


def test_waterfall_adds_up_in_the_demo(demo_content: Content) -> None:
    """Bars lead from the base to the candidate, and the printed lines add up to the total."""
    for pair in demo_content.comparisons:
        for change in pair.changes:
            key = {"base": pair.base, "candidate": pair.candidate, "metric": change.metric}
            drawn = draw("waterfall", key, demo_content)
            ledgers = chosen(change)
            assert check_adds_up(drawn) == len(ledgers) > 0
            scale_ = 10 if change.metric == "pass_at_1" else 10_000
            lines = [text for text in written(drawn) if re.match(r"[+-]\d", text)]
            totals = [
                each.total.total_shown.value * (100 if scale_ == 10 else 1) for each in ledgers
            ]
            units = [round(float(line) * scale_) for line in lines]
            assert sum(units) == sum(round(total * scale_) for total in totals)


def test_waterfall_tells_the_task_mix_first() -> None:
    """Tasks of one run only come first, over all tasks; then modes, over the tasks of both."""
    mix = ledger(
        "task mix", [("tasks of both", 0.1), ("only in the base", -0.3)], explains="all tasks"
    )
    modes = ledger("failure modes", [("TRUNCATED", 0.2), ("REFUSAL", -0.1)], explains=SHARED)
    found = content(actual=[compared([mix, modes], (0.6, 0.4), (0.3, 0.4))])
    drawn = draw("waterfall", PAIR, found)
    assert check_adds_up(drawn) == 2
    ends = [text for text in written(drawn) if re.fullmatch(r"\d+\.\d%", text)]
    assert ends == ["60.0%", "40.0%", "30.0%", "40.0%"]
    assert "Task mix, over all tasks of each run" in written(drawn)
    assert "Failure modes, over the tasks of both runs" in written(drawn)


def test_waterfall_that_does_not_add_up_is_not_drawn() -> None:
    """Lines that lead elsewhere than to the candidate are no explanation."""
    modes = ledger("failure modes", [("TRUNCATED", 0.2)], explains=SHARED)
    wrong = content(actual=[compared([modes], (0.5, 0.6), (0.5, 0.6))])
    assert draw("waterfall", PAIR, wrong) == ""
    other = content(actual=[compared([modes], (0.5, 0.7), (0.1, 0.2))])
    assert "over all tasks of each run" in draw("waterfall", PAIR, other)


def hostile() -> Content:
    """Every name is an attack."""
    name = HOSTILE
    whole = run(
        name,
        estimates=bands(name, [0.1, 0.2], [0.1, 0.0]),
        funnels=funnel(name, [9, 3], names=[name, name]),
        buckets=(1, 1, 1, 1),
        slices=slices(name, [0.1, 0.9], name=name),
    )
    modes = ledger("failure modes", [(name, 0.2)], explains=SHARED)
    pair = compared([modes], (0.5, 0.7), (0.5, 0.7), base=name, candidate=name + "b")
    return content([whole], [pair])


def test_hostile_names_are_inert() -> None:
    """A name cannot end an element, hide, or reorder what is read; it is shortened, not lost."""
    found = hostile()
    for name, key in places(found):
        drawn = draw(name, key, found)
        assert drawn, f"{name} draws nothing: give hostile() the rows that it is drawn from"
        tree(drawn)
        assert "<script" not in drawn and not re.search("[\u202e\x1b\ufffe]", drawn)
        assert "&lt;script&gt;" in drawn and len(drawn) < 20_000
        assert max(len(text) for text in written(drawn)) < 300


def test_ends_of_values() -> None:
    """Nothing, nulls, one value and the largest floats draw nothing or something sensible."""
    nothing = content()
    key = {**OF_RUN, **OF_BENCHMARK, **PAIR}
    for name in CHARTS:
        assert not draw(name, key, nothing), f"return None from _{name} where there is no run"
    without_tables = content([run()])
    assert not any(draw(name, key, without_tables) for name in ("funnel", "slices", "pass_curve"))
    assert draw("pie", OF_RUN, nothing) == "" and draw("funnel", {}, nothing) == ""
    assert draw("funnel", OF_RUN, content([run(funnels=funnel("a", [0, 0]))])) == ""
    assert draw("slices", OF_RUN, content([run(slices=slices("a", [None, None]))])) == ""
    lone = draw("slices", OF_RUN, content([run(slices=slices("a", [0.5, None]))]))
    assert lone.count("<circle") == 1 and "n/a" in written(lone)
    rewards = draw("slices", OF_RUN, content([run(pass_at_1=None, slices=slices("a", [-3.0]))]))
    assert "mean reward" in written(rewards) and 'class="interval"' not in rewards
    for ends in ([1.7e308, -1.7e308], [1e-320, 1e-321]):
        extreme = run(pass_at_1=None, slices=slices("a", ends))
        drawn = draw("slices", OF_RUN, content([extreme]))
        assert (drawn == "") == (ends[0] > 1)
    many = draw("slices", OF_RUN, content([run(slices=slices("a", [0.5] * 400))]))
    assert "The first 40 of 400 slices." in many
    unknown = content([run("a", estimates=bands("a", [None, None], [None, None]))])
    assert draw("pass_curve", OF_BENCHMARK, unknown) == ""
