"""Row by row artifacts -> raw.records and raw.events, in two streams over all files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import duckdb
import pyarrow as pa

from pipeline.artifact import Artifact, Kind
from pipeline.formats import gym
from pipeline.load.lines import LINE_BITS, LINES, SNIPPET_BYTES, FileTally, batches
from pipeline.load.tables import append

NumberedFiles = list[tuple[int, Artifact]]
Progress = Callable[[str, int], None]

FETCH_ROWS = 1024
LETTERS = {"function_call": "c", "function_call_output": "r", "reasoning": "t"}


def load(
    db: duckdb.DuckDBPyConnection,
    files: NumberedFiles,
    tallies: dict[int, FileTally],
    *,
    max_line_bytes: int,
    progress: Progress,
) -> None:
    """Every line becomes a record, a reject or blank; items of rollouts' output become events."""

    def stream(
        step: str, chosen: NumberedFiles, sink: dict[int, FileTally]
    ) -> pa.RecordBatchReader:
        def made() -> Iterator[pa.RecordBatch]:
            for file_no, artifact in chosen:
                tally = sink.setdefault(file_no, FileTally())
                for batch in batches(artifact, file_no, tally, max_line_bytes=max_line_bytes):
                    yield batch
                    progress(step, batch.nbytes)

        return pa.RecordBatchReader.from_batches(LINES, made())

    _create_tables(db)
    _insert_records(db, stream("rows", files, tallies), is_exact=False)
    _settle_irregular(db, tallies)
    _insert_records(db, "repaired", is_exact=True)
    _reject_leftovers(db)
    rollouts = [(no, artifact) for no, artifact in files if artifact.kind is Kind.ROLLOUTS]
    _insert_events(db, stream("events", rollouts, {}))
    # Filtering the stream by a join would buffer it; irregular rows are few, so mend afterwards.
    db.execute("delete from raw.events where record_id in (select record_id from repaired)")
    _insert_events(db, "repaired")
    db.execute("drop table repaired; alter table raw.records drop column irregular")


def _create_tables(db: duckdb.DuckDBPyConnection) -> None:
    declared = ",\n".join(f"{column.name} {column.type}" for column in gym.COLUMNS)
    db.execute(f"""
        create table raw.records (
            record_id bigint,
            {declared},
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
    """)


def _insert_records(
    db: duckdb.DuckDBPyConnection, source: pa.RecordBatchReader | str, *, is_exact: bool
) -> None:
    """Parse each line once for all its fields and once for the declared ones, and keep both."""
    declared = ",\n".join(
        f"row.{'.'.join(_quoted(part) for part in column.path.split('.'))}"
        for column in gym.COLUMNS
    )
    # A repaired line is exact already; its strings may still look suspect.
    suspect = " or ".join(f"regexp_matches(line, {_text(p)})" for p in gym.SUSPECT_PATTERNS)
    _run(
        db,
        source,
        f"""
        insert into raw.records
        with

        parsed as (

            select
                record_id,
                line,
                fault,
                json_fields(line) as fields,
                try(json_transform(line, {_text(gym.transform_spec())})) as row

            from lines

        ),

        judged as (

            select
                *,
                coalesce(
                    fault is null
                    and fields is not null
                    and {"true" if is_exact else f"not ({suspect})"}
                    and coalesce(left(fields['responses_create_params'], 1) = '{{', true)
                    and (
                        fields['response'] is null
                        or left(fields['response'], 1) = '{{'
                        and row.response.output is not null
                        and len(list_filter(row.response.output, lambda it: it.type is null)) = 0
                    ),
                    false
                ) as is_regular,
                row.responses_create_params.input as input,
                json_from_entries(list_sort(list_filter(
                    map_entries(fields),
                    lambda entry: entry.value is not null
                        and regexp_matches(entry.key, {_text(gym.TRUTH_PATTERN)})
                ))) as truth

            from parsed

        )

        select
            record_id,
            {declared},
            json_from_entries(list_filter(
                map_entries(fields),
                lambda entry: not list_contains({_texts(gym.OWNED_FIELDS)}, entry.key)
            )) as verifier,
            map_contains(fields, 'reward') as has_reward,
            map_contains(fields, 'response') as has_response,
            {_outline("row.response.output")} as outline,
            request_text(input, ['user']) as prompt,
            request_text(input, ['system', 'developer']) as system_prompt,
            left(sha256(request_key(input) || chr(31) || truth), 16) as prompt_sha,
            case when row._ng_task_index is null then {_ids()} end as ids,
            case when row._ng_task_index is null then left(sha256(
                concat(
                    input, chr(31),
                    json_extract(fields['responses_create_params'], '$.tools'), chr(31), truth
                )
            ), 16) end as task_hash,
            case when row._ng_rollout_index is null
                then md5(rtrim(line, e' \\t\\r\\n')) end as content_hash,
            case when not is_regular
                then struct_pack(line := line, fault := fault) end as irregular

        from judged
        """,
    )


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


