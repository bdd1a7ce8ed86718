-- What a reader should know of these results, and the command that shows more.
-- grain: check_name, subject
-- looks at: across
-- kind: table
with
seen as (
    select
        benchmark,
        count(*) as n_tasks
    from staging.tasks
    where not starts_with(task_id, 'unseen-')
    group by all
),
-- Fields whose tasks fare alike, where nothing says which tasks belong together: the intervals for
-- new tasks take each task for one of its own. Degrees of difficulty are meant to differ.
grouped_tasks as (
    select
        benchmark,
        run_id,
        slices.name,
        slices.value,
        count(*) as n_tasks,
        steady_sum(coalesce(pass_rate, mean_reward)) as total,
        steady_sum(coalesce(pass_rate, mean_reward) ** 2) as square_total
    from main.task_outcomes
    inner join staging.task_slices as slices using (benchmark, task_id)
    where
        n_scored > 0
        and (select group_path is null from raw.settings)
        and regexp_matches(slices.name, '^[A-Za-z0-9_.-]+$')
        and not regexp_matches(lower(slices.name), 'difficulty|level|split|tier')
    group by all
),
-- How much more groups differ than tasks of one group do: the F of an analysis of variance.
likenesses as (
    select
        benchmark,
        run_id,
        name,
        count(*) as n_groups,
        steady_sum(total * total / n_tasks) as between,
        (between - steady_sum(total) ** 2 / sum(n_tasks)) / (n_groups - 1)
            / nullif((steady_sum(square_total) - between) / (sum(n_tasks) - n_groups), 0) as f_ratio
    from grouped_tasks
    group by benchmark, run_id, name
    having count(*) between 5 and 20 and sum(n_tasks) >= 3 * count(*)
),
refused as (
    select
        rejects.source_file,
        rejects.source_line,
        rejects.reason,
        row_number() over (partition by rejects.source_file order by rejects.source_line) as number
    from main.rejects
    inner join main.artifacts on artifacts.path = rejects.source_file
    where artifacts.kind = 'labels' and not starts_with(rejects.reason, 'superseded by ')
)
-- Runs in which every rollout has one and the same reward that is neither 0 nor 1.
select
    'warn_constant_reward' as check_name,
    run_id as subject,
    'every one of ' || n_scored || ' rollouts has the reward ' || format('{:.6g}', min_reward)
        || ': it looks like one figure for the whole batch' as message,
    'blade sql "select reward, count(*) from rollouts group by all"' as hint
from main.run_metrics
where has_constant_reward
union all
-- Benchmarks with more tasks than the profile says there are.
select
    'warn_expected_fewer',
    seen.benchmark,
    'holds ' || seen.n_tasks || ' tasks where the profile expects ' || settings.n_expected_tasks,
    'Correct tasks in the [expected] of blade.toml, or name the tasks there'
from seen
cross join raw.settings
where seen.n_tasks > settings.n_expected_tasks and not settings.has_expected_names
union all
-- Runs with failed attempts that belong to no expected and no recorded rollout.
select
    'warn_failures_unexpected',
    run_id,
    n_attempts || if(n_attempts = 1, ' failed attempt belongs', ' failed attempts belong')
        || ' to no expected and no recorded rollout and ' || if(n_attempts = 1, 'is', 'are')
        || ' in no figure: of an earlier run, or the inputs are not here',
    'blade sql "from failures anti join expected using (run_id, task_id, rollout_index)"'
from (
    select
        run_id,
        count(distinct (task_id, rollout_index)) as n_attempts
    from main.failures
    anti join staging.attempts using (run_id, task_id, rollout_index)
    group by all
)
union all
select
    'warn_groups_unnamed',
    benchmark,
    'tasks of one ' || name || ' fare alike (' || n_groups || ' values, F = ' || round(f_ratio, 1)
        || ' in ' || run_id || '): if they are related, intervals for new tasks are too narrow',
    'Where they belong together, say so in blade.toml: fields.group = "' || name || '"'
from likenesses
where f_ratio >= 4
qualify row_number() over (partition by benchmark order by f_ratio desc, run_id, name) = 1
union all
-- Runs with rollouts that have neither an id of their task nor a question: each is a task of its own.
select
    'warn_tasks_unnamed',
    run_id,
    n_rollouts || if(n_rollouts = 1, ' rollout names no task and shows no question: it is taken for',
        ' rollouts name no task and show no question: each is taken for') || ' a task of its own, by its line',
    'Add to each row the id of its task as task_id, or its question as messages'
from (
    select
        keys.run_id,
        count(*) as n_rollouts
    from staging.recorded_keys as keys
    inner join staging.records using (record_id)
    where
        keys.role = 'rollout'
        and keys.task_id_source = 'content'
        and records.request_hash is null
        and not records.has_prompt
    group by all
)
union all
-- Runs whose rows name more than one model.
select
    'warn_mixed_models',
    run_id,
    'holds rollouts of ' || n_models || ' models: ' || model,
    'blade sql "select model, count(*) from rollouts group by all"'
