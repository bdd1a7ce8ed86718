"""Error messages: what is taken out of a tool's answer, and which messages are the same error."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.settings import SQL_DIR
from pipeline.warehouse import create_macros
from tests.attempts import no, ok
from tests.case_files import cases
from tests.fact_files import check
from tests.results import analyzed, failure, rollout

Macro = Callable[..., object]


@pytest.fixture(scope="module")
def macro() -> Iterator[Macro]:
    """Calls a macro with texts."""
    with duckdb.connect() as db:
        create_macros(db, SQL_DIR)

        def call(name: str, *texts: str | None) -> object:
            marks = ", ".join("?" for _ in texts)
            ((value,),) = db.execute(f"select {name}({marks})", list(texts)).fetchall()
            return value

        yield call


SAME = cases("signatures", "same")
APART = [
    ["payment method not found", "gift card not found"],
    ["KeyError: 3", "IndexError: 3"],
    ['{"code": 17}', '{"status": 17}'],
    ["it can't be, and it won't do", "it can't be, or it won't do"],
    ["not enough seats", "Not enough seats left"],
    ["permission denied", "permission denied: /a/b"],
]


@pytest.mark.parametrize("messages", SAME, ids=lambda messages: messages[0][:30])
def test_same_error(messages: list[str], macro: Macro) -> None:
    """Numbers, paths, ids, addresses and quoted words do not make another error."""
    assert len({macro("error_signature", message) for message in messages}) == 1


def test_a_message_does_not_name_its_own_task(macro: Macro) -> None:
    """Nor its trial; a task that is a number or a short word may be a word of the message."""
    message = "no container for sort-files in jobs/sort-files__3yod5mz"
    assert macro("without_task", message, "sort-files") == "no container for <task> in jobs/<task>"
    assert macro("without_task", "exit code 137", "137") == "exit code 137"


def test_the_error_of_a_shortened_explanation(macro: Macro) -> None:
    """The words that say where it was raised may have been cut."""
    whole = 'File "a.py", line 3, in f\n    f(x)\nTypeError: no x'
    for text in (whole, 'FAIL [sums]: File "a.py", l … TypeError: no x'):
        assert macro("raised_error", text) == "TypeError: no x"
    assert macro("raised_error", "TypeError: no x") is None


@pytest.mark.parametrize("messages", APART, ids=lambda messages: messages[0][:30])
def test_different_errors(messages: list[str], macro: Macro) -> None:
    """Other words, or other fields of an answer, are another error."""
    assert len({macro("error_signature", message) for message in messages}) == len(messages)


RAISED = "Traceback (most recent call last):\n  File \"x\", line 1\nKeyError: 'a'"


@pytest.mark.parametrize(
    "text",
    [
        RAISED,
        f"Exit code 1\n{RAISED}",
        f"Process exited with code -2\n\n{RAISED}\n",
        f"{RAISED}\n\n\nCommand exited with code 1",
    ],
)
def test_the_status_beside_a_message_is_none_of_it(text: str, macro: Macro) -> None:
    """A harness writes it before or after what was raised."""
    assert macro("text_failed", text) is True
    assert macro("error_message", text) == "KeyError: 'a'"


@pytest.mark.parametrize(
    "text", ["Exit code 0\nfine", "exit code 10 is what we want of it", "exit"]
)
def test_a_status_is_an_error_where_it_is_not_0(text: str, macro: Macro) -> None:
    """Nor is a sentence that begins so cut."""
    assert macro("text_failed", text) is ("10" in text)
    assert macro("error_message", "exit code 10 is what we want") == "exit code 10 is what we want"


@given(message=st.text(max_size=400))
def test_any_text_has_a_signature(message: str, macro: Macro) -> None:
    """A signature is short, without line breaks, and that of a signature is itself or shorter."""
    text = message.replace("\0", "")
    signature = macro("error_signature", text)
    assert isinstance(signature, str) and len(signature) <= 160 and "\n" not in signature


@pytest.mark.parametrize("hostile", ["a" * 9, "'", "/a", "1 ", "{'", "0x", "a@b."])
def test_hostile_messages_are_read_in_time(hostile: str, macro: Macro) -> None:
    """A message of 300,000 characters made to make patterns slow takes no time worth naming."""
    start = time.process_time()
    text = hostile * (300_000 // len(hostile))
    assert len(str(macro("error_signature", macro("error_message", f"Error: {text}")))) <= 160
    assert time.process_time() - start < 2


@pytest.mark.parametrize(("answer", "message"), cases("signatures", "error_message"))
def test_error_message(answer: str, message: str, macro: Macro) -> None:
    """The message is a field of a JSON answer, the last line of a traceback, or the text itself."""
    assert macro("error_message", answer) == message


@pytest.mark.parametrize(("answer", "is_failed"), cases("signatures", "failed_texts"))
def test_failed_texts(answer: str, is_failed: bool, macro: Macro) -> None:
    """A result that is given a name failed where the text behind it begins with an error."""
    assert macro("text_failed", answer) is is_failed


@pytest.mark.parametrize(("message", "tool", "is_unknown"), cases("signatures", "unknown_tool"))
def test_unknown_tool(message: str, tool: str, is_unknown: bool, macro: Macro) -> None:
    """A tool is unknown where the error says so of the tool that was called."""
    assert macro("is_unknown_tool", message, tool) is is_unknown


def test_error_signatures(tmp_path: Path) -> None:
    """An error is one row for a run and source: how often, whom it hits, and one to look at.

    Numbers that all of a benchmark share are in its name.
    """
    killed = [("write", {"n": n}, f"Error: exit code 137 in /mnt/d{n}/x") for n in range(3)]
    full = [("write", {"n": n}, f"Error: disk {n} full at /mnt/d{n}/x") for n in range(3)]
    rows = [
        rollout(0, 0, **no(full[0], full[1], "Done.")),
        rollout(0, 1, **ok(full[2], killed[0], ("write", {}, "ok"), "Done.")),
        rollout(1, 0, **no(full[0], killed[1], "Done.", failure_reason="2 of 5 cells")),
        rollout(
            2, 0, **no(("write", {}, "Error: no disk"), "Done.", failure_reason="3 of 5 cells")
        ),
        # Why a pass passed is no error.
        rollout(3, 0, **ok(("write", {}, "ok"), failure_reason="all cells")),
    ]
    failures = [
        failure(4, n, "transient", error_message=f"HTTP 50{n} from judge") for n in range(2)
    ]
    unsettled = [rollout(0, 0, ask="other", **no(full[0])), rollout(0, 1, ask="other", **no())]
    files = {
        "a_rollouts.jsonl": rows,
        # The same error in another run of the benchmark.
        "c_rollouts.jsonl": [rollout(task, 0, **no(full[task], "Done.")) for task in (0, 2)],
        "a_rollouts_failures.jsonl": failures,
        "b_rollouts.jsonl": [{**row, "reward": -5.0} for row in unsettled],
    }
    found = analyzed(tmp_path, files, needs=["error_signatures"])
    check(found, "signatures")
