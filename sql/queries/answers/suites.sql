-- standings: every entrant by its average, those without one last
from suite_standings
where benchmark is null
order by place nulls last, entrant;

-- ranks: of each entrant at each benchmark
select
    entrant,
    benchmark,
    rank_low,
    rank_high
from suite_standings
where benchmark is not null
order by entrant, benchmark;

-- cells: by entrant and benchmark
from suite_cells
order by entrant_no, benchmark;

-- changes: to the candidates of a list ($1) or to all; of the suite before its benchmarks
from suite_comparisons
where len($1::varchar[]) = 0 or list_contains($1, candidate)
order by base, candidate, benchmark nulls first;

-- notes: what must be known to read the suite
from suite_notes
order by kind, entrant, benchmark, message;

-- modes: that several benchmarks share
from suite_modes
order by n_benchmarks desc, n_failures desc, mode;
