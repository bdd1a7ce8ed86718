"""The vocabulary of the demo: tasks, attempts, and the items of a Responses object."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

from simulator.phrases import dumps, hex_id

Item = dict[str, Any]


@dataclass(frozen=True)
class Task:
    """A task as a benchmark's input file holds it, and what its verifier knows."""

    index: int
    category: str
    difficulty: str
    messages: list[Item]
    tools: list[Item]
    fields: Item
    # How the agent would go about it: an office plan, or a worked sum.
    way: Any
    # Set where every run fails this task, for a reason that is not the model's.
    flaw: str | None = None

    @property
    def prompt(self) -> str:
        return str(self.messages[-1]["content"])


@dataclass(frozen=True)
class Attempt:
    """One expected (task, repeat) of one run, and what became of it."""

    run: str
    model: str
    task: Task
    repeat: int
    # None where it passes; else the planted failure mode.
    mode: str | None


@dataclass
class Episode:
    """What an agent did, item by item; seq counts from 1 over response.output."""

    rng: random.Random
    items: list[Item] = field(default_factory=list)
    decisive: int | None = None
    also: list[int] = field(default_factory=list)
    is_cut: bool = False
    # Where not the trajectory but the verdict on it went wrong.
    verdict: Item = field(default_factory=dict)

    def think(self, text: str) -> int:
        summary = [{"text": text, "type": "summary_text"}]
        return self._add({"id": self._id("rs_"), "summary": summary, "type": "reasoning"})

    def say(self, text: str) -> int:
        part = {"annotations": [], "text": text, "type": "output_text"}
        return self._add(
            {
                "id": self._id("msg_"),
                "content": [part],
                "role": "assistant",
                "status": "incomplete" if self.is_cut else "completed",
                "type": "message",
            }
        )

    def call(self, tool: str, arguments: Item | str, output: object) -> int:
        """A call and its result; the seq is the call's."""
        call_id = self._id("call_")
        seq = self._add(
            {
                "arguments": arguments if isinstance(arguments, str) else dumps(arguments),
                "call_id": call_id,
                "name": tool,
                "type": "function_call",
                "id": self._id("fc_"),
                "status": "completed",
            }
        )
        text = output if isinstance(output, str) else dumps(output)
        self._add({"call_id": call_id, "output": text, "type": "function_call_output"})
        return seq

    def _add(self, item: Item) -> int:
        self.items.append(item)
        return len(self.items)

    def _id(self, prefix: str) -> str:
        return hex_id(self.rng, prefix, 10)


def final_text(items: list[Item]) -> str:
    """The text of the last message, or nothing."""
    if not items or items[-1]["type"] != "message":
        return ""
    return str(items[-1]["content"][0]["text"])
