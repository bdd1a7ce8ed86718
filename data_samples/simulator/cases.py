"""Small runs of shapes that the demo lacks, each with its planted truth.

    terminal(seed, n_tasks=12, n_repeats=5, checks="mapping" | "list", model=.., timeout_rate=0.3)
        No transcript, but usage, per-test results and `failure_mode`. Runs of one seed and two
        models with two timeout rates differ by their timeouts alone.
    acting(seed, n_tasks=16, n_repeats=5) -> Case
        Tasks to act on and tasks to refuse, with `expected_actions`.
    write_case(folder, case) -> Path
        `<run>_rollouts.jsonl`, and the truth in `.planted/<run>.jsonl`, which no analysis reads.

`Case.truth` has one entry per row, in the rows' order; `Case.facts` is what holds of the whole run.
`mode` names what was planted; `event_seq` counts from 1 over the output.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from simulator.episode import Episode, Item
from simulator.phrases import dumps, generator, person, sentence

CASE_MODEL = "cedar-13b"
TESTS = ("test_file_exists", "test_header", "test_row_count", "test_totals", "test_no_leftovers")
SUSPECT_CHECK = "test_timezone"
READS = ("get_reservation_details", "get_user_details", "calculate")


@dataclass(frozen=True)
class Truth:
    """What is planted in one row: `mode` is None for a pass, `event_seq` what decided a failure."""

    task: int
    repeat: int
    mode: str | None
    event_seq: int | None
    facts: Item


@dataclass(frozen=True)
class Case:
    """One run: the rows as a collector would have written them, and what is true of them."""

    run: str
    rows: list[Item] = field(default_factory=list)
    truth: list[Truth] = field(default_factory=list)
    facts: Item = field(default_factory=dict)

    def add(
        self,
        attempt: Attempt,
        mode: str | None,
        *,
        event_seq: int | None = None,
        facts: Item | None = None,
        model: str = CASE_MODEL,
        usage: Item | None = None,
        **fields: object,
    ) -> None:
        """One more row, which passes where it has no mode."""
        n_items = len(attempt.episode.items)
        response = {
            "model": model,
            "object": "response",
            "output": attempt.episode.items,
            "usage": usage or _usage(400 + 150 * n_items, 20 + 30 * n_items),
        }
        row = {
            "_ng_task_index": attempt.task,
            "_ng_rollout_index": attempt.repeat,
            "agent_ref": {"type": "responses_api_agents", "name": "case_agent"},
            "responses_create_params": {"input": [{"role": "user", "content": attempt.question}]},
            "response": response,
            "reward": float(mode is None),
        }
        self.rows.append(row | fields)
        self.truth.append(Truth(attempt.task, attempt.repeat, mode, event_seq, facts or {}))


@dataclass(frozen=True)
class Attempt:
    """One attempt at a task, before anything has happened in it."""

    task: int
    repeat: int
    rng: random.Random
    question: str
    episode: Episode
    passes: bool


def _attempts(name: str, seed: int, n_tasks: int, n_repeats: int) -> Iterator[Attempt]:
    """Every attempt: of five tasks one never passes, one always does, the others sometimes.

    The questions are the case's own, so that no two cases share one.
    """
    for task in range(n_tasks):
        asked = generator("question", name, seed, task)
        question = f"Case {task} of {person(asked)}: {sentence(asked)}"
        for repeat in range(n_repeats):
            rng = generator("case", name, seed, task, repeat)
            passes = rng.random() < (0.0, 0.35, 0.6, 0.8, 1.0)[task % 5]
            yield Attempt(task, repeat, rng, question, Episode(rng), passes)


def _usage(n_in: int, n_out: int) -> Item:
    return {"input_tokens": n_in, "output_tokens": n_out, "total_tokens": n_in + n_out}


def write_case(folder: Path, case: Case) -> Path:
    """Write the rollouts, and beside them what is planted; the path is that of the rollouts."""
    path = folder / f"{case.run}_rollouts.jsonl"
    hidden = folder / ".planted" / f"{case.run}.jsonl"
    hidden.parent.mkdir(parents=True, exist_ok=True)
    planted = [{"facts": case.facts}, *map(asdict, case.truth)]
    for file, rows in ((path, case.rows), (hidden, planted)):
        file.write_text("".join(dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def terminal(
    seed: int,
    *,
    n_tasks: int = 12,
    n_repeats: int = 5,
    checks: str = "mapping",
    model: str = CASE_MODEL,
    timeout_rate: float = 0.3,
) -> Case:
    """Of the attempts that time out one in ten passes all the same; task 0 has a broken check.

    The very last attempt never reached the model: no token, no verdict of any test.
    """
    facts = {"suspect_check": [0, SUSPECT_CHECK]}
    case = Case(f"terminal_{checks}_{seed}_{model}", facts=facts)
    for attempt in _attempts("terminal", seed, n_tasks, n_repeats):
        rng = attempt.rng
        is_timeout, is_spared = rng.random() < timeout_rate, rng.random() < 0.1
        is_pass = attempt.passes and (is_spared or not is_timeout)
        suspect = [SUSPECT_CHECK] * (attempt.task == 0)
        failed = rng.sample(TESTS, rng.choice((1, 1, 2, 5))) + suspect
        failed = [] if is_pass else sorted(failed)
        usage = _usage(rng.randint(20_000, 90_000), rng.randint(800, 9_000))
        results = _test_results([*TESTS, *suspect], failed, as_list=checks == "list")
        reason = "agent_timeout" if is_timeout else "unset"
        mode = "failure_mode=agent_timeout" if is_timeout else "CHECKS_FAILED"
        if (attempt.task, attempt.repeat) == (n_tasks - 1, n_repeats - 1):
            is_pass, is_timeout, failed, results, usage = False, False, [], None, _usage(0, 0)
            reason, mode = "unknown_agent_error", "INFRA_FAILURE"
        case.add(
            attempt,
            None if is_pass else mode,
            facts={"failed_checks": failed, "is_timeout": is_timeout},
            model=model,
            usage=usage,
            is_resolved=is_pass,
            failure_mode=reason,
            test_results=results,
        )
    return case


def _test_results(names: list[str], failed: list[str], *, as_list: bool) -> object:
    """Verdicts by name, as terminal benchmarks write them, or as a list of named checks."""
    if not as_list:
        return {name: "failed" if name in failed else "passed" for name in names}
    messages = {name: f"AssertionError in {name}" for name in failed}
    return [
        {"name": name, "passed": name not in failed, "message": messages.get(name)}
        for name in names
    ]


def acting(seed: int, *, n_tasks: int = 16, n_repeats: int = 5) -> Case:
    """Of four tasks three ask for a change and one must be refused, with or without a look first.

    Failures get an argument of a write wrong, leave a write out, or write where refusing was
    right. Reads come in any order and sums in between, in passes and failures alike.
    """
    case = Case(f"acting_{seed}")
    for attempt in _attempts("acting", seed, n_tasks, n_repeats):
        rng, episode, is_refuse = attempt.rng, attempt.episode, attempt.task % 4 == 3
        booking = {"reservation_id": f"R{seed % 100:02d}{attempt.task:03d}"}
        writes = [] if is_refuse else _writes(generator("acting", seed, attempt.task), booking)
        mode = None
        if not attempt.passes:
            mode = rng.choice(("WRONG_ARGUMENTS", "MISSING_ACTION"))
            mode = "EXTRA_WRITE" if is_refuse else mode
        made, wrong, keys = _flawed(rng, writes, booking, mode)
        for read in rng.sample(READS, rng.randint(2, 3)):
            arguments = {"expression": "2 * 55"} if read == "calculate" else booking
            episode.call(read, arguments, _found(rng))
        seqs = [episode.call(write["name"], write["kwargs"], {"status": "ok"}) for write in made]
        done = f"All is done: {sentence(rng)}"
        episode.say(done if made else "I am sorry, our rules do not allow it.")
        missing = [write["name"] for write in writes[len(made) :]]
        kind = "refuse" if is_refuse else "act"
        look = [{"name": READS[0], "kwargs": booking}]
        case.add(
            attempt,
            mode,
            event_seq=None if wrong is None else seqs[wrong],
            facts={"kind": kind, "differing_keys": keys, "missing_calls": missing},
            expected_actions=[] if attempt.task % 8 == 3 else [*look, *writes],
        )
    return case


def _writes(rng: random.Random, booking: Item) -> list[Item]:
    """The changes a task asks for: one or two, with nested arguments as airlines have them."""
    flights = [{"flight_number": f"HAT{rng.randint(100, 299)}", "date": "2024-05-20"}]
    payment = {"payment_id": f"credit_card_{rng.randint(1000, 9999)}"}
    bags = {"total_baggages": rng.randint(1, 4), "nonfree_baggages": 0}
    both = [
        {
            "name": "update_reservation_flights",
            "kwargs": booking | {"cabin": "economy", "flights": flights} | payment,
        },
        {"name": "update_reservation_baggages", "kwargs": booking | bags},
    ]
    return both[: rng.randint(1, 2)]


def _flawed(
    rng: random.Random, writes: list[Item], booking: Item, mode: str | None
) -> tuple[list[Item], int | None, list[str]]:
    """The writes an attempt makes, which of them is wrong, and in which arguments."""
    if mode == "EXTRA_WRITE":
        return [*writes, {"name": "cancel_reservation", "kwargs": booking}], len(writes), []
    if mode == "MISSING_ACTION":
        return writes[:-1], None, []
    if mode is None:
        return writes, None, []
    wrong = rng.randrange(len(writes))
    changes: list[Item] = [{"cabin": "business"}, {"payment_id": "gift_card_1"}]
    change = {"total_baggages": 9} if wrong else rng.choice(changes)
    changed = writes[wrong] | {"kwargs": writes[wrong]["kwargs"] | change}
    return [*writes[:wrong], changed, *writes[wrong + 1 :]], wrong, list(change)


def _found(rng: random.Random) -> Item:
    return {"records": [sentence(rng).strip()], "total": 1}
