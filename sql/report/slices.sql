-- The slices of each run, by field.
-- grain: run_id, slice_key, slice_value
select * from main.slice_metrics order by run_id, slice_key, slice_value
