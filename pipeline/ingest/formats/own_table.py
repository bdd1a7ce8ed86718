"""A table of one's own: JSONL, JSON, CSV or Parquet, with columns recognised by name and content.

No harness wrote it, so each column is a guess that is shown (`readings`); `--field ROLE=COLUMN` or
`[fields]` of blade.toml replaces a guess. A table in a folder is read only if the folder has no
results of a harness: it is then more likely a summary of them.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

from ...artifact import Artifact, Kind, ListedFile
from ...errors import InputError
from . import (
    Claim,
    Line,
    Reading,
    Reject,
    Row,
    Setting,
    as_json,
    fields,
    get,
    head,
    items,
    number,
    packed,
    recorded,
    scores_of,
    text,
    without_empty,
)
from .chat import chat, listed_messages
from .gym import FORMAT_FIELDS
from .table_columns import (
    COMPUTED,
    EQUALS_KEY,
    IDS_OF_TASKS,
    MOSTLY,
    NOT_MODELS,
    PASSES,
    SEPARATOR,
    Columns,
    Dispute,
    are_words,
    as_class,
    columns_of_runs,
    composed_task,
    counts_from_start,
    described,
    dispute,
    ends_like_score,
    is_constant,
    is_count_of_passes,
    is_duration,
    is_key_name,
    is_no_score,
    is_numbering,
    is_of_steps,
    is_score_name,
    is_task_name,
    is_time,
    is_whole,
    messages_of,
    n_distinct,
    paths,
    plain,
    possible_scores,
    question,
    recognise,
    repeat_of,
    roles_of,
    score_of,
    scores_of_values,
    values_of,
    with_computed,
)
from .table_rows import (
    SAMPLED_ROWS,
    Entry,
    ending,
    entries,
    has_verdicts,
    lists_of_rows,
    row_hashes,
    rows_below,
    sample,
    starts_list,
)

TITLE = "A table of your own"
FILES = "`*.jsonl`, `*.ndjson`, `*.json`, `*.csv`, `*.tsv`, `*.parquet` with a column of scores"
GIVES = "checks transcript tokens durations"
SCORE = "a column such as `correct`, `passed` or `score`: numbers, true and false, pass and fail"
NOTES = (
    "One run per file, or per model in it. `blade analyze` shows how it read the columns; "
    "`--field score=COLUMN` chooses another. In a folder, only if it has no results of a harness."
)
NAMES = re.compile(r"\.(json|parquet|(jsonl|ndjson|csv|tsv)(\.gz|\.zst)?)$", re.IGNORECASE)
# All rows of NeMo Gym have one of these.
OF_GYM = re.compile(rb'"(responses_create_params|agent_ref|ng_trajectory|_ng_\w+)"\s*:')
RESPONSE_OF_GYM = frozenset({"output", "object"})
# Objects of a document that say how its rows were made.
SETTINGS = re.compile(rb'"(config|settings|parameters|params|args|options)"\s*:\s*\{')
OWN_SETTINGS = frozenset({"pass_threshold", "write_tools", "read_as", "notes"})
STEPS = "has rows that are steps of one attempt"
OF_STEPS = re.compile(rb'"(step|turn)[ _-]?(num|number|no|idx|index|id)?"\s*:', re.IGNORECASE)
SNIFFED_ROWS = 50
LEAST_REPEATED = 3
LEAST_BESIDE = 10
REPEATS = "repeats rows of a table beside it"
DOCUMENTS = "has tasks and verdicts of documents beside it, which are read"
UNDECIDED = "may be of an attempt that is a row of a table; analyze its folder alone to read it"
LARGEST_COMPARED = 256 << 20
LINES = {".jsonl", ".ndjson", ".csv", ".tsv"}
FEWEST_DOCUMENTS = 2
# A shorter text may be that of another attempt.
LEAST_TEXT = 20
# Names of columns that say of anything which one it is.
NAMES_OF_ANYTHING = frozenset("id uid uuid idx index name title".split())
MOST_LISTED = 20
MOST_KINDS = 4
# Columns beside the output that hold its answer alone.
ANSWERS = "extracted_answer predicted_answer parsed_answer final_answer prediction pred".split()
# Those that are read as an answer under their own name.
KNOWN_ANSWERS = frozenset({"predicted_answer", "parsed_answer"})
LONGEST_ANSWER = 200
MILLISECONDS = "latency_ms duration_ms elapsed_ms time_ms wall_ms wall_time_ms".split()
SECONDS = (
    "latency_s duration_s elapsed_s time_s duration_sec elapsed_sec latency_sec duration_seconds "
    "elapsed_seconds wall_s wall_time_s latency duration elapsed seconds"
).split()
STOP_REASONS = ("finish_reason", "stop_reason")
INPUT_TOKENS = "input_tokens prompt_tokens tokens_in".split()
OUTPUT_TOKENS = "output_tokens completion_tokens tokens_out".split()
# Limits and averages are no counts, and these tokens are in others already.
PARTS_OF_TOKENS = frozenset(
    "max min limit budget avg mean per cost price cache cached reasoning".split()
)
# Beside tokens a plain `cost` is money; that of a row may be what its task minimizes.
COSTS = "cost_usd total_cost_usd cost total_cost".split()
UNITS_OF_MILLISECONDS = frozenset("ms msec millis milliseconds".split())
# What says why a grade was given, and words before it where it is not beside the grade.
REASONS = frozenset("reason reasons reasoning explanation rationale justification feedback".split())
OF_GRADING = frozenset(
    "score scoring grade grader grading judge judgment judgement verdict eval evaluation "
    "evaluator".split()
)
UNITS = UNITS_OF_MILLISECONDS | frozenset("s sec secs seconds".split())
# A column, and the hash of what a row has there.
Value: TypeAlias = tuple[str, int]

# Folders that are called by the number of an attempt.
NAME_OF_REPEAT = re.compile(
    r"(?:(?:attempt|repeat|rep|rollout|run|sample|trial)[ _-]?)?(\d{1,9})", re.IGNORECASE
)
# What identifies an attempt.
ATTEMPT = ("model", "agent", "task", "repeat")
CELLS = frozenset({"csv", "tsv"})
# Beside the roles: the column whose rows are read.
ROWS = "rows"
# Roles whose columns are elsewhere in the row that is made; the others stay columns as well.
MOVED = ("task", "prompt", "messages", "output", "key", "score")


def claims(
    files: Sequence[ListedFile],
    chosen: Mapping[str, str],
    *,
    is_named: bool,
    compared: Comparison | None = None,
) -> Iterable[Claim]:
    """The tables with scores; a table that nobody named must also have something to score.

    Documents that are one attempt each are one table. A table too small to have a comparison of
    its own has that of the others.
    """
    _states.cache_clear()
    documents, samples = _documents_and_tables(files, chosen)
    tables, beside, copied, fields_of, columns_of = {}, {}, {}, {}, {}
    for group in _groups(samples):
        paths = tuple(file.path for file in group)
        rows_of_group = list(itertools.chain.from_iterable(samples[file] for file in group))
        fields = tuple(sorted(_known(chosen, rows_of_group).items()))
        together = _together(paths, fields)
        computed = {
            file: [with_computed(row, together.columns[file.path]) for row in samples[file]]
            for file in group
        }
        is_disputed = "score" not in chosen and _dispute_of_tables(computed, together) is not None
        scored = {
            _names(table)
            for file, table in computed.items()
            if not is_disputed
            if _is_scored(table, together.columns[file.path], is_named=is_named)
        }
        for file, table in computed.items():
            columns = together.columns[file.path]
            if "score" in columns and _names(table) in scored:
                tables[file] = _rows_of_values(table), values_of(table, columns["score"])
                columns_of[file] = columns
                beside[file] = paths if len(paths) > 1 else ()
                copied[file] = together.is_copied(file.path, dict(fields).get(ROWS, ""))
                fields_of[file] = fields
            elif compared and _is_compared(table, columns, compared):
                of_others = {**chosen, **compared.fields}
                columns = recognise(table, of_others)
                rows = [with_computed(row, columns) for row in table]
                if _is_scored(rows, columns, is_named=is_named):
                    tables[file] = _rows_of_values(rows), values_of(rows, columns["score"])
                    columns_of[file] = columns
                    beside[file], copied[file] = (), False
                    fields_of[file] = tuple(sorted(of_others.items()))
    parts = set() if is_named else _parts(tables)
    excerpts = set() if is_named else _excerpts(files, tables)
    for file in excerpts - tables.keys():
        yield Claim(file, Kind.ROLLOUTS, file.folder, file.base, skipped=REPEATS)
        documents.pop(file, None)
    attempts = list(_attempts_alone(documents, chosen, is_named=is_named))
    repeating = parts | excerpts | {file for file in tables if copied[file]}
    if not is_named:
        repeating |= {
            file for file in tables if _is_summary(file, tables) or _is_copy(file, tables)
        }
        repeating |= _repeated({file: columns_of[file] for file in tables.keys() - repeating})
    own = {file: columns_of[file] for file in tables.keys() - repeating}
    shown_by = [_shown(one, own) for one in attempts]
    skipped = dict.fromkeys(repeating, REPEATS)
    skipped |= dict.fromkeys(itertools.chain.from_iterable(filter(None, shown_by)), DOCUMENTS)
    models = _models_of_tasks({file: columns for file, columns in own.items() if file not in skipped})
    for file in tables:
        folder, stem = models.get(file, (file.folder, NAMES.sub("", file.base)))
        yield Claim(
            file,
            Kind.ROLLOUTS,
            folder,
            stem,
            beside=beside[file],
            fields=fields_of[file],
            skipped=skipped.get(file),
        )
    folders = {file.folder for file in tables.keys() - skipped.keys()}
    for one, shown in zip(attempts, shown_by, strict=True):
        for claim in one.claims(folders):
            yield claim if shown is not None else replace(claim, skipped=UNDECIDED)


def _documents_and_tables(
    files: Iterable[ListedFile], chosen: Mapping[str, str]
) -> tuple[dict[ListedFile, dict[str, Any]], dict[ListedFile, list[dict[str, Any]]]]:
    """The documents that are one attempt each, and the first rows of the others."""
    documents: dict[ListedFile, dict[str, Any]] = {}
    samples = {}
    for file in files:
        table = sample(file.path, score=chosen.get("score", ""))
        if _is_one_attempt(file.path, table):
            documents[file] = with_computed(table[0], recognise(table, chosen))
        else:
            samples[file] = table
    return documents, samples


def _dispute_of_tables(
    tables: Mapping[ListedFile, list[dict[str, Any]]], together: Together
) -> Dispute | None:
    """Two columns of these tables that judge the same attempts differently."""
    rows_of: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    for file, table in tables.items():
        columns = together.columns[file.path]
        if "score" in columns:
            rows_of[columns["score"]] += (with_computed(row, columns) for row in table)
    disputes = (dispute(rows, score) for score, rows in rows_of.items())
    return next(filter(None, disputes), None)


def _disputes(files: Sequence[ListedFile], chosen: Mapping[str, str]) -> Iterator[Dispute]:
    """Why tables are not read that would be without a second column of verdicts."""
    if "score" in chosen:
        return
    documents, samples = _documents_and_tables(files, chosen)
    for group in _groups(samples):
        rows = [row for file in group for row in samples[file]]
        together = _together(
            tuple(file.path for file in group), tuple(sorted(_known(chosen, rows).items()))
        )
        tables = {file: samples[file] for file in group}
        if disputed := _dispute_of_tables(tables, together):
            yield disputed
    for alike in _alike(documents):
        table = [documents[file] for file in alike]
        columns = recognise(table[:SAMPLED_ROWS], _known(chosen, table))
        if "score" in columns and (disputed := dispute(table, columns["score"])):
            yield disputed


def _known(chosen: Mapping[str, str], table: Sequence[dict[str, Any]]) -> dict[str, str]:
    """The chosen columns that a table has; without the chosen score none is guessed.

    Rows may be further down in a document: they are those that have the chosen score.
    """
    known = {
        role: name for role, name in chosen.items() if role == "score" or _has_column(table, name)
    }
    return {**known, ROWS: chosen["score"]} if "score" in chosen else known


def _has_column(table: Sequence[dict[str, Any]], name: str) -> bool:
    """Whether a table has a column, or all those that are one together."""
    columns = [tuple(part.split(".")) for part in name.split(SEPARATOR)]
    known = set(paths(table))
    return name == EQUALS_KEY or all(path in known or values_of(table, path) for path in columns)


@dataclass(frozen=True)
class Attempts:
    """Documents that are one attempt each, with about the same columns."""

    rows: dict[ListedFile, dict[str, Any]]
    columns: Columns

    def claims(self, tables: Collection[str]) -> Iterable[Claim]:
        """The documents by the folders of their runs; tables in these folders have the attempts.

        A document that is alone in its folder may as well be a part of an attempt.
        """
        fields = tuple(sorted((role, ".".join(path)) for role, path in self.columns.items()))
        values = values_of(list(self.rows.values()), self.columns["score"])
        judged = (file.path for file, row in self.rows.items() if self._is_judged(row))
        beside = tuple(itertools.islice(judged, 2)) if are_words(values) else ()
        n_in_folder = Counter(file.folder for file in self.rows)
        folders = self._folders_of_runs()
        for file, row in self.rows.items():
            # An index or a summary beside them has neither.
            has_any = any(
                values_of([row], self.columns[role])
                for role in ("score", "task")
                if role in self.columns
            )
            is_part = n_in_folder[file.folder] < FEWEST_DOCUMENTS and any(
                _is_within(file.folder, folder) for folder in tables
            )
            if has_any and not is_part:
                above, _, stem = folders[file].rpartition("/")
                others = tuple(dict.fromkeys((file.path, *beside))) if beside else ()
                yield Claim(file, Kind.ROLLOUTS, above, stem, beside=others, fields=fields)

    def _is_judged(self, row: dict[str, Any]) -> bool:
        return score_of(get(row, *self.columns["score"])) is not None

    def _folders_of_runs(self) -> dict[ListedFile, str]:
        """The folder of each document, without the names in it that say of which task it is."""
        return {
            file: folder
            for depth in {file.folder.count("/") for file in self.rows}
            for file, folder in self._folders_at(
                {file: row for file, row in self.rows.items() if file.folder.count("/") == depth}
            ).items()
        }

    def _folders_at(self, rows: Mapping[ListedFile, dict[str, Any]]) -> dict[ListedFile, str]:
        """A name of folders says the task if every task of a model has one alone.

        Either tasks recur, in other runs or as repeats; or each name is of a single task. A name
        may also be the number of the repeat, or a time that goes with a name of the run.
        """
        role = next((one for one in ("task", "prompt") if one in self.columns), None)
        if role is None:
            return {file: file.folder for file in rows}
        of_models = [self.columns[one] for one in ("model", "agent") if one in self.columns]
        tasks = {file: as_json(get(row, *self.columns[role])) for file, row in rows.items()}
        models = {
            file: as_json([get(row, *path) for path in of_models]) for file, row in rows.items()
        }
        n_of_task = Counter(tasks.values())
        is_recurring = 2 * sum(n > 1 for n in n_of_task.values()) > len(n_of_task)
        names = {file: file.folder.split("/") for file in rows}
        places = []
        for place in range(len(next(iter(names.values())))):
            pairs = {(tasks[file], models[file], names[file][place]) for file in rows}
            n_names = len({name for _, _, name in pairs})
            is_of_task = len(pairs) == len({pair[:2] for pair in pairs})
            is_single = n_names == len({(task, name) for task, _, name in pairs})
            is_task = n_names > 1 and is_of_task and (is_recurring or is_single)
            if not (
                is_task or self._is_repeat([(rows[file], names[file][place]) for file in rows])
            ):
                places.append(place)
        places = _without_numbers(list(names.values()), places)
        return {file: "/".join(names[file][place] for place in places) for file in rows}

    def _is_repeat(self, named: Sequence[tuple[dict[str, Any], str]]) -> bool:
        """Whether each name is the number of its attempt, as `0` or `trial_0`; they count up."""
        if "repeat" not in self.columns:
            return False
        numbers = [repeat_of(get(row, *self.columns["repeat"])) for row, _ in named]
        ends = [NAME_OF_REPEAT.fullmatch(name) for _, name in named]
        is_named = all(end and int(end[1]) == n for end, n in zip(ends, numbers, strict=True))
        return is_named and counts_from_start(numbers)

    def are_numbered(self) -> bool:
        """Whether the repeats of each task have different numbers within the folder of a run."""
        folders = self._folders_of_runs()
        known = [
            self.columns[role] for role in ATTEMPT if role in self.columns and role != "repeat"
        ]
        tasks = [
            (folders[file], as_json([get(row, *path) for path in known]))
            for file, row in self.rows.items()
        ]
        numbers = [as_json(get(row, *self.columns["repeat"])) for row in self.rows.values()]
        n_numbered = len(set(zip(tasks, numbers, strict=True)))
        return len(set(tasks)) < n_numbered == len(self.rows)


def _without_numbers(folders: Sequence[Sequence[str]], places: Sequence[int]) -> list[int]:
    """The places of names that say more than a number, often a time, beside a name in words."""

    def adds(place: int) -> bool:
        if not all(names[place].isdigit() for names in folders):
            return True
        return not any(
            len({names[other] for names in folders})
            == len({(names[other], names[place]) for names in folders})
            for other in places
            if not any(names[other].isdigit() for names in folders)
        )

    return [place for place in places if adds(place)]


def _is_within(folder: str, other: str) -> bool:
    """Whether a folder is another one, or below it."""
    return not other or f"{folder}/".startswith(f"{other}/")


def _attempts_alone(
    documents: Mapping[ListedFile, dict[str, Any]], chosen: Mapping[str, str], *, is_named: bool
) -> Iterator[Attempts]:
    """The documents that are an evaluation together.

    Alone in their folders they must say their tasks, and pass or fail: others are parts of an
    attempt, or sum up a run.
    """
    for files in _alike(documents):
        rows = {file: documents[file] for file in files}
        table = list(rows.values())
        columns = recognise(table[:SAMPLED_ROWS], _known(chosen, table))
        if len(files) < FEWEST_DOCUMENTS or not _is_scored(table, columns, is_named=is_named):
            continue
        if "score" not in chosen and dispute(table, columns["score"]):
            continue
        is_alone = 2 * len({file.folder for file in files}) > len(files)
        scores = scores_of_values(values_of(table, columns["score"]))
        if is_named or not is_alone or (_says_task(columns) and set(scores) <= {None, 0, 1}):
            # A number that other folders have, too, numbers the repeats within each of them.
            roles = roles_of(table[:SAMPLED_ROWS], _known(chosen, table))
            by_folder = Attempts(rows, {**roles, **columns})
            is_numbered = "repeat" in by_folder.columns and by_folder.are_numbered()
            yield by_folder if is_numbered else Attempts(rows, columns)


def _says_task(columns: Columns) -> bool:
    """Whether there is a prompt, or a column with the name of a task and of nothing else."""
    return bool(columns.keys() & {"prompt", "messages"}) or (
        "task" in columns
        and is_task_name(columns["task"])
        and plain(columns["task"][-1]) not in NAMES_OF_ANYTHING
    )


def _alike(documents: Mapping[ListedFile, dict[str, Any]]) -> list[list[ListedFile]]:
    """The documents that have most columns in common.

    Beside several of a group, one with other columns belongs to it: what failed has fewer.
    """
    first_of: list[frozenset[str]] = []
    places: dict[ListedFile, int] = {}
    for file, row in documents.items():
        own = frozenset(row)
        near = (
            place
            for place, names in enumerate(first_of)
            if 2 * len(own & names) > max(len(own), len(names))
        )
        places[file] = next(near, len(first_of))
        if places[file] == len(first_of):
            first_of.append(own)
    n_of_folder: dict[str, Counter[int]] = defaultdict(Counter)
    for file, place in places.items():
        n_of_folder[file.folder][place] += 1
    groups = defaultdict(list)
    for file, place in places.items():
        ((most, n_most),) = n_of_folder[file.folder].most_common(1)
        groups[most if n_most >= FEWEST_DOCUMENTS else place].append(file)
    return list(groups.values())


def _shown(one: Attempts, tables: Mapping[ListedFile, Columns]) -> set[ListedFile] | None:
    """The tables whose rows are all among these documents; None if tables have other attempts.

    Then nothing says which documents are of attempts that are rows as well.
    """
    of_documents = Counter(_attempt_of(row, one.columns) for row in one.rows.values())
    models = _models(one.rows.values(), one.columns)
    tasks = {task for task, _ in of_documents}
    alike: dict[ListedFile, Counter[tuple[str, float | None]]] = {}
    for file, columns in tables.items():
        rows = [with_computed(row, columns) for _, row in _placed(file.path)]
        of_table = Counter(_attempt_of(row, columns) for row in rows)
        theirs = _models(rows, columns)
        is_other = bool(models and theirs) and models.isdisjoint(theirs)
        if not is_other and not tasks.isdisjoint(task for task, _ in of_table):
            alike[file] = of_table
    of_tables = sum(alike.values(), Counter())
    return set(alike) if of_tables <= of_documents else None


def _attempt_of(row: dict[str, Any], columns: Columns) -> tuple[str, float | None]:
    """The task and the score of an attempt; without a column of tasks what is asked."""
    task = next((get(row, *columns[one]) for one in ("task", "prompt") if one in columns), None)
    return text(task) or as_json(task), score_of(get(row, *columns["score"]))


def _models(rows: Iterable[dict[str, Any]], columns: Columns) -> set[str]:
    """The words that rows have of what was evaluated."""
    paths_of = [columns[role] for role in ("model", "agent") if role in columns]
    return {word for row in rows for path in paths_of if (word := text(get(row, *path)))}


def _names(table: Sequence[dict[str, Any]]) -> frozenset[str]:
    return frozenset(name for row in table for name in row)


def _groups(samples: Mapping[ListedFile, list[dict[str, Any]]]) -> list[list[ListedFile]]:
    """The tables that have most columns in common, or in one folder one all columns of another."""
    groups: list[tuple[dict[frozenset[str], set[str]], list[ListedFile]]] = []
    for file, table in samples.items():
        own = _names(table)
        near = [
            group
            for group in groups
            if own in group[0]
            or any(
                len(own ^ other) <= len(own & other)
                or (file.folder in folders and (own <= other or other <= own))
                for other, folders in group[0].items()
            )
        ]
        folders_of: dict[frozenset[str], set[str]] = defaultdict(set)
        for one in near:
            for names, folders in one[0].items():
                folders_of[names] |= folders
        folders_of[own].add(file.folder)
        files = [*itertools.chain.from_iterable(group[1] for group in near), file]
        groups = [group for group in groups if group not in near]
        groups.append((folders_of, files))
    return [sorted(files, key=lambda file: file.name) for _, files in groups]


@dataclass(frozen=True)
class Together:
    """What tables with the same columns are read as, and their rows that repeat another's.

    `is_word` says that the scores are words for true and false.
    """

    columns: dict[Path, Columns]
    is_word: bool
    copies: dict[Path, dict[int, str]]

    def is_copied(self, path: Path, wanted: str) -> bool:
        """Whether every row repeats one of another table."""
        copies = self.copies.get(path, {})
        return bool(copies) and all(
            place in copies or isinstance(entry, Line)
            for place, entry in enumerate(entries(path, wanted))
        )


def _together(tables: Sequence[Path], chosen: tuple[tuple[str, str], ...]) -> Together:
    """What is decided over several tables, once for as long as they stay the same."""
    return _decided(_states(tuple(tables)), chosen)


@lru_cache(maxsize=256)
def _states(tables: tuple[Path, ...]) -> tuple[tuple[Path, int, int], ...]:
    """The tables with their sizes and times, looked up once per listing."""
    return tuple((path, *_state(path)) for path in tables)


def _state(path: Path) -> tuple[int, int]:
    try:
        known = path.stat()
    except OSError:  # reading it makes the reject
        return 0, 0
    return known.st_size, known.st_mtime_ns


@lru_cache(maxsize=256)
def _decided(
    files: tuple[tuple[Path, int, int], ...], chosen: tuple[tuple[str, str], ...]
) -> Together:
    fields = dict(chosen)
    wanted = fields.pop(ROWS, "")
    tables = {path: sample(path, score=wanted) for path, _, _ in files}
    columns = _columns_of(tables, fields, wanted)
    folders: dict[Path, dict[Path, list[dict[str, Any]]]] = defaultdict(dict)
    for path, table in tables.items():
        folders[path.parent][path] = table
    copies = dict(
        itertools.chain.from_iterable(_copies(one, wanted).items() for one in folders.values())
    )
    if "task" not in fields and not any(map(_names_tasks, columns.values())):
        rows = [
            ((str(path), *_run_of(row, columns[path])), row)
            for path in tables
            for place, row in _placed(path, wanted, SAMPLED_ROWS)
            if place not in copies.get(path, {})
        ]
        taken = {
            known
            for by_role in columns.values()
            for role, known in by_role.items()
            if role != "task"
        }
        if task := composed_task(rows, taken):
            columns = {path: {**by_role, "task": task} for path, by_role in columns.items()}
    scores = itertools.chain.from_iterable(
        values_of(tables[path], by_role["score"])
        for path, by_role in columns.items()
        if "score" in by_role
    )
    return Together(columns, are_words(list(scores)), copies)


def _names_tasks(columns: Columns) -> bool:
    """Whether a prompt, a column that is named so, or one with numbered repeats is the task."""
    is_numbered = {"task", "repeat"} <= columns.keys()
    return bool(columns.keys() & {"prompt", "messages"} or is_numbered) or (
        "task" in columns and is_task_name(columns["task"])
    )


def _run_of(row: dict[str, Any], columns: Columns) -> list[Any]:
    roles = ("benchmark", "model", "agent")
    return [as_json(get(row, *columns[role])) for role in roles if role in columns]


def _placed(
    path: Path, wanted: str = "", n_entries: int | None = None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of a table with their places, until it is damaged."""
    with suppress(OSError, ValueError, EOFError):
        for place, entry in enumerate(itertools.islice(entries(path, wanted), n_entries)):
            if isinstance(entry, dict):
                yield place, entry


