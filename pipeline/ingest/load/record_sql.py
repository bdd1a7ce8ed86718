"""The SQL that reads lines: built from the format's declarations, run by `records`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from pipeline.ingest.formats import gym
from pipeline.ingest.load.lines import LINE_BITS

NO_TYPE = "?"
LETTERS = {"function_call": "c", "function_call_output": "r", "reasoning": "t"}

# What is kept of a row besides its declared columns.
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
# Long texts have columns of their own, each the only copy in the warehouse.
TEXTS = ("verifier", "prompt", "system_prompt")
# Recorded by few, and then as long as the row: apart from what every reader needs.
BULKY = ("trajectory", "model_call_capture", "agent_observations")
SHORT = (*(column.name for column in gym.COLUMNS if column.name not in BULKY), *DERIVED)
# Between the values of a record: JSON text holds no bare control character.
SEPARATOR = "chr(30)"

REJECTS = "record_id bigint, reason varchar, snippet varchar"

# One statement can fill one table: a record travels as the event before the first (seq 0), its
# short values joined to one text, which costs the other events next to nothing; an irregular line
# as seq -1. What tools answer fills the file: the words of messages and thoughts, which are read
# more often, have a column of their own.
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
        system_prompt varchar
    )
"""

# A run of another harness that asks only questions of Gym's tasks, each of one, has these tasks:
# runs are compared by the names of tasks. What it expected and never asked has a name of its own.
MATCH_QUESTIONS = f"""
    create temp table asked as
    select
        record_id,
        files.format,
        files.run_name,
        coalesce(json_as_text(variant), '') as variant,
        json_as_text(task_index) as task,
        prompt_sha,
        nullif(md5(prompt), md5('')) as question
    from raw.records
    inner join raw.files on files.file_no = records.record_id >> {LINE_BITS};

    create temp table own as
    select question, min(task) as own_task, min(prompt_sha) as prompt_sha
    from asked
    where format is null and task is not null
    group by all
    having count(distinct task) = 1 and count(distinct prompt_sha) = 1;

    create temp table matched as
    with tasks as (
        select
            run_name,
            variant,
            task,
            min(own_task) as own_task,
            count(own_task) = count(*) and count(distinct own_task) = 1 as is_matched
        from asked
        left join own using (question)
        where format is not null
        group by all
    )
    from tasks
    semi join (
        select run_name, variant
        from tasks
        group by all
        having bool_and(is_matched) and count(*) = count(distinct own_task)
    ) as whole using (run_name, variant);

    insert into raw.question_matches
    select record_id, own_task, own.prompt_sha
    from asked
    semi join matched using (run_name, variant, task)
    inner join own using (question)
    where format is not null;

    update raw.expected_attempts as attempts
    set task = coalesce(
        (
            select own_task from matched
            where
                matched.run_name = files.run_name
                and matched.variant = coalesce(attempts.variant, '')
                and matched.task = attempts.task
        ),
        files.format || '-' || attempts.task
    )
    from raw.files
    where
        files.file_no = attempts.file_no
        and (files.run_name, coalesce(attempts.variant, ''))
            in (select (run_name, variant) from matched);

    drop table asked;
    drop table own;
    drop table matched;
"""


def create_records() -> str:
    """The records that travelled with the events, and their texts, as relations of their own."""
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
            -- Without its mark: an empty outline is not a missing one.
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


def insert_events(fields: list[str], orders: list[list[str]], *, is_exact: bool) -> str:
    """Lines -> raw.events, each row's record first.

    `fields` are expected beyond the format's own: a row that has no others is read in one parse,
    any other row in one more. Of `orders` of fields it is known that they hold no others.
    `is_exact` is for lines that were made regular in Python.
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
                -- Where no user speaks there is no question: an explicit id then names the task.
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
            case when kind = 'tool_result'
                then tool_failed(item.output, {_text(gym.TOOL_ANSWER_SPEC)}) end,
            {", ".join(f"case when kind = 'record' then {name} end" for name in ("record", *TEXTS))}
        from kinds
    """


def _has_no_others(fields: list[str], orders: list[list[str]]) -> str:
    """Has a row only fields that are known, each once? Orders met before need no look at each."""
    known = _texts((*gym.OWNED_FIELDS, *fields))
    others = (
        f"coalesce(list_has_all({known}, keys), false) and len(list_distinct(keys)) = len(keys)"
    )
    met = ", ".join(map(_texts, orders))
    return f"case when list_contains([{met}], keys) then true else {others} end" if met else others


def _whole_item(*, is_exact: bool) -> str:
    """The JSON of an item; a repaired line may hold it inside an item made for it."""
    item = "'$.response.output[' || (seq - 1) || ']'"
    whole = f"json_extract(line, {item})"
    return (
        f"coalesce(json_extract(line, {item} || '.{gym.WRAPPED}'), {whole})" if is_exact else whole
    )


def _values(fields: list[str]) -> dict[str, str]:
    """The expression of every value that is kept of a row, by its column."""
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
        # What tells questions with the same words apart.
        "truth_hash": (
            "case when truth <> '{}' or row._blade.question is not null "
            "then hash(concat(row._blade.question, chr(31), truth))::varchar end"
        ),
        "prefill_hash": (
            "case when contains(input::varchar, '\"assistant\"') "
            "then hash(request_text(input, ['assistant']))::varchar end"
        ),
        "request_hash": "hash(input::varchar)::varchar",
        "ids": f"case when not is_named then to_json({_ids()})::varchar end",
        "task_hash": (
            "case when not has_task then left(sha256(concat(input, chr(31), "
            "json_extract(fields['responses_create_params'], '$.tools'), chr(31), truth)), 16) end"
        ),
        "content_hash": (
            "case when json_as_index(row._ng_rollout_index) is null "
            "then concat(json_as_text(row._blade.\"order\"), md5(rtrim(line, e' \\t\\r\\n'))) end"
        ),
        # Few requests define tools with hints: the others are not opened.
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
    """Every field the format does not own."""
    is_other = f"not list_contains({_texts(gym.OWNED_FIELDS)}, entry.key)"
    return _chosen(_object(fields, keeps_null=True), is_other)


def _truth(fields: list[str]) -> str:
    """The fields that state what a right answer is."""
    stated = [name for name in fields if re.search(gym.TRUTH_PATTERN, name)]
    is_stated = f"regexp_matches(entry.key, {_text(gym.TRUTH_PATTERN)})"
    is_stated += f" and (row.{gym.OWN_FIELD} is null or entry.key <> {_text(gym.EXPECTED_CALLS)})"
    return _chosen(_object(stated, keeps_null=False), f"entry.value is not null and {is_stated}")


def _chosen(known: str, condition: str) -> str:
    """Fields of a row as one JSON object with sorted keys: those known, else by a condition."""
    listed = f"list_filter(map_entries(fields), lambda entry: {condition})"
    return f"case when is_known then {known} else json_from_entries(list_sort({listed})) end"


def _object(names: list[str], *, keeps_null: bool) -> str:
    """The named fields of a row as the text of a JSON object; those it lacks are left out."""
    if not names:
        return "'{}'"
    pairs = []
    for name in names:
        key = _text(json.dumps(name, ensure_ascii=False) + ":")
        value = f"row.{_quoted(name)}::varchar"
        if name == gym.EXPECTED_CALLS and not keeps_null:
            value = f"case when row.{gym.OWN_FIELD} is null then {value} end"
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
        top, _, below = parent.partition(".")
        held = f"fields['{top}']"
        held = f"json_extract({held}, '$.{below}')" if below else held
        inner = f"list_filter(coalesce(map_entries(json_fields({held})), []), {own})"
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
