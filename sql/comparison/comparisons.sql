-- What changed from a base run to a candidate, by how much, how surely, and on how many tasks.
-- grain: base, candidate, metric
-- looks at: across
-- kind: table
-- needs: staging.run_pairs
with pairings as (
    select
        base,
        candidate,
        count(*) filter (where is_common and pairing = 'verified') as n_verified,
        count(*) filter (where is_common and pairing = 'unverified') as n_unverified,
        count(*) filter (where is_common and is_by_question) as n_by_question,
        count(*) filter (where pairing = 'contradicted') as n_contradicted,
        count(*) filter (where pairing = 'base only') as n_base_only,
        count(*) filter (where pairing = 'candidate only') as n_candidate_only,
        count(*) filter (where is_paired and not is_common) as n_not_scored
    from main.comparison_tasks
    group by all
)
select
    base,
    candidate,
    metric,
    benchmark,
    pair_no,
    is_named,
    is_lead,
    n_base_tasks,
    n_candidate_tasks,
    n_common_tasks,
    n_verified,
    n_unverified,
    n_by_question,
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
    p_mean,
    p_any,
    -- Only where any of several candidates may win.
    case when is_named then p_holm end as p_holm,
    case
        when p_mean is null then null
        when p_signs is null then 't of tasks'' differences'
        when n_groups < n_common_tasks then 'signs of groups'
        else 'signs of tasks'
    end as test,
    n_draws,
    n_draws_any,
    mde_new_tasks,
    mde_same_tasks,
    delta_counted_as_fail,
    ci_counted_as_fail_low,
    ci_counted_as_fail_high,
    bound_low,
    bound_high,
    unseen_low,
    unseen_high,
    is_expected_known,
    case when is_named then verdict end as verdict,
    case when is_named then verdict_holm end as verdict_holm,
    decided_by,
    -- With all comparisons allowed for, whether or not a base was named.
    verdict_holm in ('improved', 'regressed') as is_changed,
    could_reverse,
    is_growing as is_so_far,
    margin,
    case
        -- Without repeats nothing says how these tasks would fare again; a few cannot speak for all.
        when se_same_tasks is null or n_repeated_tasks < 0.1 * n_common_tasks then null
        when ci_same_tasks_low > 0 then 'higher'
        when ci_same_tasks_high < 0 then 'lower'
        when ci_same_tasks_low is not null then 'not significant'
        when p_any <= 0.05 and delta > 0 then 'higher'
        when p_any <= 0.05 and delta < 0 then 'lower'
        when p_any is not null then 'not significant'
    end as on_these_tasks,
    case
        when n_repeated_tasks < 0.1 * n_common_tasks then null
        when delta_counted_as_fail = delta and bound_low = bound_high then on_these_tasks
        when ci_same_counted_as_fail_low > 0 then 'higher'
        when ci_same_counted_as_fail_high < 0 then 'lower'
        when ci_same_counted_as_fail_low is not null then 'not significant'
    end as on_these_tasks_counted_as_fail,
    n_gains,
    n_losses,
    n_mixed_tasks
from staging.comparison_tests
inner join pairings using (base, candidate)
where is_settled or metric = 'mean_reward'
