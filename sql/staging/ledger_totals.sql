-- The change that each ledger explains, and what must hold for it to be told.
-- grain: base, candidate, metric, policy, ledger
with

ledgers (ledger, policy, explains) as (

    values
    ('task mix', 'dropped', 'all tasks'),
    ('bucket transitions', 'dropped', 'shared tasks'),
    ('failure modes', 'dropped', 'shared tasks'),
    ('failure modes', 'counted_as_fail', 'shared tasks, missing as failures'),
    ('funnel', 'dropped', 'shared tasks'),
    ('slices', 'dropped', 'all tasks')

),

final as (

    select
        comparisons.base,
        comparisons.candidate,
        comparisons.metric,
        ledgers.policy,
        ledgers.ledger,
        ledgers.explains,
        case ledgers.explains
            when 'all tasks' then comparisons.total_change
            when 'shared tasks' then comparisons.delta
            else comparisons.delta_counted_as_fail
        end as total

    from main.comparisons as comparisons

    cross join ledgers

    -- With nothing missing, to count it as failed changes nothing.
    where
        ledgers.policy = 'dropped'
        or (
            comparisons.is_expected_known
            and comparisons.bound_low < comparisons.bound_high
        )

)

select * from final
