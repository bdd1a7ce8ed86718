"""Mutated files of every kind, in batches: `python -m tests.bench.mutations 10000`.

No analysis crashes or goes on for ever, and every line is accounted for.
"""

from __future__ import annotations

import gzip
import json
import random
import signal
import sys
import tempfile
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from pathlib import Path

import pyarrow as pa

import pipeline
from pipeline import profile
from pipeline.errors import BladeError
from tests.lean import LOADED, only
from tests.results import Results, asked, failure, lines, rollout, write

PER_BATCH = 200
SECONDS = 600  # for a batch, on a machine that has other work
WHOLE_EVERY = 10  # of so many batches one is analyzed whole, with its pages
CALL = {"type": "function_call", "name": "f", "call_id": "c", "arguments": '{"a": 1}'}
ANSWER = {"type": "function_call_output", "call_id": "c", "output": '{"exit_code": 1}'}
FIGURES = {"agent_ref": {"name": "solo"}, "mean/reward": 0.5, "usage": {"input_tokens": 17.5}}
ROWS = [
    rollout(t, i, reward=float(i), agent="solo", model="m-1", output=[CALL, ANSWER, "done é"])
    for t in range(3)
    for i in range(2)
]
BASES: dict[str, bytes] = {
    "{}_rollouts.jsonl": lines(ROWS).encode(),
    "{}_rollouts.jsonl.gz": lines(ROWS).encode(),
    "{}_rollouts.jsonl.zst": lines(ROWS).encode(),
    "{}_rollouts_materialized_inputs.jsonl": lines(
        asked(t, i) for t, i in ((0, 0), (9, 1))
    ).encode(),
    "{}_rollouts_failures.jsonl": lines([failure(0, 1, "transient", _ng_attempt_index=2)]).encode(),
    "{}_rollouts_aggregate_metrics.json": json.dumps([FIGURES], indent=1).encode(),
    "{}_rollouts_agent_metrics.json.gz": json.dumps(FIGURES).encode(),
    "{}_rollouts_reward_profiling.jsonl": lines(
        {"_ng_task_index": t, "sample": asked(t), **FIGURES} for t in range(3)
    ).encode(),
    "{}_config.yaml": b"model: m-1\ntemperature: 0.5\nnum_repeats: 2\nnested:\n  - max_turns: 3\n",
    "{}_limits.json": b'{"max_steps": 10, "timeout_s": 60}\n',
    "{}_checkpoint.txt": b"step_500\n",
    "{}_notes.md": "# Notes\n\nwas re-verified é\n".encode(),
    "{}.log": b"line\n\nline\n",
    "{}/labels.jsonl": lines(
        [{"run": "whole", "task": 0, "cause": "KG", "evidence": "whole/0:0#1", "note": "é"}]
    ).encode(),
    "{}/blade.toml": b'benchmark = "b"\npass_threshold = 0.5\n[expected]\nrepeats = 2\n'
    b'[[failure_mode]]\nname = "x"\nwhen = "n_tool_errors > 0"\n',
}
JUNK = (
    b"\0",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"\\ud800",
    b"\n",
    b"\r",
    b'"',
    b"{}",
    b"]",
    b",",
    b"\x1b[31m",
)
VALUES = (
    b"9" * 400, b"-" + b"9" * 5000, b"1e999", b"NaN", b'"\\ud800"', b"null", b"true", b"[]", b"{}",
    b'"' + b"x" * 70_000 + b'"', b"[" * 900 + b"]" * 900, b'{"a":' * 3000 + b"1" + b"}" * 3000,
    b"[" * 100_000, b'{"\\udc00": "\\u0000"}', b"0.1", b"-1", b'""', b'"' + b"9" * 30 + b'"',
)  # fmt: skip


def _spot(content: bytes, draw: random.Random) -> int:
    return draw.randrange(len(content) + 1)


def flip(content: bytes, draw: random.Random) -> bytes:
    """Some bits turned over."""
    turned = bytearray(content)
    for _ in range(draw.choice((1, 1, 3, 20)) if turned else 0):
        turned[draw.randrange(len(turned))] ^= 1 << draw.randrange(8)
    return bytes(turned)


def truncate(content: bytes, draw: random.Random) -> bytes:
    """The end, or the beginning, is lost."""
    at = _spot(content, draw)
    return content[:at] if draw.random() < 0.8 else content[at:]


