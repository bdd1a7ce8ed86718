-- What must be known to read the suite: cells that are missing, unequal or pooled, and what is left out.
-- grain: kind, entrant, benchmark
-- looks at: across
-- kind: table
-- needs: staging.suite_runs | raw.suite_entrants
with entrants as (
    select
        entrant,
        any_value(is_compared) as is_compared,
        count(value) as n_cells,
        count(*) as n_benchmarks
    from main.suite_cells
    group by all
),
-- An agent that is named after its benchmark is the same at another.
agents as (
    select
        entrant,
        string_agg(distinct agent, ', ' order by agent) as agents
    from staging.suite_runs
    where agent <> ''
    group by all
    having count(distinct replace(agent, benchmark, '')) > 1
),
patterns as (
    select
        entrants.entrant,
        entrants.pattern,
        runs.run_id,
        runs.n_scored
    from raw.suite_entrants as entrants
    left join main.runs on runs.run_id glob entrants.pattern
),
notes as (
    select
        'missing' as kind,
        entrant,
        benchmark,
        'has no result: nothing is filled in' as message
    from main.suite_cells
    where n_runs = 0
    union all
    select
        'not pooled' as kind,
        entrant,
        benchmark,
        'has ' || n_runs || ' runs with different settings (' || differing || ') that try the same attempts ('
            || array_to_string(run_ids, ', ') || '): they are not pooled, and the cell is empty' as message
    from main.suite_cells
    inner join (select distinct entrant, benchmark, differing from staging.suite_runs) using (entrant, benchmark)
    where pooling = 'refused'
    union all
    select
        'pooled' as kind,
        entrant,
        benchmark,
        n_runs || ' runs are pooled ('
            || if(pooling = 'equal settings', 'no recorded setting differs', pooling)
            || '): ' || array_to_string(run_ids, ', ')
            || coalesce(
                '; alone they score '
                || format('{:.1f}% to {:.1f}%', 100 * lowest_run_value, 100 * highest_run_value),
                ''
            )
            as message
    from main.suite_cells
    where n_runs > 1 and pooling <> 'refused'
    union all
    select
        'unequal tasks' as kind,
        entrant,
        benchmark,
        'scored ' || n_tasks || ' of the ' || n_benchmark_tasks
            || ' tasks that entrants have; pairs are compared on the tasks of both'
            as message
    from main.suite_cells
    where n_tasks > 0 and n_tasks < n_benchmark_tasks
    union all
    select
        'other version' as kind,
        entrant,
        benchmark,
        n_other_questions || ' tasks ask another question under the same id than most entrants: these are not paired'
            as message
    from main.suite_cells
    where n_other_questions > 0
    union all
    select
        'set aside' as kind,
        entrant,
        null as benchmark,
        'has ' || n_cells || ' of ' || n_benchmarks || ' benchmarks, fewer than half: it is in no average and has no rank'
            as message
    from entrants
    where not is_compared
    union all
    select
        'left out' as kind,
        null as entrant,
        benchmark,
        case
            when not bool_and(is_bounded) then 'has rewards outside 0 to 1: it is in no average'
            when not bool_or(is_compared)
                then 'is in no average: no entrant has a result at half of the benchmarks'
            when count(value) filter (where is_compared) < count(*) filter (where is_compared)
                then 'is in no average: ' || count(*) filter (where is_compared and value is null)
                    || ' of the compared entrants have no result'
            when min(n_tasks) filter (where is_compared) < 2
                then 'is in no average: a compared entrant has a single task of it, which has no error'
            else 'is in no average: the tasks of a compared entrant are one group, which has no error'
        end as message
    from main.suite_cells
    group by benchmark
    having not bool_or(is_counted)
    union all
    select
        'left out' as kind,
        null as entrant,
        benchmark,
        'grades the same responses as ' || first_benchmark || ': it is in no average' as message
    from staging.regraded
    where benchmark not in (select benchmark from main.suite_cells)
    union all
    select
        'agents differ' as kind,
        entrant,
        null as benchmark,
        'was run by different agents: ' || agents as message
    from agents
    union all
    select
        'no run' as kind,
        entrant,
        null as benchmark,
        'no scored run is called ' || string_agg(distinct pattern, ', ' order by pattern) as message
    from patterns
    group by entrant
    having coalesce(max(n_scored), 0) = 0
    union all
    select
        'in two' as kind,
        string_agg(distinct entrant, ', ' order by entrant) as entrant,
        null as benchmark,
        run_id || ' is named by several entrants: it counts for the first in the file' as message
    from patterns
    where run_id is not null
    group by run_id
    having count(distinct entrant) > 1
    union all
    select
        'many entrants' as kind,
        null as entrant,
        null as benchmark,
        n_entrants || ' entrants are more than ' || most_paired_entrants()
            || if(n_entered < n_entrants, ': ' || (n_entrants - n_entered) || ' have fewer than half of the '
                || n_benchmarks || ' benchmarks and are not in the suite', '')
            || if(n_entered > most_paired_entrants(), if(n_entered < n_entrants, '; each of the others', ': each')
                || ' is compared with ' || (
                    select string_agg(distinct base, ', ' order by base) from staging.suite_tests
                ) || ' alone, and none has a rank', '') as message
    from (
        select
            count(distinct entrant) as n_entrants,
            count(distinct entrant) filter (where is_entered) as n_entered,
            count(distinct benchmark) as n_benchmarks
        from staging.suite_runs
    )
    where n_entrants > most_paired_entrants()
)
select
    kind,
    entrant,
    benchmark,
    message
from notes
