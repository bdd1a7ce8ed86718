-- What became of the rollouts of a run: what was expected adds up.
-- grain: run_id
with

final as (

    select
        run_id,
        count(*) filter (where is_expected) as n_expected,
        count(*) filter (where is_recorded) as n_recorded,
        count(*) filter (where is_recorded and not is_expected) as n_unexpected,
        count(*) filter (where is_scored) as n_scored,
        count(*) filter (where is_scored and is_expected) as n_expected_scored,
        count(*) filter (where is_pass) as n_passed,
        count(*) filter (where abs(reward) > 1e-9 and abs(reward - 1) > 1e-9) as n_graded,
        count(*) filter (where outcome = 'unscored') as n_unscored,
        count(*) filter (where outcome = 'failed attempt') as n_failed_attempts,
        count(*) filter (where outcome = 'missing') as n_missing

    from staging.attempts

    group by all

)

select * from final
