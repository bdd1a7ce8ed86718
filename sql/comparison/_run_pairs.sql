-- Which runs are set beside each other: all with the baseline, or each two where none is named.
-- grain: base, candidate
-- looks at: across
-- kind: table
with runs as (
    select
        runs.run_id,
        runs.benchmark,
        baselines.run_id is not null as is_baseline,
        max(baselines.run_id is not null) over (partition by runs.benchmark) as is_named,
        run_order.place,
        row_number() over (partition by runs.benchmark order by runs.n_scored desc, run_order.place) = 1 as is_largest,
        count(*) over (partition by runs.benchmark) as n_runs,
        runs.model,
        count(*) over (partition by runs.benchmark, runs.model) as n_of_model
    from main.runs
    inner join staging.run_order using (run_id)
    left join raw.baselines using (run_id)
    where runs.n_scored > 0 and runs.n_passes_without_rows is null
)
-- Of very many runs without a baseline each is compared with the one of most attempts, and with the others of
-- its model if these are few.
select
    bases.benchmark,
    bases.run_id as base,
    candidates.run_id as candidate,
    row_number() over (
        partition by bases.benchmark order by bases.place, candidates.place
    ) as pair_no,
    bases.is_named,
    -- A change that nobody would act on, in the metric's own unit.
    cast(0.02 as double) as margin
from runs as bases
inner join runs as candidates
    on candidates.benchmark = bases.benchmark
    and candidates.run_id <> bases.run_id
    and (
        bases.is_baseline
        or (
            not bases.is_named
            and (
                bases.n_runs > most_paired_runs() and bases.is_largest
                or bases.place < candidates.place
                and (
                    bases.n_runs <= most_paired_runs()
                    or bases.model = candidates.model
                    and bases.n_of_model <= most_runs_of_model()
                    and not candidates.is_largest
                )
            )
        )
    )
