-- Failing rollouts, each with the closest passing one of its task, and where their calls part.
-- grain: task_no, record_id
with

failing as (

    select * from staging.contrast_rollouts where not is_pass

),

passing as (

    select * from staging.contrast_rollouts where is_pass

),

final as (

    select
        task_no,
        record_id,
        passing_record_id,
        is_closest,
        n_common,
        n_common_first,
        difference,
        seq,
        passing_seq,
        result_seq,
        passing_result_seq,
        skipped_seq,
        tools_only_failing,
        tools_only_passing

    from staging.aligned_contrasts

    union all

    -- Where no repeat calls a tool there is nothing to align, and the first of them stand for all.
    select
        failing.task_no,
        failing.record_id,
        passing.record_id as passing_record_id,
        failing.is_first as is_closest,
        0 as n_common,
        0 as n_common_first,
        'answer' as difference,
        null as seq,
        null as passing_seq,
        null as result_seq,
        null as passing_result_seq,
        null as skipped_seq,
        no_texts() as tools_only_failing,
        no_texts() as tools_only_passing

    from failing

    inner join passing
        on passing.task_no = failing.task_no
        and passing.is_first

    where not failing.is_acting

)

select * from final
