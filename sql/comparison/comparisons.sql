-- What changed from a base run to a candidate, by how much, how surely, and on how many tasks.
-- grain: base, candidate, metric
-- kind: table
-- needs: staging.run_pairs
with pairings as (
    select
        base,
        candidate,
        count(*) filter (where is_common and pairing = 'verified') as n_verified,
        count(*) filter (where is_common and pairing = 'unverified') as n_unverified,
        count(*) filter (where pairing = 'contradicted') as n_contradicted,
        count(*) filter (where pairing = 'base only') as n_base_only,
        count(*) filter (where pairing = 'candidate only') as n_candidate_only,
        count(*) filter (where is_paired and not is_common) as n_not_scored
    from main.comparison_tasks
    group by all
),
tested as (
    select
        tests.*,
        coalesce(bool_or(tests.is_graded) over (partition by base, candidate), false)
            as is_any_graded,
        bases.pass_threshold is not null and candidates.pass_threshold is not null as is_settled,
        bases.n_expected is not null and candidates.n_expected is not null as is_expected_known
    from staging.comparison_tests as tests
    inner join main.runs as bases on bases.run_id = tests.base
    inner join main.runs as candidates on candidates.run_id = tests.candidate
)
select
    base,
    candidate,
    metric,
    benchmark,
    pair_no,
    is_named,
    (metric = 'mean_reward') = (is_any_graded or not is_settled) as is_lead,
    n_base_tasks,
    n_candidate_tasks,
    n_common_tasks,
    n_verified,
    n_unverified,
    n_contradicted,
    n_base_only,
    n_candidate_only,
    n_not_scored,
    base_value,
    candidate_value,
    difference(candidate_value, base_value) as total_change,
    base_common,
    candidate_common,
    delta,
    se_new_tasks,
    se_same_tasks,
    ci_new_tasks_low,
    ci_new_tasks_high,
    ci_same_tasks_low,
    ci_same_tasks_high,
    p_value,
    -- Only where any of several candidates may win.
    case when is_named then p_holm end as p_holm,
    test,
    n_draws,
    mde_new_tasks,
    mde_same_tasks,
    delta_counted_as_fail,
    ci_counted_as_fail_low,
    ci_counted_as_fail_high,
    bound_low,
    bound_high,
    is_expected_known,
    case when is_named then verdict end as verdict,
    margin,
    case
        when ci_same_tasks_low > 0 then 'higher'
        when ci_same_tasks_high < 0 then 'lower'
        when ci_same_tasks_low is not null then 'not told apart'
        -- Without repeats nothing says how these tasks would fare again.
        when se_same_tasks is null or test <> 'rollouts within tasks' then null
        when p_value < 0.05 and delta > 0 then 'higher'
        when p_value < 0.05 and delta < 0 then 'lower'
        when p_value is not null then 'not told apart'
    end as on_these_tasks,
    n_gains,
    n_losses,
    n_mixed_tasks
from tested
inner join pairings using (base, candidate)
where is_settled or metric = 'mean_reward'
