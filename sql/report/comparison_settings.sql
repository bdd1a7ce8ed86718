-- What compared runs differ in besides their results.
-- grain: base, candidate, setting
select *
from main.comparison_settings
order by base, candidate, setting
