-- Our own pass@k, average of the first k, and majority of the first k, in percent.
-- grain: run_id, shard, kind, field, k
-- kind: table
with

wanted as (

    select distinct
        run_id,
        shard,
        kind,
        field,
        k

    from staging.reported_figures

    where k is not null

),

scores as (

    select * from staging.reported_scores

),

votes as (

    select * from staging.reported_votes

),

by_task as (

    select
        wanted.run_id,
        wanted.shard,
        wanted.kind,
        wanted.field,
        wanted.k,
        scores.is_graded,
        -- Repeats beyond the first k are left out: which they are depends on their order.
        scores.n_scored > wanted.k as is_cut,
        coalesce(votes.is_answered, false) as is_answered,
        case wanted.kind
            when 'pass' then pass_chance(scores.n_scored, scores.n_passed, wanted.k)
            when 'average' then mean_of(first_of(scores.scores, wanted.k))
            when 'majority' then votes.worth
        end as share

    from wanted

    inner join scores using (run_id, shard, field)

    left join votes using (run_id, shard, field, k, task_id)

),

final as (

    select
        run_id,
        shard,
        kind,
        field,
        k,
        count(share) as n_tasks,
        max(case when is_graded then 1 else 0 end) = 1 as is_graded,
        max(case when is_cut then 1 else 0 end) = 1 as is_cut,
        case
            when kind <> 'majority' or max(case when is_answered then 1 else 0 end) = 1
                then 100 * mean_of(ascending(share))
        end as percent

    from by_task

    group by run_id, shard, kind, field, k

)

select * from final
