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
from typing import Any

from ...artifact import Artifact, Kind, ListedFile
from ...errors import InputError, UsageError
from . import (
    Claim,
    Claims,
    Files,
    Line,
    Object,
    Readings,
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
    paths_of,
    recorded,
    scores_of,
    text,
    total,
    without_empty,
)
from .chat import chat, listed_messages
from .config import SETTING_NAMES
from .gym import FORMAT_FIELDS
from .table_columns import (
    GRADED,
    IDS_OF_TASKS,
    OF_GRADER,
    TURN_NUMBERS,
    Column,
    Columns,
    Dispute,
    are_words,
    chosen_pass,
    columns_of_runs,
    counts_from_start,
    described,
    dispute,
    end_with_passes,
    ends_like_score,
    is_count_of_passes,
    is_duration,
    is_graded,
    is_judged,
    is_key_name,
    is_no_score,
    is_numbering,
    is_of_steps,
    is_score_name,
    is_task_name,
    is_time,
    messages_of,
    n_distinct,
    numbered_scores,
    other_scores,
    paths,
    plain,
    possible_scores,
    possible_verdicts,
    question,
    recognise,
    repeat_of,
    roles_of,
    score_of,
    scores_of_values,
    turns_of,
    values_of,
    with_computed,
    word_that_passes,
)
from .table_rows import (
    LISTS,
    OF_RUNS,
    SAMPLED_ROWS,
    Entry,
    conversation,
    ending,
    entries,
    has_verdicts,
    is_list,
    listed_name,
    lists_of_rows,
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
OF_GYM = re.compile(rb'"(responses_create_params|agent_ref|ng_trajectory|_ng_\w+)"\s*:')
RESPONSE_OF_GYM = frozenset({"output", "object"})
# Objects of a document that say how its rows were made.
SETTINGS = re.compile(rb'"(config|settings|parameters|params|args|options)"\s*:\s*\{')
OBJECTS_OF_SETTINGS = frozenset("config settings parameters params args options".split())
# Words in the names of texts beside rows that say when and where they were written, or how it went.
NOT_SETTINGS = frozenset(
    "id uuid sha hash date time timestamp at path file dir folder output status error message note "
    "notes description summary".split()
)
DATE = re.compile(r"\d{4}[-/.]?\d\d[-/.]?\d\d")
LONGEST_SETTING = 60
# What comparisons say of a key that is recorded without a value.
NOT_SET = "not set"
OWN_SETTINGS = frozenset({"pass_threshold", "write_tools", "read_as", "notes"})
STEPS = "has rows that are steps of one attempt"
OF_STEPS = re.compile(rb'"(step|turn)[ _-]?(num|number|no|idx|index|id)?"\s*:', re.IGNORECASE)
SNIFFED_ROWS = 50
# Words of the names of files that others replace.
OF_DRAFTS = frozenset("checkpoint checkpoints ckpt backup bak partial copy".split())
LEAST_REPEATED = 3
# How many attempts a row is about, where it is about several.
OF_TOTALS = frozenset(
    "count n total support size samples n_samples num_samples n_questions num_questions n_total "
    "total_questions total_samples n_tasks num_tasks".split()
)
# Measures of a few rows are equal by chance.
NEARLY_ALL = 0.85
LEAST_BESIDE = 10
NOT_ATTEMPTS = "has scores, but neither a prompt, nor an answer, nor several rows of a task"
REPEATS = "repeats rows of a table beside it"
QUESTIONS = (
    "has questions and their keys, and no answers, beside tables that have answers and verdicts"
)
CALLS = "says of each row only whether there was an error, beside tables that have verdicts"
TOTALS = "has counts of attempts and their scores, beside tables that have the attempts"
DOCUMENTS = "has tasks and verdicts of documents beside it, which are read"
UNDECIDED = "may be of an attempt that is a row of a table; analyze its folder alone to read it"
LARGEST_COMPARED = 128 << 20
# Of numbers that are compared between tables.
COMPARED_DIGITS = 2
FEWEST_DOCUMENTS = 2
# A shorter text may be that of another attempt.
LEAST_TEXT = 20
# Words in the names of what a model wrote.
OF_OUTPUT = frozenset(
    "response responses output outputs completion completions generation generations".split()
)
# Names of columns that say of anything which one it is.
NAMES_OF_ANYTHING = frozenset("id uid uuid idx index name title".split())
# Columns that an error lists of the table it is about, and of others beside it.
MOST_LISTED, FEW_LISTED = 20, 8
MOST_KINDS = 4
LONGEST_WORD = 60
# Objects with the grade of an attempt, beside those that are called like a grader.
OF_RESULTS = frozenset("result results outcome metrics scores".split())
# A call succeeds where it has no error.
NAMES_OF_ENDS = frozenset("success is_success successful succeeded ok status".split())
NAMES_OF_ERRORS = frozenset("error error_message exception".split())
# Columns beside the output that hold its answer alone.
ANSWERS = (
    "extracted_answer predicted_answer parsed_answer final_answer prediction pred predicted "
    "predicted_index predicted_label pred_label model_choice"
).split()
# Those that are read as an answer under their own name.
KNOWN_ANSWERS = frozenset("predicted_answer parsed_answer predicted predicted_label".split())
LONGEST_ANSWER = 200
STOP_REASONS = ("finish_reason", "stop_reason")
INPUT_TOKENS = "input_tokens prompt_tokens tokens_in total_input_tokens total_prompt_tokens".split()
OUTPUT_TOKENS = (
    "output_tokens completion_tokens tokens_out total_output_tokens total_completion_tokens".split()
)
# Tokens that a provider counts beside those of the input, as Anthropic does.
CACHED_TOKENS = re.compile(r"cache_(read|creation|write)(_input)?_tokens")
# Beside tokens a plain `cost` is money; that of a row may be what its task minimizes.
COSTS = "cost_usd total_cost_usd cost total_cost".split()
# The last words of times, and how many of each are a second.
UNITS = {
    **dict.fromkeys("s sec secs seconds latency duration elapsed".split(), 1),
    **dict.fromkeys("ms msec millis milliseconds".split(), 1000),
}
# What says why a grade was given.
REASONS = frozenset("reason reasons reasoning explanation rationale justification feedback".split())
# Folders that are called by the number of an attempt.
NAME_OF_REPEAT = re.compile(
    r"(?:(?:attempt|repeat|rep|rollout|run|sample|trial)[ _-]?)?(\d{1,9})", re.IGNORECASE
)
# The name of what the first turn of an attempt scored.
FIRST_TURN = "first_turn"
# A column with the folder of the run of a document.
FOLDER = "folder of the run"
# A summary beside tables, and its figures that are a mean of their scores, by name.
LARGEST_SUMMARY = 64 << 10
DEEPEST_FIGURE = 2
NAME_OF_FIGURE = re.compile(
    r"((overall|total|final|mean|avg|average)_)?"
    r"(accuracy|acc|score|reward|pass_rate|success_rate|pass_(at_)?1)(_(mean|avg|overall))?"
)
ROUNDED = 0.0005
# Beside the roles: the column whose rows are read, and those of the runs of documents, in lines.
ROWS = "rows"
RUNS = "runs"
# Roles whose columns are elsewhere in the row that is made; the others stay columns as well.
MOVED = ("task", "prompt", "messages", "output", "key", "score")


def claims(
    files: Files,
    chosen: Mapping[str, str],
    *,
    named: Collection[ListedFile],
    wanted: Collection[ListedFile] = (),
) -> Claims:
    """The tables with scores; one that is not `named` must also have something to score.

    Documents that are one attempt each are one table. Copies are read only if they are `wanted`.
    """
    _states.cache_clear()
    if "pass" in chosen and "score" not in chosen:
        message = f"--field pass={chosen['pass']}: its column is not named."
        raise UsageError(message, hint="Name the column with this word, too: --field score=COLUMN")
    by_scores = list(_claims(*_groups(files, chosen), chosen, named, wanted))
    if by_scores or "score" in chosen:
        yield from by_scores
    else:
        yield from _claims(*_groups(files, chosen, is_by_words=True), chosen, named, wanted)


def _claims(
    tables: Sequence[Group],
    documents: Sequence[Group],
    chosen: Mapping[str, str],
    named: Collection[ListedFile],
    wanted: Collection[ListedFile],
) -> Claims:
    own: dict[ListedFile, Columns] = {}
    claimed: dict[ListedFile, Claim] = {}
    for group in tables:
        scored = group.scored(is_named=not group.rows.keys().isdisjoint(named))
        paths = paths_of(group.rows) if len(group.rows) > 1 else ()
        for file, columns in group.columns.items():
            if "score" in columns and _names(group.rows[file]) in scored:
                own[file] = columns
                stem = NAMES.sub("", file.base)
                claimed[file] = Claim(
                    file, Kind.ROLLOUTS, file.folder, stem, beside=paths, fields=group.fields
                )
    skipped = {} if "score" in chosen else _no_attempts(own)
    others = {file: columns for file, columns in own.items() if file not in skipped}
    skipped |= dict.fromkeys(_repeated(others), REPEATS)
    skipped = {file: reason for file, reason in skipped.items() if file not in wanted}
    attempts = [
        one
        for group in documents
        for one in _attempts_alone(group, is_named=not group.rows.keys().isdisjoint(named))
    ]
    rest = {file: columns for file, columns in own.items() if file not in skipped}
    shown_by = [_shown(one, rest) for one in attempts]
    skipped |= dict.fromkeys(itertools.chain.from_iterable(filter(None, shown_by)), DOCUMENTS)
    of_models = _models_of_tasks(
        {file: columns for file, columns in rest.items() if file not in skipped}
    )
    for file, claim in claimed.items():
        folder, stem = of_models.get(file, (claim.folder, claim.stem))
        yield replace(claim, folder=folder, stem=stem, skipped=skipped.get(file))
    for one, shown in zip(attempts, shown_by, strict=True):
        for claim in one.claims():
            yield claim if shown is not None else replace(claim, skipped=UNDECIDED)


@dataclass(frozen=True)
class Group:
    """Tables, or documents of one attempt each, with most columns in common, and their first rows.

    `fields` are the chosen columns that they have.
    """

    rows: dict[ListedFile, list[Object]]
    columns: dict[ListedFile, Columns]
    fields: tuple[tuple[str, str], ...]

    def dispute(self) -> Dispute | None:
        """Two columns that judge the same attempts differently, if none is chosen."""
        rows_of: dict[Column, list[Object]] = defaultdict(list)
        for file, columns in self.columns.items():
            if "score" in columns:
                rows_of[columns["score"]] += self.rows[file]
        disputes = (dispute(rows, score) for score, rows in rows_of.items())
        return None if "score" in dict(self.fields) else next(filter(None, disputes), None)

    def has_scores(self) -> bool:
        """Whether a chosen column has any score, or any word that was chosen as the pass."""
        fields = dict(self.fields)
        needed = {1.0} if "pass" in fields else None
        return "score" not in fields or any(
            score is not None and (needed is None or score in needed)
            for file, columns in self.columns.items()
            for rows in (self.rows[file], (row for _, row in _placed(file.path, fields[ROWS])))
            for row in rows
            for score in [score_of(get(with_computed(row, columns), *columns["score"]))]
        )

    def scored(self, *, is_named: bool) -> set[frozenset[str]]:
        """The names of columns of those that are evaluations."""
        if self.dispute() or not self.has_scores():
            return set()
        return {
            _names(self.rows[file])
            for file, columns in self.columns.items()
            if "score" in columns and values_of(self.rows[file], columns["score"])
            if is_named or _is_evaluation(self.rows[file], columns)
        }


def _groups(
    files: Iterable[ListedFile], chosen: Mapping[str, str], *, is_by_words: bool = False
) -> tuple[list[Group], list[Group]]:
    """Tables, and documents that are one attempt each, with their columns.

    `is_by_words` says that a word for a pass makes a column the score where nothing else is.
    """
    samples = {file: sample(file.path, score=chosen.get("score", "")) for file in files}
    alone = {
        file: table
        for file, table in samples.items()
        if ending(file.path) == "json" and len(table) == 1 and not starts_list(file.path)
    }
    logs = {file: table for file, table in samples.items() if conversation(file.path)}
    if len(logs) >= FEWEST_DOCUMENTS:
        # One that ended before its first turn has its settings alone.
        names = _names([row for table in logs.values() for row in table])
        alone |= logs | {
            file: table
            for file, table in samples.items()
            if ending(file.path) == "jsonl" and len(table) == 1 and _names(table) <= names
        }
    others = {file: table for file, table in samples.items() if file not in alone}
    groups: tuple[list[Group], list[Group]] = ([], [])
    for place, tables in enumerate((others, alone)):
        for alike in _alike(tables, least=FEWEST_DOCUMENTS if tables is alone else 1):
            rows = [row for file in alike for row in tables[file]]
            known = _known(chosen, rows)
            if tables is others and "score" not in chosen:
                known |= _known(_score_by_figures(alike, samples), rows)
            if is_by_words and not {"score"} & (known.keys() | roles_of(rows, {}).keys()):
                known |= _known(word_that_passes(rows), rows)
            if tables is alone and "task" not in known and logs.keys() & set(alike):
                known |= _task_of_settings(rows)
            fields = tuple(sorted(known.items()))
            if tables is alone:
                columns = dict.fromkeys(alike, recognise(rows[:SAMPLED_ROWS], dict(fields)))
            else:
                together = _together(paths_of(alike), fields)
                columns = {file: together.columns[file.path] for file in alike}
            computed = {
                file: [with_computed(row, columns[file]) for row in tables[file]] for file in alike
            }
            groups[place].append(Group(computed, columns, fields))
    return groups


def _task_of_settings(rows: Sequence[Object]) -> dict[str, str]:
    """The name of the task of conversations, in which either side may begin in its own words.

    Of two that differ alike the shorter.
    """
    named = {
        name: {value for row in rows if (value := text(row, name))}
        for name in dict.fromkeys(itertools.chain.from_iterable(rows))
        if is_task_name((name,)) and all(text(row, name) for row in rows)
    }

    def rank(name: str) -> tuple[int, float]:
        return -len(named[name]), sum(map(len, named[name]))

    return {"task": min(named, key=rank)} if named else {}


def _known(chosen: Mapping[str, str], table: Sequence[Object]) -> dict[str, str]:
    """The chosen columns that a table has; without the chosen score none is guessed.

    Rows may be further down in a document: they are those that have the chosen score.
    """
    known = {
        role: name
        for role, name in chosen.items()
        if role in ("score", "pass") or _has_column(table, name)
    }
    return {**known, ROWS: chosen["score"]} if "score" in chosen else known


def _score_by_figures(
    tables: Sequence[ListedFile], samples: Mapping[ListedFile, list[Object]]
) -> dict[str, str]:
    """Of several columns that may be the score the one whose mean a summary has as the accuracy.

    Only if a summary in the folder of a table has that of one column alone.
    """
    sampled = [row for file in tables for row in samples[file]]
    first = roles_of(sampled, {}).get("score", ())
    may_be = [*([first] if first else []), *other_scores(sampled, first)]
    if len(may_be) < 2:
        return {}
    figures: dict[str, list[float]] = defaultdict(list)
    for file, table in samples.items():
        if file in tables:
            continue
        is_summary = len(table) == 1 or "model" in roles_of(table, {})
        if is_summary and _state(file.path)[0] <= LARGEST_SUMMARY:
            figures[file.folder] += itertools.chain.from_iterable(map(_figures, table))
    same: set[Column] = set()
    for file in tables:
        is_read = figures[file.folder] and _state(file.path)[0] <= LARGEST_COMPARED
        rows = [row for _, row in _placed(file.path)] if is_read else []
        for path in may_be if len(rows) >= LEAST_BESIDE else ():
            scores = [known for row in rows if (known := score_of(get(row, *path))) is not None]
            # Rows without a score may count as failed, or not at all.
            means = {sum(scores) / n for n in (len(rows), len(scores)) if n}
            # What all pass or fail may be the same of any column.
            if any(_is_share(one, mean) for one in figures[file.folder] for mean in means - {0, 1}):
                same.add(path)
    return {"score": ".".join(same.pop())} if len(same) == 1 else {}


def _is_share(figure: float, share: float) -> bool:
    """Whether a figure, perhaps in percent, is a share but for its last digit."""
    return any(abs(share - figure / scale) <= ROUNDED for scale in (1, 100))


def _figures(summary: Mapping[str, Any], depth: int = DEEPEST_FIGURE) -> Iterator[float]:
    """The numbers of a summary that are called like a mean of scores."""
    for name, value in summary.items():
        if isinstance(value, dict) and depth:
            yield from _figures(value, depth - 1)
        elif NAME_OF_FIGURE.fullmatch(plain(name)) and (known := number(value)) is not None:
            yield known


def _has_column(table: Sequence[Object], name: str) -> bool:
    path = tuple(name.split("."))
    return path in paths(table) or bool(values_of(table, path))


@dataclass(frozen=True)
class Attempts:
    """Documents that are one attempt each, with about the same columns."""

    rows: dict[ListedFile, Object]
    columns: Columns

    def claims(self) -> Claims:
        """The documents by the folders of their runs."""
        written = {role: ".".join(path) for role, path in self.columns.items()}
        if "verdict" in written:
            written |= {"score": written.pop("verdict"), "pass": chosen_pass(self.columns)}
        fields = tuple(sorted(written.items()))
        if of_runs := self._columns_of_runs():
            fields += ((RUNS, "\n".join(map(".".join, of_runs))),)
        scores = {file: get(row, *self.columns["score"]) for file, row in self.rows.items()}
        values = [value for value in scores.values() if value not in (None, "")]
        judged = [file.path for file, value in scores.items() if score_of(value) is not None]
        beside = judged[:2] if are_words(values) else []
        folders = self._folders_of_runs()
        for file, row in self.rows.items():
            # An index or a summary beside them has none of these.
            has_any = any(
                values_of([row], self.columns[role])
                for role in ("score", "task", "messages")
                if role in self.columns
            )
            if has_any:
                above, _, stem = folders[file].rpartition("/")
                others = tuple(dict.fromkeys((file.path, *beside))) if beside else ()
                yield Claim(file, Kind.ROLLOUTS, above, stem, beside=others, fields=fields)

    def _columns_of_runs(self) -> list[Column]:
        folders = self._folders_of_runs()
        return columns_of_runs(
            lambda: ((folders[file], row, self.columns) for file, row in self.rows.items())
        )

    def _folders_of_runs(self) -> dict[ListedFile, str]:
        """The folder of each document, without the names in it that say of which task it is."""
        return {
            file: folder
            for depth in {file.folder.count("/") for file in self.rows}
            for file, folder in self._folders_at(
                {file: row for file, row in self.rows.items() if file.folder.count("/") == depth}
            ).items()
        }

    def _folders_at(self, rows: Mapping[ListedFile, Object]) -> dict[ListedFile, str]:
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
        places: list[int] = []
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
        # A number, often a time, that goes with a name in words says nothing more.
        columns = list(zip(*names.values(), strict=True))
        words = [place for place in places if not all(name.isdigit() for name in columns[place])]
        places = [
            place
            for place in places
            if place in words
            or all(
                len(set(columns[other])) < len({*zip(columns[other], columns[place], strict=True)})
                for other in words
            )
        ]
        return {file: "/".join(names[file][place] for place in places) for file in rows}

    def _is_repeat(self, named: Sequence[tuple[Object, str]]) -> bool:
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
        rows = ({**row, FOLDER: folders[file]} for file, row in self.rows.items())
        of_runs = [(FOLDER,), *self._columns_of_runs()]
        return "repeat" in self.columns and is_numbering(rows, self.columns, of_runs)


def _attempts_alone(group: Group, *, is_named: bool) -> Iterator[Attempts]:
    """The documents that are an evaluation together.

    Alone in their folders they must say their tasks, and pass or fail: others are parts of an
    attempt, or sum up a run.
    """
    rows = {file: row for file, (row,) in group.rows.items()}
    table = list(rows.values())
    columns = next(iter(group.columns.values()))
    if len(rows) < FEWEST_DOCUMENTS or "score" not in columns or group.dispute():
        return
    if not group.has_scores():
        return
    scores = set(scores_of_values(values_of(table, columns["score"])))
    if not scores or not (is_named or _is_evaluation(table, columns)):
        return
    is_alone = 2 * len({file.folder for file in rows}) > len(rows)
    says_task = bool(columns.keys() & {"prompt", "messages"}) or (
        is_task_name(columns.get("task", ("",)))
        and plain(columns["task"][-1]) not in NAMES_OF_ANYTHING
    )
    if is_named or not is_alone or (says_task and scores <= {None, 0, 1}):
        # A number that other folders have, too, numbers the repeats within each of them.
        roles = roles_of(table[:SAMPLED_ROWS], dict(group.fields))
        by_folder = Attempts(rows, {**roles, **columns})
        yield by_folder if by_folder.are_numbered() else Attempts(rows, columns)


def _shown(one: Attempts, tables: Mapping[ListedFile, Columns]) -> set[ListedFile] | None:
    """The tables whose rows are all among these documents; None if tables have other attempts.

    Then nothing says which documents are of attempts that are rows as well.
    """
    of_documents = _attempts(one.rows.values(), one.columns)
    models = _models(one.rows.values(), one.columns)
    alike: dict[ListedFile, Counter[Any]] = {}
    for file, columns in tables.items():
        rows = [with_computed(row, columns) for _, row in _placed(file.path)]
        of_table = _attempts(rows, columns)
        theirs = _models(rows, columns)
        if models and theirs and models.isdisjoint(theirs):
            continue
        # By prompts in one and by tasks in the other they cannot be compared.
        kinds, tasks = ({attempt[:n] for attempt in of_documents} for n in (1, 2))
        if any(attempt[:1] not in kinds or attempt[:2] in tasks for attempt in of_table):
            alike[file] = of_table
    # Two summaries of the same documents are one.
    distinct = {frozenset(of_table.items()): of_table for of_table in alike.values()}
    return set(alike) if sum(distinct.values(), Counter()) <= of_documents else None


def _attempts(rows: Iterable[Object], columns: Columns) -> Counter[Any]:
    """How often there is a score at a task, or without tasks at what is asked."""
    role = next((one for one in ("task", "prompt") if one in columns), "")
    tasks = ((row, get(row, *columns[role]) if role else None) for row in rows)
    return Counter(
        (role, text(task) or as_json(task), score_of(get(row, *columns["score"])))
        for row, task in tasks
    )


def _models(rows: Iterable[Object], columns: Columns) -> set[str]:
    paths_of = [columns[role] for role in ("model", "agent") if role in columns]
    return {word for row in rows for path in paths_of if (word := text(row, *path))}


def _names(table: Sequence[Object]) -> frozenset[str]:
    return frozenset(name for row in table for name in row)


def _alike(samples: Mapping[ListedFile, list[Object]], *, least: int) -> list[list[ListedFile]]:
    """The files that have most columns in common, or in one folder one all columns of another.

    The latter only if there are so many with the columns of one of them.
    """
    files_of: dict[tuple[str, frozenset[str]], list[ListedFile]] = defaultdict(list)
    for file, table in samples.items():
        files_of[file.folder, _names(table)].append(file)
    groups: list[list[tuple[str, frozenset[str]]]] = []
    for folder, own in files_of:
        near = [
            group
            for group in groups
            if any(
                len(own ^ other) <= len(own & other)
                or (
                    folder == of_other
                    and (own <= other or other <= own)
                    and least <= max(len(files_of[one]) for one in ((folder, own), (folder, other)))
                )
                for of_other, other in group
            )
        ]
        groups = [group for group in groups if group not in near]
        groups.append([*itertools.chain.from_iterable(near), (folder, own)])
    return [
        sorted((file for kind in group for file in files_of[kind]), key=lambda file: file.name)
        for group in groups
    ]


@dataclass(frozen=True)
class Together:
    """What tables with about the same columns are read as, and their rows that repeat another's.

    `is_word` says that the scores are words for true and false.
    """

    columns: dict[Path, Columns]
    is_word: bool
    copies: dict[Path, dict[int, str]]


def _together(tables: Sequence[Path], chosen: tuple[tuple[str, str], ...]) -> Together:
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
    fields.pop(RUNS, "")
    wanted = fields.pop(ROWS, "")
    tables = {path: sample(path, score=wanted) for path, _, _ in files}
    columns = _columns_of(tables, fields)
    scores = itertools.chain.from_iterable(
        values_of(tables[path], by_role["score"])
        for path, by_role in columns.items()
        if "score" in by_role
    )
    copies = _copies(columns, wanted, is_strict=True)
    return Together(columns, are_words(list(scores)), copies)


def _placed(
    path: Path, wanted: str = "", n_entries: int | None = None
) -> Iterator[tuple[int, Object]]:
    """The rows of a table with their places, until it is damaged."""
    with suppress(OSError, ValueError, EOFError):
        for place, entry in enumerate(itertools.islice(entries(path, wanted), n_entries)):
            if isinstance(entry, dict):
                yield place, entry


def _columns_of(
    tables: Mapping[Path, list[Object]], chosen: Mapping[str, str]
) -> dict[Path, Columns]:
    """The columns of each table: where tables disagree, as all their rows say."""
    columns = {path: roles_of(table, chosen) for path, table in tables.items()}
    if _is_disputed(tables, columns):
        rows = list(itertools.chain.from_iterable(tables.values()))
        of_all = roles_of(rows, chosen)
        columns = {
            path: {
                role: column
                for role, column in of_all.items()
                if role in chosen or column == (OF_GRADER,) or values_of(table, column)
            }
            for path, table in tables.items()
        }
    scores = {by_role["score"] for by_role in columns.values() if "score" in by_role}
    if "score" in chosen or len(scores) != 1:
        return columns
    (score,) = scores
    for path, table in tables.items():
        # Where no attempt has a verdict, or none that is clear, the other tables say which column
        # has it.
        values = values_of(table, score)
        if score in paths(table) and (not values or None not in scores_of_values(values)):
            columns[path]["score"] = score
    return columns


def _is_disputed(tables: Mapping[Path, list[Object]], columns: Mapping[Path, Columns]) -> bool:
    """Whether a column has a role in one table, and values and another role in a second one."""
    known = {one for by_role in columns.values() for one in by_role.items() if one[0] != "repeat"}
    return any(
        columns[path].get(role) != column and bool(values_of(table, column))
        for path, table in tables.items()
        for role, column in sorted(known)
    )


def _copies(
    tables: Mapping[Path, Columns], wanted: str, *, is_strict: bool
) -> dict[Path, dict[int, str]]:
    """By place the rows that repeat one of another table, and which one that is.

    Both have a measured value or an answer that no other row of their tables has, and cells of one
    name are equal. If it is to be strict, only a time or a duration of one task shows that:
    verdicts and answers alone may be those of another run, as may a few readings of a coarse clock.
    If not, one that has another score than the row of which it is the same otherwise is none of it,
    and is given with an empty name.
    """
    if len(tables) < 2 or sum(_state(path)[0] for path in tables) > LARGEST_COMPARED:
        return {}

    def marks(path: Path, row: Object) -> set[Any]:
        return set(_marks(row, tables[path], is_strict=is_strict))

    n_rows_with = {
        path: Counter(mark for _, row in _placed(path, wanted) for mark in marks(path, row))
        for path in tables
    }
    single = (mark for counts in n_rows_with.values() for mark, n in counts.items() if n == 1)
    shared = {mark for mark, n_tables in Counter(single).items() if n_tables > 1}
    copies: dict[Path, dict[int, str]] = {}
    originals: dict[Any, list[tuple[Object, Path, int]]] = defaultdict(list)
    n_rows = {path: sum(1 for _ in _placed(path, wanted)) for path in tables if shared}
    # The table with the most columns has the originals; of those the largest that is no draft.
    ordered = sorted(
        tables,
        key=lambda path: (
            -len(_names(sample(path, score=wanted))),
            not OF_DRAFTS.isdisjoint(plain(path.stem).split("_")),
            -_state(path)[0],
            path,
        ),
    )
    for path in ordered if shared else ():
        own: list[tuple[Any, Object, int]] = []
        places_in: dict[Path, dict[int, str]] = defaultdict(dict)
        score = "".join(f".{plain(name)}" for name in tables[path].get("score", ()))
        for place, row in _placed(path, wanted):
            of_row = {mark for mark in marks(path, row) & shared if n_rows_with[path][mark] == 1}
            if not of_row:
                continue
            cells = dict(_cells(row))
            own += ((mark, cells, place) for mark in of_row)
            rest = {name: value for name, value in cells.items() if name != score}
            same = [one for mark in sorted(of_row, key=str) for one in originals.get(mark, ())]
            for others, other, other_place in same:
                if _agree(cells, others):
                    places_in[other][place] = f"{other.name}:{other_place + 1}"
                elif not is_strict and _agree(rest, others):
                    places_in[other].setdefault(place, "")
        own_copies: dict[int, str] = {}
        for other, places in places_in.items():
            if not is_strict or 2 * len(places) >= min(n_rows[path], n_rows[other]):
                own_copies |= {at: name or own_copies.get(at, "") for at, name in places.items()}
        if own_copies:
            copies[path] = own_copies
        for mark, cells, place in own:
            if not own_copies.get(place):
                originals[mark].append((cells, path, place))
    return copies


def _cells(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """The values of a row by their names, as they can be compared between kinds of files."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from _cells(one, f"{name}.{plain(str(key))}")
    elif value not in (None, "", []):
        known = score_of(value)
        yield name, as_json(value) if known is None else round(known, COMPARED_DIGITS)


def _agree(cells: Mapping[str, Any], others: Mapping[str, Any]) -> bool:
    return all(others[name] == value for name, value in cells.items() if name in others)


def _marks(row: Object, columns: Columns, *, is_strict: bool) -> Iterator[Any]:
    """What hardly two attempts have in common: times, fractions, and texts that a model wrote."""
    asked_by = next((columns[role] for role in ("task", "prompt") if role in columns), ())
    task = as_json(get(row, *asked_by)) if asked_by else ""
    for name, value in row.items():
        is_measured = (
            isinstance(value, float) and value % 1 and (not is_strict or is_duration(name))
        )
        if is_time(value) or is_measured:
            yield (
                (value, task)
                if is_strict
                else value
                if is_time(value)
                else round(value, COMPARED_DIGITS)
            )
    if is_strict:
        return
    texts = [get(row, *columns[role]) for role in ("output", "messages") if role in columns]
    texts += [row[name] for name in row if (name,) not in columns.values() and _is_written(name)]
    for written in map(as_json, texts):
        if len(written) >= LEAST_TEXT:
            yield hash(written)


def _is_written(name: str) -> bool:
    """Whether a column is called like what a model wrote, as `raw_response` or its hash."""
    return not OF_OUTPUT.isdisjoint(plain(name).split("_")) and not is_key_name(name)


def _no_attempts(tables: Mapping[ListedFile, Columns]) -> dict[ListedFile, str]:
    """The tables that are questions or calls, beside others with outputs and what judged them."""
    reasons = {
        file: reason
        for file, columns in tables.items()
        if (reason := _instead_of_attempts(sample(file.path), columns))
    }
    is_judged = any(
        columns.keys() & {"output", "messages"} and is_graded(columns["score"])
        for file, columns in tables.items()
        if file not in reasons
    )
    return reasons if is_judged else {}


def _instead_of_attempts(table: Sequence[Object], columns: Columns) -> str | None:
    """What rows are that have a score by its name: questions with keys, calls, or sums of attempts.

    No column has what the subject wrote, and an object that is no result or few of the rows have
    the score; or what is called a success is that there was no error; or the score is not of one
    attempt, beside how many it is of.
    """
    names = {name for (name, *rest) in paths(table) if not rest}
    score = columns["score"]
    has_answers = columns.keys() & {"output", "messages"} or any(
        plain(name) in ANSWERS or plain(name).rpartition("_")[2] in OF_OUTPUT for name in names
    )
    is_of_result = len(score) == 1 or is_graded(score[:1]) or plain(score[0]) in OF_RESULTS
    is_rare = 2 * len(values_of(table, score)) < len(table)
    is_asked = {"prompt", "key"} <= columns.keys() and not has_answers
    if is_asked and (is_rare or not is_of_result):
        return QUESTIONS
    totals = [name for name in names if plain(name) in OF_TOTALS]
    is_of_several = any(
        number(row.get(name)) not in (None, 0, 1) for name in totals for row in table
    )
    scored = set(scores_of_values(values_of(table, score)))
    if is_of_several and not columns.keys() & {"output", "messages"} and not scored <= {None, 0, 1}:
        return TOTALS
    errors = [name for name in names if plain(name) in NAMES_OF_ERRORS]
    is_call = "key" not in columns and plain(score[-1]) in NAMES_OF_ENDS
    return (
        CALLS
        if is_call
        and any(
            all(score_of(get(row, *score)) == float(not row.get(name)) for row in table)
            for name in errors
        )
        else None
    )


def _repeated(tables: Mapping[ListedFile, Columns]) -> set[ListedFile]:
    """The tables whose rows are nearly all in others, or which are a part or form of another.

    A table with other grades for the same answers is none of these.
    """
    n_rows = {file: sum(1 for _ in _placed(file.path)) for file in tables}
    columns_of = {file.path: one for file, one in tables.items()}
    timed = _copies(columns_of, "", is_strict=True)
    copies = _copies(columns_of, "", is_strict=False)
    copied = {
        file: list(originals.values())
        for file in tables
        if len(originals := copies.get(file.path, {})) >= LEAST_REPEATED and all(originals.values())
    }
    repeated = {file for file, names in copied.items() if len(names) >= NEARLY_ALL * n_rows[file]}
    repeated |= {file for file in tables if len(timed.get(file.path, {})) == n_rows[file] > 0}
    if sum(_state(file.path)[0] for file in tables) > LARGEST_COMPARED:
        return repeated

    def rows_of(file: ListedFile, among: Collection[str] = ()) -> set[int]:
        rows = (sorted(_cells(row)) for _, row in _placed(file.path))
        return {
            hash(as_json([cell for cell in row if not among or cell[0] in among])) for row in rows
        }

    rows = {file: rows_of(file) for file in tables.keys() - repeated}
    for file, other in itertools.permutations(sorted(rows, key=lambda file: file.name), 2):
        is_form = NAMES.sub("", file.name) == NAMES.sub("", other.name) and other.name < file.name
        if (
            file.folder == other.folder
            and len(rows[file]) >= LEAST_REPEATED
            and (rows[file] < rows[other] or (is_form and rows[file] == rows[other]))
        ):
            repeated.add(file)
    for file in sorted(copied.keys() - repeated, key=lambda file: file.name):
        # Where many answers are alike, few are of a single row: then all rows are compared, with
        # those of the tables that have most of these.
        columns = {name for _, row in _placed(file.path) for name, _ in _cells(row)}
        n_of_name = Counter(name.rpartition(":")[0] for name in copied[file])
        others = [
            other
            for other in rows.keys() - repeated - {file}
            if n_of_name[other.path.name] == max(n_of_name.values())
        ]
        if any(rows[file] <= rows_of(other, columns) for other in others):
            repeated.add(file)
    return repeated


def _models_of_tasks(tables: Mapping[ListedFile, Columns]) -> dict[ListedFile, tuple[str, str]]:
    """The folder and name of each run, where every table has one task of one model.

    Each is then a part of the run of its model.
    """
    parts: dict[ListedFile, tuple[str, str]] = {}
    for file, columns in tables.items():
        rows = sample(file.path)
        models = _models(rows, columns)
        tasks = {task for _, task, _ in _attempts(rows, columns)}
        if len(models) != 1 or len(tasks) != 1 or not {"task", "repeat"} <= columns.keys():
            return {}
        parts[file] = models.pop(), tasks.pop()
    n_tasks = Counter(model for model, _ in parts.values())
    if len(set(parts.values())) < len(parts) or max(n_tasks.values(), default=1) < 2:
        return {}
    folder = os.path.commonpath([f"/{file.folder}" for file in parts]).removeprefix("/")
    return {file: (folder, model.replace("/", "_")) for file, (model, _) in parts.items()}


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


def _is_of_gym(row: Object) -> bool:
    return "reward" in row or bool(fields(row, "response").keys() & RESPONSE_OF_GYM)


def refused(files: Files, chosen: Mapping[str, str]) -> InputError:
    """Why none of these tables is read, with the columns of one, and what would help.

    The one has a column that could be the score; of several such tables it is the largest.
    """
    tables = {file: sample(file.path) for file in files}
    scores_of_file = {file: _proposed(file.path, tables[file]) for file in files}

    def rank(file: ListedFile) -> tuple[bool, bool, int]:
        return not scores_of_file[file], len(tables[file]) < 2, -_state(file.path)[0]

    unscored_by = {file: words for file in files if (words := _unscored_words(file, chosen))}
    file = min(unscored_by or files, key=rank)
    table, scores = tables[file], scores_of_file[file]
    alike = next(group for group in _alike(tables, least=1) if file in group)
    rows = [row for one in alike for row in tables[one]]
    numbers = [name for name in map(".".join, numbered_scores(rows)) if name not in scores]
    judged = [name for name in numbers if is_judged((name,))] if scores else []
    verdicts = [] if scores else possible_verdicts(table)
    # Any column that is true and false may be the score, where no column is named like one.
    named = scores or [name for name in possible_scores(table) if not is_key_name(name)]
    example = (
        f", for example: --field score={named[0]}" if named else " with --field, if it has one"
    )
    hint = f"Name the column with the score (numbers, true and false, pass and fail){example}"
    if numbers:
        are_listed = ", ".join(numbers[:FEW_LISTED]) + ", ..." * (len(numbers) > FEW_LISTED)
        hint += f"; columns of numbers that are named like scores: {are_listed}"
    if verdicts:
        column, words = verdicts[0]
        hint = (
            "Name the column with the score, and if it has words the one that passes, for example: "
            f"--field score={column} --field pass=WORD, one of {', '.join(words)}"
        )
    if unknown := unknown_columns(files, chosen):
        reason = f"no column named {', '.join(unknown)}"
    elif unscored_by:
        column, word = chosen["score"], chosen.get("pass")
        why = f"no {word}" if word else "no number, true and false, or pass and fail"
        reason = f"{why} in the column {column}, which has {', '.join(unscored_by[file])}"
        hint = f"Name the word that passes: --field score={column} --field pass=WORD"
    elif disputed := _disputed(files, chosen):
        reason = disputed.reason
        hint = (
            "One may be what the agent says of itself. Name the one that judges: "
            f"--field score={disputed.score} or --field score={disputed.other}"
        )
    elif counts := _counts(table):
        reason = counts
    elif len(several := [*scores, *judged]) > 1:
        reason = f"several columns that may be the score ({', '.join(several)})"
    elif "score" in recognise(table, {}):
        reason = NOT_ATTEMPTS.removeprefix("has ")
        hint = "Name what identifies a task: --field task=COLUMN; of several columns make one"
    else:
        reason = "no column of scores"
    more = f" and {len(alike) - 1} more" * (len(alike) > 1)
    message = f"{file.name}{more}: a table with {reason}; its columns are {_listing(table)}."
    kinds = defaultdict(list)
    for other in files:
        if other not in alike and _listing(tables[other]) != _listing(table):
            kinds[_listing(tables[other])].append(other.name)
    for listing, others in list(kinds.items())[:MOST_KINDS]:
        more = f" and {len(others) - 1} more" * (len(others) > 1)
        columns = listing.removesuffix(", ...").split(", ")
        shown = ", ".join(columns[:FEW_LISTED]) + ", ..." * (len(columns) > FEW_LISTED)
        message += f"\n       {others[0]}{more}: {shown}"
    return InputError(message, hint=hint)


def _unscored_words(file: ListedFile, chosen: Mapping[str, str]) -> list[str]:
    """The values of a chosen column of which none is a score, or the word chosen as the pass."""
    if "score" not in chosen:
        return []
    columns = roles_of([], {role: chosen[role] for role in ("score", "pass") if role in chosen})
    table = sample(file.path, score=chosen["score"])
    scores = (score_of(get(with_computed(row, columns), *columns["score"])) for row in table)
    is_scored = any(scores) if "pass" in chosen else any(score is not None for score in scores)
    values = values_of(table, columns.get("verdict", columns["score"]))
    words = sorted({" ".join(as_json(value).strip('"').split())[:LONGEST_WORD] for value in values})
    more = [f"{len(words) - MOST_LISTED} more"] if len(words) > MOST_LISTED else []
    return [] if is_scored else [*words[:MOST_LISTED], *more]


def _listing(table: Sequence[Object]) -> str:
    """The columns as a user may name them; objects with many fields by their own names alone."""
    n_below = Counter(path[0] for path in paths(table) if len(path) > 1)
    names = [".".join(path) for path in paths(table) if n_below[path[0]] * len(path) <= MOST_LISTED]
    return ", ".join(names[:MOST_LISTED]) + ", ..." * (len(names) > MOST_LISTED)


def _proposed(path: Path, table: Sequence[Object]) -> list[str]:
    """The columns that would be read if one is chosen as the score, the likeliest first.

    They are of the rows, or of rows further down in the document.
    """
    below = rows_below(path) if ending(path) == "json" and len(table) < 2 else []
    for rows in (table, *below):
        verdicts = possible_scores(rows[:SAMPLED_ROWS]) if len(rows) > 1 else []
        verdicts = [name for name in verdicts if not is_key_name(name)]
        named = [name for name in verdicts if ends_like_score(name)]
        tried = named or (verdicts[:MOST_KINDS] if rows is not table else [])
        scores = [
            name for name in tried if values_of(sample(path, score=name), tuple(name.split(".")))
        ]
        if scores:
            return scores
    return []


def unscored(file: ListedFile) -> str | None:
    """Why a table is not read, beside others that are; None if it is not a table of rows."""
    table = sample(file.path)
    if ending(file.path) == "json" and not starts_list(file.path):
        (document,) = table if len(table) == 1 else ({},)
        is_several = len(lists_of_rows(document)) > 1
        empty = [name for name in LISTS if document.get(name) == []]
        if empty and any(plain(name) in OF_RUNS for name in document):
            return f"has no attempts: its `{empty[0]}` are empty"
        return "has lists of rows, and says of none what it is of" if is_several else None
    if counts := _counts(table):
        return f"has {counts}"
    if disputed := _disputed([file], {}):
        return f"has {disputed.reason}; name one with --field"
    if not table:
        return None
    if "score" in recognise(table, {}):
        return NOT_ATTEMPTS
    several = [
        name
        for (name, *rest) in paths(table)
        if not rest and ends_like_score(name) and not is_key_name(name)
        if set(scores_of_values(values_of(table, (name,)))) in ({0}, {1}, {0, 1})
    ]
    if several:
        listed = ", ".join(several[:FEW_LISTED])
        reason = f"is a table of which no column is sure to be the score; {listed} may be it"
        return f"{reason}; name one with --field score={several[0]}"
    flags = [name for name in table[0] if all(isinstance(row.get(name), bool) for row in table)]
    if flags:
        are_flags = f"{', '.join(flags[:FEW_LISTED])} {'is' if len(flags) == 1 else 'are'}"
        reason = f"is a table of which no column is sure to be the score; {are_flags} true or false"
    else:
        reason = "is a table without a column of scores"
    return f"{reason}; if one has them, name it with --field"


def beside_results(file: ListedFile) -> str | None:
    """What a table has that is not read because a harness's results are; None if nothing."""
    table = sample(file.path)
    is_named = len(table) >= LEAST_BESIDE and has_verdicts(table)
    return (
        "has rows with scores, of no harness; analyze it alone to read them" if is_named else None
    )


def unknown_columns(files: Iterable[ListedFile], chosen: Mapping[str, str]) -> list[str]:
    score = chosen.get("score", "")
    tables = [sample(file.path, score=score) for file in files] if chosen else []
    return [
        f"`{name}`"
        for role, name in chosen.items()
        if role != "pass" and not any(_has_column(table, name) for table in tables)
    ]


def _disputed(files: Iterable[ListedFile], chosen: Mapping[str, str]) -> Dispute | None:
    """Why tables are not read that would be without a second column of verdicts."""
    groups = itertools.chain.from_iterable(_groups(files, chosen))
    return next(filter(None, (group.dispute() for group in groups)), None)


def _counts(table: Sequence[Object]) -> str | None:
    names = (path[0] for path in paths(table) if len(path) == 1 and is_count_of_passes(path[0]))
    name = next((name for name in names if values_of(table, (name,))), None)
    return None if name is None else f"counts of passes ({name}), not a verdict of each attempt"


def _is_evaluation(table: Sequence[Object], columns: Columns) -> bool:
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
    """How a table is read: the column of each role, those of runs, rows that repeat another's.

    `turns` has the place of the last turn of an attempt by the place of each, where rows are turns.
    """

    by_role: Columns
    of_runs: list[Column]
    description: str
    is_word: bool
    copies: dict[int, str]
    turns: dict[int, int]


def _columns(artifact: Artifact) -> TableColumns:
    """The columns by the first rows, and by what holds in all of them.

    A column numbers repeats only if no later row of the run repeats a number as well.
    """
    tables = artifact.beside or (artifact.path,)
    together = _together(tables, artifact.fields)
    columns = dict(together.columns[artifact.path])
    chosen = dict(artifact.fields)
    rows_read = sample(artifact.path, score=chosen.get(ROWS, ""))
    named = [tuple(name.split(".")) for name in chosen.get(RUNS, "").split("\n") if name]
    of_runs = [
        path
        for path in (named or _runs(_states(tables), artifact.fields))
        if values_of(rows_read, path)
    ]
    turn, turns = _turns(_states(tables), artifact.fields)
    if columns.get("repeat") == turn:
        del columns["repeat"]
    if "repeat" in columns and "repeat" not in chosen:
        is_numbered = False
        with suppress(OSError, ValueError, EOFError):  # reading it all makes the reject
            own = turns.get(artifact.path, {})
            rows = (
                with_computed(row, columns)
                for place, row in enumerate(_entries(artifact))
                if isinstance(row, dict) and own.get(place, place) == place
            )
            is_numbered = is_numbering(rows, columns, of_runs)
        if not is_numbered:
            del columns["repeat"]
    table = [with_computed(row, columns) for row in rows_read]
    description = described(columns, of_runs, table, turn=turn, is_word=together.is_word)
    copies = together.copies.get(artifact.path, {})
    return TableColumns(
        columns, of_runs, description, together.is_word, copies, turns.get(artifact.path, {})
    )


@lru_cache(maxsize=256)
def _runs(
    files: tuple[tuple[Path, int, int], ...], chosen: tuple[tuple[str, str], ...]
) -> list[Column]:
    columns = _decided(files, chosen).columns
    return columns_of_runs(
        lambda: (
            (path, with_computed(row, columns[path]), columns[path])
            for path in columns
            for _, row in _placed(path, dict(chosen).get(ROWS, ""))
        )
    )


@lru_cache(maxsize=256)
def _turns(
    files: tuple[tuple[Path, int, int], ...], chosen: tuple[tuple[str, str], ...]
) -> tuple[Column, dict[Path, dict[int, int]]]:
    """The column that numbers the turns of attempts, and the last place of each by all places."""
    together = _decided(files, chosen)
    wanted = dict(chosen).get(ROWS, "")
    named = [
        {name for name in _names(sample(path, score=wanted)) if plain(name) in TURN_NUMBERS}
        for path in together.columns
    ]
    for name in sorted(set.intersection(*named) - set(dict(chosen).values())):
        attempts = {
            path: turns_of(
                ((place, with_computed(row, columns)) for place, row in _placed(path, wanted)),
                columns,
                _runs(files, chosen),
                (name,),
            )
            for path, columns in together.columns.items()
            if "score" in columns and columns.keys() & {"task", "prompt"}
        }
        if all(attempts.values()) and end_with_passes(itertools.chain(*attempts.values())):
            return (name,), {
                path: {place: rows[-1][0] for rows in own for place, _ in rows}
                for path, own in attempts.items()
            }
    return (), {}


def _entries(artifact: Artifact) -> Iterator[Entry]:
    return entries(artifact.path, dict(artifact.fields).get(ROWS, ""))


def read(artifact: Artifact) -> Readings:
    columns = _columns(artifact)
    yield Setting("read_as", columns.description)
    yield from _settings(artifact.path)
    turns: dict[int, list[Row]] = defaultdict(list)
    for place, entry in enumerate(_entries(artifact)):
        last = columns.turns.get(place, place)
        if original := columns.copies.get(place):
            yield Reject(f"repeats the row {original}")
        elif not isinstance(entry, dict):
            yield entry
        elif _is_summary(entry, columns.by_role):
            yield Reject("a summary, no attempt: numbers alone, in no column of the other rows")
        elif last != place:
            turns[last].append(_attempt(entry, columns, place))
            yield Line()
        elif place in columns.turns:
            yield _of_turns([*turns.pop(place, []), _attempt(entry, columns, place)])
        else:
            yield _attempt(entry, columns, place)


def _is_summary(row: Object, columns: Columns) -> bool:
    """Whether a row has numbers alone, and nothing of what the others say of an attempt."""
    is_of_attempt = any(get(row, *path) is not None for path in columns.values())
    return (
        bool(row) and not is_of_attempt and all(number(value) is not None for value in row.values())
    )


def _settings(path: Path) -> Iterator[Setting]:
    """What a document says of how its rows were made: in an object, or beside a list of them."""
    begun = head(path)
    if ending(path) != "json" or is_list(begun):
        return
    listed = listed_name(begun)
    if listed is None and (starts_list(path) or not SETTINGS.search(begun)):
        return
    with suppress(OSError, ValueError, EOFError):  # reading its rows makes the reject
        for key, value in packed.fields(path, listed or ""):
            if key == listed:
                return
            if key in OBJECTS_OF_SETTINGS and isinstance(value, dict):
                settings = value
            else:
                is_beside = listed is not None and _is_setting(key, value)
                settings = {key: NOT_SET if value is None else value} if is_beside else {}
            for name, written in recorded(settings):
                # What has a meaning of ours is not a stranger's to set.
                if name not in OWN_SETTINGS and not name.startswith(("log_", "task_args.")):
                    yield Setting(name, written)


def _is_setting(name: str, value: Any) -> bool:
    """Whether a value beside rows may be a setting: a switch, a short text, or nothing instead.

    A number is one only by its name, as `temperature`; a date is none.
    """
    words = set(plain(name).split("_"))
    if plain(name) in OF_RUNS or words & NOT_SETTINGS or is_score_name((name,)):
        return False
    if isinstance(value, str):
        is_other = score_of(value) is not None or DATE.match(value) or "\n" in value
        return 0 < len(value) <= LONGEST_SETTING and not is_other
    is_known = isinstance(value, int | float) and plain(name) in SETTING_NAMES
    return is_known or (isinstance(value, bool | None) and not ends_like_score(name))


def _attempt(row: Object, table: TableColumns, place: int) -> Row:
    columns = table.by_role
    row = with_computed(row, columns)
    cells = {role: get(row, *path) for role, path in columns.items()}
    request, response_items = _transcript(row, cells)
    reward = score_of(cells["score"], is_word=table.is_word)
    model, agent = text(cells, "model"), text(cells, "agent")
    of_runs = (_condition(row, path) for path in table.of_runs)
    response = {
        "model": model,
        "usage": without_empty({"cost": _cost(row), **_usage(row, cells)}),
        "error": {"message": error} if (error := text(row, "error")) else None,
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
        "finish_reason": next((text(row[one]) for one in row if plain(one) in STOP_REASONS), None),
        **scores_of(_scores(row, columns, reward), ".".join(columns["score"])),
        "responses_create_params": without_empty(input=request, model=model),
        "response": {"object": "response", **without_empty(response), **response_items},
    }
    return Row(
        {"reward": reward, **without_empty(value), **_answer(row)},
        variant=" ".join(name for name in (agent, model, *of_runs) if name) or None,
        benchmark=text(cells, "benchmark"),
        # A chat that begins with an answer, or a table without prompts: the id says what was asked.
        question=None if request else text(cells, "task"),
    )


def _of_turns(turns: Sequence[Row]) -> Row:
    """The last turn of an attempt with what was asked, answered and spent in all, first to last.

    What the first one scored is a score, too.
    """
    first, last = turns[0], turns[-1]
    request = get(first.value, "responses_create_params", "input")
    output: list[Any] = []
    for one in turns:
        again = items(one.value, "responses_create_params", "input")
        output += [{"type": "message", **each} for each in again] if again != request else []
        output += items(one.value, "response", "output")
    usages = [fields(one.value, "response", "usage") for one in turns]
    usage = {name: total(number(one, name) for one in usages) for name in usages[-1]}
    response = {
        **last.value["response"],
        **without_empty(usage=usage),
        **({"output": output} if "output" in last.value["response"] else {}),
    }
    value = {
        **last.value,
        **without_empty(total_run_time=total(number(one.value, "total_run_time") for one in turns)),
        "responses_create_params": first.value["responses_create_params"],
        "response": response,
        "scores": [
            *items(last.value, "scores"),
            {"name": FIRST_TURN, "score": first.value["reward"]},
        ],
    }
    return replace(last, value=value, question=first.question)


def _condition(row: Object, path: Column) -> str | None:
    """A value by which runs differ; a number needs its name, a switch that is on has it."""
    value = get(row, *path)
    if isinstance(value, bool) and len(path) > 1:
        return path[-1] if value else None
    is_named = len(path) == 1 or value is None or isinstance(value, str)
    return text(value) if is_named else f"{path[-1]}={as_json(value)}"


def _transcript(row: Object, cells: Object) -> tuple[list[Object], Object]:
    """What was asked, and `output`: what followed; without a column of it, there is none."""
    prompt, output = cells.get("prompt"), cells.get("output")
    if listed := messages_of(cells.get("messages")):
        prompt = question(listed)
        output = listed[len(prompt) :] or output
    request = list(chat(_content(prompt), "user")) if prompt else []
    if output is None:
        return request, {}
    choices = items(output, "choices") or items(output)
    if isinstance(get(choices, 0, "message"), dict):
        output = [get(choices, 0, "message")]
    response_items = list(chat(_content(output)))
    if calls := items(row, "tool_calls"):
        response_items += chat([{"role": "assistant", "tool_calls": calls}])
    return request, {"output": response_items}


def _content(value: Any) -> Any:
    """Messages as they are, text as text, also the only one of a list; anything else as JSON."""
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
        return value[0]
    is_known = isinstance(value, str) or bool(listed_messages(value))
    return value if is_known else as_json(value)


def _task_id(cells: Object, request: list[Object], place: int) -> Any:
    """The id of the task; without one a hash of the question, else the place of the row."""
    if "task" in cells:
        return cells["task"]
    if request:
        return hashlib.sha256(as_json(request).encode("utf-8", "replace")).hexdigest()[:12]
    return place


def _scores(row: Object, columns: Columns, reward: float | None) -> list[Object]:
    """The score, and other columns that are named like scores and have one."""
    named = {path: score_of(get(row, *path)) for path in paths([row]) if is_score_name(path)}
    named.pop(columns.get("verdict", ()), None)
    others = {path: score for path, score in named.items() if score is not None}
    scores = {**others, columns["score"]: reward}
    reasons = {columns["score"]: {"explanation": _reason(row, columns["score"])}}
    return [
        {"name": ".".join(path), "score": score, **without_empty(reasons.get(path, {}))}
        for path, score in scores.items()
    ]


def _reason(row: Object, score: Column) -> str | None:
    """Why the grade was given: in its object or a grader's, or under a name that says so."""
    places = [(plain(name), fields(value)) for name, value in row.items()]
    of_grader = [one for name, one in places if name in GRADED or (name == plain(score[0]))]
    named = [
        text(value)
        for place in (*of_grader, row)
        for name, value in place.items()
        if (words := plain(name).split("_"))[-1] in REASONS
        if place is not row or words[0] in GRADED
    ]
    return next(filter(None, named), None)


def _answer(row: Object) -> dict[str, str | None]:
    """The answer alone, where a column has it and it is short enough to be compared.

    A column that is null or empty stays so under its own name.
    """
    named = {name: text(row[name]) for name in ANSWERS if name in row}
    column, answer = next((one for one in named.items() if one[1]), ("", None))
    if answer is None:
        return {name: None for name in named if row[name] in (None, "")}
    name = column if column in KNOWN_ANSWERS else "extracted_answer"
    return {name: answer} if len(answer) <= LONGEST_ANSWER else {}


def _usage(row: Object, cells: Object) -> Object:
    """The tokens of an attempt: of an object, of columns, or of all messages of the model."""
    counts = (("input_tokens", INPUT_TOKENS), ("output_tokens", OUTPUT_TOKENS))
    of_row = _with_cached(
        fields(row, "usage") or without_empty({name: _first(row, names) for name, names in counts}),
        row,
    )
    messages = (one for one in messages_of(cells.get("messages")) if one["role"] == "assistant")
    usages = [usage for one in messages if (usage := fields(one, "usage"))]
    of_messages = {
        name: sum(_first(usage, names) or 0 for usage in usages) for name, names in counts if usages
    }
    return of_row or of_messages


def _with_cached(usage: Object, row: Object) -> Object:
    """Tokens with those of a cache, where these are more and so not among them."""
    own = number(usage, "input_tokens")
    cached = next(
        (
            sum(number(place[name]) or 0 for name in names)
            for place in _with_objects(row)
            if (names := [name for name in place if CACHED_TOKENS.fullmatch(plain(name))])
        ),
        0,
    )
    return usage if own is None or cached <= own else {**usage, "input_tokens": own + cached}


def _cost(row: Object) -> float | None:
    """What an attempt cost, as an object of its tokens says."""
    usages = (
        fields(value)
        for name, value in row.items()
        if not {"usage", "tokens"}.isdisjoint(plain(name).split("_"))
    )
    costs = (_first(usage, COSTS) for usage in usages)
    return next((cost for cost in costs if cost is not None), None)


def measures(row: Object) -> Object:
    """The tokens, the cost and the time of an attempt, which are measures beside its result."""
    usage = {"cost": _first(row, COSTS), **_usage(row, {})}
    spent = {name: value for name, value in usage.items() if value}
    return without_empty(usage=spent, total_run_time=_seconds(row))


def _seconds(row: Object) -> float | None:
    """The time an attempt took; a word before it, as `first_token_latency`, makes it a part."""
    for place in _with_objects(row):
        for name, value in place.items():
            unit = plain(name).rpartition("_")[2]
            is_whole = is_duration(name) and unit in UNITS
            if is_whole and (known := number(value)) is not None:
                return known / UNITS[unit]
    return None


def _first(row: Object, names: Sequence[str]) -> float | None:
    """The first number under one of these names, of the row before those of its objects."""
    named = ({plain(name): value for name, value in one.items()} for one in _with_objects(row))
    numbers = (number(place, name) for place in named for name in names)
    return next((known for known in numbers if known is not None), None)


def _with_objects(row: Object) -> list[Object]:
    return [row, *(value for value in row.values() if isinstance(value, dict))]
