-- What the rules on rollouts ask: first the relations that they read, each after those above it, then of each
-- rule the status, the message and the file of its findings.

-- files: files that are read as rollouts, and how many of their rows have what
with roles as (
    select
        source_file,
        count(*) as n_rows,
        count(*) filter (role in ('failure', 'input') or list_has_any(
            map_keys(json_fields(verifier)), ['failure_class', 'ng_failure_class']
        )) as n_others
    from staging.records
    left join raw.texts using (record_id)
    where file_kind = 'rollouts'
    group by all
),
counted as (
    select
        rollouts.source_file,
        count(*) as n_rollouts,
        count(*) filter (is_scored) as n_scored,
        count(*) filter (left(records.reward, 1) = '"') as n_texts,
        count(*) filter (has_output) as n_outputs,
        count(*) filter (records.rollout_index is not null) as n_numbered,
        count(*) filter (keys.task_id_source <> 'content') as n_named,
        max(keys.task_id_source) filter (keys.task_id_source <> 'content') as task_field,
        min(rollouts.reward) as least_reward,
        max(rollouts.reward) as most_reward,
        count(distinct (rollouts.run_id, rollouts.task_id)) < count(*) as has_repeats
    from rollouts
    inner join raw.records as records using (record_id)
    inner join staging.keys as keys using (record_id)
    group by all
)
select
    path,
    n_lines - n_blank as n_lines,
    n_rejects,
    coalesce(roles.n_rows, 0) as n_rows,
    coalesce(n_others, 0) as n_others,
    coalesce(n_rollouts, 0) as n_rollouts,
    coalesce(n_scored, 0) as n_scored,
    coalesce(n_texts, 0) as n_texts,
    coalesce(n_outputs, 0) as n_outputs,
    coalesce(n_numbered, 0) as n_numbered,
    coalesce(n_named, 0) as n_named,
    task_field,
    least_reward,
    most_reward,
    coalesce(has_repeats, false) as has_repeats,
    -- Most of its rows are no rollouts, in spite of its name.
    coalesce(roles.n_rows, 0) = 0 or 2 * n_others >= roles.n_rows as is_posing
from artifacts
left join roles on roles.source_file = path
left join counted on counted.source_file = path
where kind = 'rollouts'
order by path;

-- scored: runs with a score in most rows
select run_id from runs where 2 * n_scored > n_rollouts;

-- copies: two runs that hold the same rollouts: the same prompts and events, under any index, order and model.
-- Short answers, such as a choice of letters, may well be the same in two models
with prints as (
    select distinct
        run_id,
        hash(
            coalesce(prompt_sha, ''),
            bit_xor(hash(hash(seq, kind, role, tool, arguments, text)))
        ) as print
    from events
    inner join rollouts using (run_id, task_id, rollout_index)
    group by run_id, task_id, rollout_index, prompt_sha
    having sum(length(coalesce(events.text, '')) + length(coalesce(arguments, ''))) >= 40
),
sizes as (select run_id, count(*) as n from prints group by all)
select
    one.run_id as one,
    other.run_id as other,
    count(*) as n_same,
    least(any_value(one.n), any_value(other.n)) as n_all
from prints
inner join prints as same on same.print = prints.print and prints.run_id < same.run_id
inner join sizes as one on one.run_id = prints.run_id
inner join sizes as other on other.run_id = same.run_id
group by all
having count(*) >= greatest(3, 0.9 * least(any_value(one.n), any_value(other.n)))
order by one, other;

-- pairs: how many questions each two runs with a score have in common, copies aside, and how many the
-- smaller asks
with asked as (
    select distinct
        run_id,
        coalesce(prompt_sha, 'task ' || task_id) as question
    from task_prompts
    semi join (from rollouts where is_scored) using (run_id, task_id)
),
sizes as (select run_id, count(*) as n from asked group by all)
select
    one.run_id as one,
    other.run_id as other,
    count(shared.question) as n_shared,
    least(one.n, other.n) as n_all,
    2 * n_shared >= n_all and n_all > 0 as is_good
