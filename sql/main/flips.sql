-- Tasks that flipped between two runs, and where a failure of one parts from a pass of the other.
-- grain: base, candidate, task_id
-- kind: table
with

tasks as (

    select * from staging.flip_tasks

),

closest as (

    select
        *,
        run_id || '/' || task_id || ':' || rollout_index || coalesce('#' || seq, '') as failing,
        passing_run_id || '/' || task_id || ':' || passing_index
            || coalesce('#' || passing_seq, '') as passing

    from staging.told_contrasts

    where flip_no is not null and is_closest

),

tools as (

    select * from staging.flip_tools

),

modes as (

    select * from main.rollout_modes where is_primary

),

final as (

    select
        tasks.base,
        tasks.candidate,
        tasks.task_id,
        tasks.side,
        tasks.base_pass_rate,
        tasks.candidate_pass_rate,
        tasks.change,
        closest.failing,
        closest.passing,
        closest.difference,
        closest.n_common,
        closest.n_common_first,
        closest.failing_event,
        closest.failing_chars,
        closest.passing_event,
        closest.passing_chars,
        closest.tools_only_failing,
        closest.tools_only_passing,
        coalesce(of_passes.tools, no_texts()) as tools_of_passes,
        coalesce(of_failures.tools, no_texts()) as tools_of_failures,
        modes.mode as failing_mode,
        tasks.n_flips

    from tasks

    inner join closest using (flip_no)

    left join tools as of_passes
        on of_passes.flip_no = tasks.flip_no
        and of_passes.is_of_passes

    left join tools as of_failures
        on of_failures.flip_no = tasks.flip_no
        and not of_failures.is_of_passes

    left join modes
        on modes.run_id = closest.run_id
        and modes.task_id = closest.task_id
        and modes.rollout_index = closest.rollout_index

)

select * from final
