-- Give rows of other harnesses the task names of Gym where their questions are the same, since runs
-- are compared by task names. A run is renamed only if all its questions are questions of Gym, each
-- of one task. Tasks that it expected and never asked get a name of their own.
create temp table requests as
select
    record_id,
    files.format,
    files.run_name,
    coalesce(json_as_text(variant), '') as variant,
    json_as_text(task_index) as task,
    prompt_sha,
    nullif(md5(prompt), md5('')) as question
from raw.records
inner join raw.files on files.file_no = records.record_id >> 40;

create temp table own as
select question, min(task) as own_task, min(prompt_sha) as prompt_sha
from requests
where format is null and task is not null
group by all
having count(distinct task) = 1 and count(distinct prompt_sha) = 1;

create temp table matched as
with tasks as (
    select
        run_name,
        variant,
        task,
        min(own_task) as own_task,
        count(own_task) = count(*) and count(distinct own_task) = 1 as is_matched
    from requests
    left join own using (question)
    where format is not null
    group by all
)
from tasks
semi join (
    select run_name, variant
    from tasks
    group by all
    having bool_and(is_matched) and count(*) = count(distinct own_task)
) as whole using (run_name, variant);

insert into raw.question_matches
select record_id, own_task, own.prompt_sha
from requests
semi join matched using (run_name, variant, task)
inner join own using (question)
where format is not null;

update raw.expected_attempts as attempts
set task = coalesce(
    (
        select own_task from matched
        where
            matched.run_name = files.run_name
            and matched.variant = coalesce(attempts.variant, '')
            and matched.task = attempts.task
    ),
    files.format || '-' || attempts.task
)
from raw.files
where
    files.file_no = attempts.file_no
    and (files.run_name, coalesce(attempts.variant, ''))
        in (select (run_name, variant) from matched);

drop table requests;
drop table own;
drop table matched;
