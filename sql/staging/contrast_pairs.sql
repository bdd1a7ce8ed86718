-- Each failing rollout beside its closest passing one, with the events at which they part.
-- grain: task_no, record_id
-- kind: table
with

rollouts as (

    select * from staging.contrast_rollouts

),

-- A side that makes no further call is cited by how it ends.
placed as (

    select
        matches.*,
        failing.flip_no,
        failing.run_id,
        failing.task_id,
        failing.rollout_index,
        passing.rollout_index as passing_index,
        failing.n_calls,
        passing.n_calls as n_passing_calls,
        case
            when matches.seq is not null then matches.seq
            when matches.difference = 'stop' then failing.stop_seq
            else failing.final_seq
        end as failing_place,
        coalesce(matches.passing_seq, passing.final_seq) as passing_place

    from staging.contrast_matches as matches

    inner join rollouts as failing
        on failing.task_no = matches.task_no
        and failing.record_id = matches.record_id

    inner join rollouts as passing
        on passing.task_no = matches.task_no
        and passing.record_id = matches.passing_record_id

),

final as (

    select
        task_no,
        flip_no,
        run_id,
        task_id,
        rollout_index,
        record_id,
        passing_index,
        passing_record_id,
        is_closest,
        n_calls,
        n_passing_calls,
        n_common,
        n_common_first,
        difference,
        failing_place as seq,
        passing_place as passing_seq,
        -- What tells equal calls apart is what came of them.
        case when difference = 'result' then coalesce(result_seq, seq) else failing_place end
            as shown_seq,
        case
            when difference = 'result' then coalesce(passing_result_seq, passing_seq)
            else passing_place
        end as passing_shown_seq,
        skipped_seq,
        tools_only_failing,
        tools_only_passing

    from placed

)

select * from final
