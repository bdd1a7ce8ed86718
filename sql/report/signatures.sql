-- The commonest errors of each run, with those that hit failing rollouts first.
-- grain: run_id, source, signature
with ranked as (
    select
        *,
        row_number() over (
            partition by run_id order by n_failed desc, n_rollouts desc, source, signature
        ) as rank
    from main.error_signatures
)
select * from ranked where rank <= 8 order by run_id, rank