def _columns_of(
    tables: Mapping[Path, list[dict[str, Any]]], chosen: Mapping[str, str], wanted: str
) -> dict[Path, Columns]:
    """The columns of each table: where tables disagree, as all their rows say."""
    columns = {path: roles_of(table, chosen) for path, table in tables.items()}
    if _is_disputed(tables, columns):
        rows = list(itertools.chain.from_iterable(tables.values()))
        of_all = roles_of(rows, chosen, is_of_several=True)
        columns = {
            path: {
                role: column
                for role, column in of_all.items()
                if role in chosen or column in COMPUTED or values_of(table, column)
            }
            for path, table in tables.items()
        }
    scores = {by_role["score"] for by_role in columns.values() if "score" in by_role}
    if "score" in chosen or len(scores) != 1:
        return columns
    (score,) = scores
    every_row = (row for path in tables for _, row in _placed(path, wanted))
    if ends_like_score(score[-1]) and not is_score_name(score) and not is_whole(every_row, score):
        for by_role in columns.values():
            by_role.pop("score", None)
        return columns
    for path, table in tables.items():
        # Where no attempt has a verdict, or none that is clear, the other tables say which column
        # has it.
        values = values_of(table, score)
        if score in paths(table) and (not values or None not in scores_of_values(values)):
            columns[path]["score"] = score
    return columns