from main.runs
where n_models > 1
union all
-- Benchmarks whose rewards leave 0..1, or are a scale of their own: what passes must be set, it is not guessed.
select
    'warn_pass_unsettled',
    benchmark,
    case when lowest = highest then format('every reward is {:.6g}', lowest) else
        format('rewards go from {:.6g} to {:.6g}', lowest, highest) || if(is_continuous, ', most of them high and hardly one 1', '')
    end || ', so what passes is not settled; pass figures are left empty',
    'Say from which reward a rollout passes, in blade.toml: pass_threshold = NUMBER'
from (select distinct benchmark, lowest, highest, is_continuous, pass_threshold from staging.run_benchmarks)
where pass_threshold is null
union all
-- Files with lines that could not be used; of those that are not read for one reason, the first.
select
    'warn_rejects',
    path,
    message,
    -- A file's name is untrusted, and a hint is made to be pasted into a shell.
    'blade sql "from rejects' || case
        when regexp_matches(path, '^[A-Za-z0-9._/ -]+$')
            then ' where source_file = ' || '''' || path || ''''
        else ''
    end || '"'
from (
    select
        path,
        n_rejects || ' of ' || n_lines || if(n_lines = 1, ' line', ' lines') || ' could not be used' as message
    from main.artifacts
    where n_rejects > 0 and kind <> 'skipped'
    union all
    select
        -- The largest, so that a main file is not missed.
        list(path order by n_bytes desc, path)[1],
        'not read: it ' || reason || case count(*)
            when 1 then ''
            when 2 then ' (and 1 other file, '
            else ' (and ' || count(*) - 1 || ' other files, '
        end || if(count(*) = 1, '', formatReadableDecimalSize(sum(n_bytes)::bigint) || ' in all)')
    from main.rejects
    inner join main.artifacts on artifacts.path = rejects.source_file
    where kind = 'skipped'
    group by reason
)
union all
-- Runs that reported figures of themselves which their rows do not give.
select
    'warn_reported_differs',
    run_id,
    count(*) || if(count(*) = 1, ' figure it reported differs', ' figures it reported differ')
        || ' from what its rows give, such as ' || min(metric),
    'blade sql "from reported_checks where status = ''differs''"'
from main.reported_checks
where status = 'differs'
group by run_id
union all
-- Runs whose published score their rows do not give, as of a log without samples.
select
    'warn_published_alone',
    run_id,
    runs.reported_metric || ' was published as ' || format('{:.6g}', runs.reported_score)
        || ' and is not recomputed: ' || checks.reason,
    'blade sql "select run_id, reported_metric, reported_score from runs"'
from main.runs
inner join main.reported_checks as checks using (run_id)
where checks.metric = runs.reported_metric and checks.status = 'not comparable'
union all
-- Runs whose rows have no reward: what was read in its place.
select
    'warn_reward_field',
    run_id || ' ' || reward_field,
    count(*) || if(count(*) = 1, ' row has', ' rows have') || ' no reward: ' || reward_field
        || ' was read as the reward',
    'Where it is another field, say so in blade.toml: fields.reward = "..."'
from staging.rollout_keys
inner join staging.records using (record_id)
where reward_field is not null and role = 'rollout'
group by run_id, reward_field
union all
-- Runs with rollouts that their inputs never asked for.
select
    'warn_unexpected',
    rollouts.run_id,
    count(*) || if(count(*) = 1, ' rollout was', ' rollouts were')
        || ' not among the expected inputs; are the inputs of another run?',
    'blade sql "from rollouts anti join expected using (run_id, task_id, rollout_index)"'
from staging.rollouts
inner join main.runs using (run_id)
left join main.expected using (run_id, task_id, rollout_index)
where runs.n_expected is not null and expected.task_id is null
group by rollouts.run_id
union all
-- Baselines that were named and are no run of these results.
select
    'warn_unknown_baseline',
    baselines.run_id,
    'is named as the baseline, and no run has this name',
    'blade sql "select benchmark, run_id from runs order by all"'
from raw.baselines
left join main.runs using (run_id)
where runs.run_id is null
union all
-- Baselines with which no other run could be compared: nothing else names them.
select
    'warn_baseline_alone',
    baselines.run_id,
    'is named as the baseline, and no task of another run could be compared with it: tasks are paired by question',
    'Where prompts are empty or hold what changes from run to run, name the benchmark, and tasks are paired by id: --benchmark NAME'
from raw.baselines
inner join main.runs using (run_id)
left join main.comparison_tasks as compared on compared.base = baselines.run_id and compared.is_common
where
    compared.base is null
    and (select count(*) from main.runs as every where every.n_scored > 0) > 1
group by baselines.run_id
union all
-- Runs with rollouts that nothing verified: their reward is a constant of the configuration.
select
    'warn_unverified',
    run_id,
    count(*) || if(count(*) = 1, ' rollout was', ' rollouts were')
        || ' not verified (verification_skipped): ' || if(count(*) = 1, 'its reward is', 'their rewards are')
        || ' not read, and ' || if(count(*) = 1, 'it counts', 'they count') || ' as unscored',
    'blade sql "from rollouts where verifier->>''verification_skipped'' = ''true''"'
