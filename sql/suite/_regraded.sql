-- Benchmarks that grade the same responses as another one, the first by name, which counts for them in a suite.
-- grain: benchmark
-- looks at: across
-- kind: step
-- needs: (from (select distinct benchmark from main.runs) offset 1)
select
    benchmark,
    min(first_benchmark) as first_benchmark
from (
    select
        benchmark,
        min(benchmark) over (partition by source_file) as first_benchmark
    from (
        select distinct
            rollouts.source_file,
            benchmark
        from staging.rollouts
        inner join staging.run_benchmarks using (run_id)
        inner join raw.files on files.path = rollouts.source_file
        -- Its files have the responses at one task, a row for each grading.
        where files.format = 'lm_eval'
    )
)
where benchmark > first_benchmark
group by benchmark
