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
    (5, 'unstable_verdict', 'TI', 3, true, 'verifier repair', 'the same calls and answer passed once and failed once'),
    (6, 'verifier_error', 'TI', 3, false, 'verifier repair', 'the verifier failed in every attempt'),
    (7, 'answer_is_reference', 'TI', 2, false, 'verifier repair', 'the answer is the reference, and failed'),
    (8, 'suspect_check', 'TI', 1, false, 'verifier repair', 'one check fails in every attempt of every run'),
    (9, 'infrastructure', 'IR', 3, false, 'infrastructure', 'a service, sandbox, network or the call of the model failed'),
    (10, 'nothing_recorded', 'IR', 2, false, 'infrastructure', 'nothing was recorded: no rollout, no failed attempt, or the model was never reached'),
    (11, 'limit_for_all', 'TI', 2, false, 'harness', 'every attempt of every run that shares the limit hits it'),
    (12, 'same_wrong_call', 'KG', 1, false, 'training', 'the same wrong call in every attempt, and no pass'),
    (13, 'dropped_argument', 'UK', 2, false, 'training', 'leaves out an argument that every pass gives'),
    (14, 'wrong_actions', 'BI', 1, false, 'prompt', 'changes something the task does not expect, or not all it expects'),
    (15, 'unreliable', 'UK', 1, false, 'training', 'the same tools, but other arguments or answers than its passes'),
    (16, 'undeclared_tool', 'KG', 2, false, 'prompt', 'calls a tool that does not exist in every attempt'),
    (17, 'same_wrong_answer', 'KG', 1, false, 'training', 'the same wrong answer in every attempt, and no pass'),
    (18, 'dominant_mode', null, 1, false, null, 'the commonest mode of its failing attempts')
)
-- None may claim more than its highest: 3 strong, 2 moderate, 1 weak. Strong takes a field or a check
-- that says so, or rows that contradict each other: those are proven, no second attempt is needed.
as rules (rule_no, rule, cause, highest, is_proven, intervention, note)
