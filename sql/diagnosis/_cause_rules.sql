-- The rules that suggest a task's root cause, in the order they are tried.
-- grain: rule_no
select *
from (
    values
    (0, 'profile_mode', null, 2, false, null, null),
    (1, 'constant_reward', 'DA', 3, true, 'data', 'every rollout of the run has one and the same reward, neither 0 nor 1'),
    (2, 'conflicting_reference', 'DA', 3, true, 'data', 'another task asks the same and expects another answer'),
    (3, 'conflicting_duplicates', 'DA', 3, true, 'data', 'two rows of one rollout have different rewards'),
    (4, 'unreadable_rows', 'DA', 2, false, 'data', 'lines of the results cannot be read'),
    (5, 'missing_metadata', 'DA', 2, false, 'data', 'a field is missing that at least 95% of tasks have'),
    (6, 'unstable_verdict', 'TI', 3, true, 'verifier repair', 'the same calls and answer passed once and failed once'),
    (7, 'verifier_error', 'TI', 3, false, 'verifier repair', 'the verifier failed in every attempt'),
    (8, 'answer_is_reference', 'TI', 2, false, 'verifier repair', 'the answer is the reference, and failed'),
    (9, 'answer_within_reference', 'TI', 1, false, 'verifier repair', 'the answer is part of the reference, and failed'),
    (10, 'suspect_check', 'TI', 1, false, 'verifier repair', 'one check fails in every attempt of every run'),
    (11, 'infrastructure', 'IR', 3, false, 'infrastructure', 'a service, sandbox, network or the call of the model failed'),
    (12, 'nothing_recorded', 'IR', 2, false, 'infrastructure', 'nothing was recorded: no rollout, no failed attempt, or the model was never reached'),
    (13, 'limit_for_all', 'TI', 2, false, 'harness', 'every attempt of every run that shares the limit hits it'),
    (14, 'limit_with_room', 'BI', 2, false, 'harness', 'hits a limit of which passes use less than half'),
    (15, 'broken_call', 'BI', 2, false, 'harness', 'ends on a call that is malformed or written as text'),
    (16, 'no_action', 'BI', 2, false, 'prompt', 'does nothing where passes act'),
    (17, 'repeated_failing_call', 'BI', 2, false, 'harness', 'ends on three or more identical failing calls'),
    (18, 'error_ignored', 'BI', 2, false, 'harness', 'the last result is an error, and the answer does not say so'),
    (19, 'skipped_lookup', 'BI', 2, false, 'prompt', 'acts on an address that nothing it had read contains'),
    (20, 'missing_step', 'BI', 1, false, 'prompt', 'never makes a call that every pass makes'),
    (21, 'same_wrong_call', 'KG', 1, false, 'training', 'the same wrong call in every attempt, and no pass'),
    (22, 'dropped_argument', 'UK', 2, false, 'training', 'leaves out an argument that every pass gives'),
    (23, 'wrong_actions', 'BI', 1, false, 'prompt', 'changes something the task does not expect, or not all it expects'),
    (24, 'unreliable', 'UK', 1, false, 'training', 'the same tools, but other arguments or answers than its passes'),
    (25, 'undeclared_tool', 'KG', 2, false, 'prompt', 'calls a tool that does not exist in every attempt'),
    (26, 'same_wrong_answer', 'KG', 1, false, 'training', 'the same wrong answer in every attempt, and no pass'),
    (27, 'passed_elsewhere', 'KG', 1, false, 'training', 'never passes, with clean attempts; another run passes it'),
    (28, 'dominant_mode', null, 1, false, null, 'the commonest mode of its failing attempts')
)
-- None may claim more than its highest: 3 strong, 2 moderate, 1 weak. Strong takes a field or a check
-- that says so, or rows that contradict each other: those are proven, no second attempt is needed.
as rules (rule_no, rule, cause, highest, is_proven, intervention, note)
