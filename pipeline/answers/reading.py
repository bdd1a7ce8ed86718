"""What to read next, a digest of each rollout, and what was read so far, as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from ..analysis.reading import agreements
from ..errors import UsageError, listed, resolved
from ..files import read_queries
from ..text import one_line
from ..warehouse import Warehouse, of_this_version, open_warehouse
from .names import Row, full_name, run_names
from .tasks import task_story

QUERIES = read_queries("answers/reading")
READ = tuple(f"main.{name}" for name in "runs rollout_labels reading_plan read_shares".split())
MOST_WORDS = 400
# Words of each part; together fewer than all, since the names of the parts count too.
PARTS = {"asked": 70, "expected": 60, "did": 110, "left": 70, "signs": 35, "grader": 40}
MOST_STEPS = 24
SIZE = 40


def plan(
    path: Path, name: str = "", *, labels: Path | None = None, size: int = SIZE, seed: int | None
) -> Row:
    """The plan over the failures of a benchmark or run: its strata, what is read, what is next.

    `labels` is a file that replaces the labels of the analysis; `seed` draws another plan.
    """
    with _labelled(path, labels, seed) as warehouse, of_this_version(path):
        benchmark, run_id = _scope(warehouse, name)
        of = {"benchmark": benchmark, "run": run_id}
        (outside,) = warehouse.rows(QUERIES["outside"], **of)
        strata = warehouse.rows(QUERIES["strata"], **of, size=size)
        n_failures = sum(row["n_stratum"] for row in strata)
        shares = warehouse.rows(QUERIES["shares"], **of)
        by_stratum = ([row[name] for row in strata] for name in ("n_stratum", "n_counted"))
        return {
            "benchmark": benchmark,
            "run_id": run_id,
            "seed": warehouse.column(QUERIES["seed"], benchmark)[0],
            "n_failures": n_failures,
            "n_planned": min(size, n_failures),
            "n_read": sum(row["n_counted"] for row in strata),
            **outside,
            "strata": strata,
            "next": [row["citation"] for row in warehouse.rows(QUERIES["next"], **of, size=size)],
            "shares": shares,
            "no_share": why_no_share(*by_stratum) if shares else None,
            "agreement": agreements(warehouse.rows(QUERIES["agreement"], benchmark)),
        }


def why_no_share(sizes: Sequence[int], n_read: Sequence[int]) -> str | None:
    """Why no share of all failures is estimated, by the strata; None if there is one."""
    from ..analysis.reading import LEAST_READ

    n_short = sum(read < min(size, LEAST_READ) for size, read in zip(sizes, n_read, strict=True))
    if not n_short:
        return None
    return (
        "There is no share of all failures yet: fewer than two are read, in the order of the plan, "
        f"of {n_short:,} of {len(sizes):,} strata."
    )


def _labelled(path: Path, labels: Path | None, seed: int | None) -> Warehouse:
    if seed is None and (labels is None or not labels.exists()):
        return open_warehouse(path)
    from .rerender import relabel

    return relabel(path, labels if labels and labels.exists() else None, wanted=READ, seed=seed)


def _scope(warehouse: Warehouse, name: str) -> tuple[str, str | None]:
    """The benchmark of a name, else the benchmark and run; the only benchmark without a name."""
    benchmarks = warehouse.column("select distinct benchmark from runs order by all")
    if not name and len(benchmarks) != 1:
        hint = f"Name one: {listed(benchmarks) or 'there is none'}"
        raise UsageError("There are failures of several benchmarks.", hint=hint)
    if not name or name in benchmarks:
        return name or benchmarks[0], None
    runs = run_names(warehouse)
    match = resolved("benchmark or run", full_name(warehouse, name), [*benchmarks, *runs])
    if match in benchmarks:
        return match, None
    (benchmark,) = warehouse.column("select benchmark from runs where run_id = ?", match)
    return benchmark, match


def digest(warehouse: Warehouse, citation: str) -> Row:
    """What is to be known of one attempt before it is opened, in at most 400 words.

    Each part cites what it is taken from.
    """
    story = task_story(warehouse, citation)
    if story["rollout_index"] is None:
        hint = f"Name one, such as {citation}:0"
        raise UsageError(f"{one_line(citation)} is a task: its attempts are read.", hint=hint)
    attempt = story["attempts"][0]
    key = (story["run_id"], story["task_id"], story["rollout_index"])
    own = [row["prompt"] for row in warehouse.rows(QUERIES["asked"], *key)]
    parts = {
        "asked": own[0] if own else (story["question"] or {}).get("text"),
        "expected": _expected(warehouse, story, key),
        "did": _did(warehouse, attempt, key),
        "left": _divergence(story["contrast"], key[2]),
        "signs": _signs(attempt),
        "grader": _grader(attempt),
    }
    words = {name: _words(parts[name] or "", most) for name, most in PARTS.items() if parts[name]}
    return {"citation": attempt["citation"], "verdict": attempt["verdict"], **words}


def _words(text: str, most: int) -> str:
    """The first words of a text, long ones cut: whole arguments have no spaces."""
    words = [word if len(word) <= 60 else f"{word[:59]}…" for word in text.split()]
    return " ".join(words[:most]) + (" …" if len(words) > most else "")


def _expected(warehouse: Warehouse, story: Row, key: tuple[str, str, int]) -> str:
    calls = [
        f"{call['tool']} {call['status']}: {call['detail'] or ''} ({call['citation']})"
        for call in story["expected_calls"]
        if call["status"] != "unasked" or call["is_write"]
    ]
    # Nothing says of these whether they change something: they may be the fault.
    unknown = [
        f"{call['tool']} ({call['citation']})"
        for call in story["expected_calls"]
        if call["status"] == "unasked" and call["is_write"] is None
    ]
    also = [f"Not expected, may change something: {', '.join(unknown)}."] if unknown else []
    counts = [
        f"{call['n_made']} of {call['n_expected']} expected calls made."
        for call in story["expected_calls"][:1]
    ]
    return " ".join([*warehouse.column(QUERIES["keys"], *key), *counts, *calls, *also])


def _did(warehouse: Warehouse, attempt: Row, key: tuple[str, str, int]) -> str:
    """Counts, tools in order, and the last words."""
    counts = {name: attempt[f"n_{name}"] for name in ("turns", "tool_calls", "tool_errors")}
    known = [f"{n} {name.replace('_', ' ')}" for name, n in counts.items() if n is not None]
    steps = []
    rows = warehouse.rows(QUERIES["steps"], *key)
    for tool, group in groupby(rows, key=lambda row: row["tool"]):
        same = list(group)
        errors = sum(row["is_error"] for row in same)
        times = f" x{len(same)}" if len(same) > 1 else ""
        steps.append(f"{tool}{times}#{same[0]['seq']}" + (f" ({errors} in error)" * bool(errors)))
    more = [f"… {len(steps) - MOST_STEPS} more"] if len(steps) > MOST_STEPS else []
    last_words = [
        f"Last words (#{row['seq']}): {row['text']}"
        for row in warehouse.rows(QUERIES["last"], *key)
    ]
    called = ", ".join([*steps[:MOST_STEPS], *more])
    return " ".join([f"{', '.join(known)}." if known else "", called and f"{called}.", *last_words])


def _divergence(contrast: Row | None, index: int) -> str:
    if contrast is None or contrast["failing"].partition("#")[0].rpartition(":")[2] != str(index):
        return ""
    sides = [
        f"{contrast[side]}: {(contrast[f'{side}_event'] or {}).get('text', '')}"
        for side in ("failing", "passing")
    ]
    arguments = [
        f"{each['name']}: {each['failing'] or 'not given'} | {each['passing'] or 'not given'}"
        for each in contrast["arguments"]
    ]
    return " ".join([f"{contrast['difference']};", *arguments, *sides])


def _signs(attempt: Row) -> str:
    signs = [
        mode["mode"] + (f" (#{mode['seq']})" if mode["seq"] is not None else "")
        for mode in attempt["modes"]
    ]
    return "; ".join(signs)


def _grader(attempt: Row) -> str:
    facts = [] if attempt["reward"] is None else [f"reward {attempt['reward']:g}"]
    if attempt["n_checks"]:
        facts.append(f"{attempt['n_checks_passed']} of {attempt['n_checks']} checks passed")
    notes = [note["note"]["text"] for note in attempt["notes"] if note["kind"] != "expected"]
    message = (attempt["failure_message"] or {}).get("text")
    return "; ".join([*facts, *notes, *([message] if message else [])])
