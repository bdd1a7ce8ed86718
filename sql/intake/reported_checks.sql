-- Every figure a run reported of itself beside our own: equal, different, or why it cannot be said.
-- grain: run_id, agent, task_id, metric, source_file
-- kind: table
with keys as (
    select * from staging.keys where rank = 1 and role in ('rollout', 'input')
),
-- The rollouts, and the rows that asked for them, of every part of a run that reported figures.
reported_rows as (
    select
        scopes.run_id,
        scopes.shard,
        keys.record_id,
        keys.role,
        records.file_kind,
        keys.task_id,
        keys.rollout_index,
        records.reward,
        records.mask_sample,
        records.usage,
        records.verifier
    from staging.reported_scopes as scopes
    inner join keys using (run_id)
    inner join staging.records
        on records.record_id = keys.record_id
        and coalesce(scopes.seed, records.seed, -1) = coalesce(records.seed, -1)
        and coalesce(scopes.chunk, records.chunk, -1) = coalesce(records.chunk, -1)
),
places as (
    select
        run_id,
        shard,
        task_id,
        rollout_index,
        max(case when role = 'rollout' then 1 else 0 end) as is_there,
        max(case when role = 'input' and file_kind = 'inputs' then 1 else 0 end) as is_expected
    from reported_rows as rows_read
    group by all
),
scoped as (
    select * from places
    union all
    select
        run_id,
        shard,
        cast(null as varchar) as task_id,
        rollout_index,
        is_there,
        is_expected
    from places
),
counted as (
    select
        run_id,
        shard,
        task_id,
        sum(is_there) as n_rollouts,
        nullif(sum(is_expected), 0) as n_expected,
        sum(is_there * is_expected) as n_done
    from scoped
    group by all
),
-- Rollouts there are and rollouts there should be, by run or shard and by task.
reported_counts as (
    select
        run_id,
        shard,
        task_id,
        cast(n_rollouts as bigint) as n_rollouts,
        cast(n_expected as bigint) as n_expected,
        cast(n_expected - n_done as bigint) as n_missing,
        100.0 * cast(n_done as double) / n_expected as completion_percent
    from counted
),
wanted as (
    select distinct run_id, shard, kind, field, k
    from staging.reported_figures
    where k is not null
),
reported_scores_wanted as (
    select distinct figures.run_id, figures.shard, figures.field, scopes.pass_threshold
    from staging.reported_figures as figures
    inner join staging.reported_scopes as scopes using (run_id, shard)
    where figures.k is not null
),
fields as (
    select distinct run_id, shard, field
    from staging.reported_figures
    where field is not null
),
reported_entries_given as (
    select
        run_id,
        shard,
        record_id,
        'usage' as source,
        unnest(map_entries(json_fields(usage))) as entry
    from reported_rows
    where role = 'rollout'
    union all
    select
        run_id,
        shard,
        record_id,
        'verifier' as source,
        unnest(map_entries(json_fields(verifier))) as entry
    from reported_rows
    where role = 'rollout'
),
-- The numbers that rows give under the names of reported fields, by where in the row they stand.
reported_entries as (
    select
        entries.run_id,
        entries.shard,
        fields.field,
        entries.record_id,
        entries.source,
        json_as_measure(entries.entry.value) as value
    from reported_entries_given as entries
    inner join fields
        on fields.run_id = entries.run_id
        and fields.shard = entries.shard
        and fields.field = entries.entry.key
    union all
    select
        rows_read.run_id,
        rows_read.shard,
        fields.field,
        rows_read.record_id,
        'format' as source,
        case fields.field
            when 'reward' then rows_read.reward
            when 'mask_sample' then json_as_measure(rows_read.mask_sample)
        end as value
    from reported_rows as rows_read
    inner join fields using (run_id, shard)
    where fields.field in ('reward', 'mask_sample') and rows_read.role = 'rollout'
),
reported_numbers_entries as (
    select * from reported_entries where value is not null
),
-- A name that stands in several places means the first: the format's own, then usage.
sources as (
    select
        run_id,
        shard,
        field,
        min(source) as source
    from reported_numbers_entries as entries
    group by all
),
-- The numbers that reported figures are made of, from every row that has one; true is 1, false 0.
reported_numbers as materialized (
    select
        entries.run_id,
        entries.shard,
        entries.field,
        entries.record_id,
        keys.task_id,
        keys.rollout_index,
        entries.value
    from reported_numbers_entries as entries
    inner join sources using (run_id, shard, field, source)
    inner join staging.rollout_keys as keys using (run_id, record_id)
),
-- The repeats of each task by the score that pass figures are of, in the order of the repeats.
reported_scores as (
    select
        numbers.run_id,
        numbers.shard,
        numbers.field,
        numbers.task_id,
        count(*) as n_scored,
        case
            when max(wanted.pass_threshold) is not null
                then count(*) filter (where numbers.value >= wanted.pass_threshold - 1e-9)
        end as n_passed,
        max(case when numbers.value in (0, 1) then 0 else 1 end) = 1 as is_graded,
        values_by(numbers.value, numbers.rollout_index) as scores
    from reported_numbers as numbers
    inner join reported_scores_wanted as wanted using (run_id, shard, field)
    group by numbers.run_id, numbers.shard, numbers.field, numbers.task_id
),
reported_votes_wanted as (
    select distinct run_id, shard, field, k
    from staging.reported_figures
    where kind = 'majority'
),
reported_answers_wanted as (
    select distinct run_id, shard, field
    from staging.reported_figures
    where kind = 'majority'
),
answers as (
    select
        run_id,
        shard,
        record_id,
        json_field(verifier, 'extracted_answer') as answer
    from reported_rows
    where run_id in (select run_id from reported_answers_wanted as wanted) and role = 'rollout'
),
-- The answer of each scored repeat of a task whose majority was reported, by its place.
reported_answers as (
    select
        numbers.run_id,
        numbers.shard,
        numbers.field,
        numbers.task_id,
        numbers.value,
        answers.answer,
        row_number() over (
            partition by numbers.run_id, numbers.shard, numbers.field, numbers.task_id
            order by numbers.rollout_index
        ) as place
    from reported_numbers as numbers
    inner join answers using (run_id, shard, record_id)
    inner join reported_answers_wanted as wanted using (run_id, shard, field)
),
votes as (
    select
        wanted.run_id,
        wanted.shard,
        wanted.field,
        wanted.k,
        answers.task_id,
        answers.answer,
        answers.value,
        count(answers.answer) as n_votes
    from reported_votes_wanted as wanted
    inner join reported_answers as answers
        on answers.run_id = wanted.run_id
        and answers.shard = wanted.shard
        and answers.field = wanted.field
        and answers.place <= wanted.k
    group by all
),
reported_votes_counted as (
    select
        *,
        max(n_votes) over (partition by run_id, shard, field, k, task_id) as most_votes
    from votes
),
-- What the commonest answer of a task's first k scored repeats is worth; ties are averaged.
reported_votes as (
    select
        run_id,
        shard,
        field,
        k,
        task_id,
        case
            when max(most_votes) = 0 then 0.0
            else mean_of(ascending(case when n_votes = most_votes then value end))
        end as worth,
        max(most_votes) > 0 as is_answered
    from reported_votes_counted as counted
    group by run_id, shard, field, k, task_id
),
by_task as (
    select
        wanted.run_id,
        wanted.shard,
        wanted.kind,
        wanted.field,
        wanted.k,
        scores.is_graded,
        -- Repeats beyond the first k are left out: which they are depends on their order.
        scores.n_scored > wanted.k as is_cut,
        coalesce(votes.is_answered, false) as is_answered,
        case wanted.kind
            when 'pass' then pass_chance(scores.n_scored, scores.n_passed, wanted.k)
            when 'average' then mean_of(first_of(scores.scores, wanted.k))
            when 'majority' then votes.worth
        end as share
    from wanted
    inner join reported_scores as scores using (run_id, shard, field)
    left join reported_votes as votes using (run_id, shard, field, k, task_id)
),
-- Our own pass@k, average of the first k, and majority of the first k, in percent.
reported_passes as (
    select
        run_id,
        shard,
        kind,
        field,
        k,
        count(share) as n_tasks,
        max(case when is_graded then 1 else 0 end) = 1 as is_graded,
        max(case when is_cut then 1 else 0 end) = 1 as is_cut,
        case
            when kind <> 'majority' or max(case when is_answered then 1 else 0 end) = 1
                then 100 * mean_of(ascending(share))
        end as percent
    from by_task
    group by run_id, shard, kind, field, k
),
bases as (
    select distinct run_id, shard, field
    from reported_numbers
),
-- A field that no row has may be one that they have, and a group of the rows.
named as (
    select distinct
        figures.run_id,
        figures.shard,
        figures.field,
        bases.field as base_field,
        substring(figures.field, length(bases.field) + 2) as remainder
    from staging.reported_figures as figures
    inner join bases
        on bases.run_id = figures.run_id
        and bases.shard = figures.shard
        and starts_with(figures.field, bases.field || '_')
    left join bases as own
        on own.run_id = figures.run_id
        and own.shard = figures.shard
        and own.field = figures.field
    where figures.kind = 'statistic' and figures.task_id is null and own.field is null
),
entries as (
    select
        run_id,
        shard,
        record_id,
        unnest(map_entries(json_fields(verifier))) as entry
    from reported_rows
    where run_id in (select run_id from named) and role = 'rollout'
),
texts as (
    select
        run_id,
        shard,
        record_id,
        entry.key as slice_field,
        json_as_text(entry.value) as slice_value
    from entries
    where left(entry.value, 1) = '"' and length(entry.value) between 3 and 100
),
-- The rows meant by a field such as `reward_output_JSON`: the reward where `output_type` is JSON.
reported_readings as (
    select
        named.run_id,
        named.shard,
        named.field,
        named.base_field,
        texts.slice_field,
        texts.slice_value,
        texts.record_id
    from named
    inner join texts using (run_id, shard)
    -- `output_JSON` is JSON in a field that begins with `output_`.
    where named.remainder = texts.slice_value
        or (
            right(named.remainder, length(texts.slice_value) + 1) = '_' || texts.slice_value
            and starts_with(
                texts.slice_field,
                left(named.remainder, length(named.remainder) - length(texts.slice_value))
            )
        )
),
means as (
    select
        readings.run_id,
        readings.shard,
        readings.field,
        readings.base_field,
        readings.slice_field,
        mean_of(ascending(numbers.value)) as mean
    from reported_readings as readings
    inner join reported_numbers as numbers
        on numbers.run_id = readings.run_id
        and numbers.shard = readings.shard
        and numbers.field = readings.base_field
        and numbers.record_id = readings.record_id
    group by
        readings.run_id,
        readings.shard,
        readings.field,
        readings.base_field,
        readings.slice_field
),
-- Our own mean of each field that names a group of rows; null where its readings disagree.
reported_slices as (
    select
        run_id,
        shard,
        field,
        count(*) as n_readings,
        case when min(mean) = max(mean) then min(mean) end as mean
    from means
    group by all
),
reported_statistics_wanted as (
    select distinct
        run_id,
        shard,
        field,
        task_id is null as is_whole
    from staging.reported_figures
    where kind = 'statistic'
),
reported_statistics_scoped as (
    select
        numbers.run_id,
        numbers.shard,
        case when not wanted.is_whole then numbers.task_id end as task_id,
        numbers.field,
        numbers.value
    from reported_numbers as numbers
    inner join reported_statistics_wanted as wanted using (run_id, shard, field)
),
grouped as (
    select
        run_id,
        shard,
        task_id,
        field,
        count(*) as n_numbers,
        max(value) as highest,
        min(value) as lowest,
        ascending(value) as sorted
    from reported_statistics_scoped as scoped
    group by run_id, shard, task_id, field
),
-- Our own mean, extremes, median and deviation of each reported field, by run or shard and by task.
reported_statistics as (
    select
        run_id,
        shard,
        task_id,
        field,
        n_numbers,
        mean_of(sorted) as mean,
        highest as max,
        lowest as min,
        median_of(sorted) as median,
        deviation_of(sorted) as std
    from grouped
),
-- Our own value of every reported figure; null where we have none.
reported_values as (
    select
        figures.run_id,
        figures.agent,
        figures.task_id,
        figures.metric,
        figures.source_file,
        figures.reported,
        figures.shard,
        figures.kind,
        figures.statistic,
        coalesce(statistics.n_numbers, 0) as n_numbers,
        coalesce(slices.n_readings, 0) as n_readings,
        coalesce(passes.n_tasks, 0) as n_tasks,
        coalesce(passes.is_graded, false) as is_graded,
        coalesce(passes.is_cut, false) as is_cut,
        passes.field is not null as is_scored,
        coalesce(counts.n_rollouts, 0) as n_rollouts,
        case
            when figures.kind = 'statistic' then case figures.statistic
                when 'mean' then coalesce(statistics.mean, slices.mean)
                when 'max' then statistics.max
                when 'min' then statistics.min
                when 'median' then statistics.median
                -- Of one value there is none; the sidecars that do not write null define it as 0.
                when 'std' then coalesce(
                    statistics.std,
                    case when statistics.n_numbers = 1 and figures.reported = 0 then 0.0 end
                )
            end
            when figures.kind = 'count' then case figures.metric
                when 'num_rollouts' then counts.n_rollouts
                when 'expected_num_rollouts' then counts.n_expected
                when 'missing_num_rollouts' then counts.n_missing
                when 'reward_profile_completion_pct' then counts.completion_percent
            end
            -- A pass figure of one task is none of ours: it stands for the whole run.
            when figures.task_id is null then passes.percent
        end as ours
    from staging.reported_figures as figures
    left join reported_counts as counts
        on counts.run_id = figures.run_id
        and counts.shard = figures.shard
        and counts.task_id is not distinct from figures.task_id
    left join reported_statistics as statistics
        on statistics.run_id = figures.run_id
        and statistics.shard = figures.shard
        and statistics.task_id is not distinct from figures.task_id
        and statistics.field = figures.field
        and figures.kind = 'statistic'
    left join reported_slices as slices
        on slices.run_id = figures.run_id
        and slices.shard = figures.shard
        and slices.field = figures.field
        and figures.kind = 'statistic'
        and figures.task_id is null
    left join reported_passes as passes
        on passes.run_id = figures.run_id
        and passes.shard = figures.shard
        and passes.kind = figures.kind
        and passes.field = figures.field
        and passes.k = figures.k
),
reported_reasons_figures as (
    select
        *,
        abs(reported - ours) <= 1e-9 * greatest(1.0, abs(reported), abs(ours)) as is_equal
    from reported_values
),
-- A file that counts other rollouts than ours, or has tasks that we have not, is of other rows.
other_rows as (
    select run_id, source_file
    from reported_reasons_figures as figures
    where (metric = 'num_rollouts' and not is_equal) or (task_id is not null and n_rollouts = 0)
    group by all
),
-- Why a reported figure may be other than ours: why we have none, or what explains a difference.
reported_reasons as (
    select
        figures.*,
        case
            when figures.kind = 'other' then 'a figure we do not compute'
            when figures.kind in ('pass', 'average', 'majority') and figures.task_id is not null
                then 'a figure we do not compute'
            when figures.ours is not null then null
            when figures.n_rollouts = 0 then 'no rows to compute it from'
            when figures.kind = 'statistic' and figures.n_readings > 1
                then 'several readings of its name'
            when figures.kind = 'statistic' and figures.n_numbers = 0 then 'field not in the rows'
            when figures.kind = 'pass' and scopes.pass_threshold is null then 'no pass threshold'
            when figures.kind in ('average', 'majority', 'pass') and not figures.is_scored
                then 'field not in the rows'
            when figures.kind = 'majority' then 'field not in the rows'
            when figures.kind = 'pass' then 'no task with that many repeats'
            when figures.kind = 'count' then 'nothing says what was expected'
        end as obstacle,
        case
            when figures.reported is null then 'reported as no number'
            when figures.kind = 'pass' and figures.is_graded
                then 'defined otherwise: the best of the first k rewards'
            when figures.kind = 'pass' and scopes.pass_threshold <> 1
                then 'defined otherwise: only a reward of 1 passes'
            when figures.kind in ('average', 'majority') and figures.is_cut then 'order-dependent'
            when scopes.n_rejects > 0 then 'lines of the rollout file were rejected'
            when figures.kind <> 'count' and other_rows.run_id is not null
                then 'rows of the file are not those it was computed from'
        end as excuse
    from reported_reasons_figures as figures
    inner join staging.reported_scopes as scopes using (run_id, shard)
    left join other_rows using (run_id, source_file)
),
figures as (
    select
        *,
        case
            when ours is not null and reported is not null then is_equal
            -- No values, or the deviation of one: both say that there is no number.
            else kind = 'statistic' and ours is null and reported is null
        end as is_same
    from reported_reasons
)
select
    run_id,
    agent,
    task_id,
    metric,
    reported,
    ours,
    case
        when is_same then 'equal'
        when coalesce(obstacle, excuse) is not null then 'not comparable'
        else 'differs'
    end as status,
    case when not is_same then coalesce(obstacle, excuse, 'no reason found') end as reason,
    source_file
from figures
