-- What an analysis was asked to do, in words, and the command that repeats it.
-- grain: no
select no, name, value
from raw.report_settings
order by no
