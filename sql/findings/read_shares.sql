-- The share of all failures that have a mode or cause, by the labels of those that were read.
-- grain: benchmark, run_id, kind, value
-- looks at: run
-- kind: table
-- needs: main.rollout_labels
-- computed by: pipeline.analysis.reading.shares
-- columns: *, share, ci_low, ci_high
with labels as (
    select
        runs.benchmark,
        unnest(['benchmark', 'run']) as scope,
        unnest([null, run_id]) as subject,
        labels.*
    from main.rollout_labels as labels
    inner join main.runs using (run_id)
),
placed as (
    select
        labels.*,
        plan.stratum,
        coalesce(plan.is_counted, false) as is_counted,
        coalesce(plan.draw_no, 0) as draw_no
    from labels
    left join main.reading_plan as plan using (scope, run_id, task_id, rollout_index)
),
read_by as (
    select
        benchmark,
        subject,
        count(distinct (run_id, task_id, rollout_index)) filter (where is_counted) as n_read,
        count(distinct (run_id, task_id, rollout_index)) filter (where not is_counted) as n_read_outside,
        list(distinct said_by order by said_by) filter (where said_by <> '') as said_by
    from placed
    group by all
),
strata as (
    select
        benchmark,
        if(scope = 'run', run_id, null) as subject,
        stratum,
        any_value(n_stratum) as n_stratum,
        any_value(n_counted) as n_counted,
        any_value(n_failures) as n_failures
    from main.reading_plan
    group by all
),
kinds as (
    select
        * exclude (mode, cause),
        unnest(['mode', 'cause']) as kind,
        unnest([mode, cause]) as value
    from placed
),
-- Of several persons the last.
given as (
    select *
    from kinds
    where value is not null
    qualify row_number() over (
        partition by scope, run_id, task_id, rollout_index, kind order by source_file desc, source_line desc
    ) = 1
),
values_given as (
    select
        benchmark,
        subject,
        kind,
        value,
        count(*) filter (where is_counted) as n_with,
        count(*) filter (where not is_counted) as n_with_outside,
        -- The event that a label cites of its own rollout, else the rollout.
        min_by(
            coalesce(
                list_filter(
                    evidence,
                    lambda each : starts_with(each, run_id || '/' || task_id || ':' || rollout_index || '#')
                )[1],
                run_id || '/' || task_id || ':' || rollout_index
            ),
            (not is_counted, draw_no, run_id, task_id, rollout_index),
            5
        ) as citations
    from given
    group by all
),
counted as (
    select
        values_given.*,
        list(strata.n_stratum order by strata.stratum) as n_by_stratum,
        list(strata.n_counted order by strata.stratum) as n_read_by_stratum,
        list(coalesce(bearing.n_with, 0) order by strata.stratum) as n_with_by_stratum,
        any_value(strata.n_failures) as n_failures
    from values_given
    left join strata
        on strata.benchmark = values_given.benchmark and strata.subject is not distinct from values_given.subject
    left join (
        select
            benchmark,
            subject,
            kind,
            value,
            stratum,
            count(*) as n_with
        from given
        where is_counted
        group by all
    ) as bearing
        on bearing.benchmark = values_given.benchmark
        and bearing.subject is not distinct from values_given.subject
        and bearing.kind = values_given.kind
        and bearing.value = values_given.value
        and bearing.stratum = strata.stratum
    group by all
)
select
    counted.benchmark,
    counted.subject as run_id,
    counted.kind,
    counted.value,
    coalesce(counted.n_failures, 0) as n_failures,
    read_by.n_read,
    counted.n_with,
    read_by.n_read_outside,
    counted.n_with_outside,
    coalesce(read_by.said_by, []) as said_by,
    counted.citations,
    counted.n_by_stratum,
    counted.n_read_by_stratum,
    counted.n_with_by_stratum
from counted
inner join read_by
    on read_by.benchmark = counted.benchmark and read_by.subject is not distinct from counted.subject
order by benchmark, run_id, kind, value
