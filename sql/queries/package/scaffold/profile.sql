-- runs: threshold and expected attempts of each run
select
    run_id,
    pass_threshold,
    expected_source
from main.runs
order by run_id;

-- slices: fields of slices; a name that is no plain path cannot be given, and all are found without it
select distinct slice_key from main.slice_metrics
qualify bool_and(regexp_full_match(slice_key, '[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)?')) over () order by slice_key;