def _settle_irregular(db: duckdb.DuckDBPyConnection, tallies: dict[int, FileTally]) -> None:
    """Read the irregular lines again, exactly: each is repaired, a reject, or blank after all."""
    db.execute("""
        insert into raw.rejects
        select record_id, irregular.fault, irregular.line from raw.records
        where irregular.fault is not null
    """)
    waiting = _second_connection(db).execute("""
        select record_id, irregular.line from raw.records
        where irregular is not null and irregular.fault is null
        order by record_id
    """)
    while rows := waiting.fetchmany(FETCH_ROWS):
        repaired: list[tuple[Any, ...]] = []
        rejects: list[tuple[Any, ...]] = []
        for record_id, line in rows:
            if not line.strip():
                tallies[record_id >> LINE_BITS].n_blank += 1
                continue
            try:
                repaired.append((record_id, gym.regular(line), None))
            except ValueError as error:
                rejects.append((record_id, str(error), line.strip()[:SNIPPET_BYTES]))
        append(db, "repaired", repaired)
        append(db, "raw.rejects", rejects)
    db.execute("delete from raw.records where irregular is not null")


def _second_connection(db: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """To read a result bit by bit while writing: one connection holds one open result."""
    (name,) = db.execute("select current_database()").fetchall()[0]
    return db.cursor().execute(f"use {_quoted(name)}")


def _reject_leftovers(db: duckdb.DuckDBPyConnection) -> None:
    """A repaired row that still cannot be read is a reject, never lost."""
    db.execute(f"""
        insert into raw.rejects
        select record_id, 'not readable as a row', left(irregular.line, {SNIPPET_BYTES})
        from raw.records where irregular is not null;
        delete from raw.records where irregular is not null;
    """)


def _insert_events(db: duckdb.DuckDBPyConnection, source: pa.RecordBatchReader | str) -> None:
    kinds = " ".join(f"when '{kind}' then '{event}'" for kind, event in gym.EVENT_KINDS.items())
    _run(
        db,
        source,
        f"""
        insert into raw.events
        with

        rollouts as (

            select
                record_id,
                line,
                try(json_transform(line, {_text(gym.items_spec())})).response.output as items

            from lines

            where fault is null

        ),

        items as (

            select
                record_id,
                line,
                generate_subscripts(items, 1) as seq,
                unnest(items) as item

            from rollouts

        ),

        kinds as (

            select
                *,
                case item.type {kinds} else 'other' end as kind,
                case when item.output like '{{%'
                    then try(json_transform(item.output, {_text(gym.tool_answer_spec())}))
                end as answer

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
                when 'other' then
                    json_extract(line, '$.response.output[' || (seq - 1) || ']')::varchar
            end,
            case when kind = 'tool_result' then tool_failed(answer, item.output) end

        from kinds
        """,
    )


def _run(db: duckdb.DuckDBPyConnection, source: pa.RecordBatchReader | str, query: str) -> None:
    if isinstance(source, str):
        db.execute(f"create or replace temp view lines as from {source}")
        db.execute(query)
        db.execute("drop view lines")
        return
    db.register("lines", source)
    db.execute(query)
    db.unregister("lines")


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _texts(values: Iterable[str]) -> str:
    return "[" + ", ".join(_text(value) for value in values) + "]"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
