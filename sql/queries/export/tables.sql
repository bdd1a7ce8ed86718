-- public: the public relations, and their columns to write as text: JSON, and for CSV all nested
-- types
select
    table_name,
    list(format('"{0}"::json::varchar as "{0}"', replace(column_name, '"', '""'))) filter (
        data_type = 'JSON'
        or ($1 = 'csv' and (data_type ^@ 'MAP' or data_type ^@ 'STRUCT' or data_type[-1] = ']'))
    ) as texts
from duckdb_columns()
where schema_name = 'main' and database_name = current_database()
group by all
order by all;
