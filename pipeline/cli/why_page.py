"""Why a task fails, as a page for people."""

from __future__ import annotations

from collections.abc import Iterator

import click

from pipeline.cli.lookup import Row
from pipeline.cli.paragraphs import LONGEST_COMMAND, block, flat, heading, labelled, row
from pipeline.cli.tables import print_table
from pipeline.cli.why_attempts import MOST_ATTEMPTS, SAYERS
from pipeline.cli.why_sections import contrast, dive, errors, suspicions
from pipeline.text import one_line

LONGEST_NAME = 200
LONGEST_TEXT = 400
MOST_QUESTION_LINES = 16
EVIDENCE_CHARACTERS = 160
ANSWER_CHARACTERS = 60


def print_story(story: Row) -> None:
    """The question, all runs, the attempts of one, and what else is known of them."""
    _print_question(story)
    _print_runs(story)
    _print_attempts(story)
    for lines in (contrast, suspicions, errors, dive):
        for line in lines(story):
            click.echo(line)
    click.echo()
    for command in story["next"]:
        click.echo(f"next  {one_line(command, LONGEST_COMMAND)}")


def _print_question(story: Row) -> None:
    name = one_line(f"{story['run_id']}/{story['task_id']}", LONGEST_NAME)
    benchmark = one_line(story["benchmark"], LONGEST_NAME)
    click.echo(f"{click.style(name, bold=True)}  benchmark {benchmark}")
    slices = [f"{name}={value}" for name, value in story["slices"].items()]
    if slices:
        click.echo(labelled("slices", one_line(", ".join(slices), LONGEST_TEXT)))
    click.echo(heading("question"))
    if story["question"] and story["question"]["text"].strip():
        click.echo(block(story["question"], indent=2, most_lines=MOST_QUESTION_LINES))
    else:
        click.echo("  the results do not hold it")


def _print_runs(story: Row) -> None:
    runs = story["runs"]
    click.echo(heading(f"across the runs of {one_line(story['benchmark'], LONGEST_NAME)}"))
    print_table(
        ("run", "bucket", "passed", "cause", ""),
        [
            (
                run["run_id"],
                run["bucket"] or ("n/a" if run["n_scored"] is None else "unsettled"),
                _passed(run),
                run["cause"],
                _standing(run),
            )
            for run in runs
        ],
        notes=[_run_note(run) for run in runs],
    )
    if story["n_runs"] > len(runs):
        click.echo(f"and {story['n_runs'] - len(runs)} more runs")


def _standing(run: Row) -> str | None:
    """Whether a cause is suggested or settled; a rule that found none suggests nothing."""
    if run["is_suggested"] is False:
        return "curated label"
    return f"{run['confidence']} suggestion" if run["rule"] else None


def _passed(run: Row) -> str:
    if run["n_scored"] is None or run["n_passed"] is None:
        return "n/a"
    return f"{run['n_passed']} of {run['n_scored']}"


def _run_note(run: Row) -> str:
    """What lies behind the row: who says so, and whether it is the same question at all."""
    parts = []
    if run["n_scored"] is None:
        parts.append("the run has no attempt at this task")
    elif run["bucket"] is None:
        parts.append("what passes is not settled: say pass_threshold in blade.toml")
    if run["is_same_question"] is False:
        parts.append("asks another question under this name")
    if run["note"]:
        rule = f"{run['rule']}: " if run["is_suggested"] else ""
        parts.append(rule + flat(run["note"]))
    if run["is_suggested"] is False:
        parts += _label(run)
    return labelled("", "; ".join(parts), indent=4) if parts else ""


def _label(run: Row) -> Iterator[str]:
    """Where a curated cause stands, who says it, what it cites, and what the rules would say."""
    yield one_line(run["label_source"], LONGEST_NAME)
    if run["said_by"]:
        yield f"said by {one_line(run['said_by'], LONGEST_NAME)}"
    if run["evidence"]:
        yield f"cites {one_line(', '.join(run['evidence']), LONGEST_TEXT)}"
    rule = f" ({run['suggested_rule']})" if run["suggested_rule"] else ""
    yield f"the rules suggest {run['suggested_cause']}{rule}"


def _print_attempts(story: Row) -> None:
    shown = story["attempts"]
    n_passed = sum(attempt["is_pass"] is True for attempt in shown)
    click.echo(heading(f"attempts of {one_line(story['run_id'], LONGEST_NAME)}"))
    if not shown:
        click.echo("  none was expected or recorded")
    for attempt in shown:
        for line in _attempt(attempt):
            click.echo(line)
    if story["n_attempts"] > MOST_ATTEMPTS:
        left_out = story["n_attempts"] - len(shown)
        click.echo(f"and {left_out:,} more; {n_passed} of those above passed")


def _attempt(attempt: Row) -> Iterator[str]:
    facts = [attempt["verdict"]]
    if attempt["failure_class"] and attempt["outcome"] == "failed attempt":
        facts[0] += f" ({one_line(attempt['failure_class'], LONGEST_NAME)})"
    if attempt["reward"] is not None:
        facts.append(f"reward {attempt['reward']:g}")
    if attempt["answer"]:
        facts.append(f"answer {flat(attempt['answer'], ANSWER_CHARACTERS)}")
    if attempt["last_stage"]:
        facts.append(f"last stage: {one_line(attempt['last_stage'], LONGEST_NAME)}")
    if attempt["n_checks"]:
        facts.append(f"checks {attempt['n_checks_passed']} of {attempt['n_checks']}")
    yield labelled(one_line(attempt["citation"], LONGEST_NAME), ", ".join(facts))
    primary = attempt["primary"]
    if primary:
        yield from _primary(primary)
    others = [_brief(mode) for mode in attempt["others"]]
    if others:
        yield row("also", ", ".join(others))
    for name, text in attempt["said"].items():
        if not primary or text["text"] != (primary["snippet"] or {}).get("text"):
            yield row(SAYERS[name], flat(text))


def _primary(mode: Row) -> Iterator[str]:
    cause = "" if mode["cause"] == "UNEXPLAINED" else f" ({mode['cause']})"
    title = one_line(mode["title"] or "", LONGEST_TEXT)
    yield row("mode", f"{one_line(mode['mode'], LONGEST_NAME)}{cause}: {title}")
    place = "" if mode["seq"] is None else f"#{mode['seq']} "
    tool = f"{one_line(mode['tool'], LONGEST_NAME)} " if mode["tool"] else ""
    if place or mode["snippet"]:
        yield row("evidence", f"{place}{tool}{flat(mode['snippet'], EVIDENCE_CHARACTERS)}".rstrip())


def _brief(mode: Row) -> str:
    name = one_line(mode["mode"], LONGEST_NAME)
    return name if mode["seq"] is None else f"{name} #{mode['seq']}"
