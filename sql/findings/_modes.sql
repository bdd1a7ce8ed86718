-- The failure modes of a benchmark in their order, and the fields that say the score again.
-- grain: benchmark, mode, reason, parent
-- looks at: run
-- kind: table
-- needs: staging.signs
-- computed by: pipeline.analysis.modes.computed_modes
-- columns: benchmark, mode, reason, rank, kind, name, value, parent, members, p_adjusted
from staging.sign_rows
order by benchmark, attempt_no
