"""blade.toml as the data suggest it: it says what an analysis found by itself."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.package.scaffold.asking import Rows, asked
from pipeline.package.scaffold.rendering import rendered
from pipeline.report import Source

# What a draft of blade.toml is made of.
RELATIONS = ("main.runs", "main.funnel", "main.slice_metrics", "main.failure_modes")
ALWAYS = ("expected", "recorded", "passed")
PLAIN_PATH = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)?")
# Each built-in stage by what makes a rollout reach it.
STAGES = {
    "expected": "it should exist: the materialized inputs list it, or the profile says so",
    "recorded": "it has a row in the rollout file",
    "produced output": "the model wrote text or called a tool",
    "attempted the core action": "it called a tool, where any rollout of the benchmark does; "
    "else it wrote text",
    "completed without truncation": "no limit on its output ended it",
    "reached the verifier": "the row has a usable reward",
    "received feedback": "it got a tool's result, or another's message after its first own",
    "passed": "its reward is at least the pass threshold",
}


@dataclass(frozen=True)
class ProfileFacts:
    """What of the data a profile can say: stages, slices and modes as they were found."""

    runs: tuple[str, ...]
    pass_threshold: float | None
    expected_sources: tuple[str, ...]
    stages: tuple[str, ...]
    slices: tuple[str, ...]
    is_every_slice_plain: bool
    modes: Rows


def profile_facts(source: Source, benchmark: str) -> ProfileFacts:
    """The facts of one benchmark; none of it where there are no runs of it."""
    runs = asked(
        source,
        "select run_id, pass_threshold, expected_source from main.runs where benchmark = ? "
        "order by run_id",
        [benchmark],
    )
    names = [row["run_id"] for row in runs]
    slices = _column(
        source,
        "select distinct slice_key from main.slice_metrics where run_id in (select unnest(?)) "
        "order by slice_key",
        names,
    )
    stages = _column(
        source,
        "select stage from main.funnel where run_id in (select unnest(?)) "
        "group by stage order by min(stage_no)",
        names,
    )
    is_plain = all(PLAIN_PATH.fullmatch(name) for name in slices)
    return ProfileFacts(
        runs=tuple(names),
        pass_threshold=runs[0]["pass_threshold"] if runs else None,
        expected_sources=tuple(sorted({row["expected_source"] for row in runs})),
        stages=tuple(stage for stage in stages if stage not in ALWAYS),
        slices=tuple(slices) if is_plain else (),
        is_every_slice_plain=is_plain,
        modes=asked(
            source,
            """
            select
                rules.mode, rules.title, rules.predicate, rules.cause, rules.severity,
                rules.intervention, rules.evidence, rules.is_words, rules.is_always,
                rules.is_description
            from raw.failure_rules as rules
            where rules.mode in (
                select mode from main.failure_modes where run_id in (select unnest(?))
            )
            order by rules.rule_no
            """,
            [names],
        ),
    )


def profile_text(benchmark: str, facts: ProfileFacts | None) -> str:
    """The file; without facts it only names the benchmark."""
    return rendered("blade.toml.j2", benchmark=benchmark, facts=facts, told=STAGES, quoted=quoted)


def quoted(text: str) -> str:
    """A basic string of TOML."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _column(source: Source, query: str, names: Sequence[str]) -> list[Any]:
    return [value for row in asked(source, query, [list(names)]) for value in row.values()]
