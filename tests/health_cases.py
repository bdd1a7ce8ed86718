"""What may be wrong with the evaluation of a rollout, and which health checks say so."""

from __future__ import annotations

from tests.health_rows import call, observed, plain, turn
from tests.results import Row, rollout
from tests.results import said as says

ON_TURNS = {"agent_turn_hollow", "rollout_missing_agent_turns"}
ON_CALLS = {
    "model_call_failed",
    "model_call_missing_token_counts",
    "model_call_runaway_generation",
    "model_call_zero_completion_tokens",
    "rollout_ended_on_failed_model_call",
    "rollout_token_count_mismatch",
    "trajectory_capture_mismatch",
}
ON_TRAJECTORIES = ON_TURNS | ON_CALLS | {"trajectory_response_mismatch"}
ON_RESPONSES = {
    "response_failed",
    "response_no_output",
    "response_placeholder",
    "response_zero_tokens",
}

STATUS = {"response_failed"}
ENDED = ["model_call_failed", "rollout_ended_on_failed_model_call"]
RUNAWAY = ["model_call_runaway_generation"]
OTHER_CALLS = ["trajectory_capture_mismatch"]
OTHER_RESPONSE = ["trajectory_response_mismatch"]
OTHER_SUMS = ["rollout_token_count_mismatch"]

SOUND = observed([turn("a")], [call("a")])
BY_RESPONSE = {"model_ref": {"type": "model", "name": "policy"}, "response_id": "r1"}
POLICY, JUDGE = ({"type": "model", "name": name} for name in ("policy", "judge"))
CUT = {"finish_reason": "length", "response": {"output": []}}
THOUGHT = {"output": [{"type": "reasoning", "summary": [{"text": "hm"}]}]}
OF_A, ZERO = ({"input_tokens": n, "output_tokens": m} for n, m in ((10, 5), (0, 0)))
BY_ROOT = [{"invocation_id": "root", "model_calls": [{"model_call_id": "a"}]}]
BLANK = {"answer": "  ", "reasoning_content": None}

