-- Tasks that ask word for word what another task asks, and expect another answer.
-- grain: run_id, task_id
-- kind: table
with

-- Where the answer lies in an environment, the same words may ask different things.
asked as (

    select
        run_benchmarks.benchmark,
        keys.run_id,
        keys.task_id,
        records.request_sha,
        records.prompt_sha

    from staging.rollout_keys as keys

    inner join staging.records as records using (record_id)

    inner join staging.run_benchmarks as run_benchmarks using (run_id)

    inner join staging.core_actions as core_actions using (benchmark)

    where not core_actions.is_tool_call and regexp_matches(records.prompt, '\S')

    group by all

),

shared as (

    select
        benchmark,
        request_sha

    from asked

    group by all

    having count(distinct prompt_sha) > 1 and count(distinct task_id) > 1

),

members as (

    select
        benchmark,
        request_sha,
        task_id

    from asked

    inner join shared using (benchmark, request_sha)

    group by all

),

final as (

    select
        asked.run_id,
        asked.task_id,
        min(members.task_id) filter (where members.task_id <> asked.task_id) as twin_task_id

    from asked

    inner join members using (benchmark, request_sha)

    group by asked.run_id, asked.task_id

    having count(members.task_id) filter (where members.task_id <> asked.task_id) > 0

)

select * from final
