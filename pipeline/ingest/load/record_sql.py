"""The SQL that reads lines: built from the format's declarations, run by `records`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from pipeline.ingest.formats import gym

NO_TYPE = "?"
LETTERS = {"function_call": "c", "function_call_output": "r", "reasoning": "t"}

# What is kept of a row besides its declared columns.
DERIVED = (
    "verifier",
    "has_reward",
    "has_response",
    "outline",
    "final_text",
    "prompt",
    "system_prompt",
    "prompt_sha",
    "request_sha",
    "ids",
    "task_hash",
    "content_hash",
)
BOOLEANS = ("has_reward", "has_response")

# One statement can fill one table: a record travels as an item before the first (seq 0), its
# values in a list, which costs the other events next to nothing; an irregular line as seq -1.
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
        is_error boolean,
        record varchar[]
    )
"""


def create_records() -> str:
    """The records that travelled with the events, as a relation of their own."""
    names = (*(column.name for column in gym.COLUMNS), *DERIVED)
    values = [
        f"record[{number}]{'::boolean' if name in BOOLEANS else ''} as {name}"
        for number, name in enumerate(names, start=1)
    ]
    return f"""
        create view raw.records as
        select record_id, {", ".join(values)} from raw.events where seq = 0
    """


def insert_events(fields: list[str], *, is_exact: bool) -> str:
    """Lines -> raw.events, each row's record first.

    `fields` are expected beyond the format's own: a row that has no others is read in one parse,
    any other row in one more. `is_exact` is for lines that were made regular in Python.
    """
    known = _texts((*gym.OWNED_FIELDS, *fields))
    kinds = " ".join(f"when '{kind}' then '{event}'" for kind, event in gym.EVENT_KINDS.items())
    return f"""
        insert into raw.events
        with

        parsed as (

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
                and coalesce(list_has_all({known}, keys), false)
                and len(list_distinct(keys)) = len(keys)
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
                case when not is_known or not has_task then json_fields(line) end as fields

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
                case
                    when is_regular then list_concat([{_as_item(_record(fields))}], output)
                    else [{_as_item("null")}]
                end as items

            from judged

        ),

        items as (

            select
                record_id,
                line,
                fault,
                is_regular,
                generate_subscripts(items, 1) - 1 as seq,
                unnest(items) as item

            from packed

        ),

        kinds as (

            select
                *,
                case
                    when not is_regular then 'irregular'
                    when seq = 0 then 'record'
                    else case item.type {kinds} else 'other' end
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
            case when is_regular then item.arguments else fault end,
            case kind
                when 'irregular' then line
                when 'tool_result' then item.output
                when 'message' then content_text(item.content)
                when 'reasoning' then coalesce(
                    nullif(content_text(item.summary), ''), content_text(item.content))
                when 'other' then {_whole_item(is_exact=is_exact)}::varchar
            end,
            case when kind = 'tool_result'
                then tool_failed(item.output, {_text(gym.tool_answer_spec())}) end,
            case when kind = 'record' then item.{gym.CARRIED} end

        from kinds
    """


def _whole_item(*, is_exact: bool) -> str:
    """The JSON of an item; a repaired line may hold it inside an item made for it."""
    item = "'$.response.output[' || (seq - 1) || ']'"
    whole = f"json_extract(line, {item})"
    return (
        f"coalesce(json_extract(line, {item} || '.{gym.WRAPPED}'), {whole})" if is_exact else whole
    )


def _as_item(record: str) -> str:
    """An item of no kind that carries a record."""
    fields = [f"{_quoted(name)} := null::{kind}" for name, kind in gym.ITEM_FIELDS.items()]
    return f"struct_pack({', '.join(fields)}, {gym.CARRIED} := {record}::varchar[])"


