"""The SQL that reads lines: built from the format's declarations, run by `records`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from pipeline.formats import gym

LETTERS = {"function_call": "c", "function_call_output": "r", "reasoning": "t"}

TABLES = f"""
    create table raw.records (
        record_id bigint,
        {", ".join(f"{column.name} {column.type}" for column in gym.COLUMNS)},
        verifier json,
        has_reward boolean,
        has_response boolean,
        outline varchar,
        prompt varchar,
        system_prompt varchar,
        prompt_sha varchar,
        ids map(varchar, json),
        task_hash varchar,
        content_hash varchar,
        items struct({", ".join(f'"{name}" {kind}' for name, kind in gym.ITEM_FIELDS.items())})[],
        irregular struct(line varchar, fault varchar)
    );
    create table raw.events (
        record_id bigint,
        seq integer,
        kind varchar,
        role varchar,
        tool varchar,
        call_id varchar,
        arguments varchar using compression uncompressed,
        text varchar using compression uncompressed,
        is_error boolean
    );
    create temp table repaired (record_id bigint, line varchar, fault varchar);
"""


def insert_records(fields: list[str], *, keeps_items: bool, is_exact: bool) -> str:
    """Lines -> raw.records.

    `fields` are expected beyond the format's own: a row that has no others is read in one parse,
    any other row in one more. `keeps_items` keeps the output with the record, so that events need
    no second reading. `is_exact` is for lines that were made regular in Python.
    """
    spec = gym.transform_spec(fields, whole_items=keeps_items)
    known = _texts((*gym.OWNED_FIELDS, *fields))
    declared = ",\n".join(
        f"row.{'.'.join(_quoted(part) for part in column.path.split('.'))}"
        for column in gym.COLUMNS
    )
    return f"""
        insert into raw.records
        with

        parsed as (

            select
                record_id,
                line,
                fault,
                try(json_keys(line, {_texts(gym.KEYED_PATHS)})) as all_keys,
                try(json_transform(line, {_text(spec)})) as row

            from lines

        ),

        known as (

            select
                *,
                all_keys[1] as keys,
                fault is null
                and coalesce(list_has_all({known}, all_keys[1]), false)
                and regexp_matches(line, '^\\s*\\{{') as is_known,
                json_as_text(row._ng_task_index) is not null as has_task,
                row.response.output as output,
                row.responses_create_params.input as input

            from parsed

        ),

        opened as (

            select
                *,
                case when not is_known or not has_task then json_fields(line) end
                    as fields

            from known

        ),

        judged as (

            select
                *,
                coalesce(
                    fault is null
                    and (is_known or fields is not null)
                    and {_is_regular(keeps_items=keeps_items, is_exact=is_exact)},
                    false
                ) as is_regular,
                {_truth(fields)} as truth

            from opened

        )

        select
            record_id,
            {declared},
            {_verifier(fields)} as verifier,
            list_contains(keys, 'reward') as has_reward,
            row.response is not null as has_response,
            {_outline("output")} as outline,
            request_text(input, ['user']) as prompt,
            request_text(input, ['system', 'developer']) as system_prompt,
            left(sha256(request_key(input) || chr(31) || truth), 16) as prompt_sha,
            case when not has_task then {_ids()} end as ids,
            case when not has_task then left(sha256(concat(
                input, chr(31),
                json_extract(fields['responses_create_params'], '$.tools'), chr(31), truth
            )), 16) end as task_hash,
            case when json_as_index(row._ng_rollout_index) is null
                then md5(rtrim(line, e' \\t\\r\\n')) end as content_hash,
            {"output" if keeps_items else "null"} as items,
            case when not is_regular
                then struct_pack(line := line, fault := fault) end as irregular

        from judged
    """


def insert_events(*, from_items: bool) -> str:
    """Output items -> raw.events: those kept with the records, or those of the lines."""
    kinds = " ".join(f"when '{kind}' then '{event}'" for kind, event in gym.EVENT_KINDS.items())
    kept = "select record_id, null as line, items from raw.records where len(items) > 0"
    # No `where`: a filter gathers 2048 rows before it passes them on, however long they are.
    read = f"""
        select
            record_id,
            line,
            case when fault is null
                then try(json_transform(line, {_text(gym.items_spec())})).response.output
            end as items
        from lines
    """
    return f"""
        insert into raw.events
        with

        outputs as (

            {kept if from_items else read}

        ),

        items as (

            select
                record_id,
                line,
                generate_subscripts(items, 1) as seq,
                unnest(items) as item

            from outputs

        ),

        kinds as (

            select
                *,
                case item.type {kinds} else 'other' end as kind

            from items

        )

        select
            record_id,
            seq,
            kind,
            item.role,
            item.name,
            item.call_id,
            item.arguments,
            case kind
                when 'tool_result' then item.output
                when 'message' then content_text(item.content)
                when 'reasoning' then coalesce(
                    nullif(content_text(item.summary), ''), content_text(item.content))
                when 'other' then coalesce(
                    json_extract(line, '$.response.output[' || (seq - 1) || '].{gym.WRAPPED}'),
                    json_extract(line, '$.response.output[' || (seq - 1) || ']')
                )::varchar
            end,
            case when kind = 'tool_result'
                then tool_failed(item.output, {_text(gym.tool_answer_spec())}) end

        from kinds
    """


def _is_regular(*, keeps_items: bool, is_exact: bool) -> str:
    """Can the row be read as it stands? What cannot is read again, exactly, in Python."""
    types = _texts(gym.EVENT_KINDS) if keeps_items else None
    odd = f"not list_contains({types}, item.type)" if types else "item.type is null"
    conditions = [
        # Of a key given twice the reader takes the first, Python's json the last.
        "len(list_filter(all_keys, lambda keys: len(list_distinct(keys)) <> len(keys))) = 0",
        "(row.response is null or output is not null)",
        f"len(list_filter(coalesce(output, []), lambda item: coalesce({odd}, true))) = 0",
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
    """A letter an item: call, result, thought, message, user message, other."""
    cases = " ".join(f"when '{kind}' then '{letter}'" for kind, letter in LETTERS.items())
    letter = (
        f"case item.type {cases} when 'message' then "
        "case when coalesce(item.role, 'assistant') = 'assistant' then 'm' else 'u' end "
        "else 'o' end"
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