def _is_disputed(
    tables: Mapping[Path, list[dict[str, Any]]], columns: Mapping[Path, Columns]
) -> bool:
    """Whether a column has a role in one table, and values and another role in a second one."""
    known = {one for by_role in columns.values() for one in by_role.items() if one[0] != "repeat"}
    return any(
        columns[path].get(role) != column and bool(values_of(table, column))
        for path, table in tables.items()
        for role, column in sorted(known)
    )


def _copies(tables: Mapping[Path, list[dict[str, Any]]], wanted: str) -> dict[Path, dict[int, str]]:
    """By place the rows that repeat one of another table, and which one that is.

    Each value is the same there, and among them a time that no other row of its table has: verdicts
    and answers alone may be those of another run.
    """
    if len(tables) < 2 or sum(_state(path)[0] for path in tables) > LARGEST_COMPARED:
        return {}
    n_rows_at = {
        path: Counter(
            itertools.chain.from_iterable(_times(row) for _, row in _placed(path, wanted))
        )
        for path in tables
    }
    n_tables_at = Counter(itertools.chain.from_iterable(n_rows_at.values()))
    shared = {time for time, n_tables in n_tables_at.items() if n_tables > 1}
    copies: dict[Path, dict[int, str]] = {}
    rows_at: dict[Value, tuple[frozenset[Value], str]] = {}
    # The table with the most columns has the originals; of those the largest.
    ordered = sorted(tables, key=lambda path: (-len(_names(tables[path])), -_state(path)[0], path))
    for path in ordered if shared else ():
        own: dict[Value, tuple[frozenset[Value], str]] = {}
        for place, row in _placed(path, wanted):
            times = (time for time in _times(row) if time in shared)
            single = [time for time in times if n_rows_at[path][time] == 1]
            if not single:
                continue
            values = frozenset(_hashed(*cell) for cell in row.items() if cell[1] not in (None, ""))
            same = (rows_at[time] for time in single if time in rows_at)
            original = next((name for others, name in same if values <= others), None)
            if original:
                copies.setdefault(path, {})[place] = original
            else:
                own |= dict.fromkeys(single, (values, f"{path.name}:{place + 1}"))
        rows_at = {**own, **rows_at}
    return copies