from sizes as one
inner join sizes as other on one.run_id < other.run_id
anti join copies on copies.one = one.run_id and copies.other = other.run_id
left join asked on asked.run_id = one.run_id
left join asked as shared on shared.run_id = other.run_id and shared.question = asked.question
group by one.run_id, other.run_id, one.n, other.n
order by all;

-- rollouts_present: D2 rollouts
select
    'PASS',
    format('files: {:,}', count(*)),
    ''
from files;

-- rollouts_sidecars: sidecars are not counted as runs
select
    'FAIL',
    format('{}: {:,} of {:,} rows are failed attempts or inputs', path, n_others, n_rows),
    path
from files
where is_posing
union all
select
    'PASS',
    'every rollout file holds rollouts',
    ''
where not exists (from files where is_posing);

-- rollouts_scored: at least two scored runs
select
    if(count(*) < 2, 'FAIL', 'PASS'),
    format('scored runs: {:,} {}',
        count(*), coalesce('(' || string_agg(run_id, ', ' order by run_id) || ')', '')),
    ''
from scored;

-- rollouts_different: runs are different runs
select
    'FAIL',
    format('{} and {} share {:,} of {:,} rollouts', one, other, n_same, n_all),
    ''
from copies
union all
select
    'PASS',
    format('no two of {:,} hold the same rollouts', count(*)),
    ''
from scored
where not exists (from copies)
having count(*) > 1;

-- rollouts_comparable: runs share tasks
select
    if(bool_or(is_good), 'PASS', 'FAIL'),
    first(
        format('{} and {} share {:,} of {:,} questions', one, other, n_shared, n_all)
        order by n_shared / greatest(1, n_all) desc, one, other
    ),
    ''
from pairs
having count(*) > 0
union all
select
    'WARN',
    string_agg(run_id, ', ' order by run_id) || ': shares too few questions with any other',
    ''
from (select distinct unnest([one, other]) as run_id from pairs)
anti join (select unnest([one, other]) as run_id from pairs where is_good) using (run_id)
where exists (from pairs where is_good)
having count(*) > 0;

-- rollouts_task_id: rows have a task id
select
    if(n_named < n_rollouts, 'FAIL', 'PASS'),
    format('{}: {:,} of {:,} rows', path, n_named, n_rollouts),
    path
from files
where not is_posing;

-- rollouts_rollout_id: rows have a rollout id where tasks repeat
select
    if(n_numbered < n_rollouts, 'FAIL', 'PASS'),
    format('{}: {:,} of {:,} rows', path, n_numbered, n_rollouts),
    path
from files
where not is_posing and has_repeats;

-- rollouts_reward: reward is a number
select
    case when n_texts > 0 or 2 * n_scored < n_rollouts then 'FAIL'
        when n_scored < n_rollouts then 'WARN' else 'PASS' end,
    format('{}: {:,} of {:,} rows', path, n_scored, n_rollouts) || if(n_texts > 0, format(', {:,} rewards are texts', n_texts), ''),
    path
from files
where not is_posing;

-- rollouts_reward_varies: reward distinguishes rollouts
select
    case when n_scored < 2 or least_reward < most_reward then 'PASS'
        when least(abs(most_reward), abs(most_reward - 1)) <= 1e-9 then 'WARN' else 'FAIL' end,
    path || if(
        n_scored > 1 and least_reward = most_reward,
        format(': every one of {:,} rewards is {:g}', n_scored, most_reward), ': several rewards'
    ),
    path
from files
where not is_posing;

-- rollouts_output: rows have the model's output
select
    case when 2 * n_outputs < n_rollouts then 'FAIL'
        when 10 * n_outputs < 9 * n_rollouts then 'WARN' else 'PASS' end,
    format('{}: {:,} of {:,} rows', path, n_outputs, n_rollouts),
    path
from files
where not is_posing;

-- rollouts_usable: lines can be used
select
    case when n_rejects = 0 then 'PASS' when 10 * n_rejects > n_lines then 'FAIL' else 'WARN' end,
    format('{}: {:,} of {:,} lines cannot be used', path, n_rejects, n_lines),
    path
from files;
