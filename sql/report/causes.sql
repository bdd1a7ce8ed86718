-- How many tasks of each run have each root cause, and how surely.
-- grain: run_id, cause
-- needs: main.root_causes
with counted as (
    select
        run_id, cause,
        count(*) as n_tasks,
        count(*) filter (where not is_suggested) as n_curated,
        count(*) filter (where confidence = 'strong') as n_strong,
        count(*) filter (where confidence = 'moderate') as n_moderate,
        count(*) filter (where confidence = 'weak') as n_weak,
        count(*) filter (where bucket = 'never') as n_never,
        count(*) filter (where bucket = 'sometimes') as n_sometimes,
        count(*) filter (where bucket = 'missing') as n_missing
    from main.root_causes
    group by all
)
select * from counted order by run_id, cause = 'UNEXPLAINED', n_tasks desc, cause