def _record(fields: list[str]) -> str:
    """All that is kept of a row, as a list of texts in the order of the columns."""
    declared = [
        f"row.{'.'.join(_quoted(part) for part in column.path.split('.'))}::varchar"
        for column in gym.COLUMNS
    ]
    last_message = "output[length(outline) - strpos(reverse(outline), 'm') + 1]"
    derived = {
        "verifier": _verifier(fields),
        "has_reward": "list_contains(keys, 'reward')::varchar",
        "has_response": "(row.response is not null)::varchar",
        "outline": "outline",
        "final_text": (
            f"case when contains(outline, 'm') then content_text({last_message}.content) end"
        ),
        "prompt": "request_text(input, ['user'])",
        "system_prompt": "request_text(input, ['system', 'developer'])",
        "prompt_sha": "left(sha256(request_key(input) || chr(31) || truth), 16)",
        "request_sha": "left(sha256(input::varchar), 16)",
        "ids": f"case when not has_task then to_json({_ids()})::varchar end",
        "task_hash": (
            "case when not has_task then left(sha256(concat(input, chr(31), "
            "json_extract(fields['responses_create_params'], '$.tools'), chr(31), truth)), 16) end"
        ),
        "content_hash": (
            "case when json_as_index(row._ng_rollout_index) is null "
            "then md5(rtrim(line, e' \\t\\r\\n')) end"
        ),
    }
    return "[" + ",\n".join([*declared, *(derived[name] for name in DERIVED)]) + "]"


def _is_regular(*, is_exact: bool) -> str:
    """Can the row be read as it stands? What cannot is read again, exactly, in Python."""
    conditions = [
        "(row.response is null or output is not null)",
        f"not contains(coalesce(outline, ''), '{NO_TYPE}')",
    ]
    if not is_exact:
        # A repaired line is exact already; its strings may still look suspect.
        conditions.append("(row.responses_create_params is null or input is not null)")
        conditions += [f"not regexp_matches(line, {_text(p)})" for p in gym.SUSPECT_PATTERNS]
    return "\nand ".join(conditions)


def _verifier(fields: list[str]) -> str:
    """Every field the format does not own, as one JSON object with sorted keys."""
    general = f"""json_from_entries(list_sort(list_filter(
        map_entries(fields),
        lambda entry: not list_contains({_texts(gym.OWNED_FIELDS)}, entry.key)
    )))"""
    return f"case when is_known then {_object(fields, keeps_null=True)} else {general} end"


def _truth(fields: list[str]) -> str:
    """The fields that state what a right answer is, as one JSON object with sorted keys."""
    general = f"""json_from_entries(list_sort(list_filter(
        map_entries(fields),
        lambda entry: entry.value is not null
            and regexp_matches(entry.key, {_text(gym.TRUTH_PATTERN)})
    )))"""
    stated = [name for name in fields if re.search(gym.TRUTH_PATTERN, name)]
    return f"case when is_known then {_object(stated, keeps_null=False)} else {general} end"


def _object(names: list[str], *, keeps_null: bool) -> str:
    """The named fields of a row as the text of a JSON object; those it lacks are left out."""
    if not names:
        return "'{}'"
    pairs = []
    for name in names:
        key = _text(json.dumps(name, ensure_ascii=False) + ":")
        value = f"row.{_quoted(name)}::varchar"
        null = f"case when list_contains(keys, {_text(name)}) then 'null' end"
        pairs.append(f"{key} || {f'coalesce({value}, {null})' if keeps_null else value}")
    return "'{' || concat_ws(',', " + ", ".join(pairs) + ") || '}'"


def _outline(items: str) -> str:
    """A letter an item: call, result, thought, message, user message, other, or none."""
    cases = " ".join(f"when '{kind}' then '{letter}'" for kind, letter in LETTERS.items())
    letter = (
        f"case item.type {cases} when 'message' then "
        "case when coalesce(item.role, 'assistant') = 'assistant' then 'm' else 'u' end "
        f"else case when item.type is null then '{NO_TYPE}' else 'o' end end"
    )
    listed = f"list_transform({items}, lambda item: {letter})"
    return f"case when {items} is not null then array_to_string({listed}, '') end"


def _ids() -> str:
    """The explicit ids a row offers, by name; those inside its metadata with the parent's name."""
    own = f"lambda entry: list_contains({_texts(gym.ID_FIELDS)}, entry.key)"
    found = [f"list_filter(map_entries(fields), {own})"]
    for parent in gym.ID_PARENTS:
        inner = f"list_filter(coalesce(map_entries(json_fields(fields['{parent}'])), []), {own})"
        found.append(
            f"list_transform({inner}, lambda entry: "
            f"struct_pack(key := '{parent}.' || entry.key, value := entry.value))"
        )
    return f"map_from_entries(list_concat({', '.join(found)}))"


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _texts(values: Iterable[str]) -> str:
    return "[" + ", ".join(_text(value) for value in values) + "]"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
