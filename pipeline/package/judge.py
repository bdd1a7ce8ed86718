"""An external program that says whether passages state a fact: a JSON line in, a JSON line out."""

from __future__ import annotations

import hashlib
import json
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pipeline.errors import InputError
from pipeline.files import UnreadableError, content
from pipeline.package.files import write_text
from pipeline.package.score import Met, Piece, Text, is_about
from pipeline.text import json_text, one_line

MOST_SECONDS, MOST_PASSAGES = 900, 20
HINT = "It reads a line with `fact` and `blocks`, and answers with a line {met, reason}, in order."

# Whether the program sees a fact, and why, by the key of the question.
Answers = dict[str, tuple[bool, str]]


def judged(
    found: Sequence[Met], text: Text, *, command: str, cache: Path | None = None
) -> tuple[list[Met], dict[str, Any]]:
    """Facts that the report's own claims do not settle, as a program sees them; and who was asked.

    It is started once, for all that it has not answered before.
    """
    answers, judged, asked = _kept(cache), list(found), {}
    for place, each in enumerate(found):
        about = [one for one in text.pieces if _concerns(each, one, text)]
        if each.by != "claims" and about:
            blocks = [{"line": one.line, "text": one.plain} for one in about[:MOST_PASSAGES]]
            fact = {"id": each.wanted.fact.id, "fact": each.wanted.fact.fact}
            line = json_text({**fact, "blocks": blocks})
            asked[place] = (hashlib.sha256(f"{command}\n{line}".encode()).hexdigest(), line)
    new = {key: line for key, line in asked.values() if key not in answers}
    answers |= dict(zip(new, _answered(command, list(new.values())), strict=True))
    for place, (key, _) in asked.items():
        is_met, reason = answers[key]
        lacking = "" if is_met else reason or "the judge does not see it"
        judged[place] = Met(found[place].wanted, found[place].piece, lacking, "judge")
    if cache is not None and new:
        told = [json_text({"key": key, "met": m, "reason": r}) for key, (m, r) in answers.items()]
        write_text(cache, "\n".join(told) + "\n")
    n_asked = len(dict(asked.values()))
    return judged, {"command": command, "asked": n_asked, "cached": n_asked - len(new)}


def _concerns(each: Met, piece: Piece, text: Text) -> bool:
    """Whether a block may state a fact: it is about its subject, or about a task that it cites."""
    cited = {task for _, task, _ in each.wanted.rollouts}
    return is_about(each.wanted, piece, text) or bool(cited & (piece.tasks | piece.above))


def _kept(cache: Path | None) -> Answers:
    """Answers of earlier calls; what cannot be read is asked again."""
    if cache is None or not cache.is_file():
        return {}
    try:
        rows = [json.loads(line) for line in content(cache).decode().splitlines()]
        return {row["key"]: (row["met"] is True, str(row["reason"])) for row in rows}
    except (UnreadableError, ValueError, KeyError, TypeError):
        return {}


def _answered(command: str, lines: list[str]) -> list[tuple[bool, str]]:
    if not lines:
        return []
    try:
        done = subprocess.run(
            shlex.split(command),
            input="".join(f"{line}\n" for line in lines).encode(),
            capture_output=True,
            timeout=MOST_SECONDS,
            check=False,
        )
        told = done.stdout.decode("utf-8", "replace").splitlines()
        rows = [json.loads(line) for line in told if line.strip()]
        answers = [(row["met"] is True, one_line(str(row.get("reason", "")), 200)) for row in rows]
        why = f"exit code {done.returncode}, {len(answers)} answers to {len(lines)} lines"
        if not done.returncode and len(answers) == len(lines):
            return answers
        if said := one_line(done.stderr.decode("utf-8", "replace").strip(), 200):
            why += f": {said}"
    except subprocess.TimeoutExpired:
        why = f"gave no answer within {MOST_SECONDS} s"
    except (OSError, IndexError) as error:
        why = f"cannot be started: {error}"
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        why = f"gave an answer that cannot be read: {error}"
    raise InputError(f"--judge {one_line(command, 80)}: {why}.", hint=HINT)
