-- Benchmarks whose rewards leave 0..1: what passes must be said, it is not guessed.
-- grain: subject
with

final as (

    select
        benchmark as subject,
        'rewards go from ' || lowest || ' to ' || highest
            || ', so what passes is not settled; pass figures are left empty' as message,
        'Say from which reward a rollout passes. In blade.toml, for example: pass_threshold = '
            || highest as hint

    from staging.thresholds

    where pass_threshold is null

)

select * from final
