-- Attempts that did not pass: the primary mode of each, and what else a root cause hangs on.
-- grain: run_id, task_id, rollout_index
with

undeclared as (

    select
        run_id,
        task_id,
        count(*) as n_attempts

    from staging.failed_modes

    where is_primary and mode = 'UNDECLARED_TOOL'

    group by all

),

final as (

    select
        modes.run_id,
        modes.task_id,
        modes.rollout_index,
        modes.mode,
        modes.cause,
        modes.seq,
        modes.told,
        coalesce(rules.is_profile, false) as is_profile,
        features.is_scored,
        features.output_tokens,
        features.duration_s,
        features.is_twin_reference,
        features.is_within_reference and not features.is_reference as is_within_reference,
        features.verifier_error is not null as has_verifier_error,
        features.same_as_pass,
        features.missing_argument,
        context.n_scored,
        context.n_passed,
        context.n_passed + context.n_passed_elsewhere as n_passed_anywhere,
        context.n_passed_elsewhere,
        context.is_same_wrong_answer,
        context.is_limit_for_all,
        context.token_limit,
        coalesce(undeclared.n_attempts = context.n_scored, false) as is_undeclared_by_all,
        coalesce(sizes.n_acting, 0) as n_acting,
        sizes.most_tokens,
        sizes.longest_s,
        pass_tools.tools is not null as has_tools_of_pass

    from staging.failed_modes as modes

    inner join main.rollout_features as features using (run_id, task_id, rollout_index)

    inner join staging.task_context as context using (run_id, task_id)

    left join raw.failure_rules as rules using (rule_no)

    left join undeclared using (run_id, task_id)

    left join staging.pass_sizes as sizes
        on sizes.benchmark = features.benchmark
        and sizes.task_id = features.task_id

    left join staging.pass_tools as pass_tools
        on pass_tools.run_id = features.run_id
        and pass_tools.task_id = features.task_id
        and pass_tools.tools = cast(map_keys(features.calls_by_tool) as varchar)

    where modes.is_primary

)

select * from final
