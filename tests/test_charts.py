"""Charts: true to their rows, inert, well-formed, and nothing where there is nothing to draw."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

import pipeline
from pipeline import report
from pipeline.report.charts import NAMES, draw, pass_curve, scale, waterfall
from pipeline.report.charts import buckets as buckets_chart
from pipeline.report.charts import funnel as funnel_chart
from pipeline.report.content import Content
from pipeline.report.templates import OURS
from tests.chart_content import (
    BENCHMARK,
    bands,
    buckets,
    compared,
    content,
    funnel,
    ledger,
    row,
    run,
    slices,
)

TEMPLATES = OURS / "html" / "charts"
PAIR = {"base": "a", "candidate": "b", "metric": "pass_at_1"}
OF_RUN = {"run_id": "a"}
OF_BENCHMARK = {"benchmark": BENCHMARK}
SHARED = "shared tasks"
HOSTILE = "\"'--></title></svg><script>alert(1)</script> \u202e\x1b[2J\ufffe\n" + "long " * 90


def places(found: Content) -> list[tuple[str, Mapping[str, str]]]:
    """Every chart that a report could ask for."""
    asked: list[tuple[str, Mapping[str, str]]] = []
    for benchmark in found.benchmarks:
        asked += [(name, {"benchmark": benchmark}) for name in ("pass_curve", "buckets")]
    for each in found.runs:
        asked += [(name, {"run_id": each.run_id}) for name in ("funnel", "slices")]
    for pair in found.comparisons:
        for change in pair.changes:
            key = {"base": pair.base, "candidate": pair.candidate, "metric": change.metric}
            asked.append(("waterfall", key))
    return asked


def tree(drawn: str) -> ElementTree.Element:
    """A chart read as XML."""
    return ElementTree.fromstring(drawn)


def written(drawn: str) -> list[str]:
    """What a reader sees, piece by piece."""
    return ["".join(found.itertext()) for found in tree(drawn).iter("text")]


@pytest.fixture(scope="module")
def told(demo: Path) -> Content:
    """The demo's content."""
    with pipeline.open_warehouse(demo) as warehouse:
        return report.collect(warehouse)


def points(path: str) -> list[tuple[float, float]]:
    """The places that a path goes through."""
    return [(float(x), float(y)) for x, y in re.findall(r"[ML]([\d.]+) ([\d.]+)", path)]


def test_every_chart_of_the_demo(told: Content) -> None:
    """Charts are well-formed, say what they are, have ids of their own and no style or script."""
    drawn = [draw(name, key, told) for name, key in places(told)]
    assert all(drawn)
    ids = Counter(i for each in drawn for i in re.findall(r' id="([^"]*)"', each))
    assert set(ids.values()) == {1}
    for each in drawn:
        figure = tree(each)
        assert figure.tag == "figure" and figure.get("class", "").startswith("chart ")
        picture = figure.find("svg")
        assert picture is not None and "width" not in picture.attrib
        labelled = picture.get("aria-labelledby", "").split()
        assert [found.get("id") for found in (picture[0], picture[1])] == labelled
        assert re.search(r"\d", picture[1].text or "") and figure.find("figcaption") is not None
        assert not re.search(r"style=|<script|href|<style|https?:|font-family|\bon\w+=", each)
        assert not re.search(r"\d\.\d{3,}(?=[^<>]*\"/>)", each)
        assert set(re.findall(r"url\(#([^)]*)\)", each)) <= set(ids)


def test_classes_are_documented_and_coloured(told: Content) -> None:
    """Every class that a chart uses stands in the list of the shared template and in the CSS."""
    used = {
        name
        for place, key in places(told)
        for found in re.findall(r'class="([^"]*)"', draw(place, key, told))
        for name in found.split()
    }
    listed = (TEMPLATES / "parts.svg.j2").read_text(encoding="utf-8").partition("#}")[0]
    css = (TEMPLATES.parent / "charts.css").read_text(encoding="utf-8")
    for name in used - {"run-2"}:
        if not name.startswith("chart-"):
            assert re.search(rf"\b{name}\b", listed), name
            assert f".{name}" in css or name.startswith("outcome-"), name


