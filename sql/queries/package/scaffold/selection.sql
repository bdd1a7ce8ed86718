-- runs: all runs with their benchmarks
select
    run_id,
    benchmark
from main.runs
order by run_id;

-- files: all files with their runs
select
    artifacts.path,
    artifacts.kind,
    artifacts.run_ids,
    files.run_name,
    files.folder,
    files.format
from main.artifacts as artifacts
inner join raw.files as files using (path)
order by artifacts.path;
