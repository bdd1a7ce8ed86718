"""Small runs of shapes that the demo lacks, each with its planted truth.

    terminal(seed, n_tasks=12, n_repeats=5, checks="mapping" | "list", model=.., timeout_rate=0.3)
        No transcript, but usage, per-test results and `failure_mode`. Runs of one seed and two
        models with two timeout rates differ by their timeouts alone.
    capped(seed, n_tasks=12, n_repeats=5, is_said=True) -> Case
        Cut by a turn cap, which `termination_reason` says or only the longest attempts show;
        `reward_info` is null or a parse error where the verifier did not run.
    submitting(seed, n_tasks=12, n_repeats=5) -> Case
        Every attempt ends on a call of `submit`, passes and failures alike.
    wrapped_errors(seed, n_tasks=12, n_repeats=5, wrapping="tool_error" | "returncode") -> Case
        Tool errors inside the tags of a harness; failures ignore the last one.
    acting(seed, n_tasks=16, n_repeats=5) -> Case
        Tasks to act on and tasks to refuse, with `expected_actions`.
    null_signs(seed, n_tasks=40, n_repeats=5) -> Case
        Signs of the record and of the trajectory that have nothing to do with the outcome.
    effect_signs(seed, effects={...}, n_tasks=40, n_repeats=8) -> Case
        Signs that lower the pass rate of every task by a known difference.
    write_case(folder, case) -> Path
        `<run>_rollouts.jsonl`, and the truth in `.planted/<run>.jsonl`, which no analysis reads.

`Case.truth` has one entry per row, in the rows' order; `Case.facts` is what holds of the whole run.
Modes have the names that `rollout_modes` gives them; `event_seq` counts from 1 over the output.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from simulator.episode import Episode, Item
from simulator.phrases import dumps, generator, person, sentence

CASE_MODEL = "cedar-13b"
TESTS = ("test_file_exists", "test_header", "test_row_count", "test_totals", "test_no_leftovers")
SUSPECT_CHECK = "test_timezone"
TURN_CAP = 12
READS = ("get_reservation_details", "get_user_details", "calculate")
SIGNS = ("sandbox_status=restarted", "retry_reason=rate_limit", "exit_kind=late")
TOOL_ERROR_SIGN = "tool_error"


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


def capped(seed: int, *, n_tasks: int = 12, n_repeats: int = 5, is_said: bool = True) -> Case:
    """No attempt at the cap passes; most of them were not graded, some were and failed.

    Now and then the verifier's answer to an attempt that ended by itself could not be parsed.
    """
    case = Case(f"capped_{'said' if is_said else 'seen'}_{seed}", facts={"turn_cap": TURN_CAP})
    for attempt in _attempts("capped" if is_said else "capped_seen", seed, n_tasks, n_repeats):
        rng, episode, is_pass = attempt.rng, attempt.episode, attempt.passes
        # Task 0 never passes: it reaches the cap in any seed.
        is_cut = not is_pass and (rng.random() < 0.35 or attempt.task == 0)
        is_ungraded = not is_pass and rng.random() < (0.7 if is_cut else 0.1)
        n_turns = TURN_CAP if is_cut else rng.randint(3, TURN_CAP - 2)
        for page in range(n_turns - (not is_cut)):
            episode.call("search_records", {"query": sentence(rng), "page": page}, _found(rng))
        if not is_cut:
            episode.say(f"Done: {sentence(rng)}")
        record: Item | None = {"reward": float(is_pass), "info": {"r_actions": float(is_pass)}}
        if is_ungraded:
            record = rng.choice((None, {"error": "parse_error", "info": None}))
        mode = "UNGRADED" if is_ungraded else "CUT_OFF" if is_cut else "UNEXPLAINED"
        reason = "max_steps" if is_cut else "agent_stop"
        case.add(
            attempt,
            None if is_pass else mode,
            facts={"is_cut": is_cut, "n_turns": n_turns},
            reward_info=record,
            **({"turns_used": n_turns, "termination_reason": reason} if is_said else {}),
        )
    return case


def submitting(seed: int, *, n_tasks: int = 12, n_repeats: int = 5) -> Case:
    """What is submitted decides, and how it ends does not: no words follow the last call."""
    case = Case(f"submitting_{seed}")
    for attempt in _attempts("submitting", seed, n_tasks, n_repeats):
        rng, episode, is_pass = attempt.rng, attempt.episode, attempt.passes
        for page in range(rng.randint(1, 4)):
            episode.call("open_file", {"path": f"notes/{page}.txt"}, _found(rng))
        answer = attempt.task * 100 + (0 if is_pass else rng.randint(1, 50))
        seq = episode.call("submit", {"answer": str(answer)}, "")
        if attempt.repeat % 2:
            # Some harnesses end at the call itself and record no result of it.
            episode.items.pop()
        mode, decisive = (None, None) if is_pass else ("UNEXPLAINED", seq)
        case.add(attempt, mode, event_seq=decisive)
    return case


def wrapped_errors(
    seed: int, *, n_tasks: int = 12, n_repeats: int = 5, wrapping: str = "tool_error"
) -> Case:
    """Passes try again after an error; failures say that all went well. Other results are fine."""
    case = Case(f"wrapped_{wrapping}_{seed}")
    for attempt in _attempts(f"wrapped_{wrapping}", seed, n_tasks, n_repeats):
        rng, episode, is_pass = attempt.rng, attempt.episode, attempt.passes
        # A result that is fine speaks of errors too.
        fine = _wrapped(wrapping, f"{sentence(rng).strip()} 0 errors, 0 failed", is_error=False)
        error = f"make: *** No rule to make target '{rng.randint(1, 99)}.csv'.  Stop."
        for _ in range(rng.randint(1, 3)):
            episode.call("bash", {"command": f"cat {rng.randint(1, 99)}.log"}, fine)
        command = {"command": f"make report-{attempt.task}"}
        errors = []
        if not is_pass or rng.random() < 0.4:
            result = _wrapped(wrapping, error, is_error=True)
            errors.append(episode.call("bash", command, result) + 1)
        if is_pass:
            episode.call("bash", command, fine)
        episode.say("The report has been built and everything is in place.")
        mode, seq = (None, None) if is_pass else ("ERROR_IGNORED", errors[-1])
        case.add(attempt, mode, event_seq=seq, facts={"error_seqs": errors})
    return case


def _wrapped(wrapping: str, text: str, *, is_error: bool) -> str:
    if wrapping == "returncode":
        return f"<returncode>{int(is_error)}</returncode>\n<output>\n{text}\n</output>"
    tag = "tool_error" if is_error else "tool_result"
    return f"<{tag}>{text}</{tag}>"


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


def null_signs(seed: int, *, n_tasks: int = 40, n_repeats: int = 5) -> Case:
    """Hard tasks bear the signs more often, but within a task they tell nothing."""
    return _signed("null", seed, n_tasks, n_repeats, dict.fromkeys((*SIGNS, TOOL_ERROR_SIGN), 0.0))


def effect_signs(
    seed: int,
    *,
    effects: Mapping[str, float] = {SIGNS[0]: 0.3},
    n_tasks: int = 40,
    n_repeats: int = 8,
) -> Case:
    """Each sign lowers the chance to pass by its effect, on every task and beside any other sign.

    `facts` has the risk differences and the shares of rows that bear each sign; times one another
    they are the points an association should give.
    """
    return _signed("effect", seed, n_tasks, n_repeats, effects)


def _signed(
    name: str, seed: int, n_tasks: int, n_repeats: int, effects: Mapping[str, float]
) -> Case:
    lowest = sum(effects.values())
    case = Case(f"{name}_signs_{seed}", facts={"effects": dict(effects)})
    for attempt in _attempts(f"{name}_signs", seed, n_tasks, n_repeats):
        rng, episode = attempt.rng, attempt.episode
        # Differences add up, so that they are the same for every task: ease starts above them all.
        ease = generator("ease", name, seed, attempt.task).random()
        signs = [sign for sign in effects if rng.random() < 0.6 - 0.4 * ease]
        chance = lowest + (1 - lowest) * ease - sum(effects[sign] for sign in signs)
        mode = None if rng.random() < chance else "UNEXPLAINED"
        episode.call("search_records", {"query": sentence(rng)}, _found(rng))
        if TOOL_ERROR_SIGN in signs:
            episode.call("search_records", {"query": ""}, {"error": "query is empty"})
        episode.call("read_record", {"record": rng.randint(1, 99)}, _found(rng))
        episode.say(f"The answer is: {sentence(rng)}")
        named = [(sign, *sign.split("=")) for sign in effects if sign != TOOL_ERROR_SIGN]
        fields = {key: value if sign in signs else "normal" for sign, key, value in named}
        case.add(attempt, mode, facts={"signs": signs}, **fields)
    borne = [sign for truth in case.truth for sign in truth.facts["signs"]]
    case.facts["shares"] = {sign: borne.count(sign) / len(case.rows) for sign in effects}
    return case


def _found(rng: random.Random) -> Item:
    return {"records": [sentence(rng).strip()], "total": 1}
