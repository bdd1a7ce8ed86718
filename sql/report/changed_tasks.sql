-- The tasks that gained and lost most in each comparison, with a rollout of each to look at.
-- grain: base, candidate, metric, task_id
-- looks at: across
-- kind: table
-- needs: staging.run_pairs
with hardly_graded as (
    -- Of a task most of whose attempts have no grade, a change says little.
    select
        run_id,
        task_id
    from main.task_outcomes
    where 2 * n_scored < n_expected
),
changed as (
    select
        task_values.base,
        task_values.candidate,
        task_values.metric,
        task_values.task_id,
        task_values.base_value,
        task_values.candidate_value,
        task_values.change,
        task_values.change / levels.n_common_tasks as amount,
        task_values.pairing,
        tasks.base_bucket,
        tasks.candidate_bucket,
        tasks.base_n_scored,
        tasks.candidate_n_scored
    from staging.comparison_values as task_values
    inner join main.comparison_tasks as tasks using (base, candidate, task_id)
    inner join staging.comparison_levels as levels using (base, candidate, metric)
    anti join hardly_graded as base on base.run_id = task_values.base and base.task_id = task_values.task_id
    anti join hardly_graded as candidate
        on candidate.run_id = task_values.candidate and candidate.task_id = task_values.task_id
    where task_values.change <> 0
),
ranked as (
    select
        *,
        row_number() over (
            partition by base, candidate, metric, change > 0
            order by abs(change) desc, try_cast(task_id as bigint), task_id
        ) as rank
    from changed
)
select
    ranked.*,
    ranked.change > 0 as is_gain,
    ranked.base || '/' || ranked.task_id || ':'
        || case when ranked.change > 0 then bases.worst_index else bases.best_index end
        as base_example,
    ranked.candidate || '/' || ranked.task_id || ':'
        || case
            when ranked.change > 0 then candidates.best_index
            else candidates.worst_index
        end as candidate_example
from ranked
inner join staging.task_sides as bases
    on bases.run_id = ranked.base
    and bases.task_id = ranked.task_id
inner join staging.task_sides as candidates
    on candidates.run_id = ranked.candidate
    and candidates.task_id = ranked.task_id
where ranked.rank <= 5
order by
    ranked.base, ranked.candidate, ranked.metric,
    ranked.change > 0,
    ranked.rank