def _times(row: dict[str, Any]) -> Iterator[Value]:
    """The measured times of a row: fractions of durations, and times of the clock."""
    for name, value in row.items():
        if isinstance(value, float):
            if value % 1 and is_duration(name):
                yield _hashed(name, value)
        elif value and is_time(value):
            yield _hashed(name, value)


def _hashed(name: str, value: Any) -> Value:
    return name, hash(as_json(value))


@dataclass(frozen=True)
class Comparison:
    """Columns that are the score of a table where they are equal, by role, and their words."""

    fields: dict[str, str]
    classes: frozenset[str | None]


def comparison(files: Iterable[ListedFile], chosen: Mapping[str, str]) -> Comparison | None:
    """The columns of answers and keys that are compared where a table has enough of them.

    None if a score is chosen, or if tables differ in these columns.
    """
    if "score" in chosen:
        return None
    classes: dict[tuple[tuple[str, ...], tuple[str, ...]], set[str | None]] = defaultdict(set)
    for file in files:
        table = sample(file.path)
        columns = recognise(table, chosen)
        if columns.get("score") == (EQUALS_KEY,):
            pair = columns["key"], columns["output"]
            classes[pair].update(map(as_class, values_of(table, columns["key"])))
    if len(classes) != 1:
        return None
    ((key, output), words) = classes.popitem()
    fields = {"key": ".".join(key), "output": ".".join(output), "score": EQUALS_KEY}
    return Comparison(fields, frozenset(words))


