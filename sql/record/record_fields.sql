-- What a row says beside its reward in short fields: of its task, or of how the attempt ended.
-- grain: run_id, task_id, rollout_index, field
-- kind: table
with words as materialized (
    select '(?i)(^|[_.])(' || string_agg(word, '|') filter (where role = 'outcome') || ')([_.]|$)' as outcome
    from raw.record_words
),
fields as materialized (
    select
        benchmark, run_id, task_id, rollout_index,
        rollouts.is_pass,
        entries.path as field,
        entries.kind = 'BOOLEAN' or regexp_matches(entries.value, '^-?[0-9.]+([eE]-?[0-9]+)?$') as is_plain,
        entries.value
    from staging.record_entries as entries
    inner join staging.rollouts using (record_id)
    inner join staging.run_benchmarks using (run_id)
    where entries.item_no = 0 and entries.n_characters between 1 and 120
),
attempts as (
    select benchmark, run_id, task_id, count(*) as n_attempts
    from staging.rollouts
    inner join staging.run_benchmarks using (run_id)
    group by all
),
-- Whether a task's repeats agree; what some of them leave out differs, too.
tasks as (
    select
        benchmark, run_id, task_id,
        field, n_attempts,
        min(value) <> max(value) or count(*) < n_attempts as is_varying
    from fields
    inner join attempts using (benchmark, run_id, task_id)
    group by benchmark, run_id, task_id, field, n_attempts
),
scopes as (
    select
        benchmark, field,
        bool_or(is_varying) as is_varying,
        bool_or(n_attempts > 1) as has_repeats
    from tasks
    group by all
),
totals as (
    select
        benchmark,
        count(*) as n_all,
        count(*) filter (where is_pass) as n_all_passed,
        count(*) filter (where not is_pass) as n_all_failed
    from staging.rollouts
    inner join staging.run_benchmarks using (run_id)
    group by all
),
valued as (
    select
        benchmark, field, value,
        bool_and(is_plain) as is_plain,
        count(*) as n,
        count(*) filter (where is_pass) as n_passed,
        count(*) filter (where not is_pass) as n_failed
    from fields
    group by all
),
-- One value for every row says nothing; one for every failure and for no pass says the verdict again.
-- Words need a few failures to be known for a verdict.
silent as (
    select benchmark, field
    from valued
    inner join totals using (benchmark)
    -- An exception ends all attempts alike.
    where lower(regexp_extract(field, '[^.]*$'))
        not in (select word from raw.record_words where role = 'exception')
    group by benchmark, field
    having
        max(n) = max(n_all)
        or bool_or(
            n_failed = n_all_failed and n_failed > 0 and n_passed = 0 and n_all_passed > 0
            and (is_plain or n_failed > 2)
        )
        or bool_or(
            n_passed = n_all_passed and n_passed > 0 and n_failed = 0 and n_all_failed > 0
            and is_plain
        )
)
select
    run_id, task_id, rollout_index,
    bounded_name(field) as field,
    value,
    case
        when has_repeats and not is_varying then 'task'
        when has_repeats or regexp_matches(field, outcome) then 'outcome'
        else 'task'
    end as scope
from fields
inner join scopes using (benchmark, field)
anti join silent using (benchmark, field)
cross join words
