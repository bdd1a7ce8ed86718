"""The rows of a table: JSONL, CSV, Parquet, or a JSON document in one of the shapes people write.

A document has its rows in one list or object by ids, below one of runs or of tasks, or below the
names of their columns.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from ...artifact import COMPRESSIONS
from . import (
    Line,
    Object,
    Reject,
    as_json,
    fields,
    get,
    head,
    items,
    objects,
    packed,
    parsed,
    text,
)
from .table_columns import (
    IDS_OF_TASKS,
    LONGEST_ID,
    MOST_COLUMNS,
    NAMES_OF,
    OF_KEYS,
    ROLES,
    ROLES_OF_CHAT,
    TURN_NUMBERS,
    Column,
    Columns,
    counts_up,
    ends_like_score,
    is_task_name,
    messages_of,
    plain,
    recognise,
    roles_of,
    score_of,
    scores_of_values,
    values_of,
)

SAMPLED_ROWS = 200
LARGEST_KEPT = 8 << 20
LARGEST_CELL = 16 << 20
PARQUET_ROWS = 256
# Rows that show whether they have attempts by several methods.
SNIFFED_ROWS = 50
# The column with the name of the method, and that of an answer that was taken from an output.
NAMES_OF_METHODS = ("method", "condition", "name of the method")
EXTRACTED = "extracted_answer"
# The list of rows in a document: {"model": ..., "results": [...]}.
LISTS = "results data rows samples examples records predictions outputs items".split()
# Words in the names of lists that have what was done in one attempt.
OF_AN_ATTEMPT = frozenset(
    "step steps turn turns call calls tool tools log logs event events message messages trace "
    "trajectory history action actions check checks criteria".split()
)
# What is not the name of a method, at the beginning or the end of those of columns.
NO_METHODS = OF_KEYS | OF_AN_ATTEMPT | {"chosen", "rejected", "best", "max", "min", "mean"}
LEAST_KEYED = 2
MOST_LEVELS = 4
# What the key of a list of attempts is, and their places in it.
TASK, REPEAT = "task_id", "attempt"
# The whole document, or a list of rows by its name; and the name above rows, until it is known
# whether it is of a run or of a task.
OUTER = ("", *LISTS)
KEY = ""
# What the two sides of a conversation say in a turn, by their names.
SIDES = {"user": "user", "assistant": "assistant", **ROLES_OF_CHAT}
# What a document may say of all its rows.
OF_RUNS = frozenset(
    name for role in ROLES if role.name in ("model", "agent", "benchmark") for name in role.names
)
# Or of lists, below the names of their columns: what MLflow and Weights & Biases write of a table.
OF_COLUMNS = re.compile(rb'"columns"\s*:\s*\[\s*"[^\]]*\].*"data"\s*:\s*\[\s*\[', re.DOTALL)
PLAIN_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,15})(\.[0-9]+)?")
BOOLEANS = {"true": True, "false": False}
Entry = Object | Reject | Line


def sample(path: Path, n_rows: int = SAMPLED_ROWS, *, score: str = "") -> list[Object]:
    """The first rows of a table; none if it is not one."""
    with suppress(OSError):
        known = path.stat()
        if ending(path) == "json" and known.st_size <= LARGEST_KEPT and n_rows <= SAMPLED_ROWS:
            return _sampled(path, score, known.st_size, known.st_mtime_ns)[:n_rows]
    return _first_entries(path, n_rows, score)


@lru_cache(maxsize=128)
def _sampled(path: Path, score: str, _size: int, _time: int) -> list[Object]:
    """The sample of a document, which is read whole to find its rows."""
    return _first_entries(path, SAMPLED_ROWS, score)


def _first_entries(path: Path, n_rows: int, score: str) -> list[Object]:
    table: list[Object] = []
    try:
        rows = (entry for entry in entries(path, score) if isinstance(entry, dict))
        table.extend(itertools.islice(rows, n_rows))
    except (OSError, ValueError, EOFError):
        pass  # damaged after these rows; reading it all makes the reject
    return table


def entries(path: Path, score: str = "") -> Iterator[Entry]:
    """The rows of a table, rejects and lines without a row, in order.

    A document that lacks a column that was chosen as the score may have it in rows further down.
    """
    column = tuple(score.split(".")) if score else ()
    match ending(path):
        case "csv" | "tsv":
            yield from _apart(_of_csv(path), column)
        case "parquet":
            yield from _apart(parquet_rows(path), column)
        case "json":
            yield from _apart(_of_json(path, column), column)
        case _ if merged := conversation(path):
            yield from _of_conversation(path, merged)
        case _:
            yield from _apart(objects(path), column)


def conversation(path: Path) -> Object | None:
    """The one attempt of a JSONL file whose lines are its settings, its turns and its verdict."""
    first, _, rest = head(path).partition(b"\n")
    second, end, _ = rest.partition(b"\n")
    if not end or ending(path) not in ("jsonl", "ndjson"):
        return None
    with suppress(OSError, ValueError, EOFError):
        begun = [parsed(first), parsed(second)]
        known = path.stat()
        is_log = all(isinstance(row, dict) for row in begun) and begun[0].keys().isdisjoint(
            begun[1]
        )
        if is_log and known.st_size <= LARGEST_KEPT:
            return _conversation(path, known.st_size, known.st_mtime_ns)
    return None


@lru_cache(maxsize=128)
def _conversation(path: Path, _size: int, _time: int) -> Object | None:
    """The lines in one object, if what a line that is no turn says no other line says again.

    Turns have what two sides say, by their names. The last line has a verdict, or turns count up.
    """
    rows = [row for row in objects(path) if isinstance(row, dict)]
    sides = [_sides(row) for row in rows]
    places = [place for place, messages in enumerate(sides) if messages]
    turns = [rows[place] for place in places]
    others = [row for row, messages in zip(rows, sides, strict=True) if not messages]
    names = [name for row in (*others, *turns[:1]) for name in row]
    if not places or len(names) > len(set(names)) or not {"messages", "turns"}.isdisjoint(names):
        return None
    is_whole = places == list(range(places[0], places[-1] + 1)) and places[0] > 0
    after = rows[places[-1] + 1 :]
    verdicts = [
        score_of(one) for row in after for one in row.values() if isinstance(one, bool | str)
    ]
    is_judged = len(after) == 1 and bool({0, 1} & set(verdicts))
    is_numbered = any(
        plain(name) in TURN_NUMBERS
        and (counts_up(numbers := [row.get(name) for row in turns]) or numbers == [1])
        for name in turns[0]
    )
    if not is_whole or len(after) > 1 or not (is_judged or (is_numbered and not after)):
        return None
    merged = {name: value for row in others for name, value in row.items()}
    messages = list(itertools.chain.from_iterable(sides))
    measured = [{n: one for n, one in row.items() if plain(n) not in SIDES} for row in turns]
    return {**merged, "messages": messages, "turns": measured}


def _sides(row: Object) -> list[Object]:
    """What the two sides of a conversation say in a turn, if it has both by their names."""
    messages = [
        {"role": SIDES[plain(name)], "content": value}
        for name, value in row.items()
        if plain(name) in SIDES and isinstance(value, str)
    ]
    return messages if len({one["role"] for one in messages}) == len(messages) == 2 else []


def _of_conversation(path: Path, merged: Object) -> Iterator[Entry]:
    """The lines of a conversation, which is the row of the last of them."""
    entries = list(objects(path))
    last = max(place for place, entry in enumerate(entries) if isinstance(entry, dict))
    for place, entry in enumerate(entries):
        yield merged if place == last else Line() if isinstance(entry, dict) else entry


def _apart(rows: Iterator[Entry], score: Column) -> Iterator[Entry]:
    """The rows; of those that have attempts by several methods, each attempt with the rest."""
    first = list(itertools.islice(rows, SNIFFED_ROWS))
    sniffed = [row for row in first if isinstance(row, dict)]
    places = _fields_of_methods(sniffed)
    methods = _methods([_with_methods(row, places) for row in sniffed])
    if not methods or not {*methods, *places}.isdisjoint(score[:1]):
        yield from itertools.chain(first, rows)
        return
    for entry in itertools.chain(first, rows):
        row = _with_methods(entry, places) if isinstance(entry, dict) else {}
        by_method = {name: row[name] for name in methods if isinstance(row.get(name), dict)}
        rest = {name: value for name, value in row.items() if name not in by_method}
        column = next(name for name in NAMES_OF_METHODS if name not in rest)
        for method, attempt in by_method.items():
            yield {**rest, column: method, **_with_extracted(attempt)}
        if not by_method:
            yield entry


def _with_extracted(attempt: Object) -> Object:
    """An attempt whose answer beside a longer output is not taken for the key of its task."""
    outputs = [name for name in attempt if plain(name) in NAMES_OF["output"]]
    is_extracted = "answer" in outputs and len(outputs) > 1 and EXTRACTED not in attempt
    return {EXTRACTED if is_extracted and n == "answer" else n: one for n, one in attempt.items()}


def _fields_of_methods(rows: Sequence[Object]) -> dict[str, Column]:
    """The method and the field of each column of a wide row: `base_pred` beside `ft_pred`.

    Two or more beginnings, or ends, of names go with the same fields, an output and a score among
    them. A key, a step or a text that was turned down is no attempt.
    """
    names = {name: plain(name).split("_") for row in rows for name in row}
    alike: dict[frozenset[str], dict[str, dict[str, str]]] = {}
    for is_end in (False, True) if len(names) <= MOST_COLUMNS else ():
        columns: dict[str, dict[str, str]] = {}
        for name, words in names.items():
            for place in range(1, len(words)):
                parts = ["_".join(words[:place]), "_".join(words[place:])]
                method, own = reversed(parts) if is_end else parts
                columns.setdefault(method, {})[own] = name
        for method, fields_of in columns.items():
            words = method.rstrip("0123456789").split("_")
            if method not in names and NO_METHODS.isdisjoint(words):
                alike.setdefault(frozenset(fields_of), {})[method] = fields_of
    wide = [
        methods
        for fields_of, methods in alike.items()
        if len(methods) >= LEAST_KEYED and not fields_of.isdisjoint(NAMES_OF["output"])
        if any(ends_like_score(one) or one in NAMES_OF["score"] for one in fields_of)
    ]
    largest = max(wide, key=lambda methods: sum(map(len, methods.values())), default={})
    return {name: (method, own) for method, named in largest.items() for own, name in named.items()}


def _with_methods(row: Object, places: Mapping[str, Column]) -> Object:
    """A row whose columns of methods are objects; one without any value is none."""
    methods: dict[str, Object] = {}
    for name, (method, own) in places.items():
        if row.get(name) is not None:
            methods.setdefault(method, {})[own] = row[name]
    rest = {name: value for name, value in row.items() if name not in places}
    return {**rest, **methods} if places else row


def _methods(rows: Sequence[Object]) -> list[str]:
    """The names of objects in rows that are attempts at the task of the row, if there are several.

    They have the same fields, a score and an output among them, and the row has neither.
    """
    columns: dict[str, set[str]] = {}
    for row in rows:
        for name, value in row.items():
            if isinstance(value, dict):
                columns.setdefault(name, set()).update(value)
    alike = [
        [name for name, others in columns.items() if others == own] for own in columns.values()
    ]
    names = max(alike, key=len, default=[])
    if len(rows) < LEAST_KEYED or len(names) < LEAST_KEYED:
        return []
    for name in names:
        attempts = [row[name] for row in rows if isinstance(row.get(name), dict)]
        of_attempts = recognise(attempts, {})
        is_graded = len(of_attempts.get("score", ())) == 1 and "output" in of_attempts
        if 2 * len(attempts) < len(rows) or not is_graded:
            return []
    rest = [{name: one for name, one in row.items() if name not in names} for row in rows]
    of_rest = recognise(rest, {})
    # What is called an answer beside attempts is the key.
    is_output = "output" in of_rest and plain(of_rest["output"][-1]) not in NAMES_OF["key"]
    is_task = bool(of_rest.keys() & {"task", "prompt", "messages"})
    return names if is_task and not is_output and "score" not in of_rest else []


def ending(path: Path) -> str:
    """The kind of a file by its name, without its packing."""
    name = path.name.lower()
    for packing in COMPRESSIONS:
        name = name.removesuffix(packing)
    return name.rpartition(".")[2]


def starts_list(path: Path) -> bool:
    begun = head(path)
    return is_list(begun) or listed_name(begun) is not None or bool(OF_COLUMNS.search(begun))


def is_list(begun: bytes) -> bool:
    return begun.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"["


def listed_name(begun: bytes) -> str | None:
    names = (name for name in LISTS if re.search(rb'"%s"\s*:\s*\[\s*\{' % name.encode(), begun))
    return next(names, None)


def _of_json(path: Path, score: Column) -> Iterator[Entry]:
    """The rows of a list, which is read one by one, or of another document."""
    begun = head(path)
    listed = listed_name(begun)
    elements: Iterator[Any]
    if score and not values_of(sample(path), score) and (below := rows_below(path, score)):
        elements = iter(below[0])
    elif OF_COLUMNS.search(begun):
        elements = _of_columns(path)
    elif is_list(begun):
        elements = packed.elements(path)
    elif listed and (first := next(_of_list(path, listed), None)) and not _attempts_below(first):
        elements = _of_list(path, listed)
    else:
        elements = iter(_rows_in(_document(path)))
    for element in elements:
        yield element if isinstance(element, dict) else Reject("not a JSON object")


def _of_list(path: Path, listed: str) -> Iterator[Any]:
    """The rows of a list in an object, with what is written before it of their model or agent."""
    common: Object = {}
    for name, value in packed.fields(path, listed):
        if name == listed:
            yield {**common, **value} if isinstance(value, dict) else value
        else:
            common |= _of_runs({name: value})


def _document(path: Path) -> Object:
    if path.stat().st_size > packed.MOST_BYTES:
        raise ValueError(f"one object of more than {packed.MOST_BYTES >> 20} MB")
    if is_list(head(path)):
        return {LISTS[0]: list(packed.elements(path))}
    return dict(packed.fields(path, ""))


def _of_runs(row: Mapping[str, Any]) -> Object:
    return {
        name: value
        for name, value in row.items()
        if plain(name) in OF_RUNS and text(value) is not None
    }


def _attempts_below(row: Any) -> bool:
    """Whether a row without a verdict of its own has a list of attempts, which it sums up."""
    if not isinstance(row, dict) or has_verdicts([row]):
        return False
    if {"score", "repeat"} <= roles_of([row], {}).keys():
        return False
    return any(_is_of_attempts(name) and has_verdicts(_objects(row[name])) for name in row)


def _is_of_attempts(name: str) -> bool:
    return OF_AN_ATTEMPT.isdisjoint(plain(name).split("_"))


def _objects(value: Any) -> list[Object]:
    return [row for row in items(value)[:SAMPLED_ROWS] if isinstance(row, dict)]


def has_verdicts(rows: Sequence[Object]) -> bool:
    """Whether rows have ids or answers, and scores from 0 to 1."""
    columns = recognise(rows, {})
    scores = scores_of_values(values_of(rows, columns["score"])) if "score" in columns else ()
    is_verdict = [score is not None and 0 <= score <= 1 for score in scores]
    is_named = bool(columns.keys() & {"task", "prompt", "output", "messages"})
    return bool(is_verdict) and all(is_verdict) and is_named


def _are_tasks(rows: Sequence[Object]) -> bool:
    """Whether rows pass and fail, and say what was asked or of which task they are.

    Steps of an attempt have names and verdicts as well, and mostly an `id`; requests are a success
    where they were answered, and most say so in an object. Where all rows fare alike, a key shows
    that they are graded.
    """
    columns = recognise(rows, {})
    if len(columns.get("score", ())) != 1:
        return False
    if {"task", "repeat"} <= columns.keys():
        return True
    scores = set(scores_of_values(values_of(rows, columns["score"])))
    is_graded = len(scores) > 1 or "key" in columns
    return is_graded and has_verdicts(rows) and _asks(columns)


def _asks(columns: Columns) -> bool:
    """Whether objects are tasks: they have ids of nothing else, or what is asked."""
    return "prompt" in columns or plain(columns.get("task", ("",))[-1]) in IDS_OF_TASKS


class Above(NamedTuple):
    """An object of a document; that it is a run or task makes rows below it attempts."""

    path: Column
    common: Object
    value: Object
    is_known: bool


def _rows_in(document: Object) -> list[Any]:
    """The rows of the one list of attempts, the outermost one; else the document is a row."""
    if has_verdicts([document]) and not _is_keyed(document):
        return [document]
    outer: list[list[Any]] = []
    has_score = "score" in recognise([document], {})
    for level in itertools.islice(_levels(document), MOST_LEVELS):
        # What is below attempts are parts of them, also where no column is sure to be their score.
        by_task = [rows for path, (rows, _) in level.items() if path[-1] == TASK]
        if len(by_task) == 1 and not has_score:
            return by_task[0]
        scored = {path for path, (rows, is_known) in level.items() if _are_attempts(rows, is_known)}
        named = {path for path in scored if path[-1] in LISTS}
        if chosen := named if len(named) == 1 else scored:
            rows, _ = level[next(iter(chosen))]
            # A second list with the same columns has rows as well: nothing says what distinguishes
            # it.
            columns = [set().union(*_objects(one)) for one, _ in level.values()]
            is_single = columns.count(set().union(*_objects(rows))) == 1
            return rows if len(chosen) == 1 and is_single else [document]
        outer += [rows for path, (rows, _) in level.items() if path[-1] in OUTER]
    return next(iter(outer), [document])


def _are_attempts(rows: list[Object], is_known: bool) -> bool:
    """Whether rows have scores, and do not sum up others below them."""
    first = _objects(rows)
    if not is_known:
        return _are_tasks(first)
    has_runs = any(
        isinstance(value, dict) and plain(name).removesuffix("s") in OF_RUNS
        for row in first
        for name, value in row.items()
    )
    is_scored = "score" in recognise(first, {})
    return is_scored and not has_runs and not any(map(_attempts_below, first))


def _levels(
    document: Object, *, is_deep: bool = False
) -> Iterator[dict[Column, tuple[list[Object], bool]]]:
    """The rows of lists, or of objects by ids, the outermost first, with what is above them.

    Each with whether they are known to be attempts. Objects that are neither are opened only if it
    is to be deep.
    """
    level = [Above((), {}, {"": document}, is_known=False)]
    are_tasks: dict[Column, bool] = {}
    while level:
        tables: dict[Column, tuple[list[Object], bool]] = {}
        below: list[Above] = []
        for path, common, outer, is_known in level:
            for name in filter(_is_of_attempts, outer):
                value = outer[name]
                are_lists = bool(path) and _are_lists_by_task(value)
                here = (*path, name, *[TASK] * are_lists)
                if isinstance(value, dict) and not (are_lists or _is_keyed(value)):
                    if is_deep or not path:
                        below.append(Above(here, common | _of_runs(value), value, is_known))
                    continue
                # Lists with one name are alike, and there may be one for each row.
                if here not in are_tasks and (objects := _objects(value)):
                    are_tasks[here] = _asks(recognise(objects, {}))
                members, are_known = _members(name, value, is_task=are_tasks.get(here, False))
                rows, _ = tables.setdefault(here, ([], is_known or name in OUTER))
                rows += [{**common, **own, **one} for own, _, one in members]
                below += [
                    Above(here, common | shared, one, are_known) for _, shared, one in members
                ]
        yield {path: (_with_ids(rows), known) for path, (rows, known) in tables.items() if rows}
        level = below


def _is_keyed(value: Mapping[str, Any]) -> bool:
    """Whether an object has several like ones by their ids; a name that begins with `_` is none."""
    return _are_alike([one for name, one in value.items() if not name.startswith("_")])


def _are_alike(rows: Sequence[Any]) -> bool:
    if len(rows) < LEAST_KEYED or not all(isinstance(row, dict) for row in rows):
        return False
    common = set.intersection(*map(set, rows))
    return 2 * len(common) * len(rows) >= max(1, sum(map(len, rows)))


def _are_lists_by_task(value: Any) -> bool:
    """Whether an object has lists of attempts by the ids of their tasks, which they do not say.

    What all attempts of a list are asked is the same, and nothing else is asked so.
    """
    lists = list(value.values()) if isinstance(value, dict) else []
    if len(lists) < LEAST_KEYED or not all(isinstance(one, list) for one in lists):
        return False
    if any(map(messages_of, lists)):
        return False
    rows = list(itertools.chain.from_iterable(lists))
    if not _are_alike(rows):
        return False
    columns = roles_of(rows[:SAMPLED_ROWS], {})
    questions = [columns[role] for role in ("prompt", "messages") if role in columns][:1]
    of_lists = [
        {as_json(get(row, *path)) for row in one} for one in lists for path in questions if one
    ]
    is_of_tasks = len(set().union(*of_lists)) == sum(map(len, of_lists)) == len(of_lists)
    return "task" not in columns and is_of_tasks


def _members(
    name: str, value: Any, *, is_task: bool
) -> tuple[list[tuple[Object, Object, Object]], bool]:
    """The objects of a list or by ids, each with its own id, and what it says of rows below it.

    A task says all its texts and its id, a run its short texts and a name.
    """
    role = plain(name).removesuffix("s")
    if isinstance(value, dict) and not _is_keyed(value):
        is_run = role in OF_RUNS and role != "run"
        return [
            ({role: key} if is_run else {TASK: key, REPEAT: place}, _of_runs(one), one)
            for key, listed in value.items()
            for place, one in enumerate(listed)
        ], True
    if isinstance(value, dict):
        own, above = (role, role) if role in OF_RUNS else ("id", KEY)
        if named := _repeating_key(value):
            own = above = named
        return [
            ({own: key}, {above: key, **_of_runs(one)}, one)
            for key, one in value.items()
            if not key.startswith("_")
        ], True
    objects = [one for one in items(value) if isinstance(one, dict)]
    texts = [{key: one for key, one in row.items() if _is_text(key, one)} for row in objects]
    is_known = is_task
    if objects and not is_task:
        texts = [
            {key: one for key, one in row.items() if len(str(one)) <= LONGEST_ID} for row in texts
        ]
        labels = [_of_runs(row) for row in texts]
        is_labelled = all(labels) and len(set(map(as_json, labels))) == len(labels)
        is_known = is_labelled or role in OF_RUNS
        if not is_labelled:
            columns = ([row.get(key) for row in texts] for key in texts[0])
            places = list(map(str, range(len(texts))))
            names = next((one for one in columns if len(set(one)) == len(one) > 1), places)
            texts = [{KEY: label, **row} for label, row in zip(names, texts, strict=True)]
    return [({}, *each) for each in zip(texts, objects, strict=True)], is_known


def _repeating_key(value: Mapping[str, Any]) -> str | None:
    """The name of the field, as one of tasks is called, in which every object has its key again."""
    objects = {key: one for key, one in value.items() if not key.startswith("_")}
    first = fields(next(iter(objects.values()), None))
    return next(
        (
            name
            for name in first
            if is_task_name((name,)) and all(text(one, name) == key for key, one in objects.items())
        ),
        None,
    )


def _is_text(name: str, value: Any) -> bool:
    is_id = isinstance(value, str) or is_task_name((name,))
    return is_id and text(value) is not None


def _with_ids(rows: list[Object]) -> list[Object]:
    """The rows with the name of what is above them: a task if they have none, a run if tasks recur.

    Else it is a group of tasks.
    """
    if not any(KEY in row for row in rows):
        return rows
    plain_rows = [{name: one for name, one in row.items() if name != KEY} for row in rows]
    columns = recognise(plain_rows[:SAMPLED_ROWS], {})
    names_of: dict[str, set[Any]] = {}
    role = next((one for one in ("task", "prompt", "messages") if one in columns), "")
    for row in rows if role else ():
        names_of.setdefault(as_json(get(row, *columns[role])), set()).add(row.get(KEY))
    n_recurring = sum(len(names) > 1 for names in names_of.values())
    name = "id" if not role else "run" if 2 * n_recurring > len(names_of) else "group"
    return [
        {name: row[KEY], **one} if KEY in row else one
        for row, one in zip(rows, plain_rows, strict=True)
    ]


def rows_below(path: Path, score: Column = ()) -> list[list[Object]]:
    """The rows of a document at each of its levels, or at the first that has a score alone."""
    with suppress(OSError, ValueError, EOFError):
        levels = (
            [
                row
                for rows, _ in level.values()
                if not score or values_of(rows, score)
                for row in rows
            ]
            for level in itertools.islice(_levels(_document(path), is_deep=True), MOST_LEVELS)
        )
        return list(itertools.islice(filter(None, levels), 1 if score else None))
    return []


def lists_of_rows(document: Mapping[str, Any]) -> list[list[Any]]:
    return [items(one) for one in document.values() if has_verdicts(_objects(one))]


def _of_columns(path: Path) -> Iterator[Any]:
    """Rows by the names of their columns; one of another length stays a list."""
    names: list[Any] = []
    for name, value in packed.fields(path, "data"):
        if name == "columns":
            names = [str(one) for one in items(value)]
        elif name == "data":
            is_row = isinstance(value, list) and len(value) == len(names)
            yield dict(zip(names, value, strict=True)) if is_row else value


def _of_csv(path: Path) -> Iterator[Entry]:
    """Rows by the names of the first line. A row over several lines has the number of its first."""
    csv.field_size_limit(LARGEST_CELL)
    packing = COMPRESSIONS.get(path.suffix.lower())
    with pa.OSFile(os.fsencode(path)) as raw:
        stream = pa.CompressedInputStream(raw, packing) if packing else raw
        lines = io.TextIOWrapper(stream, "utf-8-sig", "surrogateescape", newline="")
        first = lines.readline()
        separator = max(",;\t|", key=first.count) if ending(path) == "csv" else "\t"
        names = next(csv.reader([first], delimiter=separator), [])
        yield Line()
        rows = csv.reader(lines, delimiter=separator)
        n_before = 0
        try:
            for cells in rows:
                yield _csv_row(names, cells)
                yield from itertools.repeat(Line(), rows.line_num - n_before - 1)
                n_before = rows.line_num
        except csv.Error as error:
            raise ValueError(f"not CSV: {error}") from error


def _csv_row(names: Sequence[str], cells: Sequence[str]) -> Entry:
    if not cells:
        return Line()
    written = ",".join(cells)
    if len(cells) != len(names):
        return Reject(f"has {len(cells)} cells, the first line {len(names)}", written[:200])
    if any("\udc80" <= sign <= "\udcff" for sign in written):
        return Reject("not UTF-8", written[:200].encode("utf-8", "replace").decode())
    return {name: _typed(cell) for name, cell in zip(names, cells, strict=True)}


def _typed(cell: str) -> Any:
    """A number, a boolean or nothing; text that only looks like a number, as 007, stays text."""
    if PLAIN_NUMBER.fullmatch(cell):
        return float(cell) if "." in cell else int(cell)
    return BOOLEANS.get(cell.lower(), cell or None)


def parquet_rows(path: Path) -> Iterator[Entry]:
    import pyarrow.parquet as pq  # takes as long to import as small results to read

    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(PARQUET_ROWS):
                # Times, bytes and decimals become text.
                yield from parsed(json.dumps(batch.to_pylist(), default=str))
    except pa.ArrowNotImplementedError as error:
        raise ValueError(str(error)) from error
