-- pass@k and pass^k of the tasks that two runs share, at the most repeats that both usually have.
-- grain: base, candidate, task_id
with

sizes as (

    select
        pairs.base,
        pairs.candidate,
        least(bases.k, candidates.k) as k

    from staging.run_pairs as pairs

    inner join main.run_metrics as bases
        on bases.run_id = pairs.base

    inner join main.run_metrics as candidates
        on candidates.run_id = pairs.candidate

),

tasks as (

    select
        tasks.*,
        sizes.k

    from main.comparison_tasks as tasks

    inner join sizes using (base, candidate)

    where tasks.is_common and least(tasks.base_n_scored, tasks.candidate_n_scored) >= sizes.k

),

shares as (

    select * from staging.subset_shares

),

final as (

    select
        tasks.base,
        tasks.candidate,
        tasks.task_id,
        tasks.k,
        1 - coalesce(base_none.share, 0) as base_pass_at,
        1 - coalesce(candidate_none.share, 0) as candidate_pass_at,
        coalesce(base_all.share, 0) as base_pass_hat,
        coalesce(candidate_all.share, 0) as candidate_pass_hat

    from tasks

    left join shares as base_none
        on base_none.n = tasks.base_n_scored
        and base_none.m = tasks.base_n_scored - tasks.base_n_passed
        and base_none.k = tasks.k

    left join shares as candidate_none
        on candidate_none.n = tasks.candidate_n_scored
        and candidate_none.m = tasks.candidate_n_scored - tasks.candidate_n_passed
        and candidate_none.k = tasks.k

    left join shares as base_all
        on base_all.n = tasks.base_n_scored
        and base_all.m = tasks.base_n_passed
        and base_all.k = tasks.k

    left join shares as candidate_all
        on candidate_all.n = tasks.candidate_n_scored
        and candidate_all.m = tasks.candidate_n_passed
        and candidate_all.k = tasks.k

    where tasks.base_n_passed is not null and tasks.candidate_n_passed is not null

)

select * from final
