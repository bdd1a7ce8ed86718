-- How a task fared in a run that is compared, and how it could have where attempts are missing.
-- grain: run_id, task_id
-- looks at: run
-- kind: table
-- needs: staging.run_pairs
with compared as (select distinct unnest([base, candidate]) as run_id from staging.run_pairs),
-- Of several questions under one id, or of an empty one, nothing can be verified.
questions as (
    select
        *,
        -- Words that most tasks of a run share are not what distinguishes them.
        count(*) over same_question > 1
            and 2 * count(*) over same_question > count(*) over (partition by run_id) as is_shared_question
    from (
        select
            run_id,
            task_id,
            case when count(distinct question) = 1 and bool_and(has_prompt) then min(question) end as question
        from staging.task_prompts
        semi join compared using (run_id)
        group by all
    )
    window same_question as (partition by run_id, question)
),
counted as (
    select
        run_id,
        task_id,
        count(*) as n_attempts,
        list(reward order by reward) filter (where reward is not null) as rewards,
        coalesce(bool_or(is_partial_reward(reward)), false) as is_graded,
        -- To look at: of several that did alike the first.
        arg_min(rollout_index, (-reward, rollout_index)) filter (where is_scored) as best_index,
        arg_min(rollout_index, (reward, rollout_index)) filter (where is_scored) as worst_index
    from staging.attempts
    semi join compared using (run_id)
    group by all
),
-- Where nothing says what was expected, every task should have had as many repeats as nearly all
-- have: a stray second attempt at one does not make the others' missing. Where that is no one number,
-- some were lost, and any may have had as many as the fullest.
norms as (
    select
        run_id,
        if(
            max(n_tasks) >= 0.9 * sum(n_tasks), arg_max(n_attempts, (n_tasks, n_attempts)), max(n_attempts)
        ) as n_usual
    from (select run_id, n_attempts, count(*) as n_tasks from counted group by all) as repeats
    group by all
),
-- Where nearly every task has one number of repeats in all runs that have it, it was given this number,
-- however it differs between tasks: runs that lose attempts do not lose the same ones.
plans as (
    select
        benchmark,
        10 * count(*) filter (n_runs > 1 and fewest = most) >= 9 * count(*) as is_same_plan
    from (
        select
            benchmark,
            task_id,
            count(*) as n_runs,
            min(n_attempts) as fewest,
            max(n_attempts) as most
        from counted
        inner join staging.run_benchmarks using (run_id)
        group by all
    ) as repeats
    group by all
),
sized as (
    select
        counted.* replace (
            case
                when runs.n_expected is not null then counted.n_attempts
                when plans.is_same_plan then least(
                    max(counted.n_attempts) over (partition by benchmarks.benchmark, counted.task_id),
                    greatest(counted.n_attempts, norms.n_usual)
                )
                else greatest(counted.n_attempts, norms.n_usual)
            end as n_attempts
        ),
        coalesce(list_sum(counted.rewards), 0) as total_reward,
        coalesce(list_sum([reward * reward for reward in counted.rewards]), 0) as total_square,
        benchmarks.lowest >= -1e-9 and benchmarks.highest <= 1 + 1e-9 as is_bounded
    from counted
    inner join norms using (run_id)
    inner join main.runs using (run_id)
    inner join staging.run_benchmarks as benchmarks using (run_id)
    inner join plans on plans.benchmark = benchmarks.benchmark
)
select
    sized.run_id,
    sized.task_id,
    outcomes.benchmark,
    questions.question,
    coalesce(questions.is_shared_question, false) as is_shared_question,
    groups.task_group,
    sized.n_attempts,
    outcomes.n_scored,
    outcomes.n_passed,
    outcomes.pass_rate,
    outcomes.mean_reward,
    outcomes.bucket,
    sized.rewards,
    sized.best_index,
    sized.worst_index,
    outcomes.pass_rate * (1 - outcomes.pass_rate) / nullif(outcomes.n_scored - 1, 0)
        as pass_variance,
    -- Rewards that are all alike do not vary, however their mean was rounded.
    case
        when outcomes.min_reward < outcomes.max_reward
            then outcomes.reward_std * outcomes.reward_std / nullif(outcomes.n_scored, 0)
        when outcomes.n_scored > 1 then 0
    end as reward_variance,
    -- What is missing failed; what is missing passed.
    outcomes.n_passed / nullif(sized.n_attempts, 0) as lowest_pass_rate,
    (outcomes.n_passed + sized.n_attempts - outcomes.n_scored) / nullif(sized.n_attempts, 0)
        as highest_pass_rate,
    case when sized.is_bounded or sized.n_attempts = outcomes.n_scored then
        sized.total_reward / nullif(sized.n_attempts, 0)
    end as lowest_reward,
    case when sized.is_bounded or sized.n_attempts = outcomes.n_scored then
        (sized.total_reward + (sized.n_attempts - outcomes.n_scored))
            / nullif(sized.n_attempts, 0)
    end as highest_reward,
    lowest_pass_rate * (1 - lowest_pass_rate) / nullif(sized.n_attempts - 1, 0)
        as lowest_pass_variance,
    greatest(sized.total_square / sized.n_attempts - lowest_reward * lowest_reward, 0)
        / nullif(sized.n_attempts - 1, 0) as lowest_reward_variance,
    sized.is_bounded,
    sized.is_graded
from sized
inner join main.task_outcomes as outcomes using (run_id, task_id)
left join questions using (run_id, task_id)
left join staging.run_tasks as groups using (run_id, task_id)
