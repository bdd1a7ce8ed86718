"""The SQL that parses lines, built from the declarations of the format and run by `records`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from ...settings import OUTPUT_VARIABLE, SQL_DIR
from ..formats import gym

NO_TYPE = "?"
LETTERS = {"function_call": "c", "function_call_output": "r", "reasoning": "t"}

# Values derived from a row, besides its declared columns.
DERIVED = (
    "has_reward",
    "has_response",
    "outline",
    "prompt_sha",
    "truth_hash",
    "prefill_hash",
    "request_hash",
    "ids",
    "task_hash",
    "content_hash",
    "write_tools",
    "tools",
)
# Long texts have their own columns, the only copies in the warehouse.
TEXTS = ("verifier", "prompt", "system_prompt")
# Rare and very long values, stored separately.
BULKY = ("trajectory", "model_call_capture", "agent_observations")
SHORT = (*(column.name for column in gym.COLUMNS if column.name not in BULKY), *DERIVED)
# Separates the values of a record: JSON text never contains a bare control character.
SEPARATOR = "chr(30)"

REJECTS = "record_id bigint, reason varchar, snippet varchar"

# One statement can fill only one table, so a record is stored as an event with seq 0, its short
# values joined to one text, and an irregular line with seq -1. Texts of messages and reasoning are
# read more often than those of tools, and have their own column, `words`. `media` has the images
# and sounds of a message, a tool's result or the request, which its text only names.
EVENTS = """
    create table raw.events (
        record_id bigint,
        seq integer,
        kind varchar,
        role varchar,
        tool varchar,
        call_id varchar,
        arguments varchar using compression uncompressed,
        text varchar using compression uncompressed,
        words varchar using compression uncompressed,
        is_error boolean,
        record varchar,
        verifier varchar using compression zstd,
        prompt varchar using compression zstd,
        system_prompt varchar,
        media varchar using compression zstd
    )
