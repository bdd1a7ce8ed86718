-- Every sign that an attempt bears, passing ones too: of its record, its checks, its trajectory, a profile.
-- grain: run_id, task_id, rollout_index, sign
-- kind: table
with words as materialized (
    select
        '\b(' || string_agg(word, '|') filter (where role in ('cut_off', 'crashed', 'ungraded')) || ')\b'
            as terminal,
        '\b(' || string_agg(word, '|') filter (where role = 'cut_off') || ')\b' as cut_off,
        '\b(' || string_agg(word, '|') filter (where role = 'ungraded') || ')\b' as ungraded,
        '\b(' || string_agg(word, '|') filter (where role = 'judged') || ')\b' as judged,
        list(word) filter (where role = 'cut_off_alone') as alone,
        list(word) filter (where role = 'exception') as exceptions,
        '(?i)(^|[_.])(' || string_agg(word, '|') filter (where role = 'content') || ')([_.]|$)' as content
    from (select role, if(role in ('ruled', 'exception'), word, replace(word, '_', ' ')) as word from raw.record_words)
),
-- Short words of fields that tell how an attempt ended; numbers are measures, and what is a check
-- stands among the checks. Patterns that are made up are asked of each word once.
fields as materialized (
    select
        field, value,
        -- A true says what its field is called.
        lower(regexp_replace(if(value = 'true', field, value), '[_.-]+', ' ', 'g')) as said,
        length(said) <= 60 and regexp_matches(said, terminal) and not regexp_matches(said, judged)
            or list_contains(alone, said)
            or list_contains(exceptions, lower(regexp_extract(field, '[^.]*$'))) as is_always,
        case
            when regexp_matches(said, ungraded) then 'TI'
            when is_always and (list_contains(alone, said) or regexp_matches(said, cut_off)) then 'BI'
            when is_always then 'IR'
        end as cause
    from (select distinct field, value from main.record_fields where scope = 'outcome')
    anti join (
        select distinct if(source = 'row', check_name, source || '.' || check_name) as field
        from main.checks
    ) using (field)
    cross join words
    where
        not regexp_matches(value, '^-?[0-9.]')
        and length(field) + length(value) <= 150
        and field not in (select word from raw.record_words where role = 'ruled')
        and not regexp_matches(field, content)
),
signs as (
    select
        run_id, task_id, rollout_index,
        rules.mode as sign,
        rules.source, rule_no, is_always, is_description, matches.seq, matches.told, matches.n_told
    from staging.rule_matches as matches
    inner join raw.failure_rules as rules using (rule_no)
    union all by name
    select
        run_id, task_id, rollout_index,
        field || '=' || value as sign,
        'record' as source,
        is_always, cause,
        value as told,
        length(value) as n_told
    from main.record_fields
    inner join fields using (field, value)
    where scope = 'outcome'
    union all by name
    select
        run_id, task_id, rollout_index,
        bounded_name('check=' || shared_check) as sign,
        'check' as source,
        failed_checks as told,
        length(failed_checks) as n_told
    from main.rollout_features
    where shared_check is not null
)
select
    * replace (coalesce(is_always, false) as is_always),
    run_benchmarks.benchmark
from signs
inner join staging.run_benchmarks using (run_id)
