"""Errors planted into drafts of real results are found on their lines; others are clean."""

from __future__ import annotations

import functools
import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from pipeline.package.answers import Answers
from pipeline.package.findings import CONTRADICTED
from pipeline.package.verify import verify
from pipeline.run import run
from pipeline.settings import Settings
from pipeline.warehouse import Warehouse, open_warehouse
from tests.conftest import ROOT

SHARED = ROOT.parent / "shared"
FOLDERS = [
    "corpus/tau_airline",
    "corpus/gym/structeval",
    "corpus/gym/workplace_assistant",
    "findings_corpus/terminal_agents",
    "findings_corpus/tau2_telecom",
    "formats_corpus/inspect/generated",
]
N_PLANTED = 100


@dataclass(frozen=True)
class Planted:
    """A text with one error, its kind and its line."""

    text: str
    kind: str
    line: int


def planted(text: str, warehouse: Warehouse) -> Iterator[Planted]:
    """One error of each kind wherever the text has a place for it."""

    def at(match: re.Match[str], new: str, kind: str, group: str | int = "old") -> Planted:
        start, end = match.span(group)
        return Planted(text[:start] + new + text[end:], kind, text.count("\n", 0, start) + 1)

    runs = [
        name for (name,) in warehouse.execute("select run_id from runs order by all").fetchall()
    ]
    every = "select run_id || '/' || task_id || ':' || rollout_index from rollouts order by all"
    rollouts = [name for (name,) in warehouse.execute(every).fetchall()]
    chance = random.Random(len(text))
    bare = re.sub(r"<!--.*?-->", lambda match: "\x01" * len(match[0]), text, flags=re.DOTALL)
    bare = bare[: bare.index("## Reproducibility")]
    plain = re.sub(r"`[^`\n]*`", lambda match: "\x01" * len(match[0]), bare)
    figure = (
        r"(?<![\w.,:/#@^&\x01-])(?P<old>\d[\d,]*(?:\.\d+)?)(?=%| of | task| attempt| \|| points)"
    )
    for match in re.finditer(figure, plain):
        number = match["old"].replace(",", "")
        more = f"{float(number) + 3:,.{len(number.partition('.')[2])}f}"
        yield at(match, more, "figure")
    for match in re.finditer(r"(?<=[ |])(?P<old>[+-])(?=\d)", plain):
        yield at(match, "-" if match["old"] == "+" else "+", "sign")
    for match in re.finditer(r"`(?P<old>[^`\s/]+/[^`\s]+:\d+)(?:#\d+)?`", bare):
        other = chance.choice(rollouts)
        if other != match["old"]:
            yield at(match, other, "citation")
    for run_id in runs:
        others = [each for each in runs if each != run_id]
        for match in re.finditer(rf"`(?P<old>{re.escape(run_id)})`", bare):
            if others:
                yield at(match, chance.choice(others), "run")
    for old, new in (
        ("highest", "lowest"), ("lowest slice is", "highest slice is"),
        ("not significant", "significant"), ("regressed", "improved"), ("improved", "regressed"),
    ):  # fmt: skip
        for match in re.finditer(rf"(?P<old>\b{old}\b)", plain):
            yield at(match, new, "word")
    for match in re.finditer(r"^### Task `(?P<old>[^`\n]+)`", bare, re.MULTILINE):
        yield at(match, "no-such-task-77", "task")
    for match in re.finditer(r"^- (?P<old>pass|fail): `", bare, re.MULTILINE):
        yield at(match, "fail" if match["old"] == "pass" else "pass", "outcome")
    noted = r"^- (?:fail|pass): `[^`\n]+`(?: `[^`\n]+`)? `[^`\n]*?(?P<old>[a-z]{5,})[^`\n]*`$"
    for match in re.finditer(noted, bare, re.MULTILINE):
        yield at(match, "quokka", "quotation")
    expected = r"^- `(?P<old>[a-z_]{4,})(?: expected, never called| called otherwise)"
    for match in re.finditer(expected, bare, re.MULTILINE):
        yield at(match, "other_tool", "expected call")


def finds(each: Planted, name: str, warehouse: Warehouse) -> bool:
    """Whether verify contradicts something on the line of the error."""
    lines = {
        finding.line
        for finding in verify(each.text, name, warehouse)
        if finding.status == CONTRADICTED
    }
    return each.line in lines


@pytest.mark.exhaustive
@pytest.mark.slow
def test_planted_errors_are_found_and_drafts_are_clean(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundred over six folders, all kinds alike: at least ninety on their line."""
    # Each query is asked once of a warehouse, not once of every report with an error.
    ask = Answers._ask
    once = functools.cache(lambda warehouse, query: ask(Answers(warehouse), query))
    monkeypatch.setattr(Answers, "_ask", lambda self, query: once(self._warehouse, query))
    folders = [name for name in FOLDERS if (SHARED / name).is_dir()]
    if len(folders) < len(FOLDERS):
        pytest.skip("the corpora are not here")
    chance = random.Random(11)
    results: Counter[tuple[str, bool]] = Counter()
    missed = []
    for number, name in enumerate(folders):
        outcome = run(Settings((SHARED / name,), tmp_path / str(number), follow_links=True))
        page = next(
            iter(sorted(outcome.out.glob("benchmarks/*/report.md"))), outcome.out / "report.md"
        )
        text = page.read_text(encoding="utf-8")
        with open_warehouse(outcome.warehouse) as warehouse:
            clean = verify(text, page.as_posix(), warehouse)
            assert [each for each in clean if each.status == CONTRADICTED] == [], name
            kinds: dict[str, list[Planted]] = {}
            for each in planted(text, warehouse):
                kinds.setdefault(each.kind, []).append(each)
            queue = [chance.sample(own, len(own)) for own in kinds.values()]
            chosen: list[Planted] = []
            wanted = N_PLANTED * (number + 1) // len(folders) - N_PLANTED * number // len(folders)
            while len(chosen) < wanted and any(queue):
                chosen += [own.pop() for own in queue if own]
            for each in chosen[:wanted]:
                is_found = finds(each, page.as_posix(), warehouse)
                results[each.kind, is_found] += 1
                if not is_found:
                    old, new = text.split("\n")[each.line - 1], each.text.split("\n")[each.line - 1]
                    missed.append((name, each.kind, old[:150], new[:150]))
    n_found = sum(n for (_, is_found), n in results.items() if is_found)
    assert sum(results.values()) == N_PLANTED
    assert n_found >= 90, (n_found, sorted(results.items()), missed)
    print(n_found, sorted(results.items()), *missed, sep="\n")
