-- Every reported figure of a run compared with the computed one: equal, different, or why it is unknown.
-- grain: run_id, agent, task_id, metric, source_file
-- looks at: run
-- kind: table
-- needs: raw.figures
-- computed by: pipeline.analysis.reported.checked
-- columns: run_id, agent, task_id, metric, reported, ours, status, reason, source_file
with
-- What figures of other harnesses mean in Gym's words, where there are some.
meanings as (
    select distinct
        run_keys.run_id,
        files.path as source_file,
        bounded_name(figures.metric) as metric,
        coalesce(figures.means, '') as means,
        figures.scale,
        figures.rounding,
        figures.reason as stated_reason
    from raw.figures
    inner join raw.files using (file_no)
    inner join staging.run_keys using (run_name)
    where
        files.format is not null
        and coalesce(run_keys.part = bounded_name(figures.variant), figures.variant is null)
),
kinds as (
    select
        metrics.*,
        coalesce(means, metric) as meant,
        coalesce(meanings.scale, 1) as scale,
        coalesce(meanings.rounding, 0) as rounding,
        meanings.stated_reason,
        files.seed,
        files.chunk,
        -- A sidecar is about a whole run, or about one of its shards.
        dense_rank() over (order by metrics.run_id, files.seed, files.chunk) as scope,
        case
            when regexp_matches(meant, '^(mean|max|min|median|std)/.') then 'statistic'
            when regexp_matches(means, '^(task_mean|filled_mean|stderr|task_stderr)/.')
                then 'statistic'
            -- A mean of each repeat, and statistics of these.
            when regexp_matches(meant, '^((mean|median|std|se)_across_repeats|repeat\[[0-9]+\])/mean/.')
                then 'repeats'
            when regexp_matches(meant, '^pass@[0-9]+/[^/]+$') then 'pass'
            when regexp_matches(means, '^pass\^[0-9]+/[^/]+$') then 'all pass'
            when regexp_matches(meant, '^pass@1\[avg-of-[0-9]+\]/[^/]+$') then 'average'
            when regexp_matches(meant, '^majority@[0-9]+/[^/]+$') then 'majority'
            when means = 'num_tasks' or meant in (
                'num_rollouts',
                'expected_num_rollouts',
                'missing_num_rollouts',
                'reward_profile_completion_pct'
            ) then 'count'
            else 'other'
        end as kind,
        regexp_extract(meant, '^([^/]*)/(.+)$', ['before', 'after']) as words
    from main.reported_metrics as metrics
    inner join raw.files on files.path = metrics.source_file
    left join meanings using (run_id, source_file, metric)
),
-- What each figure claims: which statistic, of which field, over which part of the run.
figures as materialized (
    select
        run_id,
        agent,
        task_id,
        metric,
        meant,
        value / scale as reported,
        value,
        scale,
        rounding / abs(scale) as rounding,
        stated_reason,
        source_file,
        scope,
        seed,
        chunk,
        kind,
        case
            when kind = 'statistic' then words.after
            when kind = 'repeats' then words.after[6:]
            -- A rollout is accurate as far as it is rewarded.
            when kind not in ('count', 'other')
                then case words.after when 'accuracy' then 'reward' else words.after end
        end as field,
        case when kind in ('statistic', 'repeats') then words.before end as statistic,
        case
            when kind in ('pass', 'all pass', 'average', 'majority')
                then try_cast(regexp_extract(words.before, '([0-9]+)\]?$', 1) as int)
        end as k
    from kinds
),
scopes as (
    select distinct
        scope,
        run_id,
        seed,
        chunk
    from figures
),
-- The rollouts, and the rows that asked for them, of every scope.
rows_read as (
    select
        scopes.scope,
        keys.record_id,
        keys.role = 'rollout' as is_rollout,
        keys.role = 'input' and records.file_kind = 'inputs' as is_input,
        keys.task_id,
        keys.rollout_index
    from scopes
    inner join staging.keys using (run_id)
    inner join staging.records using (record_id)
    where
        keys.rank = 1
        and keys.role in ('rollout', 'input')
        and coalesce(scopes.seed, records.seed, -1) = coalesce(records.seed, -1)
        and coalesce(scopes.chunk, records.chunk, -1) = coalesce(records.chunk, -1)
),
attempts as (
    select
        scope,
        task_id,
        rollout_index,
        bool_or(is_rollout) as is_there,
        bool_or(is_input) as is_expected
    from rows_read
    group by all
),
-- Rollouts there are and rollouts there should be, by scope and by task.
counts as (
    select
        scope,
        task_id,
        count(*) filter (is_there) as n_rollouts,
        count(distinct task_id) filter (is_there) as n_tasks,
        nullif(count(*) filter (is_expected), 0) as n_expected,
        count(*) filter (is_there and is_expected) as n_done
    from attempts
    group by grouping sets ((scope, task_id), (scope))
),
fields as (
    select distinct
        scope,
        field
    from figures
    where field is not null
),
entries as not materialized (
    select
        scope,
        record_id,
        task_id,
        rollout_index,
        source,
        unnest(map_entries(recorded_fields)) as entry
    from (
        select
            rows_read.*,
            unnest(['usage', 'verifier']) as source,
            unnest([json_fields(records.usage), json_fields(texts.verifier)]) as recorded_fields
        from rows_read
        inner join staging.records using (record_id)
        inner join raw.texts using (record_id)
        where rows_read.is_rollout
    ) as sources
),
-- The numbers that rows give under the names of reported fields; true is 1, false 0.
given_numbers as (
    select
        * exclude (entry),
        entry.key as field,
        json_as_measure(entry.value) as value
    from entries
    union all by name
    select
        rows_read.* exclude (is_rollout, is_input),
        'format' as source,
        -- Some count what was not scored as 0.
        unnest(['reward', 'filled_reward', 'mask_sample']) as field,
        unnest([records.reward, coalesce(records.reward, 0), json_as_measure(records.mask_sample)]) as value
    from rows_read
    inner join staging.records using (record_id)
    where rows_read.is_rollout
    union all by name
    select
        rows_read.* exclude (is_rollout, is_input),
        'scores' as source,
        'scores.' || json_extract_string(entries.item, '$.name') as field,
        json_as_measure(json_extract(entries.item, '$.score')) as value
    from rows_read
    inner join staging.entries as entries using (record_id)
    semi join (from fields where starts_with(field, 'scores.')) as wanted using (scope)
    where rows_read.is_rollout and entries.path in ('score', 'scores') and entries.item is not null
),
read_numbers as materialized (
    from given_numbers
    semi join fields using (scope, field)
    where value is not null
),
-- A name in several places means the first: the format's own, then usage.
numbers as materialized (
    from read_numbers
    semi join (select scope, field, min(source) as source from read_numbers group by all) as first_sources
        using (scope, field, source)
),
-- The repeats of each task by the score that pass figures are of, in the order of the repeats.
scores as (
    select
        scope,
        field,
        task_id,
        list(value order by rollout_index) as scores,
        list(record_id order by rollout_index) as record_ids
    from numbers
    semi join (from figures where k is not null) as wanted using (scope, field)
    group by all
),
by_task as (
    select
        wanted.*,
        scores.* exclude (scope, field)
    from (select distinct run_id, scope, kind, field, k from figures where k is not null) as wanted
    inner join scores using (scope, field)
),
votes as (
    select
        scope,
        field,
        k,
        task_id,
        votes.value,
        records.answer,
        count(records.answer) as n_votes
    from (
        select
            * exclude (scores, record_ids),
            unnest(scores[1:k]) as value,
            unnest(record_ids[1:k]) as record_id
        from by_task
        where kind = 'majority'
    ) as votes
    inner join (
        select
            record_id,
            json_field(verifier, 'extracted_answer') as answer
        from raw.texts
    ) as records using (record_id)
    group by all
),
-- What the commonest answer of a task's first k scored repeats is worth; ties are averaged.
majorities as (
    select
        scope,
        field,
        k,
        task_id,
        max(n_votes) as most_votes,
        list({'value': value, 'n_votes': n_votes} order by value) as answers
    from votes
    group by all
),
-- Our own pass@k, average of the first k, and majority of the first k, in percent.
shares as (
    select
        by_task.* exclude (scores, record_ids),
        list_bool_or(list_transform(scores, lambda score: is_partial_reward(score))) as is_graded,
        -- Repeats beyond the first k are left out: which they are depends on their order.
        len(scores) > k as is_cut,
        kind <> 'majority' or most_votes > 0 as is_answered,
        len(list_filter(scores, lambda score: score < runs.pass_threshold - 1e-9)) as n_failed,
        case kind
            when 'pass' then if(len(scores) >= k, 1 - subset_share(len(scores), n_failed, k), null)
            when 'all pass'
                then if(len(scores) >= k, subset_share(len(scores), len(scores) - n_failed, k), null)
            when 'average' then list_aggregate(scores[1:k], 'fsum') / len(scores[1:k])
            when 'majority' then case
                when most_votes = 0 then 0.0
                else list_aggregate(
                    [answer.value for answer in answers if answer.n_votes = most_votes], 'fsum'
                ) / len([answer for answer in answers if answer.n_votes = most_votes])
            end
        end as share
    from by_task
    inner join staging.run_benchmarks as runs using (run_id)
    left join majorities using (scope, field, k, task_id)
    where kind not in ('pass', 'all pass') or runs.pass_threshold is not null
),
passes as (
    select
        scope,
        kind,
        field,
        k,
        bool_or(is_graded) as is_graded,
        bool_or(is_cut) as is_cut,
        bool_or(is_answered) as is_answered,
        list(share order by share) filter (share is not null) as shares
    from shares
    group by all
),
-- A field that no row has may be one that they have, and a group of the rows: `reward_output_JSON` is
-- the reward where `output_type` is JSON.
compounds as (
    select distinct
        figures.scope,
        figures.field,
        bases.field as base_field,
        substring(figures.field, length(bases.field) + 2) as remainder
    from figures
    inner join (select distinct scope, field from numbers) as bases
        on bases.scope = figures.scope
        and starts_with(figures.field, bases.field || '_')
    anti join numbers on numbers.scope = figures.scope and numbers.field = figures.field
    where figures.kind = 'statistic' and figures.task_id is null
),
texts as (
    select
        scope,
        record_id,
        entry.key as slice_field,
        json_as_text(entry.value) as slice_value
    from entries
    semi join compounds using (scope)
    where
        source = 'verifier'
        and left(entry.value, 1) = '"'
        and length(entry.value) between 3 and 100
),
readings as (
    select
        compounds.scope,
        compounds.field,
        count(*) as n_numbers,
        fsum(numbers.value order by numbers.value) / count(*) as mean
    from compounds
    inner join texts using (scope)
    inner join numbers
        on numbers.scope = compounds.scope
        and numbers.field = compounds.base_field
        and numbers.record_id = texts.record_id
    -- `output_JSON` is JSON in a field that begins with `output_`.
    where
        compounds.remainder = texts.slice_value
        or (
            ends_with(compounds.remainder, '_' || texts.slice_value)
            and starts_with(
                texts.slice_field,
                left(compounds.remainder, length(compounds.remainder) - length(texts.slice_value))
            )
        )
    group by compounds.scope, compounds.field, compounds.base_field, texts.slice_field
),
-- Our own mean of each field that names a group of rows; null where its readings disagree.
slices as (
    select
        scope,
        field,
        count(*) as n_readings,
        min(n_numbers) as n_numbers,
        case when min(mean) = max(mean) then min(mean) end as mean
    from readings
    group by all
),
-- The numbers of each reported field, by scope and by task.
statistics as (
    select
        scope,
        case when not wanted.is_whole then numbers.task_id end as task_id,
        field,
        count(*) as n_numbers,
        list(value order by value) as sorted
    from numbers
    inner join (
        select distinct
            scope,
            field,
            task_id is null as is_whole
        from figures
        where kind = 'statistic'
    ) as wanted using (scope, field)
    group by all
),
-- The mean of each task's own mean.
task_means as (
    select
        scope,
        field,
        list(mean order by mean) as means
    from (
        select
            scope,
            field,
            task_id,
            fsum(value order by value) / count(*) as mean
        from numbers
        semi join (from figures where starts_with(statistic, 'task_')) as wanted using (scope, field)
        group by all
    )
    group by all
),
repeat_means as (
    select
        scope,
        field,
        list(mean order by mean) as means,
        map_from_entries(list((rollout_index, mean))) as by_repeat
    from (
        select
            scope,
            field,
            rollout_index,
            fsum(value order by value) / count(*) as mean
        from numbers
        semi join (from figures where kind = 'repeats') as wanted using (scope, field)
        group by all
    )
    group by all
),
-- Our own value of every reported figure; null where we have none.
valued as (
    select
        figures.*,
        coalesce(statistics.n_numbers, 0) as n_numbers,
        coalesce(slices.n_readings, 0) as n_readings,
        passes.field is not null as is_scored,
        coalesce(passes.is_graded, false) as is_graded,
        coalesce(passes.is_cut, false) as is_cut,
        coalesce(counts.n_rollouts, 0) as n_rollouts,
        counts.n_expected,
        -- What a mean is the mean of: numbers, or tasks.
        coalesce(statistics.n_numbers, slices.n_numbers, len(passes.shares)) as n_averaged,
        case
            when figures.kind = 'statistic' then case statistic
                when 'mean' then coalesce(
                    list_aggregate(statistics.sorted, 'fsum') / statistics.n_numbers, slices.mean
                )
                when 'task_mean' then list_aggregate(task_means.means, 'fsum') / len(task_means.means)
                when 'stderr' then coalesce(
                    list_stddev_samp(statistics.sorted) / sqrt(statistics.n_numbers),
                    case when statistics.n_numbers = 1 and figures.reported = 0 then 0.0 end
                )
                when 'task_stderr' then coalesce(
                    list_stddev_samp(task_means.means) / sqrt(len(task_means.means)),
                    case when len(task_means.means) = 1 and figures.reported = 0 then 0.0 end
                )
                -- What was not scored counts as 0.
                when 'filled_mean' then list_aggregate(statistics.sorted, 'fsum') / counts.n_rollouts
                when 'max' then statistics.sorted[-1]
                when 'min' then statistics.sorted[1]
                when 'median' then list_median(statistics.sorted)
                -- Of one value there is none; the sidecars that do not write null define it as 0.
                when 'std' then coalesce(
                    list_stddev_samp(statistics.sorted),
                    case when statistics.n_numbers = 1 and figures.reported = 0 then 0.0 end
                )
            end
            when figures.kind = 'repeats' then case statistic
                when 'mean_across_repeats'
                    then list_aggregate(repeat_means.means, 'fsum') / len(repeat_means.means)
                when 'median_across_repeats' then list_median(repeat_means.means)
                when 'std_across_repeats' then list_stddev_samp(repeat_means.means)
                when 'se_across_repeats'
                    then list_stddev_samp(repeat_means.means) / sqrt(len(repeat_means.means))
                else repeat_means.by_repeat[regexp_extract(statistic, '[0-9]+')::bigint]
            end
            when figures.kind = 'count' then case figures.meant
                when 'num_rollouts' then counts.n_rollouts
                when 'num_tasks' then counts.n_tasks
                when 'expected_num_rollouts' then counts.n_expected
                when 'missing_num_rollouts' then counts.n_expected - counts.n_done
                when 'reward_profile_completion_pct' then 100.0 * counts.n_done / counts.n_expected
            end
            -- A pass figure of one task is none of ours: it is about the whole run.
            when figures.task_id is null and passes.is_answered
                then 100 * (list_aggregate(passes.shares, 'fsum') / len(passes.shares))
        end as ours
    from figures
    left join counts
        on counts.scope = figures.scope
        and counts.task_id is not distinct from figures.task_id
    left join statistics
        on figures.kind = 'statistic'
        and statistics.scope = figures.scope
        and statistics.field = figures.field
        and statistics.task_id is not distinct from figures.task_id
    left join task_means
        on starts_with(figures.statistic, 'task_')
        and task_means.scope = figures.scope
        and task_means.field = figures.field
    left join repeat_means
        on figures.kind = 'repeats'
        and repeat_means.scope = figures.scope
        and repeat_means.field = figures.field
    left join slices
        on figures.kind = 'statistic'
        and figures.task_id is null
        and slices.scope = figures.scope
        and slices.field = figures.field
    left join passes
        on passes.scope = figures.scope
        and passes.kind = figures.kind
        and passes.field = figures.field
        and passes.k = figures.k
),
rejected as (
    select
        scopes.scope,
        count(*) as n_rejects
    from scopes
    inner join staging.run_keys using (run_id)
    inner join raw.files using (run_name)
    inner join main.rejects on rejects.source_file = files.path
    where
        files.kind = 'rollouts'
        and coalesce(scopes.seed, files.seed, -1) = coalesce(files.seed, -1)
        and coalesce(scopes.chunk, files.chunk, -1) = coalesce(files.chunk, -1)
    group by all
)
select
    valued.* exclude (scope, seed, chunk, field, rounding) replace (ours::double as ours),
    abs(valued.reported - valued.ours)
        <= valued.rounding + 1e-9 * greatest(1.0, abs(valued.reported), abs(valued.ours)) as is_equal,
    runs.pass_threshold,
    coalesce(rejected.n_rejects, 0) as n_rejects
from valued
inner join staging.run_benchmarks as runs using (run_id)
left join rejected using (scope)
order by valued.run_id, valued.agent, valued.task_id, valued.metric, valued.source_file