from staging.rollout_keys
inner join staging.records using (record_id)
where is_verification_skipped and reward is null and role = 'rollout'
group by run_id
union all
-- Runs that were re-verified by force.
select
    'warn_unsafe',
    run_id,
    'was re-verified by force (unsafe_): its rewards are not to be trusted',
    ''
from main.runs
where is_unsafe
union all
-- Runs with rollouts whose reward is missing or not a number: kept, never counted as zero.
select
    'warn_unscored',
    run_id,
    n_unscored || ' of ' || n_rollouts || if(n_rollouts = 1, ' rollout ', ' rollouts ')
        || if(n_unscored = 1, 'has no usable reward and is', 'have no usable reward and are')
        || ' kept as unscored' || coalesce('; grades are words: ' || words, ''),
    'blade sql "from rollouts where not is_scored"'
from (
    select
        run_id,
        count(*) as n_rollouts,
        count(*) filter (where not is_scored) as n_unscored
    from staging.rollouts
    group by all
)
left join (
    select
        run_id,
        array_to_string(list(value || ' (' || n || ')' order by n desc, value)[:4], ', ') as words
    from (
        select
            run_id,
            left(value, 40) as value,
            count(*) as n
        from staging.entries
        inner join staging.rollouts using (record_id)
        where is_word_grade(path, item_no, entries.kind) and not is_scored
        group by all
    )
    group by run_id
) using (run_id)
where n_unscored > 0
union all
-- Labels that were refused: the first of each file, with the reason. Corrected ones are not listed.
select
    'warn_unusable_labels',
    source_file || ':' || source_line,
    'label refused: ' || reason,
    ''
from refused
where number <= 10
union all
-- One and the same file in two places counts twice.
select
    'warn_copies',
    min(path),
    'is the same to the byte as ' || array_to_string(list(path order by path)[2:4], ', ')
        || if(count(*) > 4, ' and others', '') || ': its rollouts count as runs of their own',
    'Analyze one of them, or name the runs with --run.'
from main.artifacts
where kind = 'rollouts' and n_rows > 0
group by sha256
-- Attempts of one run may have the same outcome.
having count(distinct run_ids) > 1
union all by name
-- Runs of one model and agent, set up alike, that share no task may be parts of one run.
select
    'warn_parts' as check_name,
    names[1] as subject,
    'is of the same model as ' || array_to_string(names[2:4], ', ') || if(n_runs > 4, ' and others', '')
        || '; no two of these runs have a task in common' as message,
    'If they are parts of one run, pool them: blade analyze --run NAME=FOLDER --run NAME=FOLDER ...' as hint
from (
    select
        benchmark,
        model,
        agent,
        count(distinct run_id) as n_runs,
        list(distinct run_id order by run_id) as names,
        count(distinct task_id) as n_tasks,
        count(distinct (run_id, task_id)) as n_run_tasks
    from (
        select
            run_id,
            task_id,
            -- Of an attempt without a transcript the agent may be unknown.
            max(model) over (partition by run_id) as model,
            max(agent) over (partition by run_id) as agent
        from main.rollouts
    ) as rollouts
    inner join staging.run_benchmarks using (run_id)
    left join (
        select
            run_id,
            list((name, value) order by name) as settings
        from staging.run_settings
        where not regexp_matches(name, '^(log_|notes$|n(um)?_repeats$)')
        group by run_id
    ) as recorded using (run_id)
    where model is not null
    group by benchmark, model, agent, settings
)
where n_runs > 1 and n_run_tasks = n_tasks
union all by name
-- Runs too many to be compared each with each.
select
    'warn_many_runs' as check_name,
    benchmark as subject,
    'has ' || (count(*) + 1) || ' runs and no baseline: of more than ' || most_paired_runs()
        || ', each is compared with ' || base || ' and, where its model has at most ' || most_runs_of_model()
        || ', with the others of that' as message,
    'Name what to compare with: blade analyze --baseline RUN, or blade compare BASE CANDIDATE.' as hint
from staging.run_pairs
where not is_named
group by benchmark, base
having count(*) >= most_paired_runs()
union all by name
-- The columns of tables of one's own are guessed: a wrong guess makes every figure wrong.
select
    'warn_columns_guessed' as check_name,
    min(files.path) || if(count(*) > 1, ' and ' || (count(*) - 1) || ' more', '') as subject,
    'read as ' || split_part(value, ', other columns: ', 1) || '; ' || sum(n_scored)::bigint || ' of '
        || sum(n_rows)::bigint || ' rows have the score' as message,
    'If a column is wrong, name another: blade analyze --field score=COLUMN --field task=COLUMN ...' as hint
from raw.config_values
inner join raw.files using (file_no)
inner join (
    select
        source_file,
        count(*) as n_rows,
        count(*) filter (is_scored) as n_scored
    from main.rollouts
    group by all
) as rows_read
    on rows_read.source_file = files.path
where config_values.name = 'read_as'
group by value
