-- Every file that was read, with what became of its lines.
-- grain: path
select * from main.artifacts order by path
