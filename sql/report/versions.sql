-- What an analysis was made with: this tool, the libraries it counts on, the language.
-- grain: no
select no, name, version
from raw.versions
order by no
