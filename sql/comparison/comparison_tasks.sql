-- How each task fared in both runs of a comparison, and whether they asked the same question.
-- grain: base, candidate, task_id
-- looks at: across
-- kind: table
-- needs: staging.run_pairs
with bases as (
    select
        pairs.base,
        pairs.candidate,
        sides.*
    from staging.run_pairs as pairs
    inner join staging.task_sides as sides on sides.run_id = pairs.base
),
candidates as (
    select
        pairs.base,
        pairs.candidate,
        sides.*
    from staging.run_pairs as pairs
    inner join staging.task_sides as sides on sides.run_id = pairs.candidate
),
-- Every task of either run, once.
paired as (
    select
        base,
        candidate,
        task_id,
        case
            when candidates.run_id is null then 'base only'
            when bases.run_id is null then 'candidate only'
            when bases.question = candidates.question and bases.is_shared_question then 'unverified'
            when bases.question = candidates.question then 'verified'
            when bases.question <> candidates.question then 'contradicted'
            else 'unverified'
        end as pairing,
        bases.n_attempts as base_n_attempts,
        bases.n_scored as base_n_scored,
        bases.n_passed as base_n_passed,
        bases.pass_rate as base_pass_rate,
        bases.mean_reward as base_mean_reward,
        bases.bucket as base_bucket,
        candidates.n_attempts as candidate_n_attempts,
        candidates.n_scored as candidate_n_scored,
        candidates.n_passed as candidate_n_passed,
        candidates.pass_rate as candidate_pass_rate,
        candidates.mean_reward as candidate_mean_reward,
        candidates.bucket as candidate_bucket
    from bases
    full join candidates using (base, candidate, task_id)
),
judged as (
    select
        *,
        pairing in ('verified', 'unverified') as is_paired,
        is_paired and base_n_scored > 0 and candidate_n_scored > 0 as is_common
    from paired
)
select
    base,
    candidate,
    judged.task_id,
    pairs.benchmark,
    pairing,
    is_paired,
    is_common,
    -- A task that one run lacks may have been lost whole, unless something says what it expected.
    is_paired
        or (pairing = 'base only' and candidate_runs.n_expected is null)
        or (pairing = 'candidate only' and base_runs.n_expected is null) as is_possible,
    -- Each run's rows have an id of their own.
    is_paired and coalesce(of_base.recorded_task_id, judged.task_id)
        <> coalesce(of_candidate.recorded_task_id, judged.task_id) as is_by_question,
    columns('base_.*'),
    columns('candidate_.*'),
    -- Divided once, so that equal changes are equal.
    case when is_common then
        (candidate_n_passed * base_n_scored - base_n_passed * candidate_n_scored)
            / nullif(base_n_scored * candidate_n_scored, 0)
    end as pass_change,
    case when is_common then difference(candidate_mean_reward, base_mean_reward) end
        as reward_change
from judged
inner join staging.run_pairs as pairs using (base, candidate)
inner join main.runs as base_runs on base_runs.run_id = base
inner join main.runs as candidate_runs on candidate_runs.run_id = candidate
left join main.paired_tasks as of_base on of_base.run_id = base and of_base.task_id = judged.task_id
left join main.paired_tasks as of_candidate
    on of_candidate.run_id = candidate
    and of_candidate.task_id = judged.task_id
