"""Writes one big rollout file fast, in the three shapes that cost a reader most."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from simulator import dirt
from simulator.phrases import dumps, generator, inside_string, sentence

SHAPES = ("schema", "trajectory", "mixed")
DEFAULT_ROW_BYTES = 33_000
MIXED_ROW_BYTES = 25_000
MIXED_PROMPT_BYTES = 5_000
MIXED_RESULT_BYTES = 2_500
N_REPEATS = 8
# Rows finish out of order, but only within a window: as many tasks as run at once.
WINDOW = 64
WRITE_BYTES = 8 << 20
# Longer than a real pool of sentences would need to be: rows must not be copies of one another.
POOL_SIZE = 6000
# Of the number before each sentence: ten digits in brackets, and a space.
NUMBER_BYTES = 13
TOOL_NAMES = ("search_mail", "read_thread", "list_tickets", "get_customer", "update_record")
CATEGORIES = ("mail", "calendar", "crm", "tickets")


@dataclass(frozen=True)
class Fragments:
    """Everything a row repeats, serialised once."""

    sentences: list[str]
    sentence_bytes: float
    tools: str
    row_bytes: int


@dataclass(frozen=True)
class Key:
    """Which attempt at which task a row is, and where the row stands in the file."""

    task: int
    repeat: int
    line: int


Row = Callable[[random.Random, Fragments, Key], str]


def write_bench(
    out: Path,
    *,
    shape: str,
    n_bytes: int,
    row_bytes: int | None = None,
    dirty: float = 0.0,
    seed: int = 0,
) -> Path:
    """Write about n_bytes in rows of about row_bytes; `out` is a folder or a .jsonl file.

    A row has 33 kB unless told otherwise, of the mixed shape 25 kB.
    """
    if shape not in SHAPES:
        raise ValueError(f"shape is {shape!r}, expected one of {', '.join(SHAPES)}")
    path = out if out.suffix == ".jsonl" else out / f"bench_{shape}_rollouts.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    row_bytes = row_bytes or (MIXED_ROW_BYTES if shape == "mixed" else DEFAULT_ROW_BYTES)
    n_tasks = max(1, round(n_bytes / row_bytes / N_REPEATS))
    with path.open("wb", buffering=WRITE_BYTES) as file:
        for line in _lines(shape, n_tasks, row_bytes, dirty, seed):
            file.write(line)
    return path


def _lines(shape: str, n_tasks: int, row_bytes: int, dirty: float, seed: int) -> Iterator[bytes]:
    rng = generator("bench", shape, seed)
    fragments = _fragments(rng, shape, row_bytes)
    row: Row = {"schema": _schema_row, "trajectory": _trajectory_row, "mixed": _mixed_row}[shape]
    for key in completion_order(rng, n_tasks, N_REPEATS):
        line = row(rng, fragments, key).encode()
        # Drawn only when asked for, so that a clean file does not depend on the dirt.
        if dirty and rng.random() < dirty:
            line = dirt.spoil(rng, line)
        yield line + b"\n"


def completion_order(rng: random.Random, n_tasks: int, n_repeats: int) -> Iterator[Key]:
    """Every attempt once, shuffled within a window as concurrent attempts would end."""
    window: list[tuple[int, int]] = []
    line = 0
    for task in range(n_tasks):
        window += [(task, repeat) for repeat in range(n_repeats)]
        if len(window) < WINDOW and task < n_tasks - 1:
            continue
        rng.shuffle(window)
        for done, repeat in window:
            line += 1
            yield Key(task=done, repeat=repeat, line=line)
        window.clear()


def _fragments(rng: random.Random, shape: str, row_bytes: int) -> Fragments:
    tools_bytes = int(row_bytes * 0.97) if shape == "schema" else 600
    sentences = [inside_string(sentence(rng)) for _ in range(POOL_SIZE)]
    return Fragments(
        sentences=sentences,
        sentence_bytes=NUMBER_BYTES + sum(map(len, sentences)) / POOL_SIZE,
        tools=_tools(rng, tools_bytes),
        row_bytes=row_bytes,
    )


def _tools(rng: random.Random, n_bytes: int) -> str:
    """Function declarations, wordy enough to fill n_bytes."""
    tools: list[str] = []
    size = 2
    while size < n_bytes - 300:
        name = f"{rng.choice(TOOL_NAMES)}_{len(tools)}"
        tool = dumps(
            {
                "name": name,
                "description": "".join(sentence(rng) for _ in range(rng.randint(1, 4))),
                "parameters": {
                    "type": "object",
                    "properties": {
                        field: {"type": "string", "description": sentence(rng)}
                        for field in ("query", "date_min", "date_max")[: rng.randint(1, 3)]
                    },
                    "required": ["query"],
                    "additionalProperties": False,
                },
                "strict": False,
                "type": "function",
            }
        )
        tools.append(tool)
        size += len(tool.encode()) + 1
    return "[" + ",".join(tools) + "]"


def _schema_row(rng: random.Random, fragments: Fragments, key: Key) -> str:
    """One call, one short result, one answer, below a heap of tool declarations."""
    items = [
        _call(rng, key, 0),
        _result(rng, fragments, key, 0, 1),
        _answer(rng, fragments, key, 1),
    ]
    return _row(rng, fragments, key, items)


def _trajectory_row(rng: random.Random, fragments: Fragments, key: Key) -> str:
    """Many calls with long results: the events are the bytes."""
    target = int((fragments.row_bytes - 2400) * rng.uniform(0.6, 1.4))
    n_calls = max(1, target // 2800)
    # What a call weighs besides its result's text: two frames, and a third of a reasoning item.
    n_sentences = max(1, int((target / n_calls - 225) / fragments.sentence_bytes))
    items = []
    for step in range(n_calls):
        if step % 3 == 0:
            items.append(_reasoning(rng, fragments, key, step))
        items.append(_call(rng, key, step))
        items.append(_result(rng, fragments, key, step, n_sentences))
    items.append(_answer(rng, fragments, key, 3))
    return _row(rng, fragments, key, items)


def _mixed_row(rng: random.Random, fragments: Fragments, key: Key) -> str:
    """A long prompt and some long results, with no text like that of another row."""
    prompt = _text(rng, fragments, round(MIXED_PROMPT_BYTES / fragments.sentence_bytes))
    n_calls = max(1, (fragments.row_bytes - MIXED_PROMPT_BYTES - 2400) // MIXED_RESULT_BYTES)
    n_sentences = round(MIXED_RESULT_BYTES / fragments.sentence_bytes)
    items = []
    for step in range(n_calls):
        items.append(_call(rng, key, step))
        items.append(_result(rng, fragments, key, step, n_sentences))
    items.append(_answer(rng, fragments, key, 3))
    return _row(rng, fragments, key, items, prompt=prompt)


def _row(
    rng: random.Random, fragments: Fragments, key: Key, items: list[str], *, prompt: str = ""
) -> str:
    passed = _passes(rng, key.task)
    answer = rng.randint(100, 999_999)
    expected = answer if passed else answer + 1
    category = CATEGORIES[key.task % len(CATEGORIES)]
    difficulty = ("easy", "medium", "hard")[key.task // 4 % 3]
    question = prompt or fragments.sentences[key.task % POOL_SIZE]
    n_in, n_out = rng.randint(900, 9000), rng.randint(40, 2500)
    return (
        f'{{"_ng_task_index":{key.task},"_ng_rollout_index":{key.repeat},'
        '"agent_ref":{"type":"responses_api_agents","name":"bench_agent"},'
        '"responses_create_params":{"input":[{"role":"user","content":"'
        f'Task {key.task}: {question}Which record is meant?","type":"message"}}],'
        f'"temperature":1.0,"max_output_tokens":4096,"tools":{fragments.tools}}},'
        f'"response":{{"id":"resp_{key.line:016x}","created_at":{1_750_000_000 + key.line}.0,'
        '"model":"bench-9b","object":"response","status":"completed","incomplete_details":null,'
        f'"output":[{",".join(items)}],"usage":{{"input_tokens":{n_in},"output_tokens":{n_out},'
        f'"total_tokens":{n_in + n_out}}}}},"reward":{"1.0" if passed else "0.0"},'
        f'"category":"{category}","difficulty":"{difficulty}","extracted_answer":"{answer}",'
        f'"expected_answer":"{expected}","verifier_metadata":{{"source":"pool-{key.task % 7}",'
        f'"n_checks":{rng.randint(1, 9)}}},"num_checks_passed":{rng.randint(0, 9)}}}'
    )


def _passes(rng: random.Random, task: int) -> bool:
    """A fifth of the tasks never pass and a fifth always do."""
    chance = (0.0, 0.3, 0.5, 0.8, 1.0)[task * 7 % 5]
    return rng.random() < chance


def _call(rng: random.Random, key: Key, step: int) -> str:
    name = TOOL_NAMES[rng.randrange(len(TOOL_NAMES))]
    return (
        f'{{"arguments":"{{\\"query\\":\\"{rng.getrandbits(48):x}\\",\\"page\\":{step}}}",'
        f'"call_id":"call_{key.line}_{step}","name":"{name}","type":"function_call",'
        f'"id":"fc_{key.line}_{step}","status":"completed"}}'
    )


def _result(rng: random.Random, fragments: Fragments, key: Key, step: int, n_sentences: int) -> str:
    return (
        f'{{"call_id":"call_{key.line}_{step}","output":"{_text(rng, fragments, n_sentences)}",'
        '"type":"function_call_output","id":null,"status":"completed"}'
    )


def _reasoning(rng: random.Random, fragments: Fragments, key: Key, step: int) -> str:
    return (
        f'{{"id":"rs_{key.line}_{step}","summary":[{{"text":"{_text(rng, fragments, 1)}",'
        '"type":"summary_text"}],"type":"reasoning"}'
    )


def _answer(rng: random.Random, fragments: Fragments, key: Key, n_sentences: int) -> str:
    return (
        f'{{"id":"msg_{key.line}","content":[{{"annotations":[],'
        f'"text":"{_text(rng, fragments, n_sentences)}","type":"output_text"}}],'
        '"role":"assistant","status":"completed","type":"message"}'
    )


def _text(rng: random.Random, fragments: Fragments, n_sentences: int) -> str:
    """Pool sentences, each behind a number drawn for it alone, so that no two texts are equal."""
    digits = f"{rng.getrandbits(40 * n_sentences):0{10 * n_sentences}x}"
    picked = rng.choices(fragments.sentences, k=n_sentences)
    return "".join([f"[{digits[10 * i : 10 * i + 10]}] {text}" for i, text in enumerate(picked)])
