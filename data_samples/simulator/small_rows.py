"""Writes many small rollout files, or one file of very many tiny rollouts."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from simulator.bench import WRITE_BYTES, completion_order
from simulator.phrases import dumps, generator, hex_id, inside_string, person, sentence, words

MODELS = ("aster-8b", "birch-70b", "cedar-mini", "dogwood-pro")
NOUNS = words(
    "ledger, atlas, beacon, cipher, delta, ember, fable, garnet, harbor, index, jigsaw, kernel, "
    "lattice, mosaic, nexus, orbit, prism, quarry, relay, summit",
    separator=", ",
)
FIELDS: dict[str, Callable[[random.Random], object]] = {
    "category": lambda rng: rng.choice(("algebra", "history", "code", "logic")),
    "difficulty": lambda rng: rng.choice(("easy", "hard")),
    "extracted_answer": lambda rng: rng.choice((str(rng.randint(1, 99)), None)),
    "expected_answer": lambda rng: str(rng.randint(1, 99)),
    "verifier_metadata": lambda rng: {"source": rng.choice(("web", "book")), "level": 1},
    "judge_score": lambda rng: round(rng.random(), 3),
    "parse_failed": lambda rng: rng.random() < 0.1,
    "num_steps": lambda rng: rng.randint(1, 12),
    "execution_time": lambda rng: round(rng.uniform(0.1, 30.0), 4),
    "tags": lambda rng: [rng.choice(("a", "b", "c"))],
    "reward_components": lambda rng: {"format": 1.0, "answer": round(rng.random(), 2)},
    "failure_reason": lambda rng: rng.choice(("none", "wrong answer", "")),
    "uuid": lambda rng: hex_id(rng, "", 32),
    "mask_sample": lambda rng: False,
}


def write_many(out: Path, *, n_files: int, seed: int = 0) -> list[Path]:
    """Write n_files rollout files; four models share a benchmark, and each benchmark its fields."""
    out.mkdir(parents=True, exist_ok=True)
    paths = []
    for number in range(n_files):
        benchmark = number // len(MODELS)
        name = f"{NOUNS[benchmark % len(NOUNS)]}_{benchmark:03d}"
        path = out / f"{name}_{MODELS[number % len(MODELS)]}_rollouts.jsonl"
        path.write_text(_small_file(name, MODELS[number % len(MODELS)], seed), encoding="utf-8")
        paths.append(path)
    return paths


def _small_file(benchmark: str, model: str, seed: int) -> str:
    shared = generator("many", seed, benchmark)
    fields = shared.sample(sorted(FIELDS), k=shared.randint(2, 9))
    prompts = [sentence(shared) for _ in range(shared.randint(5, 10))]
    rng = generator("many", seed, benchmark, model)
    keys = [(task, repeat) for task in range(len(prompts)) for repeat in range(rng.randint(1, 2))]
    rng.shuffle(keys)
    rows = [_small_row(rng, model, task, repeat, prompts[task], fields) for task, repeat in keys]
    return "".join(dumps(row) + "\n" for row in rows)


def _small_row(
    rng: random.Random, model: str, task: int, repeat: int, prompt: str, fields: list[str]
) -> dict[str, object]:
    answer = {"text": f"{sentence(rng)}Answer: {rng.randint(1, 99)}", "type": "output_text"}
    message = {"content": [answer], "role": "assistant", "type": "message"}
    return {
        "_ng_task_index": task,
        "_ng_rollout_index": repeat,
        "agent_ref": {"name": "simple_agent"},
        "responses_create_params": {"input": [{"role": "user", "content": prompt}]},
        "response": {
            "model": model,
            "object": "response",
            "output": [message],
            "usage": {"input_tokens": rng.randint(50, 500), "output_tokens": rng.randint(5, 300)},
        },
        "reward": float(rng.random() < 0.5),
        **{field: FIELDS[field](rng) for field in fields},
    }


def write_flat(out: Path, *, n_tasks: int, n_repeats: int, seed: int = 0) -> Path:
    """Write tiny rollouts that hold a question and a reward but no trajectory."""
    path = out if out.suffix == ".jsonl" else out / "flat_rollouts.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    rng = generator("flat", seed)
    names = [inside_string(person(rng)) for _ in range(500)]
    with path.open("wb", buffering=WRITE_BYTES) as file:
        for key in completion_order(rng, n_tasks, n_repeats):
            # A third of the tasks never pass and a sixth always do.
            passed = rng.random() < (0.0, 0.0, 0.3, 0.5, 0.8, 1.0)[key.task % 6]
            answer = rng.randrange(1000)
            file.write(
                f'{{"_ng_task_index":{key.task},"_ng_rollout_index":{key.repeat},'
                '"responses_create_params":{"input":[{"role":"user","content":"What does '
                f'{names[key.task % 500]} owe on account {key.task}?"}}]}},'
                f'"reward":{"1.0" if passed else "0.0"},"category":"c{key.task % 9}",'
                f'"extracted_answer":"{answer}"}}\n'.encode()
            )
    return path
