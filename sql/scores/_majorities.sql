-- How often the commonest of k answers is right, from how the votes of each task are split.
-- grain: run_id, k
-- kind: step
-- needs: staging.rollouts where answer is not null
with scored as (from staging.rollouts where is_scored and is_pass is not null),
-- No answer is an answer too, and a wrong one.
counted as (
    select
        run_id,
        task_id,
        answer,
        count(*) as n_votes,
        count(*) filter (is_pass and answer is not null) as n_right
    from scored
    where run_id in (select run_id from scored where answer is not null)
    group by all
),
ballots as (
    select
        run_id,
        task_id,
        string_agg(n_votes || ':' || n_right, ' ' order by n_votes, n_right) as ballot
    from counted
    group by all
)
select
    run_id,
    ballot,
    count(*) as n_tasks
from ballots
group by all
order by run_id, ballot
