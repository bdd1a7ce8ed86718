"""Plays an office plan wrongly, each function in one planted way."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from typing import Any

from simulator import prose
from simulator.episode import Episode, Item, Task
from simulator.office_agent import do, mark, open_with, plan_of, play_pass, read_first
from simulator.office_tasks import Step
from simulator.office_world import (
    DURATIONS,
    FOREIGN_WORDS,
    IMAGINED_TOOLS,
    PRIORITIES,
    STATUSES,
    TOPICS,
    tool_error,
)
from simulator.phrases import FIRST_NAMES, dumps, generator


def wrong_arguments(episode: Episode, task: Task) -> None:
    """One write carries a wrong value, and nobody notices."""
    plan = plan_of(task)
    open_with(episode, task)
    read_first(episode, plan)
    wrong = episode.rng.randrange(len(plan.writes))
    for number, step in enumerate(plan.writes):
        if number == wrong:
            episode.decisive = do(
                episode, replace(step, arguments=_corrupt(episode, step.arguments))
            )
        else:
            do(episode, step)
    episode.say(prose.done(episode.rng, plan.done))


def wrong_convention(episode: Episode, task: Task) -> None:
    """Every write uses a form this company does not use: the same one in each attempt."""
    plan = plan_of(task)
    key = convention_key(plan.writes[0].arguments)
    assert key is not None
    foreign = _foreign(str(plan.writes[0].arguments[key]))
    open_with(episode, task)
    read_first(episode, plan)
    for step in plan.writes:
        mark(episode, do(episode, replace(step, arguments=step.arguments | {key: foreign})))
    episode.say(prose.done(episode.rng, plan.done))


def skipped_lookup(episode: Episode, task: Task) -> None:
    """Acts on a guessed address instead of looking the person up, and so on other records."""
    plan = plan_of(task)
    skipped = plan.people[0]
    swap = {skipped.email: skipped.guess}
    open_with(episode, task)
    for step in plan.lookups[1:]:
        do(episode, step)
    for step in plan.searches:
        if skipped.email in step.arguments.values():
            swap |= _other_ids(episode, step)
        seq = do(episode, _swapped(step, swap))
        if skipped.email in step.arguments.values():
            mark(episode, seq)
    for step in plan.writes:
        seq = do(episode, _swapped(step, swap))
        if set(map(str, step.arguments.values())) & set(swap):
            mark(episode, seq)
    episode.say(prose.done(episode.rng, plan.done))


def dates_by_eye(episode: Episode, task: Task) -> None:
    """Searches without the date bound, sorts the dates by eye and drops the borderline one."""
    plan = plan_of(task)
    bulk = plan.bulk
    assert bulk is not None
    open_with(episode, task)
    for step in plan.lookups:
        do(episode, step)
    open_arguments = {k: v for k, v in bulk.search.arguments.items() if not k.endswith("_to")}
    (listing,) = dict(_as_item(bulk.search.result))
    everything = bulk.matches + bulk.others
    episode.rng.shuffle(everything)
    seq = episode.call(bulk.search.tool, open_arguments, {listing: everything})
    kept = [step for step in plan.writes if bulk.borderline not in step.arguments.values()]
    ids = ", ".join(str(next(iter(step.arguments.values()))) for step in kept)
    wording = episode.rng.choice(
        (
            f"Looking through the dates, those before {bulk.bound} are {ids}. The rest stay.",
            f"No filter was set, so I go by the dates: {ids} are earlier than {bulk.bound}.",
            f"Comparing each date with {bulk.bound}: {ids} qualify, the others are later.",
        )
    )
    episode.decisive = episode.think(wording)
    episode.also.append(seq)
    for step in kept:
        do(episode, step)
    episode.say(prose.done(episode.rng, plan.done))


def error_ignored(episode: Episode, task: Task) -> None:
    """The last write fails; the answer says that all is well."""
    rng, plan = episode.rng, plan_of(task)
    open_with(episode, task)
    read_first(episode, plan)
    for step in plan.writes[:-1]:
        do(episode, step)
    last = plan.writes[-1]
    seq = episode.call(last.tool, last.arguments, tool_error(rng, last.tool))
    episode.decisive = seq + 1
    episode.also += [seq, episode.say(prose.done(rng, plan.done))]


def thrash(episode: Episode, task: Task) -> None:
    """The same failing call over and over, until nothing is left to say."""
    rng, plan = episode.rng, plan_of(task)
    open_with(episode, task)
    read_first(episode, plan)
    step = plan.writes[0]
    error = tool_error(rng, step.tool)
    for number in range(rng.randint(3, 6)):
        seq = episode.call(step.tool, step.arguments, error)
        if number == 1:
            episode.decisive = seq
        else:
            episode.also.append(seq)
    episode.say(rng.choice(prose.APOLOGIES))


def gave_up(episode: Episode, task: Task) -> None:
    """Reads, and stops before the first write."""
    open_with(episode, task)
    read_first(episode, plan_of(task))
    episode.decisive = episode.say(episode.rng.choice(prose.GIVE_UP))


def no_action(episode: Episode, task: Task) -> None:
    """Talks about the task and calls nothing."""
    episode.decisive = episode.say(episode.rng.choice(prose.NO_ACTION))


def refusal(episode: Episode, task: Task) -> None:
    if episode.rng.random() < 0.4 and plan_of(task).lookups:
        do(episode, plan_of(task).lookups[0])
    episode.decisive = episode.say(episode.rng.choice(prose.REFUSALS))


def truncated(episode: Episode, task: Task) -> None:
    """Writes until the token limit cuts it off."""
    open_with(episode, task)
    plan = plan_of(task)
    for step in plan.lookups + plan.searches:
        do(episode, step)
    episode.is_cut = True
    text = prose.ramble(episode.rng, episode.rng.randint(6, 10))
    if episode.rng.random() < 0.5:
        episode.decisive = episode.think(text)
    else:
        episode.decisive = episode.say(text)


def cut_digest(episode: Episode, task: Task) -> None:
    """Does as it is told, entry by entry, and the limit is not enough for it."""
    rng, plan = episode.rng, plan_of(task)
    open_with(episode, task)
    read_first(episode, plan)
    (records, _) = _as_item(plan.searches[0].result).values()
    first = int(records[0]["ticket_id"])
    rows = [
        f"| {first + 3 * number:08d} | {rng.choice(TOPICS)} | closed by {rng.choice(FIRST_NAMES)} |"
        for number in range(rng.randint(18, 26))
    ]
    episode.is_cut = True
    episode.decisive = episode.say("\n".join(["| ticket | title | outcome |", *rows]) + "\n| 00")


def empty_output(episode: Episode, task: Task) -> None:
    """No text and no call: a message with nothing in it. No item at all would be no record."""
    episode.decisive = episode.say("")


def raw_tool_call(episode: Episode, task: Task) -> None:
    """The call is written out as text, so that nothing is called."""
    plan = plan_of(task)
    open_with(episode, task)
    reads = plan.lookups + plan.searches
    for step in reads[: episode.rng.randint(0, len(reads))]:
        do(episode, step)
    step = plan.writes[0]
    call = dumps({"name": step.tool, "arguments": step.arguments})
    episode.decisive = episode.say(
        episode.rng.choice(
            (
                f"<tool_call>\n{call}\n</tool_call>",
                f"I'll do that now.\n<tool_call>{call}</tool_call>",
                f"<tool_call>\n{call}",
                f"Next step:\n\n<tool_call>\n{dumps(step.arguments)}\n</tool_call>\n",
            )
        )
    )


def malformed_arguments(episode: Episode, task: Task) -> None:
    """A call whose arguments are no JSON; the agent has no second idea."""
    rng, plan = episode.rng, plan_of(task)
    open_with(episode, task)
    read_first(episode, plan)
    step = plan.writes[0]
    good = dumps(step.arguments)
    bad = rng.choice((good[:-1], good.replace('"', "'"), good + "}", good.replace(":", "=", 1)))
    error = rng.choice(
        (
            {"error": "arguments are not valid JSON"},
            "Error: could not parse arguments: Expecting property name enclosed in double quotes",
            {"status": "error", "message": "invalid tool arguments"},
            f"JSONDecodeError while calling {step.tool}",
        )
    )
    episode.decisive = episode.call(step.tool, bad, error)
    episode.also = [episode.decisive + 1]
    episode.say(rng.choice(prose.APOLOGIES))


def undeclared_tool(episode: Episode, task: Task) -> None:
    """Calls tools that were never offered."""
    rng = episode.rng
    area = plan_of(task).writes[0].tool.split("_")[0]
    # The same imagined tool in each attempt; the arguments are made up every time.
    imagined = generator("imagined", task.prompt).sample(IMAGINED_TOOLS, k=2)
    open_with(episode, task)
    read_first(episode, plan_of(task))
    for number, pattern in enumerate(imagined[: rng.randint(1, 2)]):
        name = pattern.format(area=area)
        error = rng.choice(
            (
                {"error": f"unknown tool: {name}"},
                f"Error: tool '{name}' is not registered",
                {"error": f"no such function {name}", "available": [t["name"] for t in task.tools]},
            )
        )
        seq = episode.call(name, {"filter": rng.choice(("all", "matching", "open"))}, error)
        if number == 0:
            episode.decisive = seq
        else:
            episode.also.append(seq)
    episode.say(rng.choice(prose.APOLOGIES))


def extra_write(episode: Episode, task: Task) -> None:
    """All that was asked for, and one change that was not."""
    rng, plan = episode.rng, plan_of(task)
    open_with(episode, task)
    read_first(episode, plan)
    for step in plan.writes:
        do(episode, step)
    if rng.random() < 0.5:
        episode.also.append(episode.think(rng.choice(prose.EXTRA_THOUGHTS)))
    last = plan.writes[-1]
    key = next(k for k in last.arguments if k.endswith("_id") or k in ("subject", "name"))
    value = str(last.arguments[key])
    other = _neighbour(episode, value) if key.endswith("_id") else f"{value} (copy)"
    episode.decisive = do(episode, replace(last, arguments=last.arguments | {key: other}))
    episode.say(prose.done(rng, plan.done))


def verifier_error(episode: Episode, task: Task) -> None:
    """Rightly done, but the check itself broke."""
    play_pass(episode, task)
    kinds = ("KeyError: 'expected_state'", "snapshot of the CRM is missing", "state diff timed out")
    episode.verdict = {"verifier_error": generator("verifier", task.prompt).choice(kinds)}


def _as_item(value: object) -> Item:
    assert isinstance(value, dict)
    return value


def _neighbour(episode: Episode, number: str) -> str:
    return f"{int(number) + episode.rng.choice((-3, -2, -1, 1, 2, 3)):08d}"


def _other_ids(episode: Episode, step: Step) -> dict[str, str]:
    """The records of somebody else, who has the guessed address."""
    (records,) = _as_item(step.result).values()
    olds = [str(next(iter(record.values()))) for record in records]
    return {old: f"{int(old) + episode.rng.randint(100, 900):08d}" for old in olds}


def _swapped(step: Step, swap: dict[str, str]) -> Step:
    def swapped(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: swapped(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [swapped(inner) for inner in value]
        return swap.get(value, value) if isinstance(value, str) else value

    return Step(step.tool, swapped(step.arguments), swapped(step.result))


def convention_key(arguments: Item) -> str | None:
    """The argument whose form is this company's own, if there is one."""
    for key, value in arguments.items():
        if key == "start" or str(value) in FOREIGN_WORDS:
            return key
    return None