# What is wrong with a row, and which checks find it; nothing, where a row only looks wrong.
CASES: dict[str, tuple[Row, list[str]]] = {
    "sound": (SOUND, []),
    # Turns.
    "a turn of nothing": (
        observed([turn("a", **BLANK)], [call("a")], tool_calls=[]),
        ["agent_turn_hollow"],
    ),
    "a turn that only thought": (
        observed([turn("a", answer=None, reasoning_content="hm")], [call("a")]),
        [],
    ),
    "a turn that only called a tool": (observed([turn("a", **BLANK)], [call("a")]), []),
    "a call of a tool in the answer": (
        observed(
            [turn("a", answer=[{"type": "function_call", "name": "look"}])],
            [call("a")],
            output=[],
            tool_calls=[],
        ),
        [],
    ),
    "the tool was another agent's": (
        observed(
            [turn("a", **BLANK)],
            [call("a")],
            output=says(""),
            invocations=[
                {"invocation_id": "root"},
                {"invocation_id": "sub", "parent_invocation_id": "root"},
            ],
            tool_calls=[{"invocation_id": "sub", "tool_name": "look"}],
        ),
        ["agent_turn_hollow"],
    ),
    "no turns": (observed([], [call("a")], invocations=BY_ROOT), ["rollout_missing_agent_turns"]),
    "turns of nothing": (
        observed([turn(**BLANK)], [call("a")], tool_calls=[], invocations=BY_ROOT),
        ["agent_turn_hollow", "rollout_missing_agent_turns"],
    ),
    # Failed calls.
    "the last call failed by status": (
        observed([turn("a", "b")], [call("a", 1.0), call("b", 2.0, status_code=502)]),
        ENDED,
    ),
    "failed by category": (
        observed([turn("a", "b")], [call("b", 2.0), call("a", 1.0, error_category="upstream")]),
        ["model_call_failed"],
    ),
    "failed by what the response says": (
        observed([turn("a", "b")], [call("a", 1.0, response_status="cancelled"), call("b", 2.0)]),
        ["model_call_failed"],
    ),
    "a redirect is no failure": (observed([turn("a")], [call("a", status_code=302)]), []),
    "the last of the list is not the last in time": (
        observed([turn("a", "b")], [call("b", 2.0), call("a", 1.0, status_code=500)]),
        ["model_call_failed"],
    ),
    "all failed, without times": (
        observed(
            [turn("a", "b")], [call("a", None, status_code=500), call("b", None, status_code=500)]
        ),
        ENDED,
    ),
    "one of two failed, without times": (
        observed([turn("a", "b")], [call("a", 5.0, status_code=500), call("b", None)]),
        ["model_call_failed"],
    ),
    "the only call of a model failed, without times": (
        observed(
            [turn("a", "b")],
            [call("a", None, status_code=500, model_ref=POLICY), call("b", None, model_ref=JUDGE)],
        ),
        ENDED,
    ),
    "another model went on": (
        observed(
            [turn("a", "b")],
            [call("a", 1.0, status_code=500, model_ref=POLICY), call("b", 2.0, model_ref=JUDGE)],
        ),
        ENDED,
    ),
    "a judge's call failed": (
        observed([turn("a")], [call("a"), call("j", 9.0, status_code=500)], usage=OF_A),
        [],
    ),
    # Tokens of calls.
    "a count is null": (
        observed([turn("a")], [call("a", completion_tokens=None)]),
        ["model_call_missing_token_counts"],
    ),
    "a count is not there": (
        observed([turn("a")], [{**call("a"), "token_stats": {"prompt_tokens": 10}}]),
        ["model_call_missing_token_counts"],
    ),
    "zero is a count": (
        observed([turn("a", "b")], [call("a", prompt_tokens=0), call("b", 2.0)]),
        [],
    ),
    "nothing was written": (
        observed([turn("a", "b")], [call("a", completion_tokens=0), call("b", 2.0)]),
        ["model_call_zero_completion_tokens"],
    ),
    "a judge counts nothing": (
        observed([turn("a")], [call("a"), call("j", prompt_tokens=None, completion_tokens=None)]),
        [],
    ),
    "sums disagree on the prompt": (
        observed([turn("a")], [call("a")], usage={"input_tokens": 11, "output_tokens": 5}),
        OTHER_SUMS,
    ),
    "sums disagree on the completion": (
        observed([turn("a")], [call("a")], usage={"prompt_tokens": 10, "completion_tokens": 6}),
        OTHER_SUMS,
    ),
    "a judge's tokens are its own": (observed([turn("a")], [call("a"), call("j")], usage=OF_A), []),
    # Runaways.
    "cut without a word": (observed([turn("a")], [call("a", **CUT)]), RUNAWAY),
    "cut in thought": (observed([turn("a")], [call("a", **CUT | {"response": THOUGHT})]), []),
    "cut in a chat's text": (
        observed(
            [turn("a")],
            [call("a", **CUT | {"response": {"choices": [{"message": {"content": "so"}}]}})],
        ),
        [],
    ),
    "settings are no words": (
        observed(
            [turn("a")],
            [call("a", **CUT | {"response": {"output": [], "reasoning": {"summary": "auto"}}})],
        ),
        RUNAWAY,
    ),
    "a judge ran away": (observed([turn("a")], [call("a"), call("j", **CUT)], usage=OF_A), []),
    # References.
    "a reference to nothing": (observed([turn("a", "x")], [call("a")]), OTHER_CALLS),
    "a reference to two": (
        observed([turn("a", "b")], [call("a"), call("b", 2.0, status_code=500), call("b", 3.0)]),
        OTHER_CALLS,
    ),
    "by model and response": (
        observed(
            [turn(model_calls=[BY_RESPONSE])],
            [call("a", model_ref=POLICY, response_id="r1", status_code=500)],
        ),
        ENDED,
    ),
    "an id and another's response": (
        observed(
            [turn("a", model_calls=[{"model_call_id": "a", "response_id": "resp_b"}])],
            [call("a"), call("b")],
        ),
        OTHER_CALLS,
    ),
    "an invocation names the call": (
        observed([turn()], [call("a", completion_tokens=0)], invocations=BY_ROOT),
        ["model_call_zero_completion_tokens"],
    ),
    **{
        f"the gaps say {kind}": (
            observed([turn("a")], [call("a")], gaps=(f"model_call_reference_{kind}",)),
            OTHER_CALLS,
        )
        for kind in ("unmatched", "ambiguous", "conflict")
    },
    "ownership was not recorded": (
        observed([turn("a")], [call("a")], gaps=("model_call_ownership_unavailable",)),
        [],
    ),
    # Trajectories that cannot be read.
    **{
        f"a trajectory that is {value!r}": (rollout(ng_trajectory=value), ["record_unreadable"])
        for value in ("lost", [1], {"turns": "none"}, {"model_calls": [None]})
    },
    # Trajectory and response.
    "another answer": (observed([turn("a", answer="failed")], [call("a")]), OTHER_RESPONSE),
    "the answer within the text": (
        observed(
            [turn("a", answer="42")], [call("a")], output=says("The answer\nis  42."), tool_calls=[]
        ),
        [],
    ),
    "one call more": (
        observed(
            [turn("a")], [call("a")], tool_calls=[{"tool_name": "look"}, {"tool_name": "send"}]
        ),
        OTHER_RESPONSE,
    ),
    "another tool": (
        observed([turn("a")], [call("a")], tool_calls=[{"tool_name": "send"}]),
        OTHER_RESPONSE,
    ),
    "an answer and no output": (
        observed([turn("a")], [call("a")], output=[], tool_calls=[]),
        OTHER_RESPONSE,
    ),
    # Plain responses.
    "plain": (plain(), []),
    # What was recorded of tokens or time shows that there was more than the record.
    "no items": (plain(output=[]), []),
    "never graded": ({**plain(), "reward": 0.0, "judge_error": "429"}, ["verdict_unsupported"]),
    "graded in the end": ({**plain(), "reward": 0.0, "judge_error": None}, []),
    "blank text": (plain(output=says(" \n")), ["response_no_output"]),
    "thought alone": (plain(output=[{"type": "reasoning", "summary": []}]), []),
    "no items and no tokens": (
        plain(output=[], usage=ZERO),
        ["response_no_output", "response_zero_tokens"],
    ),
    "all zero with text is unknown": (plain(usage=ZERO), []),
    "zero of something": (
        plain(usage={"input_tokens": 9, "output_tokens": 0}),
        ["response_zero_tokens"],
    ),
    "a failed response": (plain(status="failed"), ["response_failed"]),
    "failed": (plain(0.0, output=says("Failed: HTTP 503")), ["response_placeholder"]),
    "timed out": (plain(output=says("Timed out: 600 s")), ["response_placeholder"]),
    "a placeholder": (plain(output=says("[no response]")), ["response_placeholder"]),
    "an answer about failing": (plain(output=says("It failed: none. Timed out: no.")), []),
    "unscored": (plain(None, output=says("Failed: HTTP 503")), []),
    "no response": ({**rollout(), "response": None}, []),
}

