"""Results whose every text tries to be something else: markup, a mark of ours, a command."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.results import Content, Row, failure, rollout

# Each once in every text: what Markdown, HTML, a drawing, a terminal or our own marks act on.
TRICKS = (
    "--><script>alert(1)</script><img src=x onerror=alert(2)>",
    "<!--blade:runs?run_id=forged#n--> <!--blade-chart:funnel?run_id=forged--> <!--blade-table-->",
    "<!-- curate: forged --> <!-- from runs: forged --> <!----> <!-- -- > --!> <![CDATA[ ]]>",
    "<?xml ?> <!DOCTYPE x>",
    "</title></svg></style></script></code></details><svg onload=alert(3)><use href=#x />",
    "a | b \\| c `code` ``` ~~~ ~~gone~~ **b** __u__ *e* _e_ $x$ [x](javascript:alert(4))",
    "![i](https://x.example/i.png) <https://x.example> https://x.example www.x.example ftp://x.y",
    "me@x.example @someone [ref]: /url [^1] &lt;b&gt; &#x3c;b&#62; &amp;amp; {{ 7 * 7 }} {% x %}",
    'javascript:alert(5) " \' onmouseover=alert(6) x="y" \\ \\\\',
    "\x1b[31m\x1b]8;;http://x\x1b\\ \x07 \x00 \x9b \u202e\u2066\u200f\u200b\ufeff\u2028\x85\r\x0c",
)
STARTS = ("# h", "- l", "1. l", "> q", "```", "    code", "===", "---", "| t |", "<div>", "+ l")
LINES = "\n" + "\n".join(STARTS) + "\n\n" + "\n\n".join(STARTS)
HOSTILE = " ".join(TRICKS) + LINES
# What is cut short is hostile in its first characters too.
SHORT = (
    "`|<!--blade:runs?run_id=forged#n--><b>&lt;\u202e\x00\n# h [x](javascript:a) www.x.example @a"
)
FILE = "<b>|`<!--blade:runs?run_id=forged#n-->` &lt; \u202e [x](javascript:a) www.x.example @a 1. "
# What becomes of the first file's name.
RUN = "b---blade-runs-run_id-forged-n---lt-x-javascript-a-www.x.example-a-1.-0"


def text(number: int) -> str:
    """A hostile text that begins with a trick of its own."""
    turn = number % (len(TRICKS) + len(STARTS))
    first = (*TRICKS, *STARTS)[turn]
    return f"{first} {number} {SHORT} {HOSTILE} \ud800"


def task_id(task: int) -> str:
    """Of some tasks plain, so that they can be cited."""
    return f"{text(task)} {task}" if task % 2 else f"täsk ({task})"


def row(task: int, index: int, *, passes: bool, run: int) -> Row:
    """A rollout with a call that fails, one that does not, and words of its own."""
    name = f"{SHORT}{task}"
    tool = text(task) if passes else text(task + 1)
    items: list[Any] = [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": text(task)}]},
        {"type": "function_call", "name": tool, "call_id": name, "arguments": text(index)},
        {"type": "function_call_output", "call_id": name, "output": f"Error: {text(task + 2)}"},
        {"type": text(3), "payload": text(4)},
        {"type": "message", "role": "assistant", "content": f"{text(task + run)} {passes}"},
    ]
    created = rollout(
        None,
        index,
        ask=text(task),
        reward=float(passes),
        model=text(run),
        output=items,
        task_id=task_id(task),
        category=f"{SHORT}{task % 2}"[:60],
        verifier_metadata={SHORT: SHORT[:50], "level": f"|`{task % 2}"},
        error=text(task + 5),
        reason=text(6),
        reward_components={SHORT: float(passes), text(1): 0.5},
        **{text(7): text(8)},
    )
    created["response"] |= {"status": text(1), "incomplete_details": {"reason": text(2)}}
    created["response"]["usage"] = {"input_tokens": 10 + task, "output_tokens": 5 + index}
    return created


def rows(run: int) -> list[Row]:
    """Tasks that always, sometimes and never pass; the two runs differ."""
    passing = {0: 2, 1: 1, 2: 0, 3: 1 - run, 4: 2 * run, 5: 1}
    return [
        row(task, index, passes=index < passing[task], run=run)
        for task in passing
        for index in range(2)
    ]


def _toml(value: str) -> str:
    """A profile refuses NUL."""
    return json.dumps(value.replace("\0", ""))


PROFILE = f"""
benchmark = {_toml(SHORT)}
slices = ["category", "verifier_metadata.level"]

[[funnel]]
stage = {_toml(f"{SHORT} stage")}
when = "n_tool_calls > 0"

[[failure_mode]]
mode = "WRONG"
when = "reward < 1 and rollout_index = 1"
cause = "KG"
severity = 99
evidence = "final_text"
"""


def files() -> Mapping[str, Content]:
    """Two runs, failed attempts, labels, reported figures and a profile."""
    names = [f"{FILE}{run}_rollouts.jsonl" for run in (0, 1)]
    broken = b"not JSON <script> \xff \x1b\n"
    created: dict[str, Content] = {
        name: "".join(json.dumps(each) + "\n" for each in rows(run)).encode() + broken
        for run, name in enumerate(names)
    }
    failed = [failure(0, 0, text(2), task_id=task_id(9), _ng_error_message=text(3))]
    created[names[0].replace("rollouts", "rollouts_failures")] = failed
    labels = [
        {"run": SHORT, "task": SHORT, "cause": SHORT, "note": SHORT},
        {"run": RUN, "task": task_id(2), "cause": "BI", "note": HOSTILE, "by": HOSTILE},
    ]
    created["labels.jsonl"] = labels
    created["blade.toml"] = PROFILE
    return created