def _is_compared(table: Sequence[dict[str, Any]], columns: Columns, compared: Comparison) -> bool:
    """Whether a table without a score has these columns, of nothing but the same words."""
    if "score" in columns:
        return False
    values = [values_of(table, (compared.fields[role],)) for role in ("key", "output")]
    return all(values) and compared.classes.issuperset(map(as_class, itertools.chain(*values)))


def _parts(files: Iterable[ListedFile]) -> set[ListedFile]:
    """The files whose every line is a line of another one in their folder: they count twice."""
    compared = [file for file in files if file.path.suffix in LINES]
    if sum(file.path.stat().st_size for file in compared) > LARGEST_COMPARED or len(compared) < 2:
        return set()
    # Of many lines their hashes: whole texts would fill the memory.
    lines = {file: set(map(hash, file.path.read_bytes().splitlines())) for file in compared}
    parts: set[ListedFile] = set()
    for file, other in itertools.permutations(lines, 2):
        is_copy = lines[file] == lines[other]
        if (
            file.folder == other.folder
            and len(lines[file]) >= LEAST_REPEATED
            and lines[file] <= lines[other]
            and (not is_copy or (other not in parts and other.name < file.name))
        ):
            parts.add(file)
    return parts


def _excerpts(files: Sequence[ListedFile], tables: Mapping[ListedFile, object]) -> set[ListedFile]:
    """The documents whose lists have nothing but rows of a larger one, a table, in their folder."""
    folders = {file.folder for file in tables if ending(file.path) == "json"}
    documents = [file for file in files if file.folder in folders and ending(file.path) == "json"]
    if sum(file.path.stat().st_size for file in documents) > LARGEST_COMPARED:
        return set()
    rows = {file: row_hashes(file.path) for file in documents}
    return {
        file
        for file, other in itertools.permutations(documents, 2)
        if other in tables
        and file.folder == other.folder
        and len(rows[file]) >= LEAST_REPEATED
        and rows[file] < rows[other]
    }


def _repeated(tables: Mapping[ListedFile, Columns]) -> set[ListedFile]:
    """The tables whose attempts all are in another one: of the same model, task and repeat.

    Most values that both have are equal, as far as they are written out, among them measured ones,
    which differ from attempt to attempt. A score may be of 1 in one and of 100 in the other.
    """
    named = {file: one for file, one in tables.items() if {"model", "task"} <= one.keys()}
    if len(named) < 2 or sum(file.path.stat().st_size for file in named) > LARGEST_COMPARED:
        return set()
    rows: dict[ListedFile, dict[tuple[str, ...], dict[str, Any]]] = {}
    for file, columns in named.items():
        of_attempts = [columns[role] for role in ATTEMPT if role in columns]
        listed = [
            (
                tuple(as_json(get(row, *path)) for path in of_attempts),
                {name: cell for name, cell in row.items() if text(cell) is not None},
            )
            for _, row in _placed(file.path)
        ]
        if len(dict(listed)) == len(listed) >= LEAST_REPEATED:
            rows[file] = dict(listed)
    order = sorted(rows, key=lambda one: (-len(rows[one]), ending(one.path) in CELLS, one.name))
    repeating: set[ListedFile] = set()
    for other, file in itertools.combinations(order, 2):
        if other not in repeating and rows[file].keys() <= rows[other].keys():
            pairs = [(row, rows[other][key]) for key, row in rows[file].items()]
            if _are_equal(pairs, tables[file]["score"][-1]):
                repeating.add(file)
    return repeating


def _are_equal(pairs: Sequence[tuple[dict[str, Any], dict[str, Any]]], score: str) -> bool:
    n_equal, n_same, n_measured = 0, 0, 0
    for row, other in pairs:
        shared = row.keys() & other.keys()
        equal = {name for name in shared if _is_equal(row[name], other[name])}
        scores = [number(one.get(score)) or 0.0 for one in (row, other)]
        is_scaled = any(_is_equal(scores[0] * by, scores[1]) for by in (1, 100, 0.01))
        n_equal += is_scaled and equal | {score} >= shared
        measured = {name for name in shared - {score} if isinstance(row[name], float)}
        measured = {name for name in measured if row[name] % 1 > 0}
        n_measured += bool(measured)
        n_same += bool(measured & equal)
    is_measured = n_same >= max(LEAST_REPEATED, MOSTLY * n_measured)
    return is_measured and n_equal >= MOSTLY * len(pairs)


def _is_equal(value: Any, other: Any) -> bool:
    """Whether two values are the same, or numbers that differ in how many digits they have."""
    here, there = number(value), number(other)
    if here is None or there is None:
        return text(value) == text(other)
    n_digits = min(len(repr(one).partition(".")[2]) for one in (here, there))
    return abs(here - there) <= 0.51 * 10.0**-n_digits


def _models_of_tasks(tables: Mapping[ListedFile, Columns]) -> dict[ListedFile, tuple[str, str]]:
    """The folder and name of each run, where every table has one task of one model.

    Each is then a part of the run of its model.
    """
    parts: dict[ListedFile, tuple[str, str]] = {}
    for file, columns in tables.items():
        if not {"model", "task", "repeat"} <= columns.keys():
            return {}
        paths_of = [columns[role] for role in ("model", "task")]
        of_table = {
            tuple(text(get(row, *one)) or "" for one in paths_of) for row in sample(file.path)
        }
        if len(of_table) != 1:
            return {}
        ((model, task),) = of_table
        parts[file] = model, task
    n_tasks = Counter(model for model, _ in parts.values())
    if len(set(parts.values())) < len(parts) or max(n_tasks.values(), default=1) < 2:
        return {}
    folder = os.path.commonpath([f"/{file.folder}" for file in parts]).removeprefix("/")
    return {file: (folder, model.replace("/", "_")) for file, (model, _) in parts.items()}


def _rows_of_values(table: Sequence[dict[str, Any]]) -> list[set[Any]]:
    """The values of each row, at any depth, as they can be compared between kinds of files."""
    return [set(_plain_values(row)) for row in table]