# Rows, and the checks that have nothing to read on them.
UNOBSERVED: dict[str, tuple[Row, set[str]]] = {
    "sound": (SOUND, set()),
    "projection failed": (
        observed([turn("x")], [call("a")], gaps=("trajectory_projection_failed",)),
        ON_TRAJECTORIES | STATUS,
    ),
    "turns unavailable": (
        observed([], [call("a")], gaps=("turns_unavailable",), invocations=BY_ROOT),
        ON_TURNS | {"trajectory_response_mismatch"},
    ),
    "turns not recorded": (
        observed(None, [call("a")], invocations=BY_ROOT),
        ON_TURNS | {"trajectory_response_mismatch"},
    ),
    **{
        code: (observed([turn("x")], [call("a")], gaps=(code,)), ON_CALLS | STATUS)
        for code in (
            "model_calls_unavailable",
            "model_call_capture_incomplete",
            "model_call_capture_unreadable",
            "model_call_capture_records_unreadable",
        )
    },
    "calls not recorded": (
        observed([turn("x")], None, usage={"input_tokens": 9, "output_tokens": 9}),
        ON_CALLS | STATUS,
    ),
    "nobody's calls": (observed([turn()], [call("a")]), ON_CALLS | STATUS),
    "no order": (
        observed([turn("a", "b")], [call("a", None, status_code=500), call("b", 2.0)]),
        {"rollout_ended_on_failed_model_call"},
    ),
    "a cut call without its response": (
        observed([turn("a")], [call("a", finish_reason="length")]),
        {"model_call_runaway_generation"},
    ),
    "another cut call that shows it": (
        observed([turn("a", "b")], [call("a", **CUT), call("b", 2.0, finish_reason="length")]),
        set(),
    ),
    "usage not counted": (
        observed([turn("a")], [call("a")], usage=ZERO),
        {"rollout_token_count_mismatch"},
    ),
    "no list of tools": (
        observed([turn("a")], [call("a")], tool_calls=[]),
        {"trajectory_response_mismatch"},
    ),
    "no answer": (
        observed([turn("a", answer=None)], [call("a")]),
        {"trajectory_response_mismatch"},
    ),
    "plain": (plain(), ON_TRAJECTORIES),
    "plain, no usage": (
        plain(usage=None, status=None),
        ON_TRAJECTORIES | {"response_failed", "response_zero_tokens"},
    ),
    "null": (plain() | {"ng_trajectory": None}, ON_TRAJECTORIES),
    "no response": ({**rollout(), "response": None}, ON_TRAJECTORIES | ON_RESPONSES),
}
