-- What goes with a low reward where rewards are continuous: signs whose bearers rank lower in a run.
-- grain: benchmark, kind, name, value
-- looks at: run
-- kind: table
-- needs: (select count(distinct reward) as n from staging.rollouts having n >= 5)
-- computed by: pipeline.analysis.sign_contrasts.reward_contrasts
-- columns: benchmark, kind, name, value, sign, runs, n_with, n_without, reward_with, reward_without, p_adjusted
with continuous as (
    select benchmark
    from staging.rollouts
    inner join staging.run_benchmarks using (run_id)
    where reward is not null
    group by benchmark
    having
        count(*) >= 10
        and count(distinct reward) >= 5
        -- Most rewards say how near an attempt came, and next to none that it passed.
        and 2 * count(*) filter (where reward not in (0, 1)) >= count(*)
        and 10 * count(*) filter (where is_pass) < count(*)
)
from staging.sign_rows
semi join continuous using (benchmark)
order by benchmark, attempt_no
