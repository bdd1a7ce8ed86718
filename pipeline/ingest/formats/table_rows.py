"""The rows of a table: JSONL, CSV, Parquet, or a JSON document in one of the shapes people write.

A document has its rows in a list, by id, by model, by both, below the sums of their benchmarks,
below a list of runs or tasks, below the names of its columns, or in a list for each column.
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
from typing import Any

import pyarrow as pa

from ...artifact import COMPRESSIONS
from . import Line, Reject, as_json, head, items, objects, packed, parsed, text
from .table_columns import (
    IDS_OF_TASKS,
    LONGEST_ID,
    ROLES,
    Columns,
    ends_like_score,
    is_count_of_passes,
    is_score_name,
    plain,
    recognise,
    roles_of,
    scores_of_values,
    values_of,
)

SAMPLED_ROWS = 200
LARGEST_KEPT = 8 << 20
LARGEST_CELL = 16 << 20
PARQUET_ROWS = 256
# The list of rows in a document: {"model": ..., "results": [...]}.
LISTS = "results data rows samples examples records predictions outputs items".split()
# Words in the names of lists that have what was done in one attempt.
OF_AN_ATTEMPT = frozenset(
    "step steps turn turns call calls tool tools log logs event events message messages trace "
    "trajectory history action actions check checks criteria".split()
)
LEAST_KEYED = 3
MOST_LEVELS = 4
# What a document may say of all its rows.
OF_RUNS = frozenset(
    name for role in ROLES if role.name in ("model", "agent", "benchmark") for name in role.names
)
# Or of lists, below the names of their columns: what MLflow and Weights & Biases write of a table.
OF_COLUMNS = re.compile(rb'"columns"\s*:\s*\[\s*"[^\]]*\].*"data"\s*:\s*\[\s*\[', re.DOTALL)
PLAIN_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,15})(\.[0-9]+)?")
BOOLEANS = {"true": True, "false": False}
Entry = dict[str, Any] | Reject | Line


def sample(path: Path, n_rows: int = SAMPLED_ROWS, *, score: str = "") -> list[dict[str, Any]]:
    """The first rows of a table; none if it is not one."""
    with suppress(OSError):
        known = path.stat()
        if ending(path) == "json" and known.st_size <= LARGEST_KEPT and n_rows <= SAMPLED_ROWS:
            return _sampled(path, score, known.st_size, known.st_mtime_ns)[:n_rows]
    return _first_entries(path, n_rows, score)


@lru_cache(maxsize=128)
def _sampled(path: Path, score: str, _size: int, _time: int) -> list[dict[str, Any]]:
    """The sample of a document, which is read whole to find its rows."""
    return _first_entries(path, SAMPLED_ROWS, score)


def _first_entries(path: Path, n_rows: int, score: str) -> list[dict[str, Any]]:
    table: list[dict[str, Any]] = []
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
    match ending(path):
        case "csv" | "tsv":
            yield from _of_csv(path)
        case "parquet":
            yield from parquet_rows(path)
        case "json":
            yield from _of_json(path, tuple(score.split(".")) if score else ())
        case _:
            yield from objects(path)


def ending(path: Path) -> str:
    """The kind of a file by its name, without its packing."""
    name = path.name.lower()
    for packing in COMPRESSIONS:
        name = name.removesuffix(packing)
    return name.rpartition(".")[2]


def starts_list(path: Path) -> bool:
    """Whether a JSON document has its rows in a list."""
    begun = head(path)
    is_list = begun.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"["
    return is_list or _listed_name(begun) is not None or bool(OF_COLUMNS.search(begun))


def _listed_name(begun: bytes) -> str | None:
    """The name of the list of rows in an object."""
    names = (name for name in LISTS if re.search(rb'"%s"\s*:\s*\[\s*\{' % name.encode(), begun))
    return next(names, None)


def _of_json(path: Path, score: tuple[str, ...] = ()) -> Iterator[Entry]:
    """A list of rows, a list of rows inside an object, a row per id, or one row."""
    begun = head(path)
    elements: Iterator[Any]
    if score and not values_of(sample(path), score) and (below := rows_below(path, score)):
        elements = iter(below[0])
    elif OF_COLUMNS.search(begun):
        elements = _of_columns(path)
    elif listed := _listed_name(begun):
        elements = _of_list(path, listed)
    elif starts_list(path):
        elements = packed.elements(path)
    else:
        elements = _of_document(path)
    for element in elements:
        yield element if isinstance(element, dict) else Reject("not a JSON object")


def _of_list(path: Path, listed: str) -> Iterator[Any]:
    """The rows of a list in an object, with what is written before it of their model or agent."""
    n_rows, below, shared = 0, None, _of_runs
    common: dict[str, Any] = {}
    for name, value in packed.fields(path, listed):
        if name != listed:
            common |= _of_runs({name: value})
            continue
        row = {**common, **value} if isinstance(value, dict) else value
        n_rows += 1
        if n_rows == 1:
            below = _attempts_below(row)
            shared = _of_task if below and _is_task_above(row[below]) else _of_runs
        if below and isinstance(row, dict):
            yield from (
                {**shared(row), **one} if isinstance(one, dict) else one
                for one in items(row.get(below))
            )
        else:
            yield row
    if not n_rows:  # the list is not the object's own
        yield from _of_document(path)


def _of_runs(row: Mapping[str, Any]) -> dict[str, Any]:
    """What an object says of all its rows: model, agent or benchmark."""
    return {
        name: value
        for name, value in row.items()
        if plain(name) in OF_RUNS and text(value) is not None
    }


def _is_task_above(attempts: Any) -> bool:
    """Whether attempts do not say themselves of which task they are."""
    return not recognise(_first_rows(items(attempts)), {}).keys() & {"task", "prompt", "messages"}


def _of_task(row: Mapping[str, Any]) -> dict[str, Any]:
    """What an object says of all its attempts; scores and counts sum them up."""
    return {
        name: value
        for name, value in row.items()
        if text(value) is not None and not is_score_name((name,))
        if not ends_like_score(name) and not is_count_of_passes(name)
    }


def _attempts_below(row: Any) -> str | None:
    """The list of attempts in a row that sums them up.

    A row with a verdict, or with a score and the number of a repeat, is an attempt itself.
    """
    if not isinstance(row, dict) or has_verdicts([row]):
        return None
    if {"score", "repeat"} <= roles_of([row], {}).keys():
        return None
    lists = (
        name
        for name in row
        if _is_of_attempts(name) and has_verdicts(_first_rows(items(row[name])))
    )
    return next(lists, None)


def _is_of_attempts(name: str) -> bool:
    return OF_AN_ATTEMPT.isdisjoint(plain(name).split("_"))


def has_verdicts(rows: Sequence[dict[str, Any]]) -> bool:
    """Whether rows have ids or answers, and scores from 0 to 1."""
    return _is_verdict(rows, recognise(rows, {}))


def _is_verdict(rows: Sequence[dict[str, Any]], columns: Columns) -> bool:
    scores = scores_of_values(values_of(rows, columns["score"])) if "score" in columns else ()
    is_verdict = [score is not None and 0 <= score <= 1 for score in scores]
    is_named = bool(columns.keys() & {"task", "prompt", "output", "messages"})
    return bool(is_verdict) and all(is_verdict) and is_named


def _of_document(path: Path) -> Iterator[Any]:
    if path.stat().st_size > packed.MOST_BYTES:
        raise ValueError(f"one object of more than {packed.MOST_BYTES >> 20} MB")
    document = dict(packed.fields(path, ""))
    yield from (
        _rows_by_id(document)
        or _rows_of_lists(document)
        or _rows_listed(document)
        or _rows_of_runs(document)
        or [document]
    )


def _rows_of_lists(document: dict[str, Any]) -> list[Any]:
    """The rows of an object that has a list for each column, all of one length.

    A list of objects is one of rows.
    """
    lists = {name: value for name, value in document.items() if isinstance(value, list)}
    lengths = set(map(len, lists.values()))
    if len(lists) < 2 or len(lengths) > 1 or max(lengths) < 2:
        return []
    if any(isinstance(cell, dict) for cells in lists.values() for cell in cells):
        return []
    common = _of_runs(document)
    rows = [
        {**common, "index": place, **dict(zip(lists, cells, strict=True))}
        for place, cells in enumerate(zip(*lists.values(), strict=True))
    ]
    return rows if has_verdicts(_first_rows(rows)) else []


def _rows_listed(document: dict[str, Any]) -> list[Any]:
    """The rows of the one list, under any name, whose objects have a task and a verdict."""
    if has_verdicts([document]):
        return []
    below = {name: _listed(value) for name, value in document.items() if _is_of_attempts(name)}
    lists = [listed for listed in below.values() if _are_tasks(_first_rows(listed))]
    # A second list with the same columns has rows as well: nothing says what distinguishes them.
    columns = [set().union(*_first_rows(listed)) for listed in below.values()]
    if len(lists) != 1 or columns.count(set().union(*_first_rows(lists[0]))) > 1:
        return []
    return _with_runs(document, lists[0])


def _listed(value: Any) -> list[Any]:
    """The members of a list, or of an object that has several like ones by their ids."""
    if not isinstance(value, dict):
        return items(value)
    is_keyed = len(value) >= LEAST_KEYED and _are_alike(list(value.values()))
    return [{"id": name, **row} for name, row in value.items()] if is_keyed else []


def _with_runs(document: Mapping[str, Any], rows: Sequence[Any]) -> list[Any]:
    common = _of_runs(document)
    return [{**common, **row} if isinstance(row, dict) else row for row in rows]


def _levels(document: dict[str, Any]) -> Iterator[list[list[dict[str, Any]]]]:
    """The rows of lists, or of objects by ids, the outermost first, with what they are below."""
    outer: list[tuple[dict[str, Any], dict[str, Any]]] = [({}, document)]
    while outer:
        yield [
            [{**common, **row} for row in _first_rows(_listed(value), None)]
            for common, one in outer
            for value in one.values()
        ]
        outer = [
            (
                {**common, **({"run": name} if _are_alike(list(one.values())) else {}), **stated},
                below,
            )
            for common, one in outer
            for name, value in one.items()
            for below in ([value] if isinstance(value, dict) else _first_rows(items(value), None))
            for stated in [_of_runs(below) if below is value else _of_task(below)]
        ]


def rows_below(path: Path, score: tuple[str, ...] = ()) -> list[list[dict[str, Any]]]:
    """The rows of a document at each of its levels, or at the first that has a score alone."""
    try:
        is_list = head(path).lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"["
        if path.stat().st_size > packed.MOST_BYTES:
            return []
        document = {"": list(packed.elements(path))} if is_list else dict(packed.fields(path, ""))
    except (OSError, ValueError, EOFError):
        return []
    levels = (
        [row for listed in lists if not score or values_of(listed, score) for row in listed]
        for lists in itertools.islice(_levels(document), MOST_LEVELS)
    )
    return list(itertools.islice(filter(None, levels), 1 if score else None))


def lists_of_rows(document: Mapping[str, Any]) -> list[list[Any]]:
    """The lists whose objects have verdicts."""
    return [items(one) for one in document.values() if has_verdicts(_first_rows(items(one)))]


def _rows_of_runs(document: dict[str, Any]) -> list[Any]:
    """The rows below the one list of runs, or of tasks: each has what its own object says.

    Of a run that is its short texts, of a task all texts; numbers are sums of the rows.
    """
    lists = [
        (name, listed, below)
        for name, value in document.items()
        if _is_of_attempts(name) and (listed := _first_rows(items(value)))
        if (below := next(filter(None, map(_attempts_below, listed)), None))
    ]
    if len(lists) != 1:
        return []
    (name, listed, below) = lists[0]
    listed = document[name]
    if not all(isinstance(one, dict) and isinstance(one.get(below), list) for one in listed):
        return []
    rows = [row for one in listed for row in one[below]]
    texts = [_texts(one) for one in listed]
    is_of_tasks = _asks(texts)
    labels = [_of_runs(one) for one in texts]
    is_labelled = all(labels) and len(set(map(as_json, labels))) == len(labels)
    is_named = plain(name).removesuffix("s") in OF_RUNS
    if not (is_of_tasks or is_named or is_labelled or _are_tasks(_first_rows(rows))):
        return []
    if not is_of_tasks:
        texts = [
            {key: value for key, value in one.items() if len(value) <= LONGEST_ID} for one in texts
        ]
        if not is_labelled:
            names = _distinct(texts) or [str(place) for place in range(len(texts))]
            texts = [{"run": run, **one} for run, one in zip(names, texts, strict=True)]
    common = _of_runs(document)
    return _with_tasks(
        [
            {**common, **one_texts, **row} if isinstance(row, dict) else row
            for one, one_texts in zip(listed, texts, strict=True)
            for row in one[below]
        ],
        [items(value) for other, value in document.items() if other != name],
    )


def _texts(row: Mapping[str, Any]) -> dict[str, str]:
    return {name: value for name, value in row.items() if isinstance(value, str) and value}


def _asks(rows: Sequence[dict[str, Any]]) -> bool:
    """Whether objects are tasks: they have ids of nothing else, or what is asked."""
    columns = recognise(rows, {})
    return "prompt" in columns or plain(columns.get("task", ("",))[-1]) in IDS_OF_TASKS


def _distinct(rows: Sequence[Mapping[str, str]]) -> list[str]:
    """The values of the first field that distinguishes all objects."""
    values = ([row.get(name, "") for row in rows] for name in rows[0])
    return next((listed for listed in values if len(set(listed)) == len(rows)), [])


def _with_tasks(rows: list[Any], lists: Sequence[list[Any]]) -> list[Any]:
    """The rows, with what a list beside them has under the id of each, if it has all of them."""
    (name, *below) = recognise(_first_rows(rows), {}).get("task", ("", ""))
    for listed in lists if not below else ():
        by_id = {as_json(one[name]): one for one in _first_rows(listed, None) if name in one}
        is_of_rows = all(isinstance(row, dict) and as_json(row.get(name)) in by_id for row in rows)
        if len(by_id) == len(listed) and is_of_rows:
            return [{**by_id[as_json(row[name])], **row} for row in rows]
    return rows


def row_hashes(path: Path) -> set[int]:
    """The hashes of the objects in the lists of a JSON document; empty if it cannot be read."""
    try:
        if head(path).lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"[":
            return set(map(_hash, packed.elements(path)))
        return set(_hashes_in_lists(dict(packed.fields(path, ""))))
    except (OSError, ValueError, EOFError):
        return set()


def _hashes_in_lists(value: Any) -> Iterator[int]:
    for one in value.values() if isinstance(value, dict) else ():
        for member in items(one):
            if isinstance(member, dict):
                yield _hash(member)
        yield from _hashes_in_lists(one)


def _hash(value: Any) -> int:
    return hash(json.dumps(value, sort_keys=True))


def _are_tasks(rows: Sequence[dict[str, Any]]) -> bool:
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
    if not _is_verdict(rows, columns):
        return False
    is_of_task = "task" in columns and plain(columns["task"][-1]) in IDS_OF_TASKS
    scores = set(scores_of_values(values_of(rows, columns["score"])))
    is_graded = len(scores) > 1 or "key" in columns
    return is_graded and (is_of_task or "prompt" in columns)


def _of_columns(path: Path) -> Iterator[Any]:
    """Rows by the names of their columns; one of another length stays a list."""
    names: list[Any] = []
    for name, value in packed.fields(path, "data"):
        if name == "columns":
            names = [str(one) for one in items(value)]
        elif name == "data":
            is_row = isinstance(value, list) and len(value) == len(names)
            yield dict(zip(names, value, strict=True)) if is_row else value


def _rows_by_id(document: dict[str, Any]) -> list[Any]:
    """The rows of an object that has one per id, or has objects with the rows.

    A name that begins with `_` is not an id.
    """
    by_id = {name: value for name, value in document.items() if not name.startswith("_")}
    if not _are_alike(list(by_id.values())):
        return []
    rows = [{"id": name, **row} for name, row in by_id.items()]
    fields_below = dict.fromkeys(name for row in rows for name in row)
    models = [name for name in fields_below if plain(name).removesuffix("s") in OF_RUNS]
    candidates = (
        *(_rows_below(by_id, field) for field in models),
        _rows_of_names(by_id),
        rows,
        *(_rows_below(by_id, field) for field in LISTS),
    )
    scored = (listed for listed in candidates if "score" in recognise(_first_rows(listed), {}))
    return next(scored, rows)


def _first_rows(listed: Sequence[Any], n_rows: int | None = SAMPLED_ROWS) -> list[dict[str, Any]]:
    return [row for row in listed[:n_rows] if isinstance(row, dict)]


def _are_alike(rows: Sequence[Any]) -> bool:
    """Whether all are objects with about the same keys."""
    if len(rows) < 2 or not all(isinstance(row, dict) for row in rows):
        return False
    common = set.intersection(*map(set, rows))
    return 2 * len(common) * len(rows) >= max(1, sum(map(len, rows)))


def _rows_of_names(by_id: Mapping[str, dict[str, Any]]) -> list[Any]:
    """The rows of each id that has nothing but lists of them, by model."""
    lists = [
        (name, model, items(below))
        for name, value in by_id.items()
        for model, below in value.items()
    ]
    is_of_rows = all(
        below and all(isinstance(row, dict) for row in below) and model not in LISTS
        for _, model, below in lists
    )
    rows = ((name, model, row) for name, model, below in lists for row in below)
    return [{"id": name, "model": model, **row} for name, model, row in rows] if is_of_rows else []


def _rows_below(by_id: Mapping[str, dict[str, Any]], field: str) -> list[Any]:
    """The rows of a list in each object, which is a run; or one per model or agent of each id."""
    rows: list[Any] = []
    for name, value in by_id.items():
        below = value.get(field)
        if isinstance(below, list):
            rows += ({"run": name, **row} if isinstance(row, dict) else row for row in below)
        elif plain(field).removesuffix("s") in OF_RUNS and isinstance(below, dict):
            role = field.removesuffix("s")
            rows += (
                {"id": name, role: inner, **row} if isinstance(row, dict) else row
                for inner, row in below.items()
            )
    return rows


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
    """The rows of a Parquet file."""
    import pyarrow.parquet as pq  # takes as long to import as small results to read

    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(PARQUET_ROWS):
                # Times, bytes and decimals become text.
                yield from parsed(json.dumps(batch.to_pylist(), default=str))
    except pa.ArrowNotImplementedError as error:
        raise ValueError(str(error)) from error