def test_figures_are_the_rows_they_cite(told: Content, demo: Path) -> None:
    """What is printed with a source is, to its digits, what a query for that source gives."""
    cited: dict[str, set[tuple[str, str]]] = {}
    for name, key in places(told):
        for found in tree(draw(name, key, told)).iter():
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
    assert {"estimates", "report.funnels", "bucket_counts", "slice_metrics"} < set(cited)


def test_curve_goes_through_its_values() -> None:
    """Reading the picture back gives pass@k, pass^k and the ends of the interval."""
    at, hat = [0.25, 0.5, 0.625, 0.75], [0.25, 0.125, 0.0625, 0.0]
    found = content([run("a", bands=bands("a", at, hat, spread=0.1))])
    chart = pass_curve.geometry(OF_BENCHMARK, found)
    assert chart is not None
    (curve,) = chart.curves
    for path, values in ((curve.line, at), (curve.dashed, hat)):
        back = [(chart.x.value(x), chart.y.value(y)) for x, y in points(path)]
        assert [k for k, _ in back] == pytest.approx([1, 2, 3, 4], abs=0.001)
        assert [value for _, value in back] == pytest.approx(values, abs=0.0005)
    ends = [chart.y.value(y) for _, y in points(curve.band)]
    expected = [value + 0.1 for value in at] + [value - 0.1 for value in reversed(at)]
    assert ends == pytest.approx(expected, abs=0.0005)


def test_curves_left_out_are_counted() -> None:
    """Of 400 runs eight are drawn, and runs without repeats have no curve."""
    many = [run(f"r{n}", bands=bands(f"r{n}", [0.1, 0.2])) for n in range(400)]
    single = run("single", bands=bands("single", [0.5]))
    drawn = draw("pass_curve", OF_BENCHMARK, content([*many, single]))
    assert drawn.count('class="line run-') == 16
    assert "The first 8 of 400 runs." in drawn and "are known: 1." in drawn
    assert draw("pass_curve", OF_BENCHMARK, content([single])) == ""


def test_long_curves_stay_small() -> None:
    """Five hundred repeats are drawn by some of their points, the first and the last among them."""
    values = [k / 512 for k in range(1, 513)]
    chart = pass_curve.geometry(OF_BENCHMARK, content([run("a", bands=bands("a", values))]))
    assert chart is not None
    back = [round(chart.x.value(x)) for x, _ in points(chart.curves[0].line)]
    assert len(back) == 48 and (back[0], back[-1]) == (1, 512)


def test_funnel_bars_are_as_long_as_their_counts() -> None:
    """A bar's length over its count is one and the same, and lost follows on reached."""
    counts = [80, 60, 60, 15]
    chart = funnel_chart.geometry(OF_RUN, content([run(funnels=funnel("a", counts))]))
    assert chart is not None
    unit = chart.stages[0].reached / 80
    reached, lost = [n * unit for n in counts], [n * unit for n in (0, 20, 0, 45)]
    assert [stage.reached for stage in chart.stages] == pytest.approx(reached, abs=0.051)
    assert [stage.lost for stage in chart.stages] == pytest.approx(lost, abs=0.101)
    assert [stage.is_largest for stage in chart.stages] == [False, False, False, True]
    drawn = draw("funnel", OF_RUN, content([run(funnels=funnel("a", counts))]))
    assert {"80", "15", "18.8%", "45", "◀ most"} <= set(written(drawn))


def test_buckets_fill_the_width() -> None:
    """The pieces of a bar touch, add up to its width, and are as wide as their counts."""
    chart = buckets_chart.geometry(OF_BENCHMARK, content([run(buckets=buckets("a", 7, 5, 7, 1))]))
    assert chart is not None
    pieces = chart.bars[0].pieces
    whole = buckets_chart.RIGHT - buckets_chart.LEFT
    assert sum(piece.width for piece in pieces) == pytest.approx(whole)
    assert [piece.width for piece in pieces] == pytest.approx(
        [whole * n / 20 for n in (7, 5, 7, 1)]
    )
    for before, after in pairwise(pieces):
        assert before.x + before.width == pytest.approx(after.x)


