-- What the rows of a run say of the whole run: model, sampling, skills, rewards.
-- grain: run_id
with

rows_read as (

    select
        keys.run_id,
        records.*

    from staging.rollout_keys as keys

    inner join staging.records as records using (record_id)

),

final as (

    select
        run_id,
        string_agg(distinct model, ', ' order by model) as model,
        count(distinct model) as n_models,
        case when count(distinct skills_hash) = 1 then min(skills_hash) end as skills_hash,
        case when min(temperature) = max(temperature) then min(temperature) end as temperature,
        case when min(top_p) = max(top_p) then min(top_p) end as top_p,
        case when min(max_output_tokens) = max(max_output_tokens) then min(max_output_tokens) end
            as max_output_tokens,
        count(reward) as n_scored

    from rows_read

    group by all

)

select * from final
