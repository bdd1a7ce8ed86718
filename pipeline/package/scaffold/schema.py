"""The fields of the rows: their names, types, how many rows have them, and what each is for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from pipeline.package.scaffold import field_questions
from pipeline.package.scaffold.asking import asked
from pipeline.report import Source

# Paths of the format's own fields, by their columns of raw.records, and what each is for.
OWNED = (
    ("_ng_task_index", "task_index", "task id"),
    ("_ng_rollout_index", "rollout_index", "rollout id: the repeat"),
    ("_ng_attempt_index", "attempt_index", "the try, where a rollout was tried again"),
    ("stage_index", "stage_index", "stage of a task in several stages"),
    ("agent_ref.name", "agent", "the agent"),
    ("skills_ref.hash", "skills_hash", "which skills the agent had"),
    ("responses_create_params.input", "prompt", "what was asked; here its user's side"),
    ("responses_create_params.max_output_tokens", "request_max_output_tokens", "limit"),
    ("responses_create_params.temperature", "request_temperature", "sampling"),
    ("response.model", "response_model", "the model"),
    ("response.status", "response_status", "how the response ended"),
    ("response.incomplete_details.reason", "incomplete_reason", "why it ended early"),
    ("response.error", "response_error", "error of the model's call"),
    ("response.output", "final_text", "output: its items are events; here the last text"),
    ("response.usage", "usage", "tokens"),
    ("reward", "reward", "reward"),
    ("reward_components", "reward_components", "parts of the reward"),
    ("mask_sample", "mask_sample", "not to be trained on"),
    ("ng_perf", "perf", "timing"),
    ("ng_trajectory", "trajectory", "model calls, for the health checks"),
)
# Values stored as bare text, not as JSON.
TEXTS = frozenset({"prompt", "final_text"})
LONGEST = 200
MOST_VALUES = 12
MOST_FIELDS = 60
SECRET = re.compile(
    r"api[_-]?key|secret|passw(or)?d|credential|authorization|(access|auth)[_-]?token|private[_-]?key",
    re.IGNORECASE,
)
ID = re.compile(r"(^|[._])(id|idx|index|uuid|uid|seed)$", re.IGNORECASE)


@dataclass(frozen=True)
class Field:
    """A field of the rows. `rows` have it with a value other than null.

    `side` says whose it is: the task's, the attempt's, or unknown; `verdict` what it has to do
    with the reward.
    """

    path: str
    use: str
    types: str
    rows: int
    example: str | None
    side: str = ""
    verdict: str = ""
    is_nested: bool = False
    is_constant: bool = False


@dataclass(frozen=True)
class Schema:
    """Fields of the format, all others, and those that say one thing in every row.

    `rows` is the number of rollouts.
    """

    rows: int
    owned: tuple[Field, ...]
    others: tuple[Field, ...]
    constants: tuple[Field, ...]
    n_left_out: int


def schema(source: Source) -> Schema:
    """Every field that some rollout has, the format's first."""
    ((n_rows,),) = source.execute("select count(*) from main.rollouts").fetchall()
    every = _others(source)
    fields = [field for field in every if not field.is_constant]
    # Where there are too many, those at the top of a row are told, then the commonest.
    fields.sort(key=lambda field: (field.is_nested, -field.rows, field.path))
    return Schema(
        n_rows,
        tuple(_owned(source)),
        tuple(sorted(fields[:MOST_FIELDS], key=lambda field: (field.side, field.path))),
        tuple(field for field in every if field.is_constant),
        max(0, len(fields) - MOST_FIELDS),
    )


def _owned(source: Source) -> list[Field]:
    asked_for = ", ".join(
        f"""
        count(*) filter (where {_present(column)}) as n_{column},
        list(distinct {_type(column)}) filter (where {_present(column)}) as types_{column},
        arg_min(left({column}, {LONGEST}), record_id) filter (where {_present(column)})
            as example_{column}
        """
        for _, column, _ in OWNED
    )
    (row,) = asked(
        source,
        f"""
        select {asked_for}
        from raw.records
        left join staging.final_texts using (record_id)
        semi join staging.rollouts using (record_id)
        """,
    )
    return [
        Field(
            path,
            use,
            _types(row[f"types_{column}"]) if path != "response.output" else "list",
            row[f"n_{column}"],
            _example(path, row[f"example_{column}"]),
        )
        for path, column, use in OWNED
        if row[f"n_{column}"]
    ]


