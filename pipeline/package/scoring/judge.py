"""An external program that says whether passages state a fact: a JSON line in, a JSON line out."""

from __future__ import annotations

import hashlib
import json
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pipeline.errors import InputError
from pipeline.files import UnreadableError, content
from pipeline.package.files import write_text
from pipeline.package.scoring.matching import Met, is_about
from pipeline.package.scoring.passages import Text
from pipeline.text import json_text, one_line

MOST_SECONDS, MOST_PASSAGES = 900, 20
HINT = "It reads a line with `fact` and `blocks`, and answers with a line {met, reason}, in order."


@dataclass
class Judge:
    """A command, started once for all facts of a report that it has not answered before."""

    command: str
    cache: Path | None = None
    account: dict[str, Any] = field(default_factory=dict)

    def __call__(self, found: Sequence[Met], text: Text) -> list[Met]:
        """Facts that the report's own claims do not settle, as the program sees them."""
        known, asked, judged = self._known(), {}, list(found)
        lines: dict[int, str] = {}
        for place, each in enumerate(found):
            about = [one for one in text.passages if is_about(each.asked, one)]
            if each.by != "claims" and about:
                blocks = [{"line": one.line, "text": one.seen} for one in about[:MOST_PASSAGES]]
                fact = {"id": each.asked.fact.id, "fact": each.asked.fact.fact}
                lines[place] = json_text({**fact, "blocks": blocks})
                asked[self._key(lines[place])] = lines[place]
        new = {key: line for key, line in asked.items() if key not in known}
        known |= dict(zip(new, self._answers(list(new.values())), strict=True))
        for place, line in lines.items():
            met, reason = known[self._key(line)]
            each = found[place]
            lacking = "" if met else reason or "the judge does not see it"
            judged[place] = Met(each.asked, each.passage, lacking, "judge")
        self.account = {
            "command": self.command,
            "asked": len(asked),
            "cached": len(asked) - len(new),
        }
        if self.cache is not None and new:
            told = [json_text({"key": key, "met": m, "reason": r}) for key, (m, r) in known.items()]
            write_text(self.cache, "\n".join(told) + "\n")
        return judged

    def _key(self, line: str) -> str:
        return hashlib.sha256(f"{self.command}\n{line}".encode()).hexdigest()

    def _known(self) -> dict[str, tuple[bool, str]]:
        if self.cache is None or not self.cache.is_file():
            return {}
        try:
            rows = [json.loads(line) for line in content(self.cache).decode().splitlines()]
            return {row["key"]: (row["met"] is True, str(row["reason"])) for row in rows}
        except (UnreadableError, ValueError, KeyError, TypeError):
            # What cannot be read is asked again.
            return {}

    def _answers(self, lines: list[str]) -> list[tuple[bool, str]]:
        if not lines:
            return []
        try:
            done = subprocess.run(
                shlex.split(self.command),
                input="".join(f"{line}\n" for line in lines).encode(),
                capture_output=True,
                timeout=MOST_SECONDS,
                check=False,
            )
            told = [
                line for line in done.stdout.decode("utf-8", "replace").splitlines() if line.strip()
            ]
            rows = [json.loads(line) for line in told]
            answers = [
                (row["met"] is True, one_line(str(row.get("reason", "")), 200)) for row in rows
            ]
        except subprocess.TimeoutExpired:
            raise self._error(f"gave no answer within {MOST_SECONDS} s") from None
        except (OSError, IndexError) as error:
            raise self._error(f"cannot be started: {error}") from None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise self._error(f"gave an answer that cannot be read: {error}") from None
        if done.returncode or len(answers) != len(lines):
            said = one_line(done.stderr.decode("utf-8", "replace").strip(), 200)
            what = f"exit code {done.returncode}, {len(answers)} answers to {len(lines)} lines"
            raise self._error(f"{what}{f': {said}' if said else ''}")
        return answers

    def _error(self, why: str) -> InputError:
        return InputError(f"--judge {one_line(self.command, 80)}: {why}.", hint=HINT)
