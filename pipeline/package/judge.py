"""An external program that reads prose: a JSON line in, a JSON line out, in the judge's layers.

It is asked which facts the blocks state, then which qualities and shortcuts the report shows; of
these judge.toml has the questions, and they change no score.
"""

from __future__ import annotations

import hashlib
import json
import shlex
import subprocess
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..files import UnreadableError, content
from ..text import json_text, one_line
from .files import write_text
from .score import Met, Piece, Text, is_about

MOST_SECONDS, MOST_PASSAGES, MOST_BLOCKS = 900, 20, 400
HINT = "It reads a line with `layer` and `blocks`, and answers with {met, reason}, in order."
LAYERS: dict[str, dict[str, str]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)

# Whether the program sees a fact, and why, by the key of the question.
Answers = dict[str, tuple[bool, str]]


def judged(
    facts: Sequence[Met], text: Text, *, command: str, cache: Path | None = None
) -> tuple[list[Met], dict[str, Any]]:
    """Facts that the report's own claims do not settle, as a program sees them; and who was asked.

    It is started once, for all that it has not answered before.
    """
    answers, judged = _cached(cache), list(facts)
    requests: dict[tuple[str, str | int], tuple[str, str]] = {}

    def ask(layer: str, place: str | int, pieces: Sequence[Piece], **question: str) -> None:
        blocks = [{"line": one.line, "text": one.plain} for one in pieces]
        line = json_text({"layer": layer, **question, "blocks": blocks})
        requests[layer, place] = (hashlib.sha256(f"{command}\n{line}".encode()).hexdigest(), line)

    for place, each in enumerate(facts):
        about = [one for one in text.pieces if _concerns(each, one, text)]
        if about:
            fact = each.wanted.fact
            ask("facts", place, about[:MOST_PASSAGES], id=fact.id, fact=fact.fact)
    for layer, questions in LAYERS.items():
        for name, question in questions.items():
            ask(layer, name, text.pieces[:MOST_BLOCKS], id=name, question=question)
    new = {key: line for key, line in requests.values() if key not in answers}
    answers |= dict(zip(new, _answered(command, list(new.values())), strict=True))
    layers: dict[str, dict[str, Any]] = {layer: {} for layer in LAYERS}
    for (layer, at), (key, _) in requests.items():
        is_met, reason = answers[key]
        if isinstance(at, str):
            layers[layer][at] = {"met": is_met, "reason": reason}
            continue
        lacking = "" if is_met else reason or "the judge does not see it"
        judged[at] = Met(facts[at].wanted, facts[at].piece, lacking, "judge")
    if cache is not None and new:
        rows = [json_text({"key": key, "met": m, "reason": r}) for key, (m, r) in answers.items()]
        write_text(cache, "\n".join(rows) + "\n")
    n_asked = len(dict(requests.values()))
    account = {"command": command, "asked": n_asked, "cached": n_asked - len(new), **layers}
    return judged, account


def _concerns(each: Met, piece: Piece, text: Text) -> bool:
    """Whether a block may state a fact: it is about its subject, or about a task that it cites."""
    cited = {task for _, task, _ in each.wanted.rollouts}
    return is_about(each.wanted, piece, text) or bool(cited & (piece.tasks | piece.above))


def _cached(cache: Path | None) -> Answers:
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
        answer_lines = done.stdout.decode("utf-8", "replace").splitlines()
        rows = [json.loads(line) for line in answer_lines if line.strip()]
        answers = [(row["met"] is True, one_line(str(row.get("reason", "")), 200)) for row in rows]
        why = f"exit code {done.returncode}, {len(answers)} answers to {len(lines)} lines"
        if not done.returncode and len(answers) == len(lines):
            return answers
        if errors := one_line(done.stderr.decode("utf-8", "replace").strip(), 200):
            why += f": {errors}"
    except subprocess.TimeoutExpired:
        why = f"gave no answer within {MOST_SECONDS} s"
    except (OSError, IndexError) as error:
        why = f"cannot be started: {error}"
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        why = f"gave an answer that cannot be read: {error}"
    raise InputError(f"--judge {one_line(command, 80)}: {why}.", hint=HINT)