def _plain_values(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _plain_values(one)
    elif value not in (None, ""):
        known = score_of(value)
        yield str(value) if known is None else known


def _is_summary(
    file: ListedFile, tables: Mapping[ListedFile, tuple[list[set[Any]], list[Any]]]
) -> bool:
    """Whether a table of the same folder has all of this one, row by row.

    Nearly every row must have a fraction that no other has: times show that two tables are of the
    same attempts, verdicts do not.
    """
    rows, scores = tables[file]
    n_rows_of = Counter(
        value for row in rows for value in row if isinstance(value, float) and value % 1
    )
    own = [{value for value in row if n_rows_of[value] == 1} for row in rows]
    return any(
        other.folder == file.folder
        and len(wider) == len(rows) >= LEAST_REPEATED
        and sum(map(len, wider)) > sum(map(len, rows))
        and list(map(score_of, scores)) == list(map(score_of, their_scores))
        and sum(bool(here) and here <= there for here, there in zip(own, wider, strict=True))
        >= MOSTLY * len(rows)
        for other, (wider, their_scores) in tables.items()
    )


def _is_copy(
    file: ListedFile, tables: Mapping[ListedFile, tuple[list[set[Any]], list[Any]]]
) -> bool:
    """Whether a table of the same folder and name, in another form, has the same rows."""
    rows, _ = tables[file]
    return any(
        other.folder == file.folder
        and NAMES.sub("", other.base) == NAMES.sub("", file.base)
        and other.name < file.name
        and same_rows == rows
        for other, (same_rows, _) in tables.items()
    )


def _is_scored(table: Sequence[dict[str, Any]], columns: Columns, *, is_named: bool) -> bool:
    has_scores = "score" in columns and bool(values_of(table, columns["score"]))
    return has_scores and (is_named or _is_evaluation(table, columns))


def _is_one_attempt(path: Path, table: Sequence[dict[str, Any]]) -> bool:
    """Whether a JSON document is an object without rows."""
    return ending(path) == "json" and len(table) == 1 and not starts_list(path)


def is_candidate(path: Path) -> bool:
    """Whether it is a table whose first rows are not of NeMo Gym, which has JSONL alone."""
    is_jsonl = ending(path) == "jsonl"
    if is_jsonl and OF_GYM.search(head(path)):
        return False
    table = sample(path, SNIFFED_ROWS)
    return bool(table) and not (is_jsonl and any(map(_is_of_gym, table)))


def are_steps(path: Path) -> bool:
    """Whether the rows of a table are the steps of one attempt: numbered, and of no task."""
    begun = head(path)
    is_json = ending(path) in ("json", "jsonl", "ndjson")
    may_be = not OF_GYM.search(begun) and bool(not is_json or OF_STEPS.search(begun))
    return may_be and is_of_steps(sample(path, SNIFFED_ROWS))


def _is_of_gym(row: dict[str, Any]) -> bool:
    return "reward" in row or bool(fields(row.get("response")).keys() & RESPONSE_OF_GYM)


def refused(files: Sequence[ListedFile], chosen: Mapping[str, str]) -> InputError:
    """Why none of these tables is read, with the columns of one, and what would help.

    The one has a column that could be the score; of several such tables it is the largest.
    """
    tables = {file: sample(file.path) for file in files}
    scores_of_file = {file: _proposed(file.path, tables[file]) for file in files}

    def rank(file: ListedFile) -> tuple[bool, bool, int]:
        return not scores_of_file[file], len(tables[file]) < 2, -_state(file.path)[0]

    file = min(files, key=rank)
    table, scores = tables[file], scores_of_file[file]
    unknown = unknown_columns(files, chosen)
    counts, together = _counts(table), _side_by_side(table)
    same = [path for path in paths(table) if is_score_name(path) and is_constant(table, path)]
    disputed = None if unknown else next(_disputes(files, chosen), None)
    if unknown:
        reason = f"no column named {', '.join(unknown)}"
    elif disputed:
        reason = disputed.reason
    elif counts:
        reason = counts
    elif together:
        reason = f"the scores of several models beside each other ({', '.join(together)})"
    elif len(scores) > 1:
        reason = f"several columns that may be the score ({', '.join(scores)})"
    elif "score" in recognise(table, {}):
        reason = "scores, but neither a prompt, nor an answer, nor several rows of a task"
    else:
        reason = "no column of scores"
    if same and not unknown:
        reason += f"; {'.'.join(same[0])} is the same in all rows, which judges no attempt"
    hint = "Name the column with the score (numbers, true and false, pass and fail)"
    hint += (
        f", for example: --field score={scores[0]}" if scores else " with --field, if it has one"
    )
    if disputed:
        hint = (
            "One may be what the agent says of itself. Name the one that judges: "
            f"--field score={disputed.score} or --field score={disputed.other}"
        )
    elif together and not unknown:
        hint = "Write a row for each task and model, with the model in a column of its own"
    inverse = possible_scores(table)[1]
    if inverse and not scores and not disputed:
        hint += (
            f". By its name {inverse[0]} is higher where an attempt is worse: "
            "a score must be higher where it is better"
        )
    message = f"{file.name}: a table with {reason}; its columns are {_listing(table)}."
    kinds = defaultdict(list)
    for other in files:
        kinds[_listing(tables[other])].append(other.name)
    del kinds[_listing(table)]
    for listing, others in list(kinds.items())[:MOST_KINDS]:
        more = f" and {len(others) - 1} more" * (len(others) > 1)
        message += f" {others[0]}{more}: {listing}."
    return InputError(message, hint=hint)


def _listing(table: Sequence[dict[str, Any]]) -> str:
    """The columns as a user may name them; objects with many fields by their own names alone."""
    n_below = Counter(path[0] for path in paths(table) if len(path) > 1)
    names = [".".join(path) for path in paths(table) if n_below[path[0]] * len(path) <= MOST_LISTED]
    return ", ".join(names[:MOST_LISTED]) + ", ..." * (len(names) > MOST_LISTED)


def _proposed(path: Path, table: Sequence[dict[str, Any]]) -> list[str]:
    """The columns that would be read if one is chosen as the score, the likeliest first.

    They are of the rows, or of rows further down in the document.
    """
    below = rows_below(path) if ending(path) == "json" and len(table) < 2 else []
    for rows in (table, *below):
        verdicts = [name for name in possible_scores(rows[:SAMPLED_ROWS])[0] if len(rows) > 1]
        named = [name for name in verdicts if ends_like_score(name) and not is_key_name(name)]
        if named or rows is not table:
            others = [name for name in verdicts if not (named or is_key_name(name))]
            tried = (name for name in (*named, *others[:MOST_KINDS]))
            scores = [
                name
                for name in tried
                if _is_scored(
                    sample(path, score=name), {"score": tuple(name.split("."))}, is_named=True
                )
            ]
            if scores:
                return scores
    return []


def _side_by_side(table: Sequence[dict[str, Any]]) -> list[str]:
    """The beginnings of names of columns that go on with the same words, scores among them."""
    words_after: dict[str, set[str]] = defaultdict(set)
    for name in (path[0] for path in paths(table) if len(path) == 1):
        before, _, after = plain(name).partition("_")
        words_after[before].add(after)
    alike = [
        before
        for before, after in words_after.items()
        if list(words_after.values()).count(after) > 1 and len(after) > 1
        if any(not PASSES.isdisjoint(words.split("_")) for words in after)
    ]
    return alike


def unscored(file: ListedFile) -> str | None:
    """Why a table is not read, beside others that are; None if it is not a table of rows."""
    table = sample(file.path, 2)
    if ending(file.path) == "json" and not starts_list(file.path):
        is_several = len(table) == 1 and len(lists_of_rows(table[0])) > 1
        return "has lists of rows, and says of none what it is of" if is_several else None
    if not table:
        return None
    if counts := _counts(table):
        return f"has {counts}"
    if disputed := next(_disputes([file], {}), None):
        return f"has {disputed.reason}; name one with --field"
    return "is a table without a column of scores; if one has them, name it with --field"


def beside_results(file: ListedFile) -> str | None:
    """What a table has that is not read because a harness's results are; None if nothing."""
    table = sample(file.path)
    is_named = len(table) >= LEAST_BESIDE and has_verdicts(table)
    return (
        "has rows with scores, of no harness; analyze it alone to read them" if is_named else None
    )


def unknown_columns(files: Iterable[ListedFile], chosen: Mapping[str, str]) -> list[str]:
    """The chosen columns that none of the tables has."""
    score = chosen.get("score", "")
    tables = [sample(file.path, score=score) for file in files] if chosen else []
    return [
        f"`{name}`"
        for name in chosen.values()
        if not any(_has_column(table, name) for table in tables)
    ]


def _counts(table: Sequence[dict[str, Any]]) -> str | None:
    """What a table has instead of verdicts."""
    names = (path[0] for path in paths(table) if len(path) == 1 and is_count_of_passes(path[0]))
    name = next((name for name in names if values_of(table, (name,))), None)
    return None if name is None else f"counts of passes ({name}), not a verdict of each attempt"


def _is_evaluation(table: Sequence[dict[str, Any]], columns: Columns) -> bool:
    """Whether rows are attempts: they have a prompt or an answer, or ids that pass or fail.

    A list of benchmarks with their accuracies has names and scores as well, but each name once.
    """
    if columns.keys() & {"prompt", "output", "messages"}:
        return True
    if "task" not in columns or len(table) < 2:
        return False
    scores = scores_of_values(values_of(table, columns["score"]))
    is_verdict = all(score in (0, 1) for score in scores)
    if plain(columns["task"][-1]) in IDS_OF_TASKS:
        return True
    named = [columns[role] for role in ("task", "model", "agent") if role in columns]
    return is_verdict or n_distinct(table, named) < len(table)


def readings(artifacts: Iterable[Artifact]) -> dict[str, list[str]]:
    """How tables are read, the column of each role, and the files that are read so."""
    names = defaultdict(list)
    for artifact in artifacts:
        names[_columns(artifact).description].append(artifact.name)
    return names


@dataclass(frozen=True)
class TableColumns:
    """How a table is read: the column of each role, those of runs, rows that repeat another's."""

    by_role: Columns
    of_runs: list[tuple[str, ...]]
    description: str
    is_word: bool
    copies: dict[int, str]


def _columns(artifact: Artifact) -> TableColumns:
    """The columns by the first rows, and by what holds in all of them.

    A column numbers repeats only if no later row of the run repeats a number as well.
    """
    tables = artifact.beside or (artifact.path,)
    together = _together(tables, artifact.fields)
    columns = dict(together.columns[artifact.path])
    of_runs = _runs(_states(tables), artifact.fields, has_repeats=True)
    if "repeat" in columns and "repeat" not in dict(artifact.fields):
        try:
            is_numbered = is_numbering(_rows(artifact, columns), columns, of_runs)
        except (OSError, ValueError, EOFError):  # reading it all makes the reject
            is_numbered = False
        if not is_numbered:
            del columns["repeat"]
            of_runs = _runs(_states(tables), artifact.fields, has_repeats=False)
    rows_read = sample(artifact.path, score=dict(artifact.fields).get(ROWS, ""))
    table = [with_computed(row, columns) for row in rows_read]
    own = [path for path in of_runs if values_of(table, path)]
    description = described(columns, own, table, is_word=together.is_word)
    copies = together.copies.get(artifact.path, {})
    return TableColumns(columns, own, description, together.is_word, copies)


@lru_cache(maxsize=256)
def _runs(
    files: tuple[tuple[Path, int, int], ...],
    chosen: tuple[tuple[str, str], ...],
    *,
    has_repeats: bool,
) -> list[tuple[str, ...]]:
    """The columns that distinguish runs in all rows of tables that are decided together."""
    columns = {
        path: {role: one for role, one in by_role.items() if has_repeats or role != "repeat"}
        for path, by_role in _decided(files, chosen).columns.items()
    }
    wanted = dict(chosen).get(ROWS, "")
    return columns_of_runs(
        (path, with_computed(row, columns[path]), columns[path])
        for path in columns
        for _, row in _placed(path, wanted)
    )


def _rows(artifact: Artifact, columns: Columns) -> Iterator[dict[str, Any]]:
    return (
        with_computed(entry, columns) for entry in _entries(artifact) if isinstance(entry, dict)
    )


def _entries(artifact: Artifact) -> Iterator[Entry]:
    return entries(artifact.path, dict(artifact.fields).get(ROWS, ""))


def read(artifact: Artifact) -> Iterator[Reading]:
    """An attempt per row of the table."""
    columns = _columns(artifact)
    yield Setting("read_as", columns.description)
    yield from _settings(artifact.path)
    for place, entry in enumerate(_entries(artifact)):
        if original := columns.copies.get(place):
            yield Reject(f"repeats the row {original}")
        else:
            yield _attempt(entry, columns, place) if isinstance(entry, dict) else entry


def _settings(path: Path) -> Iterator[Setting]:
    """What a document says before its rows of how they were made."""
    is_document = ending(path) == "json" and not starts_list(path)
    begun = SETTINGS.search(head(path)) if is_document else None
    if begun is None:
        return
    with suppress(OSError, ValueError, EOFError):  # reading its rows makes the reject
        name = begun[1].decode()
        values = (value for key, value in packed.fields(path, "") if key == name)
        # What has a meaning of ours is not a stranger's to set.
        stated = {
            key: value
            for key, value in recorded(next(values, None))
            if key not in OWN_SETTINGS and not key.startswith(("log_", "task_args."))
        }
        yield from (Setting(*each) for each in stated.items())
        # As `sampler_model` beside `grader_model`.
        models = [
            value
            for key, value in stated.items()
            if key.endswith("_model") and NOT_MODELS.isdisjoint(plain(key).split("_"))
        ]
        if "model" not in stated and len(models) == 1:
            yield Setting("model", models[0])


def _attempt(row: dict[str, Any], table: TableColumns, place: int) -> Row:
    """A row of the table as a row of Gym."""
    columns = table.by_role
    row = with_computed(row, columns)
    cells = {role: get(row, *path) for role, path in columns.items()}
    request, response_items = _transcript(row, cells)
    reward = score_of(cells["score"], is_word=table.is_word)
    model, agent = text(cells.get("model")), text(cells.get("agent"))
    of_runs = (text(get(row, *path)) for path in table.of_runs)
    response = {
        "model": model,
        "usage": without_empty({"cost": _cost(row), **_tokens_of(row, cells)}),
        "error": {"message": error} if (error := text(row.get("error"))) else None,
    }
    moved = {path for role, path in columns.items() if role in MOVED}
    if is_no_score(cells.get("score")):
        moved.remove(columns["score"])
    other_columns = {
        name: value
        for name, value in row.items()
        if name not in FORMAT_FIELDS and (name,) not in moved
    }
    value = {
        **other_columns,
        "_ng_task_index": _task_id(cells, request, place),
        "_ng_rollout_index": repeat_of(cells.get("repeat")),
        "agent_ref": {"name": agent} if agent else None,
        "expected_answer": cells.get("key"),
        "total_run_time": _seconds(row),
        "finish_reason": _stop_reason(row) or _finish_reason(cells),
        **scores_of(_scores(row, columns, reward), ".".join(columns["score"])),
        "responses_create_params": without_empty({"input": request, "model": model}),
        "response": {"object": "response", **without_empty(response), **response_items},
    }
    return Row(
        {"reward": reward, **without_empty(value), **_answer(row)},
        variant=" ".join(name for name in (agent, model, *of_runs) if name) or None,
        benchmark=text(cells.get("benchmark")),
        # A chat that begins with an answer, or a table without prompts: the id says what was asked.
        question=None if request else text(cells.get("task")),
    )


def _transcript(
    row: dict[str, Any], cells: dict[str, Any]
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """What was asked, and `output`: what followed; without a column of it, there is none."""
    prompt, output = cells.get("prompt"), cells.get("output")
    if listed := messages_of(cells.get("messages")):
        prompt = question(listed)
        output = listed[len(prompt) :] or output
    request = list(chat(_content(prompt), "user")) if prompt else []
    if output is None:
        return request, {}
    choices = items(get(output, "choices")) or items(output)
    if isinstance(get(choices, 0, "message"), dict):
        output = [get(choices, 0, "message")]
    response_items = list(chat(_content(output)))
    if calls := items(row.get("tool_calls")):
        response_items += chat([{"role": "assistant", "tool_calls": calls}])
    return request, {"output": response_items}


def _content(value: Any) -> Any:
    """Messages as they are, text as text; a number or an object as JSON."""
    is_known = isinstance(value, str) or bool(listed_messages(value))
    return value if is_known else as_json(value)


def _task_id(cells: dict[str, Any], request: list[dict[str, Any]], place: int) -> Any:
    """The id of the task; without one a hash of the question, else the place of the row."""
    if "task" in cells:
        return cells["task"]
    if request:
        return hashlib.sha256(as_json(request).encode("utf-8", "replace")).hexdigest()[:12]
    return place


def _scores(row: dict[str, Any], columns: Columns, reward: float | None) -> list[dict[str, Any]]:
    """The score, and other columns that are named like scores and have one."""
    named = {path: score_of(get(row, *path)) for path in paths([row]) if is_score_name(path)}
    others = {path: score for path, score in named.items() if score is not None}
    scores = {**others, columns["score"]: reward}
    reasons = {columns["score"]: {"explanation": _reason(row, columns["score"])}}
    return [
        {"name": ".".join(path), "score": score, **without_empty(reasons.get(path, {}))}
        for path, score in scores.items()
    ]


def _reason(row: dict[str, Any], score: tuple[str, ...]) -> str | None:
    """Why the grade was given: in its object, or under a name that says so."""
    beside = [fields(get(row, *score[:-1]))] if len(score) > 1 else []
    graders = [fields(value) for name, value in row.items() if plain(name) in OF_GRADING]
    named = [
        value
        for place in (*beside, *graders)
        for name, value in place.items()
        if not REASONS.isdisjoint(plain(name).split("_"))
    ]
    named += [
        value
        for name, value in row.items()
        if (words := plain(name).split("_"))[-1] in REASONS and words[0] in OF_GRADING
    ]
    return next(filter(None, map(text, named)), None)


def _answer(row: dict[str, Any]) -> dict[str, str | None]:
    """The answer alone, where a column has it and it is short enough to be compared.

    A column that is null or empty stays so under its own name.
    """
    named = {name: text(row[name]) for name in ANSWERS if name in row}
    column, answer = next((one for one in named.items() if one[1]), ("", None))
    if answer is None:
        return {name: None for name in named if row[name] in (None, "")}
    name = column if column in KNOWN_ANSWERS else "extracted_answer"
    return {name: answer} if len(answer) <= LONGEST_ANSWER else {}


def _tokens_of(row: dict[str, Any], cells: dict[str, Any]) -> dict[str, Any]:
    """The tokens of an attempt, however its row counts them."""
    return fields(row.get("usage")) or _usage(row) or _usage_of_messages(cells)


def _usage(row: dict[str, Any]) -> dict[str, Any]:
    usage = {
        "input_tokens": _tokens(row, INPUT_TOKENS),
        "output_tokens": _tokens(row, OUTPUT_TOKENS),
    }
    return without_empty(usage)


def _cost(row: dict[str, Any]) -> float | None:
    """What an attempt cost, as an object of its tokens says."""
    usages = (
        fields(value)
        for name, value in row.items()
        if not {"usage", "tokens"}.isdisjoint(plain(name).split("_"))
    )
    costs = (number(usage.get(name)) for usage in usages for name in COSTS)
    return next((cost for cost in costs if cost is not None), None)


def _tokens(row: dict[str, Any], names: Sequence[str]) -> float | None:
    """The tokens under one of these names, else the sum of those with words before it."""
    known = _first(row, names)
    if known is not None:
        return known
    for place in (row, *(value for value in row.values() if isinstance(value, dict))):
        parts = {
            plain(name): count
            for name, value in place.items()
            if plain(name).endswith(tuple(f"_{name}" for name in names))
            if PARTS_OF_TOKENS.isdisjoint(plain(name).split("_"))
            if (count := number(value)) is not None
        }
        totals = [count for name, count in parts.items() if "total" in name.split("_")]
        if parts:
            return totals[0] if totals else sum(parts.values())
    return None


def _seconds(row: dict[str, Any]) -> float | None:
    """The time an attempt took; a word before it, as `first_token_latency`, makes it a part."""
    milliseconds = _first(row, MILLISECONDS)
    seconds = _first(row, SECONDS) if milliseconds is None else milliseconds / 1000
    if seconds is not None:
        return seconds
    units = [
        (plain(name).rpartition("_")[2], number(value))
        for name, value in row.items()
        if is_duration(name, is_whole=True)
    ]
    in_seconds = [
        value / (1000 if unit in UNITS_OF_MILLISECONDS else 1)
        for unit, value in units
        if value is not None and unit in UNITS
    ]
    return in_seconds[0] if len(in_seconds) == 1 else None


def _first(row: dict[str, Any], names: Sequence[str]) -> float | None:
    """The first number under one of these names, of the row before those of its objects."""
    objects_below = [value for value in row.values() if isinstance(value, dict)]
    named = [
        {plain(name): value for name, value in place.items()} for place in (row, *objects_below)
    ]
    numbers = (number(place.get(name)) for place in named for name in names)
    return next((known for known in numbers if known is not None), None)


def _stop_reason(row: dict[str, Any]) -> str | None:
    """Why the model stopped, as a column says."""
    return next((text(row[name]) for name in row if plain(name) in STOP_REASONS), None)


def _own_messages(cells: dict[str, Any]) -> list[dict[str, Any]]:
    """What the model wrote."""
    return [one for one in messages_of(cells.get("messages")) if one["role"] == "assistant"]


def _usage_of_messages(cells: dict[str, Any]) -> dict[str, Any]:
    """The tokens of all calls of the model, where each message has those of its own."""
    usages = [fields(one.get("usage")) for one in _own_messages(cells) if one.get("usage")]
    return {
        name: sum(_first(usage, names) or 0 for usage in usages)
        for name, names in (("input_tokens", INPUT_TOKENS), ("output_tokens", OUTPUT_TOKENS))
        if usages
    }


def _finish_reason(cells: dict[str, Any]) -> str | None:
    """Why the model stopped at last; a message may hold it in its raw response."""
    last: dict[str, Any] = next(reversed(_own_messages(cells)), {})
    places = (last, *(value for value in last.values() if isinstance(value, dict)))
    reasons = (text(place.get("finish_reason")) for place in places)
    return next(filter(None, reasons), None)
