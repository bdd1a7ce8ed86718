-- How long failures are beside passes of the same tasks: the median difference, as a share of the passes.
-- grain: benchmark, measure
-- looks at: run
-- kind: table
-- needs: staging.rollouts where is_pass
-- needs: staging.rollouts where not is_pass
-- computed by: pipeline.analysis.concentration.size_contrasts
-- columns: benchmark, measure, n_tasks, difference, low, high
with sizes as (
    select
        benchmark,
        run_id,
        task_id,
        is_pass,
        unnest([
            {measure: 'output tokens', size: output_tokens::double},
            {measure: 'input tokens', size: input_tokens::double},
            {measure: 'turns', size: n_turns::double},
            {measure: 'tool calls', size: n_tool_calls::double},
            {measure: 'seconds', size: duration_s},
            {measure: 'characters of the answer', size: length(final_text)::double}
        ], recursive := true)
    from staging.rollouts
    inner join staging.run_benchmarks using (run_id)
    left join staging.final_texts using (record_id)
    where is_pass is not null
)
select
    benchmark,
    measure,
    run_id,
    task_id,
    sorted_sum(if(is_pass, null, size)) / count(*) filter (where not is_pass) as failing,
    sorted_sum(if(is_pass, size, null)) / count(*) filter (where is_pass) as passing
from sizes
where size is not null
group by benchmark, measure, run_id, task_id
having count(*) filter (where is_pass) > 0 and count(*) filter (where not is_pass) > 0
order by benchmark, measure, run_id, task_id