def test_buckets_unknown_are_left_out() -> None:
    """A run without a threshold has no bar and is counted; forty of 400 have one."""
    unsettled = run("u", buckets=buckets("u", None, None, None, 1))
    many = [run(f"r{n}", buckets=buckets(f"r{n}", 1, 2, 3, 0)) for n in range(400)]
    drawn = draw("buckets", OF_BENCHMARK, content([*many, unsettled]))
    assert "The first 40 of 400 runs." in drawn and "nothing is known: 1." in drawn
    assert draw("buckets", OF_BENCHMARK, content([unsettled])) == ""
    assert draw("buckets", OF_BENCHMARK, content([run(buckets=buckets("a", 0, 0, 0, 0))])) == ""


def check_adds_up(chart: waterfall.Waterfall) -> None:
    """In coordinates: each bar begins where the last ended, the last is the candidate's."""
    for panel in chart.panels:
        first, *steps, last = panel.bars
        at = round(first.x + first.width, 1)
        for bar in steps:
            start, end = bar.x, round(bar.x + bar.width, 1)
            before, after = (start, end) if bar.kind == "gain" else (end, start)
            assert before == at
            at = after
        assert round(last.x + last.width, 1) == at


def test_waterfall_adds_up_in_the_demo(told: Content) -> None:
    """Bars lead from the base to the candidate, and the printed lines add up to the total."""
    for pair in told.comparisons:
        for change in pair.changes:
            key = {"base": pair.base, "candidate": pair.candidate, "metric": change.metric}
            chart = waterfall.geometry(key, told)
            assert chart is not None
            check_adds_up(chart)
            scale_ = 10 if change.metric == "pass_at_1" else 10_000
            for panel, chosen in zip(chart.panels, waterfall.chosen(change), strict=True):
                lines = [bar.labels[1].parts[0].text for bar in panel.bars[1:-1]]
                total = chosen.total.total_shown.value * (100 if scale_ == 10 else 1)
                units = [round(float(line) * scale_) for line in lines]
                assert sum(units) == round(total * scale_)


def test_waterfall_tells_the_task_mix_first() -> None:
    """Tasks of one run only come first, over all tasks; then modes, over the tasks of both."""
    mix = ledger(
        "task mix", [("tasks of both", 0.1), ("only in the base", -0.3)], explains="all tasks"
    )
    modes = ledger("failure modes", [("TRUNCATED", 0.2), ("REFUSAL", -0.1)], explains=SHARED)
    found = content(found=[compared([mix, modes], (0.6, 0.4), (0.3, 0.4))])
    chart = waterfall.geometry(PAIR, found)
    assert chart is not None
    check_adds_up(chart)
    ends = [
        (panel.bars[0].labels[1].parts[0].text, panel.bars[-1].labels[1].parts[0].text)
        for panel in chart.panels
    ]
    assert ends == [("60.0%", "40.0%"), ("30.0%", "40.0%")]
    drawn = draw("waterfall", PAIR, found)
    assert "Task mix, over all tasks of each run" in written(drawn)
    assert "Failure modes, over the tasks of both runs" in written(drawn)


def test_waterfall_without_mix_or_modes() -> None:
    """One line of the mix says nothing; without modes the ledger with the largest line is told."""
    mix = ledger("task mix", [("tasks of both", 0.1)], explains="all tasks")
    steps = ledger("funnel", [("passed", 0.1)], explains=SHARED)
    moves = ledger("bucket transitions", [("up", 0.4), ("down", -0.3)], explains=SHARED)
    found = content(found=[compared([mix, moves, steps], (0.5, 0.6), (0.5, 0.6))])
    assert [name for name in written(draw("waterfall", PAIR, found)) if "over" in name] == [
        "Bucket transitions, over the tasks of both runs"
    ]


