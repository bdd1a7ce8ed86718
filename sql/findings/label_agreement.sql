-- How often two persons who read the same rollouts say the same, beyond what chance would give.
-- grain: benchmark, kind, first_by, second_by
-- looks at: run
-- kind: table
-- needs: main.rollout_labels
-- computed by: pipeline.analysis.reading.agreements
-- columns: benchmark, kind, first_by, second_by, n_both, n_agreed, agreement, kappa, kappa_low, kappa_high
with given as (
    select
        runs.benchmark,
        run_id,
        task_id,
        labels.rollout_index,
        labels.said_by,
        unnest(['mode', 'cause']) as kind,
        unnest([labels.mode, labels.cause]) as value
    from main.rollout_labels as labels
    inner join main.runs using (run_id)
)
select
    benchmark,
    kind,
    firsts.said_by as first_by,
    seconds.said_by as second_by,
    firsts.value as first_value,
    seconds.value as second_value,
    count(*) as n
from given as firsts
inner join given as seconds using (benchmark, run_id, task_id, rollout_index, kind)
where firsts.said_by < seconds.said_by and firsts.value is not null and seconds.value is not null
group by all
order by all
