-- The benchmark of each run: as given, else its package, else what its runs' names share.
-- grain: run_id
-- kind: table
with recursive run_groups_runs as (
    select
        run_keys.run_id,
        min(files.package) as package
    from staging.run_keys
    inner join raw.files using (run_name)
    group by all
),
-- An index alone says little: it only counts between files of one folder.
tasks as (
    select distinct
        keys.run_id,
        case
            when records.prompt <> '' then 'prompt ' || records.prompt_sha
            when task_keys.task_id_source = 'index'
                then 'index ' || regexp_replace(records.source_file, '[^/]*$', '') || keys.task_id
            else 'id ' || keys.task_id
        end as token
    from staging.keys
    inner join staging.records using (record_id)
    inner join staging.task_keys using (record_id)
    where keys.role in ('rollout', 'input')
),
sizes as (
    select
        run_id,
        count(*) as n_tasks
    from tasks
    group by all
),
pairs as (
    select
        left_tasks.run_id as left_run,
        right_tasks.run_id as right_run,
        count(*) as n_shared
    from tasks as left_tasks
    inner join tasks as right_tasks using (token)
    where left_tasks.run_id < right_tasks.run_id
    group by all
),
-- How many tasks two runs share: by question, by id where no question was recorded.
shared_tasks as (
    select
        pairs.left_run,
        pairs.right_run,
        pairs.n_shared,
        least(left_sizes.n_tasks, right_sizes.n_tasks) as n_smaller
    from pairs
    inner join sizes as left_sizes on left_sizes.run_id = pairs.left_run
    inner join sizes as right_sizes on right_sizes.run_id = pairs.right_run
),
run_groups_shared as (
    select left_run, right_run
    from shared_tasks
    where 2 * n_shared >= n_smaller
),
links as (
    select left_run, right_run
    from run_groups_shared as shared
    union
    select
        right_run as left_run,
        left_run as right_run
    from run_groups_shared as shared
    union
    select
        left_runs.run_id as left_run,
        right_runs.run_id as right_run
    from run_groups_runs as left_runs
    inner join run_groups_runs as right_runs using (package)
),
reached as (
    select
        run_id,
        run_id as reached_run
    from run_groups_runs as runs
    union
    select
        reached.run_id,
        links.right_run as reached_run
    from reached
    inner join links on links.left_run = reached.reached_run
),
-- Runs that belong to one benchmark: those that share half of the smaller one's tasks, joined up.
run_groups as (
    select
        reached.run_id,
        min(reached.reached_run) as group_id,
        min(runs.package) as package
    from reached
    inner join run_groups_runs as runs on runs.run_id = reached.reached_run
    group by all
),
runs as (
    select run_groups.run_id, run_groups.group_id, run_groups.package, run_keys.run_name
    from run_groups as run_groups
    inner join staging.run_keys using (run_id)
),
groups as (
    select
        group_id,
        min(package) as group_package,
        min(run_name) as first_name,
        count(distinct run_name) as n_names
    from runs
    group by all
),
-- The runs of each group of related runs, with what their names begin with and how many there are.
group_runs as (
    select
        runs.run_id,
        runs.group_id,
        runs.run_name,
        groups.group_package,
        groups.first_name,
        groups.n_names
    from runs
    inner join groups using (group_id)
),
shared as (
    select
        group_runs.group_id,
        places.depth,
        min(places.name) as name
    from group_runs as group_runs
    inner join raw.files using (run_name)
    inner join raw.places using (file_no)
    group by group_runs.group_id, places.depth, group_runs.n_names
    having
        count(distinct places.name) = 1
        and count(distinct group_runs.run_name) = group_runs.n_names
),
ranked as (
    select
        *,
        row_number() over (partition by group_id order by depth desc) as rank
    from shared
),
-- The innermost folder that all runs of a group lie in.
group_places as (
    select group_id, name
    from ranked
    where rank = 1
),
words as (
    select
        group_id,
        run_name,
        first_name,
        n_names,
        unnest(str_split_regex(run_name, '[-_.]+')) as word
    from group_runs
    where n_names > 1
),
-- Words that every name may hold, and sizes such as 8b, say nothing of the benchmark.
group_words_shared as (
    select
        group_id,
        word,
        min(strpos(first_name, word)) as position
    from words
    where not regexp_matches(
        lower(word),
        '^(\d*[bmk]?|rollouts?|examples?|runs?|models?|agents?|results?|evals?|outputs?|vs)$'
    )
    group by group_id, word, n_names
    having count(distinct run_name) = n_names
),
-- The words that the names of all runs of a group share, in the order of the first name.
group_words as (
    select
        group_id,
        string_agg(word, '_' order by position, word) as name
    from group_words_shared as shared
    group by all
),
named as (
    select
        group_runs.group_id,
        min(coalesce(
            group_runs.group_package,
            group_words.name,
            group_places.name,
            group_runs.first_name
        )) as wanted
    from group_runs
    left join group_words as group_words using (group_id)
    left join group_places as group_places using (group_id)
    group by all
),
-- Unrelated runs of one folder may want one name; the benchmark is a key.
unique_names as (
    select
        group_id,
        case
            when count(*) over (partition by wanted) = 1 then wanted
            else wanted || '-' || group_id
        end as benchmark
    from named
)
select
    group_runs.run_id,
    coalesce(settings.benchmark, unique_names.benchmark) as benchmark
from group_runs
inner join unique_names using (group_id)
cross join raw.settings
