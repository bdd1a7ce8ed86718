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

    inner join staging.signs as signs using (record_id)

    inner join staging.run_benchmarks as run_benchmarks using (run_id)

    inner join staging.core_actions as core_actions using (benchmark)

    where
        not core_actions.is_tool_call
        and not coalesce(signs.has_feedback, false)
        and regexp_matches(records.prompt, '\S')

    group by all

),

-- One task for each expected answer. Three of them are enough to find another for any task, and
-- thousands may ask the same.
members as (

    select
        benchmark,
        request_sha,
        prompt_sha,
        min(task_id) as task_id,
        row_number() over (partition by benchmark, request_sha order by min(task_id), prompt_sha) as rank

    from asked

    group by benchmark, request_sha, prompt_sha

),

final as (

    select
        asked.run_id,
        asked.task_id,
        min(members.task_id) as twin_task_id

    from asked

    inner join members
        on members.benchmark = asked.benchmark
        and members.request_sha = asked.request_sha
        and members.prompt_sha <> asked.prompt_sha
        and members.task_id <> asked.task_id

    where members.rank <= 3

    group by asked.run_id, asked.task_id

)

select * from final
