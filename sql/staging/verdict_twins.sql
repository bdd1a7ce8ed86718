-- Failing rollouts that did and said exactly what a passing one of the same task did.
-- grain: record_id
with

judged as (

    select
        run_benchmarks.benchmark,
        rollouts.task_id,
        rollouts.record_id,
        rollouts.is_pass,
        rollouts.prompt_sha,
        rollouts.run_id || '/' || rollouts.rollout_id as citation,
        keys.behaviour

    from staging.behaviour_keys as keys

    inner join main.rollouts as rollouts using (record_id)

    inner join staging.run_benchmarks as run_benchmarks using (run_id)

    inner join staging.task_passes as passes using (benchmark, task_id)

    where passes.n_passed > 0 and passes.n_failed > 0

),

-- Under one number two runs may ask different things, or expect different answers.
passing as (

    select
        benchmark,
        task_id,
        prompt_sha,
        behaviour,
        min(citation) as citation

    from judged

    where is_pass

    group by all

),

final as (

    select
        judged.record_id,
        passing.citation as twin

    from judged

    inner join passing using (benchmark, task_id, prompt_sha, behaviour)

    where not judged.is_pass

)

select * from final
