-- Output tokens and turns of scored rollouts in at most 24 bins that all outcomes of a run share.
-- grain: run_id, measure, outcome, bin_no
with rollouts as (
    select
        run_id,
        case when is_pass then 'passed' when not is_pass then 'failed' else 'unsettled' end as outcome,
        unnest(['output_tokens', 'turns']) as measure,
        -- Wide enough for any multiple of what a row may claim.
        cast(unnest([output_tokens, n_turns]) as hugeint) as value
    from staging.rollouts
    where is_scored
),
-- Many rollouts share a value: each is put into its bin once.
tallies as (
    select
        run_id,
        measure,
        outcome,
        value,
        count(*) as n_rollouts
    from rollouts
    where value is not null
    group by all
),
spreads as (
    select
        run_id,
        measure,
        min(value) as least,
        max(value) as most,
        count(*) filter (where value is null) as n_unknown,
        min(value) >= 0 and max(value) > 30 * greatest(min(value), 1) as is_log,
        (max(value) - min(value)) // 24 + 1 as width
    from rollouts
    group by all
    having count(value) > 0
),
-- Bins hold whole numbers, so a bin ends where the next one begins; narrow ones fall together.
starts as (
    select distinct
        run_id,
        measure,
        case
            when is_log
                then greatest(least, cast(
                    floor((1 + least) * pow((1 + most) / (1 + least), step / 24) - 1 + 1e-9)
                    as hugeint
                ))
            else least + width * step
        end as low
    from spreads
    cross join unnest(range(24)) as steps (step)
    where is_log or least + width * step <= most
),
bins as (
    select
        starts.run_id,
        starts.measure,
        row_number() over by_low as bin_no,
        starts.low,
        coalesce(
            lead(starts.low) over by_low - 1,
            case when spreads.is_log then spreads.most else starts.low + spreads.width - 1 end
        ) as high,
        spreads.is_log,
        spreads.n_unknown
    from starts
    inner join spreads using (run_id, measure)
    window by_low as (partition by starts.run_id, starts.measure order by starts.low)
)
select
    bins.run_id,
    bins.measure,
    tallies.outcome,
    bins.bin_no,
    cast(any_value(bins.low) as bigint) as low,
    cast(least(any_value(bins.high), 9223372036854775807) as bigint) as high,
    cast(sum(tallies.n_rollouts) as bigint) as n_rollouts,
    any_value(bins.is_log) as is_log,
    any_value(bins.n_unknown) as n_unknown
from tallies
inner join bins
    on bins.run_id = tallies.run_id
    and bins.measure = tallies.measure
    and tallies.value between bins.low and bins.high
group by bins.run_id, bins.measure, tallies.outcome, bins.bin_no
order by bins.run_id, bins.measure, tallies.outcome, bins.bin_no
