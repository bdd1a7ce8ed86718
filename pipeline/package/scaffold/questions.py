"""The queries behind the draft of a skill: each ordered down to a unique key."""

from __future__ import annotations

RUNS = """
    select runs.run_id, runs.model, runs.agent, runs.n_tasks, runs.n_rollouts,
        runs.expected_source, coalesce(runs.sampling::varchar, '{}') as sampling,
        left(runs.notes, 2000) as notes, metrics.n_expected, metrics.n_scored, metrics.n_unscored,
        metrics.n_passed, metrics.pass_threshold, metrics.pass_at_1, metrics.pass_at_k, metrics.k,
        metrics.is_graded, metrics.n_always_tasks, metrics.n_sometimes_tasks,
        metrics.n_never_tasks, metrics.n_missing_tasks
    from main.runs as runs inner join main.run_metrics as metrics using (run_id)
    order by run_id
"""
SHAPE = """
    with sizes as (
        select count(*) as n_tasks, min(length(prompt)) as shortest,
            cast(median(length(prompt)) as bigint) as middle, max(length(prompt)) as longest,
            count(*) filter (where n_prompts > 1) as n_ambiguous
        from main.tasks
    ),
    turns as (
        select count(*) as n_rollouts, cast(median(n_turns) as bigint) as turns,
            max(n_turns) as most_turns, cast(median(n_tool_calls) as bigint) as calls,
            max(n_tool_calls) as most_calls,
            count(*) filter (where n_tool_calls > 0) as n_with_calls,
            count(answer) as n_answers, count(final_text) as n_texts
        from main.rollouts
    ),
    users as (
        select count(distinct (run_id, task_id, rollout_index)) as n_with_users
        from main.events where kind = 'message' and role = 'user'
    ),
    checks as (
        select count(*) filter (where n_checks_failed is not null) as n_with_checks,
            count(verifier_error) as n_verifier_errors,
            count(*) filter (where n_expected_actions is not null) as n_with_actions,
            count(*) filter (where has_reference) as n_with_reference,
            min(verifier_error) as verifier_error
        from main.rollout_features
    )
    from sizes, turns, users, checks
"""
PROMPTS = """
    select task_id, prompt, array_to_string(list_transform(
        map_entries(slices), lambda entry: entry.key || ' ' || entry.value), ', ') as slices
    from main.tasks
    where prompt is not null and trim(prompt) != ''
    order by
        row_number() over (partition by slices order by try_cast(task_id as bigint), task_id),
        try_cast(task_id as bigint), task_id
    limit ?
"""
SYSTEMS = """
    select system_prompt, cast(sum(n_rows) as bigint) as n_rows,
        count(*) over () as n_systems
    from main.task_prompts
    where system_prompt is not null and trim(system_prompt) != ''
    group by system_prompt
    order by n_rows desc, system_prompt
    limit 1
"""
REWARDS = """
    select reward, count(*) as n_rollouts, count(*) filter (where is_pass) as n_passed
    from main.rollouts where is_scored
    group by reward order by n_rollouts desc, reward
"""
TOOLS = """
    select calls.tool, count(*) as n_calls, count(*) filter (where calls.is_error) as n_errors,
        count(distinct calls.record_id) as n_rollouts,
        count(distinct calls.record_id) filter (where rollouts.is_pass) as n_passed
    from staging.calls as calls inner join main.rollouts as rollouts using (record_id)
    where calls.tool is not null
    group by calls.tool order by n_calls desc, calls.tool
"""
EVENTS = """
    select kind, coalesce(role, '') as role, count(*) as n_events,
        count(distinct (run_id, task_id, rollout_index)) as n_rollouts,
        arg_min(run_id || '/' || task_id || ':' || rollout_index || '#' || seq,
            (run_id, task_id, rollout_index, seq)) as example
    from main.events
    group by kind, coalesce(role, '') order by n_events desc, kind, role
"""
TASK_IDS = """
    select distinct run_id, task_id_source from staging.keys
    inner join main.rollouts using (record_id, run_id) order by run_id, task_id_source
"""
FILES = """
    select kind, count(*) as n_files, cast(sum(n_rows) as bigint) as n_rows,
        cast(sum(n_rejects) as bigint) as n_rejects, min(path) as example
    from main.artifacts group by kind order by kind
"""
SLICES = """
    select slice_key, slice_value, max(n_tasks) as n_tasks,
        map_from_entries(list((run_id, pass_at_1) order by run_id)) as pass_at_1
    from main.slice_metrics group by slice_key, slice_value
    order by slice_key, n_tasks desc, slice_value
"""
FUNNEL = """
    select stage, min(stage_no) as stage_no,
        map_from_entries(list((run_id, n_reached) order by run_id)) as reached,
        map_from_entries(list((run_id, n_lost) order by run_id)) as lost,
        map_from_entries(list((run_id, drop_rank) order by run_id)) as ranks
    from main.funnel group by stage order by min(stage_no)
"""
MODES = """
    with modes as (
        select mode, any_value(title) as title, any_value(default_cause) as cause,
            any_value(intervention) as intervention,
            cast(sum(n_rollouts) as bigint) as n_rollouts,
            cast(sum(n_matched) as bigint) as n_matched,
            map_from_entries(list((run_id, n_rollouts) order by run_id)) as by_run
        from main.failure_modes
        group by mode
    ),
    examples as (
        select shown.mode, shown.snippet, rollouts.task_id is not null as is_recorded,
            concat(shown.run_id, '/', shown.task_id, ':', shown.rollout_index,
                '#' || shown.evidence_seq) as example
        from main.rollout_modes as shown
        left join main.rollouts as rollouts using (run_id, task_id, rollout_index)
        qualify row_number() over (
            partition by shown.mode
            order by shown.is_primary desc, is_recorded desc, shown.evidence_seq is null,
                shown.run_id, try_cast(shown.task_id as bigint), shown.task_id,
                shown.rollout_index
        ) = 1
    )
    select modes.*, rules.predicate, examples.example, examples.is_recorded, examples.snippet
    from modes
    inner join examples using (mode)
    left join raw.failure_rules as rules using (mode)
    order by modes.n_rollouts desc, modes.n_matched desc, modes.mode
"""
ERRORS = """
    select source, signature, cast(sum(n_rollouts) as bigint) as n_rollouts,
        cast(sum(n_failed) as bigint) as n_failed, min(example) as example
    from main.error_signatures
    group by source, signature order by n_rollouts desc, source, signature limit ?
"""
CAUSES = """
    select cause, count(*) as n_tasks,
        map_from_entries(list((run_id, n) order by run_id)) as by_run
    from (select run_id, cause, count(*) as n from main.root_causes group by run_id, cause)
    group by cause order by cause
"""
SUSPICIONS = """
    select run_id, task_id, rule, cause, confidence, note, n_with, n_failing
    from main.suspicions where cause in ('TI', 'DA')
    qualify row_number() over (
        partition by run_id, task_id
        order by case confidence when 'strong' then 0 when 'moderate' then 1 else 2 end,
            n_with desc, rule
    ) = 1
    order by case confidence when 'strong' then 0 when 'moderate' then 1 else 2 end,
        n_with desc, run_id, task_id
    limit ?
"""
CONTRASTS = """
    select run_id, task_id, rollout_index, passing_index, difference, seq, passing_seq
    from main.contrasts where is_closest
    qualify row_number() over (
        partition by run_id
        order by n_common_first desc, try_cast(task_id as bigint), task_id
    ) <= ?
    order by run_id, try_cast(task_id as bigint), task_id
    limit ?
"""
NEVERS = """
    select run_id, task_id, mode, n_with_mode, n_scored, last_stage, best_rollout
    from main.never_dives
    qualify row_number() over (
        partition by run_id order by n_scored desc, try_cast(task_id as bigint), task_id
    ) <= ?
    order by run_id, try_cast(task_id as bigint), task_id
    limit ?
"""
GAPS = """
    select gap_no, any_value(missing) as missing, any_value(claims) as claims,
        any_value(collect) as collect, list(run_id order by run_id) as runs,
        any_value(unit) as unit, cast(sum(n_rows) as bigint) as n_rows,
        cast(sum(n_of) as bigint) as n_of
    from report.gaps group by gap_no order by gap_no
"""
COMPONENTS = """
    select component, min(min_value) as low, max(max_value) as high,
        cast(sum(n_rollouts) as bigint) as n_rollouts,
        map_from_entries(list((run_id, mean_value) order by run_id)) as means
    from main.reward_components group by component order by component
"""
SEPARATORS = """
    select run_id, feature, kind, direction, n_tasks, rate_when_passed, rate_when_failed,
        mean_when_passed, mean_when_failed
    from main.separators where is_separating
    qualify row_number() over (partition by run_id order by q_value, feature) <= ?
    order by run_id, q_value, feature
    limit ?
"""
