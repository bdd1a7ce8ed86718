-- schema: every column of every public relation
select
    table_name as relation,
    coalesce(described.comment, '') as description,
    column_name as column,
    data_type as type
from duckdb_columns()
left join (
    select
        database_name,
        schema_name,
        table_name,
        comment
    from duckdb_tables()
    union all
    select
        database_name,
        schema_name,
        view_name,
        comment
    from duckdb_views()
) as described using (database_name, schema_name, table_name)
where schema_name = 'main' and database_name = current_database()
order by relation, column_index;
