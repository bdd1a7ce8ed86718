-- What changed from a base run to a candidate, by how much, how surely, and on how many tasks.
-- grain: base, candidate, metric
-- kind: table
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
    group by base, candidate
),
graded as (
    select
        base,
        candidate,
        bool_or(is_graded) as is_graded
    from staging.comparison_levels as levels
    group by base, candidate
),
settled as (
    select
        pairs.*,
        bases.pass_threshold is not null and candidates.pass_threshold is not null as is_settled,
        bases.n_expected is not null and candidates.n_expected is not null as is_expected_known
    from staging.run_pairs as pairs
    inner join main.runs as bases
        on bases.run_id = pairs.base
    inner join main.runs as candidates
        on candidates.run_id = pairs.candidate
)
select
    levels.base,
    levels.candidate,
    levels.metric,
    settled.benchmark,
    settled.pair_no,
    settled.is_named,
    (levels.metric = 'mean_reward')
        = (coalesce(graded.is_graded, false) or not settled.is_settled) as is_lead,
    levels.n_base_tasks,
    levels.n_candidate_tasks,
    levels.n_common_tasks,
    pairings.n_verified,
    pairings.n_unverified,
    pairings.n_contradicted,
    pairings.n_base_only,
    pairings.n_candidate_only,
    pairings.n_not_scored,
    levels.base_value,
    levels.candidate_value,
    difference(levels.candidate_value, levels.base_value) as total_change,
    levels.base_common,
    levels.candidate_common,
    levels.delta,
    spreads.se_new_tasks,
    spreads.se_same_tasks,
    tests.ci_new_tasks_low,
    tests.ci_new_tasks_high,
    tests.ci_same_tasks_low,
    tests.ci_same_tasks_high,
    changes.p_value,
    -- Only where any of several candidates may win.
    case when settled.is_named then tests.p_holm end as p_holm,
    changes.test,
    changes.n_draws,
    tests.mde_new_tasks,
    tests.mde_same_tasks,
    levels.delta_counted_as_fail,
    tests.ci_counted_as_fail_low,
    tests.ci_counted_as_fail_high,
    levels.bound_low,
    levels.bound_high,
    settled.is_expected_known,
    case when settled.is_named then tests.verdict end as verdict,
    settled.margin,
    case
        when tests.ci_same_tasks_low > 0 then 'higher'
        when tests.ci_same_tasks_high < 0 then 'lower'
        when tests.ci_same_tasks_low is not null then 'not told apart'
        -- Without repeats nothing says how these tasks would fare again.
        when spreads.se_same_tasks is null then null
        when changes.test <> 'rollouts within tasks' then null
        when changes.p_value < 0.05 and levels.delta > 0 then 'higher'
        when changes.p_value < 0.05 and levels.delta < 0 then 'lower'
        when changes.p_value is not null then 'not told apart'
    end as on_these_tasks,
    levels.n_gains,
    levels.n_losses,
    levels.n_mixed_tasks
from staging.comparison_levels as levels
inner join settled using (base, candidate)
inner join pairings using (base, candidate)
left join staging.comparison_spreads as spreads using (base, candidate, metric)
inner join staging.comparison_tests as tests using (base, candidate, metric)
left join staging.change_tests as changes using (base, candidate, metric)
left join graded using (base, candidate)
where settled.is_settled or levels.metric = 'mean_reward'
