"""What a page cites -> those rollouts with the events that tell, each cut to a few lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Set
from dataclasses import dataclass, replace

from pipeline import citation
from pipeline.citation import Citation
from pipeline.report.figures import Row
from pipeline.report.tables import Source, Table, rows_of

ROLLOUT = ("run_id", "task_id", "rollout_index")
ROLLOUTS = Table(
    "evidence",
    "rollouts",
    ROLLOUT,
    """
    select
        rollouts.* replace (left(final_text, 600) as final_text),
        length(rollouts.final_text) as n_characters,
        left(prompt, 400) as prompt,
        length(questions.prompt) as n_prompt_characters,
        modes.mode,
        left(modes.snippet, 300) as snippet,
        modes.evidence_seq
    from main.rollouts
    semi join wanted using (run_id, task_id, rollout_index)
    left join main.task_prompts as questions using (run_id, task_id, prompt_sha)
    left join (from main.rollout_modes where is_primary) as modes
        using (run_id, task_id, rollout_index)
    order by run_id, try_cast(task_id as bigint), task_id, rollout_index
    """,
)
EVENTS = Table(
    "evidence_events",
    "events",
    (*ROLLOUT, "seq"),
    """
    select
        * exclude (arguments, text),
        left(coalesce(text, arguments), 400) as words,
        length(coalesce(text, arguments)) as n_characters
    from main.events
    semi join wanted using (run_id, task_id, rollout_index, seq)
    order by run_id, try_cast(task_id as bigint), task_id, rollout_index, seq
    """,
)
# A page stays small: what is cited after so many rollouts is opened with `blade show`.
MOST_ROLLOUTS = 400
MOST_EVENTS = 12
LAST_EVENTS = 2
# Not a backquote that is escaped: it stands in text of others, and opens nothing.
CODE = re.compile(r"(?<!\\)`([^`\n]+)`")


@dataclass(frozen=True)
class Evidence:
    """A rollout that the page cites."""

    citation: str
    row: Row
    events: list[Row]
    # Events that are cited themselves, so that the link to them leads somewhere.
    cited_events: frozenset[int]


def cited(texts: Iterable[str], runs: Set[str]) -> dict[Citation, set[int]]:
    """The rollouts of these runs that texts cite, in order, and which of their events."""
    found: dict[Citation, set[int]] = {}
    for code in (code for text in texts for code in CODE.findall(text)):
        each = citation.parse(code)
        if each is None or each.run_id not in runs:
            continue
        events = found.setdefault(replace(each, seq=None), set())
        if each.seq is not None:
            events.add(each.seq)
    return found


def collect(source: Source, wanted: dict[Citation, set[int]]) -> list[Evidence]:
    """The first of them that exist, by run, task and rollout, with their events."""
    chosen = dict(list(wanted.items())[:MOST_ROLLOUTS])
    if not chosen:
        return []
    keys = [(each.run_id, each.task_id, each.rollout_index) for each in chosen]
    seqs = dict(zip(keys, chosen.values(), strict=True))
    found = rows_of(source, ROLLOUTS, keys)
    shown = [(*_of(row), seq) for row in found for seq in _telling(row, seqs[_of(row)])]
    events: dict[tuple[str, str, int], list[Row]] = {}
    for event in rows_of(source, EVENTS, shown) if shown else []:
        events.setdefault(_of(event), []).append(event)
    return [
        Evidence(
            str(Citation(*_of(row), None)),
            row,
            events.get(_of(row), []),
            frozenset(seqs[_of(row)]),
        )
        for row in found
    ]


def _telling(row: Row, cited_events: set[int]) -> list[int]:
    """The events cited, since links lead to them; then those before, of the mode, and the last."""
    n_events = row.values["n_events"] or 0
    marked = cited_events | ({row.values["evidence_seq"]} - {None})
    around = {seq - back for seq in marked for back in (0, 1)}
    last = set(range(n_events - LAST_EVENTS + 1, n_events + 1))
    others = sorted(seq for seq in (around | last) - cited_events if seq >= 1)
    room = max(0, MOST_EVENTS - len(cited_events))
    return sorted({*cited_events, *(others[-room:] if room else [])})


def _of(row: Row) -> tuple[str, str, int]:
    values = row.values
    return values["run_id"], values["task_id"], values["rollout_index"]
