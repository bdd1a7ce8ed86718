-- Every rule of root causes that a task matches, how surely, and rollouts that show it.
-- grain: run_id, task_id, rule_no
-- kind: table
with evidence as materialized (from staging.cause_evidence),
-- Of the rules that speak for whatever a mode says, the commonest mode.
matched as (
    select
        run_id, task_id,
        rule, mode,
        count(rollout_index) as n_with,
        count(*) filter (where is_scored) as n_scored_with,
        bool_or(rollout_index is null) as has_fact,
        -- Names come from rollouts, and may be of any length.
        left(
            coalesce(
                min(detail) filter (where rollout_index is null),
                min(detail) filter (where rollout_index is not null)
            ),
            200
        ) as detail,
        -- What shows the task as a whole first; it may be among the attempts again.
        coalesce(
            min_by(citation, (coalesce(rollout_index, -1), citation), 4)
                filter (where citation is not null),
            []
        ) as citations
    from evidence
    where not is_pass
    group by run_id, task_id, rule, mode
    qualify row_number() over (partition by run_id, task_id, rule order by n_with desc, mode) = 1
),
-- How many passes of a task, over all runs, show what a rule takes for a sign.
passes as (
    select
        benchmark, task_id,
        rule, mode,
        count(*) as n_passing_with
    from evidence
    where is_pass
    group by all
),
weighed as (
    select
        run_id, task_id,
        rules.rule_no, rule,
        coalesce(rules.cause, modes.cause, recorded.cause) as cause,
        coalesce(rules.intervention, modes.intervention) as intervention,
        coalesce(rules.note, modes.title) || coalesce(': ' || detail, '') as note,
        n_with, n_scored_with,
        n_attempts - n_passed as n_failing,
        n_passed + n_passed_elsewhere as n_passes,
        coalesce(n_passing_with, 0) as n_passing_with,
        is_proven, has_fact,
        least(
            highest,
            if(modes.is_words, 1, 3),
            -- One run alone may have a verifier of its own.
            if(rule = 'verifier_error' and n_verifier_error_runs < 2, 2, 3)
        ) as highest,
        citations
    from matched
    inner join staging.task_context using (run_id, task_id)
    inner join staging.cause_rules as rules using (rule)
    left join raw.failure_rules as modes using (mode)
    -- Modes of the record have no rule.
    left join (select mode, min(cause) as cause from main.rollout_modes group by all) as recorded
        using (mode)
    left join passes using (benchmark, task_id, rule, mode)
    -- Where one figure stands for every rollout, nothing else can be told from them.
    where rule = 'constant_reward' or run_id in (select run_id from main.run_metrics where not has_constant_reward)
),
-- Any rollout, where no failing one shows what is said of the task as a whole.
others as (
    select run_id, task_id, min(run_id || '/' || rollout_id) as citation
    from staging.rollouts
    semi join (from weighed where has_fact and citations = []) using (run_id, task_id)
    group by all
)
select
    * exclude (highest, citations, citation, has_fact, n_passes, n_passing_with),
    least(
        highest,
        case
            when n_with = n_failing and n_passing_with = 0 and (n_failing > 1 or is_proven) then 3
            when n_with * 2 > n_failing and n_failing > 1 then 2
            else 1
        end
    ) as level,
    n_with * 2 > n_failing as is_most,
    -- A signal counts where it is commoner in failing than in passing attempts at the task.
    n_with > 0 and (n_passing_with = 0 or n_with * n_passes > n_passing_with * n_failing)
        as is_commoner,
    case
        when citations <> [] then list_filter(
            citations, lambda found, place: list_position(citations, found) = place
        )[1:3]
        when has_fact and citation is not null then [citation]
        else []
    end as evidence
from weighed
left join others using (run_id, task_id)
