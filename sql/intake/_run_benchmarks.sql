-- The benchmark of each run: as given, else its package, else that of the runs it shares tasks with.
-- What passes and what trying means holds for all runs of a benchmark.
-- grain: run_id
-- looks at: across
-- kind: table
with recursive run_questions as materialized (
    select
        keys.run_id,
        keys.task_id,
        records.has_prompt,
        records.is_only_numbered,
        coalesce(same.question, records.prompt_sha) as question,
        records.ids,
        records.outline,
        records.said_benchmark
    from staging.recorded_keys as keys
    inner join staging.records using (record_id)
    left join staging.questions as same using (prompt_sha)
    where keys.role in ('rollout', 'input')
),
-- Another harness may name the benchmark in its rows, or in the header of a log without any.
named as (
    select
        run_keys.run_id,
        run_name,
        min(files.folder) as folder,
        coalesce(
            min(stated.benchmark),
            min(files.package),
            min(coalesce(benchmark_name(headers.value), benchmark_name(part))) filter (
                run_id not in (select asked.run_id from run_questions as asked)
            )
        ) as package
    from staging.run_keys
    inner join raw.files using (run_name)
    left join (from raw.config_values where name = 'log_benchmark') as headers using (file_no)
    left join (
        select distinct
            run_id,
            benchmark_name(said_benchmark) as benchmark
        from run_questions
        where said_benchmark is not null
    ) as stated using (run_id)
    group by all
),
-- Where no question was recorded, the first explicit id that distinguishes all tasks of a run. An index
-- says nothing of a task, and nor does an id that only counts.
id_fields as (
    select
        run_id,
        name
    from (
        select
            run_id,
            task_id,
            unnest(map_entries(json_fields(ids))) as entry
        from run_questions
        where not has_prompt
    ) as offered
    inner join raw.id_fields on id_fields.name = entry.key
    inner join (select run_id, count(distinct task_id) as n_tasks from run_questions where not has_prompt group by all)
        as bare using (run_id)
    group by run_id, name, rank, n_tasks
    having
        count(distinct task_id) = n_tasks
        and count(distinct json_as_text(entry.value)) = n_tasks
        and not bool_and(coalesce(
            try_cast(json_as_text(entry.value) as bigint) between 0 and 2 * n_tasks - 1, false
        ))
    qualify row_number() over (partition by run_id order by rank) = 1
),
-- A task by its question, by its explicit id where no question was recorded; else it is the run's own.
tasks as (
    select distinct
        run_id,
        task_id,
        case
            when is_only_numbered then 'number ' || question
            when has_prompt then 'prompt ' || question
            else coalesce('id ' || json_field(ids, id_fields.name), 'own ' || run_id || ' ' || task_id)
        end as token
    from run_questions
    left join id_fields using (run_id)
),
-- Domains of one benchmark may number their tasks alike; then their tools differ.
run_tools as (
    select
        run_id,
        list_sort(list(distinct calls.tool)) as tools
    from (select distinct run_id from tasks where starts_with(token, 'number '))
    inner join staging.recorded_keys as keys using (run_id)
    inner join staging.calls using (record_id)
    group by run_id
),
-- Of runs with exactly the same tasks, the first represents all: pairs of runs may be many.
sizes as (
    select
        *,
        min(run_id) over (partition by id_package, tools, n_tasks, token_sum, token_xor) as first_run
    from (
        select
            run_id,
            -- Several tasks may ask one question, and the repeats of a task several.
            least(count(distinct token), count(distinct task_id)) as n_tasks,
            -- Ids alone do not show that two packages ask the same.
            case when not bool_and(starts_with(token, 'prompt ')) then min(package) end as id_package,
            any_value(tools) as tools,
            sum(distinct hash(token)) as token_sum,
            bit_xor(distinct hash(token)) as token_xor
        from tasks
        inner join named using (run_id)
        left join run_tools using (run_id)
        group by tasks.run_id
    )
),
firsts as (
    select distinct
        tasks.run_id,
        named.package,
        named.folder,
        tasks.token,
        sizes.n_tasks,
        sizes.tools
    from tasks
    inner join sizes using (run_id)
    inner join named using (run_id)
    where run_id = first_run
),
-- Runs belong together that share half of the smaller one's tasks, or a package. Two packages may give
-- one id to unlike questions, such as one for a fix and one for a test: of these only questions count.
related as (
    select
        firsts.run_id,
        others.run_id as other_run
    from firsts
    inner join firsts as others using (token)
    where
        firsts.run_id < others.run_id
        and (starts_with(token, 'prompt ') or coalesce(firsts.package = others.package, true))
        and (
            not starts_with(token, 'number ')
            or coalesce(
                2 * len(list_intersect(firsts.tools, others.tools)) > least(len(firsts.tools), len(others.tools)),
                true
            )
        )
    group by all
    having
        2 * count(*) >= least(any_value(firsts.n_tasks), any_value(others.n_tasks))
        -- Numbers say little: another folder without tools is of the same tasks if it has as many.
        and (
            not bool_or(starts_with(token, 'number '))
            or any_value(firsts.folder = others.folder)
            or any_value(len(firsts.tools) + len(others.tools)) > 0
            or 10 * count(*) >= 9 * greatest(any_value(firsts.n_tasks), any_value(others.n_tasks))
        )
    union all
    select
        run_id,
        first_run as other_run
    from sizes
    union all
    select
        run_id,
        min(run_id) over (partition by package) as other_run
    from named
    where package is not null
),
-- A run of which no attempt began says nothing of its tasks: it is of the only benchmark that is named
-- in its folder, if its ids are ids of that.
silent as (
    select
        quiet.run_id,
        min(others.run_id) as other_run
    from (
        select
            run_id,
            list_sort(list(distinct task_id)) as ids
        from run_questions
        group by run_id
        having not bool_or(has_prompt or outline <> '')
    ) as quiet
    inner join named using (run_id)
    inner join named as others using (folder)
    inner join (select run_id, list(distinct task_id) as ids from run_questions group by run_id) as asked_tasks
        on asked_tasks.run_id = others.run_id
    where
        named.package is null
        and others.package is not null
    group by quiet.run_id, quiet.ids
    having
        count(distinct others.package) = 1
        and list_has_all(flatten(list(asked_tasks.ids)), quiet.ids)
),
links as (
    from related
    union all
    from silent
    union all
    select
        other_run as run_id,
        run_id as other_run
    from silent
    union all
    select
        other_run as run_id,
        run_id as other_run
    from related
),
-- Joined up: every run takes the least name that reaches it.
groups (run_id, group_id) using key (run_id) as (
    select
        run_id,
        run_id
    from named
    union
    select
        links.other_run,
        min(groups.group_id)
    from groups
    inner join links using (run_id)
    inner join recurring.groups as known on known.run_id = links.other_run
    group by links.other_run, known.group_id
    having min(groups.group_id) < known.group_id
),
runs as (
    select
        groups.group_id,
        named.run_id,
        named.run_name,
        min(named.package) over by_group as package,
        min(named.run_name) over by_group as first_name,
        count(distinct named.run_name) over by_group as n_names
    from named
    inner join groups using (run_id)
    window by_group as (partition by groups.group_id)
),
-- The innermost folder that contains all runs of a group; of a folder of one trial without what makes its name unique.
folders as (
    select
        group_id,
        regexp_replace(arg_max(name, depth), '__[0-9A-Za-z]{7}$', '') as name
    from (
        select
            runs.group_id,
            places.depth,
            min(places.name) as name
        from runs
        inner join raw.files using (run_name)
        inner join raw.places using (file_no)
        where places.depth >= 0
        group by runs.group_id, places.depth, runs.n_names
        having
            count(distinct places.name) = 1
            and count(distinct runs.run_name) = runs.n_names
    ) as shared
    group by all
),
-- The words that the names of all runs of a group share, in the order of the first name. Words that
-- every name may hold, and sizes such as 8b, say nothing of the benchmark.
words as (
    select
        group_id,
        string_agg(word, '_' order by position, word) as name
    from (
        select
            group_id,
            word,
            min(strpos(first_name, word)) as position
        from (
            select
                *,
                unnest(str_split_regex(run_name, '[-_.]+')) as word
            from runs
            where n_names > 1
        ) as split
        where not regexp_matches(
            lower(word),
            '^(\d*[bmk]?|rollouts?|examples?|runs?|models?|agents?|results?|evals?|outputs?|vs)$'
        )
        group by group_id, word, n_names
        having count(distinct run_name) = n_names
    ) as shared
    group by all
),
-- The file of tests that all runs of a group record, if its name says what these are.
test_sets as (
    select
        group_id,
        min(benchmark_name(value)) as name
    from runs
    inner join raw.files using (run_name)
    inner join (from raw.config_values where name = 'test_set') as recorded using (file_no)
    where not regexp_matches(lower(value), '^((test|eval)s?|((test|eval)[-_]?)?(cases?|set|data(set)?|prompts?|examples?))\d*$')
    group by group_id, n_names
    having count(distinct value) = 1 and count(distinct run_name) = n_names
),
-- Tables of one's own that are runs of different models, or of models that only their names may say, are
-- not named after one of these, but after their folder.
homes as (
    select
        runs.group_id,
        benchmark_name(min(places.name)) as name
    from runs
    inner join raw.files using (run_name)
    inner join raw.places using (file_no)
    where
        places.depth < 0
        and runs.n_names > 1
        and runs.group_id in (
            select compared.group_id
            from runs as compared
            inner join staging.recorded_keys as keys using (run_id)
            inner join staging.records using (record_id)
            where keys.role = 'rollout'
            group by compared.group_id
            having count(distinct records.model) <> 1
        )
    group by runs.group_id, runs.n_names
    having
        count(distinct places.name) = 1
        and count(distinct runs.run_name) = runs.n_names
),
wanted as (
    select distinct
        runs.group_id,
        coalesce(
            runs.package,
            test_sets.name,
            words.name,
            folders.name,
            homes.name,
            runs.first_name
        ) as name,
        coalesce(runs.package, test_sets.name, words.name, folders.name) is null and homes.name is not null as is_home
    from runs
    left join test_sets using (group_id)
    left join words using (group_id)
    left join folders using (group_id)
    left join homes using (group_id)
),
-- What the names of a group's runs begin with, up to what names a part of a file, or to a whole word.
shared_names as (
    select
        group_id,
        coalesce(
            nullif(
                if(
                    count(*) = 1,
                    group_id,
                    regexp_replace(
                        left(min(run_id), cast(n_alike(min(run_id), max(run_id)) as bigint)),
                        '(--.*|[-_./ ]+[^-_./ ]*)$',
                        ''
                    )
                ),
                ''
            ),
            group_id
        ) as shared_name
    from runs
    group by group_id
),
-- Unrelated runs of one folder may want one name; the benchmark is a key, and a folder.
benchmarks as (
    select
        group_id,
        bounded_name(name || case
            when row_number() over (partition by lower(name) order by group_id) = 1 then ''
            else '-' || left(md5(group_id), 6)
        end) as benchmark
    from (
        select
            group_id,
            case
                when count(*) over (partition by lower(name)) = 1 then name
                when starts_with(shared_name, name) then shared_name
                -- The name of one of them is again that of one model.
                when is_home and shared_name = group_id then name
                else name || '-' || shared_name
            end as name
        from wanted
        inner join shared_names using (group_id)
    ) as longer
),
rows_read as (
    select
        keys.run_id,
        min(records.reward) as lowest,
        max(records.reward) as highest,
        count(records.reward) as n_rewards,
        count(*) filter (records.reward >= 1 - 1e-9) as n_full,
        count(*) filter (records.reward >= 0.5) as n_high,
        bool_or(contains(records.outline, 'c')) as has_call,
        count(*) filter (
            records.reward >= 1 - 1e-9 and records.outline <> '' and not contains(records.outline, 'c')
        ) as n_full_without
    from staging.recorded_keys as keys
    inner join staging.records using (record_id)
    where keys.role = 'rollout' and keys.rank = 1
    group by all
),
facts as (
    select
        runs.run_id,
        coalesce(bounded_name(settings.benchmark), benchmarks.benchmark) as benchmark,
        min(rows_read.lowest) over by_benchmark as lowest,
        max(rows_read.highest) over by_benchmark as highest,
        -- Nearly as good, and hardly ever full marks: a scale of its own, not passes and failures.
        coalesce(
            20 * sum(rows_read.n_full) over by_benchmark < sum(rows_read.n_rewards) over by_benchmark
            and 2 * sum(rows_read.n_high) over by_benchmark > sum(rows_read.n_rewards) over by_benchmark,
            false
        ) as is_continuous,
        -- Trying is calling a tool where any rollout of the benchmark does, and nearly all that get
        -- full marks; else answering.
        coalesce(
            bool_or(rows_read.has_call) over by_benchmark
            and 10 * sum(rows_read.n_full_without) over by_benchmark
                <= sum(rows_read.n_full) over by_benchmark,
            false
        ) as is_tool_call
    from runs
    inner join benchmarks using (group_id)
    cross join raw.settings
    left join rows_read using (run_id)
    window by_benchmark as (partition by coalesce(settings.benchmark, benchmarks.benchmark))
),
-- What the harness itself says that passes.
declared as (
    select
        run_keys.run_id,
        max(try_cast(stated.value as double)) as pass_threshold
    from raw.config_values as stated
    inner join raw.files using (file_no)
    inner join staging.run_keys using (run_name)
    where stated.name = 'pass_threshold' and files.format is not null
    group by all
)
select
    facts.*,
    -- The reward from which a rollout passes; null where rewards leave 0..1, or most are high and
    -- hardly one is 1, and nothing says.
    case
        when settings.pass_threshold is not null then settings.pass_threshold
        when declared.pass_threshold is not null then declared.pass_threshold
        when facts.lowest < -1e-9 or facts.highest > 1 + 1e-9 or facts.is_continuous then null
        else 1.0
    end as pass_threshold,
    -- Nobody says that only a reward of 1 passes.
    settings.pass_threshold is null and declared.pass_threshold is null as is_threshold_assumed
from facts
cross join raw.settings
left join declared using (run_id)
