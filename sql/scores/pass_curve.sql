-- What k attempts at a task reach and take, by k: any passes, all pass, the best reward, the majority.
-- grain: run_id, k
-- looks at: run
-- kind: table
-- computed by: pipeline.analysis.votes.majorities from ballot_counts
-- columns: run_id, k, maj_at
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
-- The answers of a task as text, each as votes:right ones: `1:0 3:3` is one wrong vote and three right ones.
ballots as (
    select
        run_id,
        task_id,
        string_agg(n_votes || ':' || n_right, ' ' order by n_votes, n_right) as ballot
    from counted
    group by all
),
-- How the votes of each task are split, and how many tasks are split so.
ballot_counts as (
    select
        run_id,
        ballot,
        count(*) as n_tasks
    from ballots
    group by all
    order by run_id, ballot
),
repeats as (
    select
        run_id,
        n_scored,
        count(*) as n_tasks,
        sorted_sum(max_reward) as total_max_reward
    from main.task_outcomes
    where n_scored > 0
    group by all
),
-- A task counts at every k up to its number of scored repeats.
points as (
    select
        run_id,
        k,
        cast(sum(n_tasks) as bigint) as n_tasks,
        sorted_sum(total_max_reward) as total_max_reward
    from (select *, unnest(range(1, n_scored + 1)) as k from repeats) as repeated
    group by all
),
-- What an attempt at each task takes, where its scored rollouts say so.
taken as (
    select
        run_id,
        task_id,
        count(*) as n_scored,
        sum(coalesce(input_tokens, 0) + coalesce(output_tokens, 0))
            / nullif(count(coalesce(input_tokens, output_tokens)), 0) as tokens,
        sorted_sum(duration_s) / nullif(count(duration_s), 0) as seconds
    from staging.rollouts
    where is_scored
    group by all
),
amounts as (
    select
        run_id,
        k,
        k * sorted_sum(tokens) / nullif(count(tokens), 0) as tokens_at,
        k * sorted_sum(seconds) / nullif(count(seconds), 0) as seconds_at
    from (select *, unnest(range(1, n_scored + 1)) as k from taken) as repeated
    group by run_id, k
),
rewards as (
    select
        run_id,
        task_id,
        outcomes.n_scored,
        attempts.reward,
        count(*) as n_rollouts
    from staging.attempts
    inner join main.task_outcomes as outcomes using (run_id, task_id)
    where attempts.is_scored and outcomes.min_reward < outcomes.max_reward
    group by all
),
-- Where a task's rewards, sorted, step up: after how many of how many repeats, and how far.
steps as (
    select
        run_id,
        n_scored,
        cast(sum(n_rollouts) over sorted as bigint) as n_below,
        lead(reward) over sorted - reward as step
    from rewards
    window sorted as (
        partition by run_id, task_id order by reward
        rows between unbounded preceding and current row
    )
    qualify step is not null
),
totals as (
    select
        run_id,
        n_scored,
        n_below,
        sorted_sum(step) as total_step
    from steps
    group by all
),
-- The share of k repeats that are all below a step, as for pass@k.
shares as (
    select
        *,
        product((n_below - k + 1) / (n_scored - k + 1)) over (
            partition by run_id, n_scored, n_below order by k
        ) as share
    from (select *, unnest(range(1, n_below + 1)) as k from totals) as drawn
),
-- The best of k repeats falls short of the best of all by each step that is above every one.
shortfalls as (
    select
        run_id,
        k,
        sorted_sum(total_step * share) as shortfall
    from shares
    group by all
),
-- pass@1 of the tasks with at least k repeats: what k attempts at them are compared with.
firsts as (
    select
        run_id,
        points.k,
        sorted_sum(rates.n_tasks * rates.value) / sum(rates.n_tasks) as pass_at_1
    from staging.task_values as rates
    inner join points using (run_id)
    where
        rates.slice_key = '' and rates.metric = 'pass_at' and rates.k = 1
        and rates.n_scored >= points.k
    group by all
)
select
    run_id,
    k,
    points.n_tasks,
    firsts.pass_at_1,
    pass_at.value as pass_at,
    pass_hat.value as pass_hat,
    (points.total_max_reward - coalesce(shortfalls.shortfall, 0)) / points.n_tasks as max_at,
    majorities.maj_at,
    -- One repeat leaves nothing to try again or to choose from.
    case when max(k) over of_run > 1 then difference(pass_at.value, firsts.pass_at_1) end as retry_value,
    case when max(k) over of_run > 1 then difference(majorities.maj_at, firsts.pass_at_1) end as majority_value,
    amounts.tokens_at,
    amounts.seconds_at
from points
left join (from main.estimates where metric = 'pass_at') as pass_at using (run_id, k)
left join (from main.estimates where metric = 'pass_hat') as pass_hat using (run_id, k)
left join shortfalls using (run_id, k)
left join temp.majorities using (run_id, k)
left join amounts using (run_id, k)
left join firsts using (run_id, k)
window of_run as (partition by run_id)