"""

MATCH_QUESTIONS = (SQL_DIR / "queries/ingest/match_questions.sql").read_text(encoding="utf-8")


def create_records() -> str:
    """Views of the records and their texts, which are stored with the events."""
    values = [
        f"nullif({values}[{number}], '') as {name}"
        for values, names in (("short", SHORT), ("bulky", BULKY))
        for number, name in enumerate(names, start=1)
    ]
    return f"""
        create view raw.texts as
        select record_id, {", ".join(TEXTS)} from raw.events where seq = 0;

        create view raw.records as
        select * replace (
            has_reward::boolean as has_reward,
            has_response::boolean as has_response,
            -- Without its leading dot, which distinguishes an empty outline from a missing one.
            outline[2:] as outline
        )
        from (
            select record_id, {", ".join(values)}, {", ".join(TEXTS)}
            from (
                select
                    record_id,
                    string_split(record, {SEPARATOR}) as short,
                    string_split(arguments, {SEPARATOR}) as bulky,
                    {", ".join(TEXTS)}
                from raw.events
                where seq = 0
            )
        )
    """


def view_events(names: Iterable[str]) -> str:
    """Turn raw.events into a view that adds the events in these files of the output to its own.

    The names are relative to the output, whose place the connection knows; without it, to the
    working directory.
    """
    folder = f"getvariable('{OUTPUT_VARIABLE}')"
    return f"""
        alter table raw.events rename to inserted_events;
        create view raw.events as
        from raw.inserted_events
        union all
        from read_parquet(
            list_transform({_texts(names)}, lambda name: concat({folder}, name))
        )
    """


def insert_events(fields: list[str], orders: list[list[str]], *, is_exact: bool) -> str:
    """Insert lines into raw.events, the record of each row before its events.

    `fields` are known fields beyond those of the format: a row with only these is parsed once, any
    other row twice. `orders` are known orders of these fields. `is_exact` is for lines that were
    repaired in Python.
    """
    kinds = " ".join(f"when '{kind}' then '{event}'" for kind, event in gym.EVENT_KINDS.items())
    values = _values(fields)
    return f"""
        insert into raw.events
        with parsed as (
            select
                record_id,
                line,
                fault,
                try(json_keys(line)) as keys,
                try(json_transform(line, {_text(gym.transform_spec(fields))})) as row
            from lines
        ),
        known as (
            select
                *,
                fault is null
                and {_has_no_others(fields, orders)}
                and regexp_matches(line, '^\\s*\\{{') as is_known,
                json_as_text(row._ng_task_index) is not null as has_task,
                row.response.output as output,
                {_outline("row.response.output")} as outline,
                row.responses_create_params.input as input
            from parsed
        ),
        opened as (
            select
                *,
                -- Without a user message there is no question: an explicit id then names the task.
                has_task and coalesce(contains(input::varchar, '"user"'), false) as is_named,
                case when not is_known or not is_named then json_fields(line) end as fields
            from known
        ),
        judged as (
            select
                *,
                coalesce(
                    fault is null
                    and (is_known or fields is not null)
                    and {_is_regular(is_exact=is_exact)},
                    false
                ) as is_regular,
                {_truth(fields)} as truth
            from opened
        ),
        packed as (
            select
                record_id,
                line,
                fault,
                is_regular,
                case when is_regular then output end as output,
                case when is_regular then content_media(input) end as media,
                {", ".join(f"{values[name]} as {name}" for name in TEXTS)},
                concat({f", {SEPARATOR}, ".join(values[name] for name in SHORT)}) as record,
                nullif(
                    concat({f", {SEPARATOR}, ".join(values[name] for name in BULKY)}),
                    {" || ".join([SEPARATOR] * (len(BULKY) - 1))}
                ) as bulky
            from judged
        ),
        items as (
            select *, unnest(range(coalesce(len(output), 0) + 1)) as seq
            from packed
        ),
        kinds as (
            select
                *,
                output[seq] as item,
                case
                    when not is_regular then 'irregular'
                    when seq = 0 then 'record'
                    else case output[seq].type {kinds} else 'other' end
                end as kind
            from items
        )
        select
            record_id,
            case when is_regular then seq else -1 end,
            kind,
            item.role,
            item.name,
            item.call_id,
            case kind when 'irregular' then fault when 'record' then bulky else item.arguments end,
            case kind
                when 'irregular' then line
                when 'tool_result' then item.output
                when 'other' then {_whole_item(is_exact=is_exact)}::varchar
            end,
            case kind
                when 'message' then content_text(item.content)
                when 'reasoning' then coalesce(
                    nullif(content_text(item.summary), ''), content_text(item.content))
            end,
            -- An environment without tools answers as a user does.
            case
                when kind = 'tool_result'
                    then tool_failed(item.output, {_text(gym.TOOL_ANSWER_SPEC)})
                when kind = 'message' and seq > 1 and item.role <> 'assistant'
                    then tool_failed(content_text(item.content), {_text(gym.TOOL_ANSWER_SPEC)})
            end,
            {"".join(f"case when kind = 'record' then {name} end," for name in ("record", *TEXTS))}
            case
                when kind = 'record' then media
                when kind in ('message', 'tool_result') then content_media(item.content)
            end
        from kinds
    """


def _has_no_others(fields: list[str], orders: list[list[str]]) -> str:
    """Whether a row has only known fields, each once; known orders are checked at once."""
    known = _texts((*gym.FORMAT_FIELDS, *fields))
    others = (
        f"coalesce(list_has_all({known}, keys), false) and len(list_distinct(keys)) = len(keys)"
    )
    met = ", ".join(map(_texts, orders))
    return f"case when list_contains([{met}], keys) then true else {others} end" if met else others


def _whole_item(*, is_exact: bool) -> str:
    """The JSON of an item; a repaired line may have it inside a wrapper item."""
    item = "'$.response.output[' || (seq - 1) || ']'"
    whole = f"json_extract(line, {item})"
    return (
        f"coalesce(json_extract(line, {item} || '.{gym.WRAPPED}'), {whole})" if is_exact else whole
    )


def _values(fields: list[str]) -> dict[str, str]:
    """The SQL expression of every column of a record."""
    declared = {
        column.name: "row." + ".".join(map(_quoted, column.path.split("."))) + "::varchar"
        for column in gym.COLUMNS
    }
    return {
        **declared,
        "verifier": _verifier(fields),
        "prompt": "request_text(input, ['user'])",
        "system_prompt": "request_text(input, ['system', 'developer'])",
        "has_reward": "list_contains(keys, 'reward')::varchar",
        "has_response": "list_contains(keys, 'response')::varchar",
        "outline": "'.' || outline",
        "prompt_sha": (
            "left(sha256(coalesce(json_as_text(row._blade.question), request_key(input)) "
            "|| chr(31) || truth), 16)"
        ),
        # Distinguishes questions with the same words.
        "truth_hash": (
            "case when truth <> '{}' or row._blade.question is not null "
            "then hash(concat(row._blade.question, chr(31), truth))::varchar end"
        ),
        "prefill_hash": (
            "case when contains(input::varchar, '\"assistant\"') "
            "then hash(request_text(input, ['assistant']))::varchar end"
        ),
        "request_hash": "case when input is not null then hash(input::varchar)::varchar end",
        "ids": f"case when not is_named then to_json({_ids()})::varchar end",
        "task_hash": (
            "case when not has_task then left(sha256(concat(input, chr(31), "
            "json_extract(fields['responses_create_params'], '$.tools'), chr(31), truth, "
            "chr(31) || json_as_text(row._blade.question))), 16) end"
        ),
        "content_hash": (
            "case when json_as_index(row._ng_rollout_index) is null "
            "then concat(json_as_text(row._blade.\"order\"), md5(rtrim(line, e' \\t\\r\\n'))) end"
        ),
        # Only requests that define tools with hints are parsed.
        "write_tools": (
            "case when contains(line, 'Hint\"') "
            "and json_type(line, '$.responses_create_params.tools') = 'ARRAY' "
            "then write_tools(json_extract(line, '$.responses_create_params.tools')) end"
        ),
        # All repeats of a task have the same, counted from 0 or 1.
        "tools": (
            "case when coalesce(json_as_index(row._ng_rollout_index), 0) <= 1 "
            "then to_json(tool_names(row.responses_create_params.tools))::varchar end"
        ),
    }


def _is_regular(*, is_exact: bool) -> str:
    """Whether SQL can read the row; other rows are read again in Python."""
    conditions = [
        "(row.response is null or output is not null)",
        f"not contains(coalesce(outline, ''), '{NO_TYPE}')",
    ]
    if not is_exact:
        # The strings of a repaired line may still match the suspect patterns.
        has_question = f"regexp_matches(line, {_text(gym.QUESTION_PATTERN)})"
        conditions.append(
            f"case when row.responses_create_params is null then not {has_question} "
            "else input is not null end"
        )
        conditions += [f"not regexp_matches(line, {_text(p)})" for p in gym.SUSPECT_PATTERNS]
    return "\nand ".join(conditions)


def _verifier(fields: list[str]) -> str:
    """All fields that are not part of the format."""
    is_other = f"not list_contains({_texts(gym.FORMAT_FIELDS)}, entry.key)"
    return _chosen(_object(fields, keeps_null=True), is_other)


def _truth(fields: list[str]) -> str:
    """The fields that state the right answer."""
    stated = [name for name in fields if re.search(gym.TRUTH_PATTERN, name)]
    is_stated = f"regexp_matches(entry.key, {_text(gym.TRUTH_PATTERN)})"
    is_stated += f" and (row.{gym.ADDED_FIELD} is null or entry.key <> {_text(gym.EXPECTED_CALLS)})"
    return _chosen(_object(stated, keeps_null=False), f"entry.value is not null and {is_stated}")


def _chosen(known: str, condition: str) -> str:
    """Fields of a row as a JSON object with sorted keys: `known`, else those of a condition."""
    listed = f"list_filter(map_entries(fields), lambda entry: {condition})"
    return f"case when is_known then {known} else json_from_entries(list_sort({listed})) end"


def _object(names: list[str], *, keeps_null: bool) -> str:
    """The named fields of a row as the text of a JSON object, without missing ones."""
    if not names:
        return "'{}'"
    pairs = []
    for name in names:
        key = _text(json.dumps(name, ensure_ascii=False) + ":")
        value = f"row.{_quoted(name)}::varchar"
        if name == gym.EXPECTED_CALLS and not keeps_null:
            value = f"case when row.{gym.ADDED_FIELD} is null then {value} end"
        null = f"case when list_contains(keys, {_text(name)}) then 'null' end"
        pairs.append(f"{key} || {f'coalesce({value}, {null})' if keeps_null else value}")
    return "'{' || concat_ws(',', " + ", ".join(pairs) + ") || '}'"


def _outline(items: str) -> str:
    """One letter per item: call, result, thought, message, user message, other, or none."""
    cases = " ".join(f"when '{kind}' then '{letter}'" for kind, letter in LETTERS.items())
    letter = (
        f"case item.type {cases} when 'message' then "
        "case when coalesce(item.role, 'assistant') = 'assistant' then 'm' else 'u' end "
        f"else case when item.type is null then '{NO_TYPE}' else 'o' end end"
    )
    listed = f"list_transform({items}, lambda item: {letter})"
    return f"case when {items} is not null then array_to_string({listed}, '') end"


def _ids() -> str:
    """The explicit ids of a row by name; ids in its metadata have the name of the parent too."""
    own = f"lambda entry: list_contains({_texts(gym.ID_FIELDS)}, entry.key)"
    lists = [f"list_filter(map_entries(fields), {own})"]
    for parent in gym.ID_PARENTS:
        top, _, below = parent.partition(".")
        value = f"fields['{top}']"
        value = f"json_extract({value}, '$.{below}')" if below else value
        inner = f"list_filter(coalesce(map_entries(json_fields({value})), []), {own})"
        lists.append(
            f"list_transform({inner}, lambda entry: "
            f"struct_pack(key := '{parent}.' || entry.key, value := entry.value))"
        )
    return f"map_from_entries(list_concat({', '.join(lists)}))"


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _texts(values: Iterable[str]) -> str:
    return "[" + ", ".join(_text(value) for value in values) + "]"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