def insert(content: bytes, draw: random.Random) -> bytes:
    """Junk somewhere."""
    at = _spot(content, draw)
    return content[:at] + draw.choice((draw.choice(JUNK), draw.randbytes(9))) + content[at:]


def repeat(content: bytes, draw: random.Random) -> bytes:
    """Lines twice, or in another order."""
    parts = content.split(b"\n")
    return b"\n".join(draw.choices(parts, k=len(parts) + draw.randrange(3)))


def replace(content: bytes, draw: random.Random) -> bytes:
    """A value, or what looks like one, becomes another: huge, deep, or of another type."""
    ends = [at for at, byte in enumerate(content) if byte in b':=,["']
    if not ends:
        return insert(content, draw)
    start = draw.choice(ends) + 1
    stop = next((at for at in range(start + 1, len(content)) if content[at] in b',}]"\n'), start)
    return content[:start] + draw.choice(VALUES) + content[stop:]


def recode(content: bytes, draw: random.Random) -> bytes:
    """The same text in another encoding."""
    return content.decode("utf-8", "replace").encode(
        draw.choice(("utf-16", "utf-16-be", "utf-32", "latin-1", "cp037", "utf-8-sig")), "replace"
    )


MUTATIONS: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    flip, truncate, insert, repeat, replace, replace, recode,
)  # fmt: skip


def mutated(name: str, draw: random.Random) -> bytes:
    """One file with one to three things done to it; to what is packed before or after packing."""
    content = BASES[name]
    times = draw.choice((1, 1, 2, 3))
    pack: Callable[[bytes], bytes] = bytes
    if name.endswith(".gz"):
        pack = gzip.compress
    elif name.endswith(".zst"):
        pack = lambda each: pa.compress(each, codec="zstd", asbytes=True)  # noqa: E731
    is_first = draw.random() < 0.5
    content = pack(content) if is_first else content
    for _ in range(times):
        content = draw.choice(MUTATIONS)(content, draw)
    return content if is_first else pack(content)


def batch(seed: int, size: int = PER_BATCH, *, is_whole: bool = False) -> list[str]:
    """What is wrong with one folder of mutated files; nothing, if all is well."""
    signal.alarm(SECONDS)  # its default ends the process at any point
    draw = random.Random(seed)
    names = [draw.choice([*BASES]) for _ in range(size)]
    files = {name.format(f"f{no}"): mutated(name, draw) for no, name in enumerate(names)}
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        results = write(Path(folder, "results"), {**files, "whole_rollouts.jsonl": lines(ROWS)})
        for path in sorted(results.glob("*/blade.toml")):
            try:
                profile.read(path)
            except BladeError:
                pass
            except Exception as error:
                wrong.append(f"seed {seed}: {path.name}: {type(error).__name__}: {error}")
        try:
            with nullcontext() if is_whole else only(*LOADED):
                pipeline.analyze(results, out=Path(folder, "out"))
            wrong += [f"seed {seed}: {each}" for each in _unaccounted(Path(folder, "out"), files)]
        except Exception as error:
            wrong.append(f"seed {seed}: {type(error).__name__}: {str(error)[:500]}")
    signal.alarm(0)
    return wrong


def _unaccounted(out: Path, files: dict[str, bytes]) -> Iterable[str]:
    """Files that are not listed, or whose lines are not what is in them."""
    query = "select path, n_lines, n_rows, n_rejects, n_other, n_blank from artifacts"
    rows = {path: counts for path, *counts in Results(out).rows(query)}
    for name, content in files.items():
        n_lines, *parts = rows.get(name, (None, 0))
        lacking = content.count(b"\n") + (not content.endswith(b"\n") and content != b"")
        if n_lines is None or min(parts) < 0 or sum(parts) != n_lines:
            yield f"{name}: {n_lines} lines are {parts}"
        elif not name.endswith((".gz", ".zst")) and n_lines != lacking:
            yield f"{name}: {lacking} lines are counted as {n_lines}"


def campaign(n: int, *, seed: int = 0) -> list[str]:
    """All batches, one after the other; what was wrong."""
    return [
        wrong
        for no in range(-(-n // PER_BATCH))
        for wrong in batch(seed + no, is_whole=no % WHOLE_EVERY == 0)
    ]


if __name__ == "__main__":
    print(*campaign(int(sys.argv[1])), sep="\n")
