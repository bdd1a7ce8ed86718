-- How each task fared in both runs of a comparison, and whether they asked the same question.
-- grain: base, candidate, task_id
-- kind: table
with
-- Every task of either run, once.
listed as (
    select pairs.benchmark, pairs.base, pairs.candidate, sides.task_id
    from staging.run_pairs as pairs
    inner join staging.task_sides as sides
        on sides.run_id in (pairs.base, pairs.candidate)
    group by all
),
paired as (
    select
        listed.*,
        case
            when candidates.task_id is null then 'base only'
            when bases.task_id is null then 'candidate only'
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
    from listed
    left join staging.task_sides as bases
        on bases.run_id = listed.base
        and bases.task_id = listed.task_id
    left join staging.task_sides as candidates
        on candidates.run_id = listed.candidate
        and candidates.task_id = listed.task_id
),
judged as (
    select
        *,
        pairing in ('verified', 'unverified') as is_paired,
        pairing in ('verified', 'unverified') and base_n_scored > 0 and candidate_n_scored > 0
            as is_common
    from paired
)
select
    base,
    candidate,
    task_id,
    benchmark,
    pairing,
    is_paired,
    is_common,
    base_n_attempts,
    base_n_scored,
    base_n_passed,
    base_pass_rate,
    base_mean_reward,
    base_bucket,
    candidate_n_attempts,
    candidate_n_scored,
    candidate_n_passed,
    candidate_pass_rate,
    candidate_mean_reward,
    candidate_bucket,
    -- Divided once, so that equal changes are equal.
    case when is_common then
        (candidate_n_passed * base_n_scored - base_n_passed * candidate_n_scored)
            / nullif(base_n_scored * candidate_n_scored, 0)
    end as pass_change,
    case when is_common then difference(candidate_mean_reward, base_mean_reward) end
        as reward_change
from judged
