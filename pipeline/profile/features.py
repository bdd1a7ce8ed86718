"""What a failure mode may ask of a rollout: its features, and what it said and got."""

from __future__ import annotations

_BOOLEANS = """
    is_scored is_pass is_infrastructure is_unreadable is_truncated has_output has_action
    has_feedback needs_tools ends_in_error ends_on_tool has_guessed_address is_refusal is_raw_call
    admits_failure has_answer has_reference is_unextracted is_reference is_within_reference
    is_twin_reference is_timed_out is_overrun is_same_unexpected_call is_limit_for_all
""".split()
_COUNTS = """
    rollout_index n_events n_turns n_tool_calls n_tool_errors n_tools n_repeated_calls
    n_unanswered_calls n_malformed_calls n_unknown_tool_calls longest_error_streak n_final_errors
    n_same_final_errors n_counted_calls n_expected_actions n_matched_actions n_unexpected_calls
    n_final_characters exit_code n_checks_passed n_checks_failed input_tokens output_tokens
    n_task_attempts n_task_scored n_task_passed n_passed_elsewhere
""".split()
# The numbers of events that show something; null where nothing does.
_EVENTS = """
    repeated_error_seq final_error_seq malformed_seq unknown_tool_seq unexpected_call_seq
    missing_argument_seq guessed_seq self_check_seq final_text_seq last_seq
""".split()
_AMOUNTS = "reward output_limit_rate duration_s".split()
_TEXTS = """
    run_id task_id benchmark outcome failure_class failure_message finish_reason error_signature
    missing_call missing_argument self_check verifier_text verifier_error sandbox_error
    model_error same_as_pass twin_task_id
""".split()

FEATURE_COLUMNS: dict[str, str] = {
    **dict.fromkeys(_TEXTS, "VARCHAR"),
    **dict.fromkeys(_BOOLEANS, "BOOLEAN"),
    **dict.fromkeys(_COUNTS, "BIGINT"),
    **dict.fromkeys(_EVENTS, "BIGINT"),
    **dict.fromkeys(_AMOUNTS, "DOUBLE"),
    "calls_by_tool": "MAP(VARCHAR, BIGINT)",
}
# Too large to be kept twice: read from main.rollouts, where a profile has rules of its own.
LONG_COLUMNS = {"answer": "VARCHAR", "final_text": "VARCHAR", "verifier": "JSON"}
ASKABLE = {**FEATURE_COLUMNS, **LONG_COLUMNS}


def is_evidence(column: str) -> bool:
    """Whether the column holds the number of an event, or a text to show."""
    return column in _EVENTS or column in _TEXTS or column in LONG_COLUMNS


def is_event(column: str) -> bool:
    """Whether it holds the number of an event."""
    return column in _EVENTS
