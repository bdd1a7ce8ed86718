-- Both uncertainties of pass@1, of pass@k and pass^k at all and at half the repeats, of the reward.
-- grain: run_id, metric, k
select
    estimates.*,
    case
        when estimates.metric = 'mean_reward' then 'mean reward'
        when estimates.metric = 'pass_at' then 'pass@' || estimates.k
        else 'pass^' || estimates.k
    end as label,
    estimates.metric = 'mean_reward' as is_reward
from main.estimates
inner join main.run_metrics as metrics using (run_id)
where
    (estimates.metric = 'pass_at' and estimates.k in (1, metrics.k // 2, metrics.k))
    or (
        estimates.metric = 'pass_hat'
        and estimates.k > 1
        and estimates.k in (metrics.k // 2, metrics.k)
    )
    or (estimates.metric = 'mean_reward' and (metrics.is_graded or metrics.pass_at_1 is null))
order by estimates.run_id, estimates.metric, estimates.k
