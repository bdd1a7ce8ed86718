"""Attempts one by one as other tools have them, and the names and files they are written to."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pipeline.text import json_text
from pipeline.warehouse import Warehouse

Row = dict[str, Any]
# What a writer yields: a file below the folder, and how many rows it has.
Written = Iterator[tuple[str, int]]
Note = Callable[[str], None]

AT_ONCE = 50
# One attempt per row: what was asked, and all that followed.
ATTEMPTS = """
    select
        rollouts.* exclude (verifier, final_text), prompts.prompt, prompts.system_prompt,
        tasks.slices, said.events, verifier::varchar as verifier
    from rollouts
    inner join runs using (run_id)
    left join (
        select task_id as asked_task, prompt_sha as asked_sha, prompt, system_prompt
        from task_prompts where run_id = $1
    ) as prompts on asked_task = task_id and asked_sha is not distinct from rollouts.prompt_sha
    left join tasks on tasks.benchmark = runs.benchmark and tasks.task_id = rollouts.task_id
    left join (
        select
            task_id, rollout_index,
            list({kind: kind, role: role, tool: tool, call_id: call_id, arguments: arguments,
                  text: text} order by seq) as events
        from events
        where run_id = $1
        group by all
    ) as said
        on said.task_id = rollouts.task_id and said.rollout_index = rollouts.rollout_index
    where rollouts.run_id = $1
    order by try_cast(rollouts.task_id as bigint), rollouts.task_id, rollouts.rollout_index
"""


def attempts(warehouse: Warehouse, run_id: str) -> Iterator[Row]:
    """The attempts of a run, some at a time."""
    found = warehouse.execute(ATTEMPTS, [run_id])
    names = [column[0] for column in found.description or []]
    while some := found.fetchmany(AT_ONCE):
        yield from (dict(zip(names, values, strict=True)) for values in some)


def safe(name: str) -> str:
    """A name as that of a file or folder."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:100] or "unknown"


def index(task_id: str) -> int | str:
    """Gym's index of a task where the name is one."""
    return int(task_id) if re.fullmatch(r"0|[1-9][0-9]{0,17}", task_id) else task_id


def write_json(folder: Path, name: str, *documents: Any, indent: int | None = 2) -> bytes:
    """Documents as JSON, or as lines of it."""
    content = "".join(json_text(each, indent=indent) + "\n" for each in documents).encode()
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)
    return content
