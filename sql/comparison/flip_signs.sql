-- What the failing side shows and the passing side does not, over the tasks that only one run fails.
-- n_others: of all other compared tasks, how many show the sign in the same run.
-- grain: base, candidate, side, kind, name, value
-- looks at: across
-- kind: table
-- needs: staging.run_pairs
with tasks as (
    select
        base,
        candidate,
        task_id,
        case
            when base_n_passed = base_n_scored and candidate_n_passed = 0 then 'lost'
            when base_n_passed = 0 and candidate_n_passed = candidate_n_scored then 'gained'
        end as side
    from main.comparison_tasks
    where is_common
),
sides as (
    select
        *,
        unnest([base, candidate]) as run_id,
        unnest(['gained', 'lost']) as fails_if
    from tasks
),
shown as (
    select distinct
        sides.base,
        sides.candidate,
        sides.task_id,
        sides.run_id,
        signs.kind,
        signs.name,
        signs.value,
        signs.sign
    from sides
    inner join staging.signs using (run_id, task_id)
    inner join staging.run_benchmarks using (run_id)
    -- What says the score again says nothing of it.
    anti join (from staging.modes where reason in ('same as score', 'part of score', 'measure')) as scores
        on scores.benchmark = run_benchmarks.benchmark
        and scores.kind = signs.kind
        and scores.name = signs.name
    where signs.kind in ('field', 'check', 'expected', 'error', 'limit', 'answer', 'ungraded', 'call')
        and signs.scope = 'rollout'
        and signs.name <> 'one check fails'
),
totals as (
    select
        base,
        candidate,
        count(*) filter (where side = 'lost') as n_lost,
        count(*) filter (where side = 'gained') as n_gained,
        count(*) as n_common
    from tasks
    group by all
),
counted as (
    select
        base,
        candidate,
        sides.fails_if as side,
        failing.kind,
        failing.name,
        failing.value,
        failing.sign,
        -- On tasks of this side: the failing run shows it, the passing one does not.
        count(*) filter (where sides.side = sides.fails_if and passing.task_id is null) as n_tasks,
        count(*) filter (where sides.side is distinct from sides.fails_if) as n_others,
        min_by(sides.run_id || '/' || task_id, task_id, 3)
            filter (where sides.side = sides.fails_if and passing.task_id is null) as examples,
        -- Which tasks these are, and which others show it.
        bit_xor(mixed_hash(sides.side is distinct from sides.fails_if, task_id))
            filter (where sides.side is distinct from sides.fails_if or passing.task_id is null) as shown_by
    from sides
    inner join shown as failing using (base, candidate, task_id, run_id)
    left join shown as passing
        on passing.base = sides.base
        and passing.candidate = sides.candidate
        and passing.task_id = sides.task_id
        and passing.run_id <> sides.run_id
        and passing.kind = failing.kind
        and passing.name = failing.name
        and passing.value = failing.value
    group by base, candidate, sides.fails_if, failing.kind, failing.name, failing.value, failing.sign
),
-- Signs of the very same tasks are one fact, in several words.
distinct_facts as (
    select *
    from counted
    qualify row_number() over (
        partition by base, candidate, side, n_tasks, n_others, shown_by
        order by
            list_position(['expected', 'answer', 'limit', 'ungraded', 'field', 'check', 'error', 'call'], kind),
            length(sign),
            sign
    ) = 1
)
select
    base,
    candidate,
    side,
    kind,
    name,
    value,
    sign,
    n_tasks,
    if(side = 'lost', n_lost, n_gained) as n_of,
    n_others,
    n_common - if(side = 'lost', n_lost, n_gained) as n_others_of,
    examples,
    row_number() over (
        partition by base, candidate, side
        order by kind in ('call', 'field'), n_tasks desc, n_others, kind, sign
    ) as rank
from distinct_facts
inner join totals using (base, candidate)
where
    n_tasks >= 2
    and 10 * n_tasks >= 3 * if(side = 'lost', n_lost, n_gained)
    -- Clearly commoner there than on all other tasks.
    and n_tasks * n_others_of >= 1.5 * n_others * n_of
qualify rank <= 20
