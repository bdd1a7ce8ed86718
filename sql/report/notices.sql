-- What the checks of an analysis found, in the order it was told.
-- grain: no
select no, check_name, subject, message, hint
from raw.notices
order by no
