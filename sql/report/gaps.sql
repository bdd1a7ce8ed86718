-- What is missing from the record of each run, what cannot be said without it, and what to collect.
-- grain: run_id, gap_no
with

texts as (

    select * from (values
        (1, 'expected', 'rollout', 'what was expected: no materialized inputs, no `[expected]` in blade.toml',
            'coverage, which rollouts are missing, the worst and best that a score could be',
            'the materialized inputs of the run, or `[expected]` in blade.toml'),
        (2, 'failures', 'rollout', 'any trace of what was expected: neither a row nor a failed attempt',
            'why these are missing: infrastructure, the agent or a stop by hand',
            'the failures file that is written beside the rollouts, or these rollouts again'),
        (3, 'repeats', 'task', 'more than one scored attempt a task',
            'luck from knowledge: retries, consistency, tasks that pass sometimes, contrasts of pass and failure',
            'several repeats of each task, four or more'),
        (4, 'model', 'rollout', 'the name of the model',
            'which model a figure is of, and whether one model wrote all of it',
            'rows whose response names its model'),
        (5, 'tokens', 'rollout', 'token counts',
            'what attempts cost, and whether failures are longer or cut off',
            'rows with the usage of their response'),
        (6, 'durations', 'rollout', 'durations',
            'how long attempts take, and whether slow ones fail',
            'rows with the time an attempt took'),
        (7, 'events', 'rollout', 'turns and tool calls',
            'where in the funnel an attempt was lost, and where it parts from a pass',
            'rows whose response has its output items'),
        (8, 'trajectory', 'rollout', 'what some health checks read, mostly the trajectory',
            'whether model calls failed, were cut or left no record',
            'rows with `ng_trajectory`'),
        (9, 'slices', 'task', 'a field that parts tasks into groups',
            'which kind of task is strong or weak',
            'a field such as category or difficulty in each row, or `slices` in blade.toml'),
        (10, 'verifier', 'rollout', 'fields of the verifier',
            'why a verdict is what it is, and whether the verifier erred',
            'rows that keep what the verifier found'),
        (11, 'scores', 'rollout', 'a usable reward',
            'whether these attempts passed: they are in no score',
            'the verdict on these rows, or these rollouts again'),
        (12, 'settled', 'reward', 'a reward from which an attempt passes',
            'pass@k, tasks that pass, failures and their modes',
            '`pass_threshold` in blade.toml or --pass-threshold'),
        (13, 'rewards', 'reward', 'rewards that differ: all have one value',
            'anything of single attempts: one figure seems to stand for the whole batch',
            'a reward for each rollout'),
        (14, 'labels', 'task', 'causes that a person gave',
            'root causes as facts: all are suggestions of rules',
            'labels.jsonl beside the results'),
        (15, 'redacted', 'rollout', 'text that was redacted',
            'what stood there; quotes from it are marked (redacted)',
            'results before redaction, where you may read them'),
        (16, 'rejects', 'line', 'lines that could not be read',
            'what they held: they are in no figure',
            'the lines again; `blade sql "from rejects"` lists them')
    ) as texts (gap_no, gap, unit, missing, claims, collect)

),

final as (

    select
        facts.run_id,
        texts.gap_no,
        texts.gap,
        texts.missing,
        texts.claims,
        texts.collect,
        texts.unit,
        facts.n_rows,
        facts.n_of,
        facts.n_checks

    from report.gap_facts as facts

    inner join texts using (gap)

    order by facts.run_id, texts.gap_no

)

select * from final