def test_waterfall_that_does_not_add_up_is_not_drawn() -> None:
    """Lines that lead elsewhere than to the candidate are no explanation."""
    modes = ledger("failure modes", [("TRUNCATED", 0.2)], explains=SHARED)
    wrong = content(found=[compared([modes], (0.5, 0.6), (0.5, 0.6))])
    assert draw("waterfall", PAIR, wrong) == ""
    other = content(found=[compared([modes], (0.5, 0.7), (0.1, 0.2))])
    assert "over all tasks of each run" in draw("waterfall", PAIR, other)


def hostile() -> Content:
    """Every name is an attack."""
    name = HOSTILE
    whole = run(
        name,
        bands=bands(name, [0.1, 0.2], [0.1, 0.0]),
        funnels=funnel(name, [9, 3], names=[name, name]),
        buckets=buckets(name, 1, 1, 1, 1),
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
        tree(drawn)
        assert "<script" not in drawn and not re.search("[\u202e\x1b\ufffe]", drawn)
        assert "&lt;script&gt;" in drawn and len(drawn) < 20_000
        assert max(len(text) for text in written(drawn)) < 300


def test_ends_of_values() -> None:
    """Nothing, nulls, one value and the largest floats draw nothing or something sensible."""
    nothing = content([run()])
    assert [draw(name, {**OF_RUN, **OF_BENCHMARK, **PAIR}, nothing) for name in NAMES] == [""] * 5
    assert draw("pie", OF_RUN, nothing) == "" and draw("funnel", {}, nothing) == ""
    assert draw("funnel", OF_RUN, content([run(funnels=funnel("a", [0, 0]))])) == ""
    assert draw("slices", OF_RUN, content([run(slices=slices("a", [None, None]))])) == ""
    lone = draw("slices", OF_RUN, content([run(slices=slices("a", [0.5, None]))]))
    assert lone.count("<circle") == 1 and "n/a" in written(lone)
    rewards = draw("slices", OF_RUN, content([run(pass_at_1=None, slices=slices("a", [-3.0]))]))
    assert "mean reward" in written(rewards) and 'class="interval"' not in rewards
    huge = run(pass_at_1=None, slices=slices("a", [1.7e308, -1.7e308]))
    assert draw("slices", OF_RUN, content([huge])) == ""
    many = draw("slices", OF_RUN, content([run(slices=slices("a", [0.5] * 400))]))
    assert "The first 40 of 400 slices." in many
    unknown = content([run("a", bands=bands("a", [None, None], [None, None]))])
    assert draw("pass_curve", OF_BENCHMARK, unknown) == ""


def test_long_names_keep_both_ends() -> None:
    """Names that differ in their last letters only are still told apart, and stand in full too."""
    name = "a_model_with_quite_a_long_name_at_checkpoint_{}"
    runs = [run(name.format(n), buckets=buckets("x", 1, 1, 1, 0)) for n in range(2)]
    drawn = draw("buckets", OF_BENCHMARK, content(runs))
    shown = [text for text in written(drawn) if "…" in text]
    assert [text.partition("…")[2].partition("a_model")[0][-2:] for text in shown] == ["_0", "_1"]
    assert drawn.count(f"<title>{name.format(1)}</title>") == 1


def test_ticks() -> None:
    """Ticks are round, inside, and written without idle digits."""
    texts = [tick.text for tick in scale.ticks(0.0, 0.05)]
    assert texts == ["0", "0.01", "0.02", "0.03", "0.04", "0.05"]
    assert [tick.text for tick in scale.ticks(1, 3, whole=True)] == ["1", "2", "3"]
    assert [tick.text for tick in scale.log_ticks(0, 2_000_000)] == ["0", "1", "100", "10k", "1M"]
    assert [tick.text for tick in scale.percent_ticks(0.39, 0.52)] == ["40%", "45%", "50%"]
    assert scale.px(-0.04) == "0" and scale.px(12.0) == "12"


def test_templates_say_what_they_need() -> None:
    """Each chart has a template of its own that opens with what it reads."""
    paths = {path.name: path.read_text(encoding="utf-8") for path in TEMPLATES.iterdir()}
    assert set(paths) == {f"{name}.svg.j2" for name in NAMES} | {"parts.svg.j2"}
    assert all(text.startswith("{# Needs: ") for text in paths.values())