def _present(column: str) -> str:
    return f"{column} is not null" + ("" if column in TEXTS else f" and {column} != 'null'")


def _type(column: str) -> str:
    return "'VARCHAR'" if column in TEXTS else f"try(json_type({column}))"


def _others(source: Source) -> list[Field]:
    """Fields that the format does not own: at the top, and one level below."""
    rows = asked(source, field_questions.FIELDS, [LONGEST])
    in_inputs = {row["path"] for row in asked(source, field_questions.INPUT_FIELDS)}
    ((has_inputs,),) = source.execute(field_questions.HAS_INPUTS).fetchall()
    verdicts = _verdicts(source)
    slices = {row["slice_key"] for row in asked(source, "select slice_key from main.slice_metrics")}
    sided = [(row, _side(row, in_inputs if has_inputs else None)) for row in rows]
    return [
        Field(
            path=row["path"],
            use=_use(row, slices),
            types=_types(row["types"]),
            rows=row["n_rows"],
            example=_example(row["path"], row["example"]),
            side=side,
            verdict=_verdict(row, side, verdicts),
            is_nested=row["is_nested"],
            is_constant=row["is_constant"],
        )
        for row, side in sided
    ]


def _use(row: dict[str, Any], slices: set[str]) -> str:
    if row["path"] in slices:
        return "slice"
    return "reference" if row["is_truth"] else ""


def _verdict(row: dict[str, Any], side: str, verdicts: dict[str, str]) -> str:
    """What a field of an attempt has to do with its reward; what is the task's, slices tell."""
    return "" if side == "task" or ID.search(row["path"]) else verdicts.get(row["path"], "")


def _side(row: dict[str, Any], in_inputs: set[str] | None) -> str:
    """Whose a field is: what the inputs have, or no two repeats say differently, is the task's."""
    if row["n_varying_tasks"]:
        return "attempt"
    if in_inputs is not None:
        return "task" if row["path"] in in_inputs else "attempt"
    return "task" if row["n_repeated_tasks"] else "unknown"


def _verdicts(source: Source) -> dict[str, str]:
    """What fields say of the reward: each value by passes and failures, or the middle of each."""
    told = {
        row["path"]: f"median {row['passed']:g} in passes, {row['failed']:g} in failures"
        for row in asked(source, field_questions.MEDIANS)
    }
    found: dict[str, list[dict[str, Any]]] = {}
    for row in asked(source, field_questions.VALUES, [MOST_VALUES]):
        found.setdefault(row["path"], []).append(row)
    for path, values in found.items():
        if len(values) < 2:
            continue
        passing = [row for row in values if row["n_passed"]]
        failing = [row for row in values if row["n_failed"]]
        if not passing or not failing:
            continue
        n_rows = sum(row["n_passed"] + row["n_failed"] for row in values)
        # A value a row, as an id has, parts anything from anything.
        if all(not row["n_failed"] for row in passing) and n_rows >= 2 * len(values):
            told[path] = f"no value has both passes and failures, in {n_rows} rollouts"
        elif len(values) == 2:
            told[path] = "; ".join(
                f"{row['value'][:20]}: {row['n_passed']} pass, {row['n_failed']} fail"
                for row in values
            )
    return told


def _types(types: list[str | None] | None) -> str:
    names = {
        "VARCHAR": "text",
        "BOOLEAN": "boolean",
        "BIGINT": "integer",
        "UBIGINT": "integer",
        "DOUBLE": "number",
        "OBJECT": "object",
        "ARRAY": "list",
    }
    found = {names.get(kind, kind.lower()) for kind in types or () if kind and kind != "NULL"}
    return " or ".join(sorted(found)) or "null"


def _example(path: str, text: str | None) -> str | None:
    """A value without the quotes of JSON; none where it may be a secret."""
    if text is not None and (SECRET.search(path) or SECRET.search(text)):
        return "(left out: may hold a secret)"
    return text.removeprefix('"').removesuffix('"') if text and text[0] == '"' else text
