"""What the data say of a benchmark, for the draft of its skill: rows of queries, in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pipeline.package.scaffold import questions
from pipeline.package.scaffold.asking import Rows, asked
from pipeline.package.scaffold.declared import Declared
from pipeline.package.scaffold.schema import Schema, schema
from pipeline.report import Source

MOST_REWARDS = 8
MOST_TOOLS = 40
MOST_EXAMPLES = 5
MOST_ERRORS = 8
MOST_TO_READ = 5
MOST_DOUBTED = 10
MOST_COLUMNS = 8
MOST_LINES = 20


@dataclass(frozen=True)
class Facts:
    """Everything the draft of a skill tells; each list is in the order it is told in."""

    benchmark: str
    runs: Rows
    shape: dict[str, Any]
    prompts: Rows
    systems: Rows
    rewards: Rows
    n_rewards: int
    components: Rows
    tools: Rows
    n_tools: int
    declared: Declared
    events: Rows
    schema: Schema
    task_ids: Rows
    files: Rows
    slices: Rows
    funnel: Rows
    modes: Rows
    errors: Rows
    causes: Rows
    suspicions: Rows
    separators: Rows
    contrasts: Rows
    nevers: Rows
    gaps: Rows

    @property
    def run_ids(self) -> list[str]:
        """The runs, in order."""
        return [row["run_id"] for row in self.runs]

    @property
    def columns(self) -> list[str]:
        """The runs that have a column in tables."""
        return self.run_ids[:MOST_COLUMNS]

    @property
    def notes(self) -> list[str]:
        """What stands in notes beside the runs, each text once."""
        return list(dict.fromkeys(row["notes"] for row in self.runs if row["notes"]))

    @property
    def n_rollouts(self) -> int:
        """Rollouts recorded, over all runs."""
        return sum(row["n_rollouts"] for row in self.runs)


def facts(source: Source, benchmark: str, declared: Declared) -> Facts:
    """Read all of it once."""
    rewards = asked(source, questions.REWARDS)
    tools = asked(source, questions.TOOLS)
    (shape,) = asked(source, questions.SHAPE)
    return Facts(
        benchmark=benchmark,
        runs=asked(source, questions.RUNS),
        shape=shape,
        prompts=asked(source, questions.PROMPTS, [MOST_EXAMPLES]),
        systems=asked(source, questions.SYSTEMS),
        rewards=rewards[:MOST_REWARDS],
        n_rewards=len(rewards),
        components=asked(source, questions.COMPONENTS),
        tools=tools[:MOST_TOOLS],
        n_tools=len(tools),
        declared=declared,
        events=asked(source, questions.EVENTS),
        schema=schema(source),
        task_ids=asked(source, questions.TASK_IDS),
        files=asked(source, questions.FILES),
        slices=asked(source, questions.SLICES),
        funnel=asked(source, questions.FUNNEL),
        modes=asked(source, questions.MODES),
        errors=asked(source, questions.ERRORS, [MOST_ERRORS]),
        causes=asked(source, questions.CAUSES),
        suspicions=asked(source, questions.SUSPICIONS, [MOST_DOUBTED]),
        separators=asked(source, questions.SEPARATORS, [MOST_TO_READ, MOST_LINES]),
        contrasts=asked(source, questions.CONTRASTS, [MOST_TO_READ, MOST_LINES]),
        nevers=asked(source, questions.NEVERS, [MOST_TO_READ, MOST_LINES]),
        gaps=asked(source, questions.GAPS),
    )
