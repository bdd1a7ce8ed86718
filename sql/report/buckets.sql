-- Tasks by bucket, from always to missing.
-- grain: run_id, bucket
select *
from main.bucket_counts
order by
    run_id,
    case bucket when 'always' then 1 when 'sometimes' then 2 when 'never' then 3 else 4 end
