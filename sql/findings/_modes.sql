-- The failure modes of a benchmark in their order, and the fields that say the score again.
-- computed by: pipeline.analysis.modes.computed_modes
-- grain: benchmark, mode, reason, parent
-- kind: table
-- needs: main.signs
from staging.sign_rows
order by benchmark, attempt_no, kind, name, value
