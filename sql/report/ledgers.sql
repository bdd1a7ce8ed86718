-- The lines of each ledger, and as one line those that a page has no room for.
-- grain: base, candidate, metric, policy, ledger, slice_key, line_no
-- looks at: across
-- kind: table
-- needs: staging.run_pairs
with lines as (
    select
        *,
        count(*) over (partition by base, candidate, metric, policy, ledger, slice_key) as n_lines
    from main.ledger
),
rest as (
    select
        base,
        candidate,
        metric,
        policy,
        ledger,
        slice_key,
        0 as line_no,
        min(explains) as explains,
        count(*) as n_others,
        sorted_sum(amount) as amount,
        cast(sum(cast(round_even(shown * 10000, 0) as bigint)) as bigint) / 10000 as shown,
        min(total) as total,
        min(total_shown) as total_shown,
        bool_or(is_reversal) as is_reversal
    from lines
    where n_lines > 9 and line_no > 8
    group by all
),
together as (
    select
        * exclude (n_lines, example_task),
        n_lines <= 9 or line_no <= 8 as is_shown
    from lines
    union all by name
    select
        *,
        true as is_shown
    from rest
)
select *
from together
order by
    base, candidate, metric,
    list_position(['task mix', 'bucket transitions', 'failure modes', 'funnel', 'slices'], ledger),
    policy desc,
    slice_key,
    line_no = 0,
    line_no
