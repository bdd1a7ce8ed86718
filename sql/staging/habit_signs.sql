-- What a failing rollout leaves out though every pass of its task does it: a call, or an argument.
-- grain: record_id
-- kind: table
with

missing as (

    select * from staging.missing_habits

),

-- Of the arguments left out, the one whose call comes first.
arguments as (

    select
        record_id,
        tool || '.' || argument as argument,
        tool_seq,
        row_number() over (partition by record_id order by tool_seq, tool, argument) as rank

    from missing

    where argument <> '' and tool_seq is not null

),

calls as (

    select
        record_id,
        min(tool) as tool

    from missing

    where argument = ''

    group by all

),

records as (

    select record_id

    from missing

    group by all

),

final as (

    select
        records.record_id,
        left(calls.tool, 100) as missing_call,
        left(arguments.argument, 200) as missing_argument,
        arguments.tool_seq as missing_argument_seq

    from records

    left join calls using (record_id)

    left join arguments
        on arguments.record_id = records.record_id
        and arguments.rank = 1

)

select * from final
