-- The words that the names of all runs of a group share, in the order of the first name.
-- grain: group_id
with

words as (

    select
        group_id,
        run_name,
        first_name,
        n_names,
        unnest(str_split_regex(run_name, '[-_.]+')) as word

    from staging.group_runs

    where n_names > 1

),

-- Words that every name may hold, and sizes such as 8b, say nothing of the benchmark.
shared as (

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

final as (

    select
        group_id,
        string_agg(word, '_' order by position, word) as name

    from shared

    group by all

)

select * from final
