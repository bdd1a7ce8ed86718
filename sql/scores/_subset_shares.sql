-- The share of k-subsets of n things that lie wholly among m of them: C(m, k) / C(n, k).
-- grain: n, m, k
-- kind: table
with wanted as (
    select
        n_scored as n,
        n_passed as m
    from staging.pass_tallies
    union
    select
        n_scored as n,
        n_scored - n_passed as m
    from staging.pass_tallies
    union
    select
        n_scored as n,
        n_below as m
    from staging.reward_steps
),
factors as (
    select
        n,
        m,
        unnest(range(1, m + 1)) as k
    from wanted
)
-- A product of ratios, each at most 1: logarithms of factorials err at n = 1,024. Beyond k = m
-- there is no such subset and no row: the share is 0.
select
    n,
    m,
    k,
    running_product((m - k + 1) / (n - k + 1), n, m, k) as share
from factors