def _foreign(value: str) -> str:
    """A word, or a way to write a time, from somewhere else."""
    if value in FOREIGN_WORDS:
        return FOREIGN_WORDS[value]
    year, month, day = value[:10].split("-")
    return f"{month}/{day}/{year} {value[11:16]}"


def _corrupt(episode: Episode, arguments: Item) -> Item:
    """The arguments with one value changed into another plausible one."""
    rng = episode.rng
    key = rng.choice([k for k in arguments if k not in ("field", "body", "subject", "name")])
    value = arguments[key]
    wrong: object
    if key.endswith("_id"):
        wrong = _neighbour(episode, str(value))
    elif key == "duration":
        wrong = rng.choice([minutes for minutes in DURATIONS if minutes != value])
    elif key == "start":
        day = date.fromisoformat(str(value)[:10]) + timedelta(days=rng.choice((-1, 1, 7)))
        wrong = day.isoformat() + str(value)[10:]
    elif "@" in str(value):
        wrong = (
            str(value).split("@")[0]
            + rng.choice(("1", "2", ".old"))
            + "@"
            + str(value).split("@")[1]
        )
    else:
        words = STATUSES if value in STATUSES else PRIORITIES if value in PRIORITIES else ("Other",)
        wrong = rng.choice([word for word in words if word != value])
    return arguments | {key: wrong}
