"""What a predicate of a profile may use: columns of a rollout, and functions."""

from __future__ import annotations


def _typed(**names: str) -> dict[str, str]:
    """Columns by name, from the names of each type."""
    return {name: kind for kind, listed in names.items() for name in listed.split()}


# What a stage of the funnel may ask of a rollout: the columns of main.rollouts.
ROLLOUT_COLUMNS = _typed(
    VARCHAR="""
        run_id task_id rollout_id status model agent finish_reason final_text answer prompt_sha
        source_file
    """,
    BOOLEAN="is_scored is_pass is_truncated has_output has_action has_feedback",
    BIGINT="""
        rollout_index n_events n_turns n_tool_calls n_tool_errors input_tokens output_tokens
        source_line record_id
    """,
    DOUBLE="reward duration_s cost",
    JSON="verifier",
)

# What a failure mode may ask of a rollout: its features, and what it said and got.
TEXTS = _typed(
    VARCHAR="""
        run_id task_id benchmark outcome failure_class failure_message finish_reason
        error_signature missing_call missing_argument self_check verifier_text verifier_error
        sandbox_error model_error same_as_pass twin_task_id cut_by ungraded_by failed_checks
        shared_check
    """
)
# The numbers of events that show something; null where nothing does.
EVENTS = _typed(
    BIGINT="""
        repeated_error_seq final_error_seq malformed_seq unknown_tool_seq unexpected_call_seq
        missing_argument_seq guessed_seq self_check_seq final_text_seq last_seq
    """
)
FEATURE_COLUMNS = {
    **TEXTS,
    **_typed(
        BOOLEAN="""
            is_scored is_pass is_infrastructure is_unreadable is_truncated has_output has_action
            has_feedback needs_tools ends_in_error ends_on_tool has_guessed_address is_refusal
            is_raw_call admits_failure has_answer has_reference is_unextracted is_reference
            is_twin_reference is_timed_out is_overrun is_same_unexpected_call
            is_limit_for_all is_unreached
        """,
        BIGINT="""
            rollout_index n_events n_turns n_tool_calls n_tool_errors n_tools n_repeated_calls
            n_unanswered_calls n_malformed_calls n_unknown_tool_calls longest_error_streak
            n_final_errors n_same_final_errors n_counted_calls n_expected_actions n_matched_actions
            n_unexpected_calls n_final_characters exit_code n_checks_passed n_checks_failed
            input_tokens output_tokens n_task_attempts n_task_scored n_task_passed
            n_passed_elsewhere
        """,
    ),
    **EVENTS,
    **_typed(DOUBLE="reward output_limit_rate duration_s"),
    "calls_by_tool": "MAP(VARCHAR, BIGINT)",
    "failed_check_names": "VARCHAR[]",
}
# Too large to be kept twice: read from main.rollouts, where a profile has rules of its own.
LONG_COLUMNS = {"answer": "VARCHAR", "final_text": "VARCHAR", "verifier": "JSON"}
ASKABLE = {**FEATURE_COLUMNS, **LONG_COLUMNS}
# What may be shown as evidence: the number of an event, or a text.
EVIDENCE = {**TEXTS, **EVENTS, **LONG_COLUMNS}

# Functions whose result follows from their arguments alone, one by one: the engine's catalog calls
# some stable that are not (`current_localtimestamp`, `age` of one date, `version`), and others read
# what a predicate must not: `json_serialize_plan` plans any query, files included.
FUNCTIONS = frozenset(
    """
    if nullif constant_or_null greatest least
    + - * / // % ** ^ & | << >> ~ @ abs ceil ceiling floor round round_even trunc sign sqrt cbrt pow
    power exp ln log log2 log10 mod even gcd lcm isnan isinf isfinite add subtract multiply divide
    xor bit_count
    || ~~ !~~ ~~* !~~* ~~~ ^@ like_escape not_like_escape ilike_escape not_ilike_escape lower lcase
    upper ucase length len strlen char_length character_length bit_length octet_length
    length_grapheme left right substring substr left_grapheme right_grapheme substring_grapheme trim
    ltrim rtrim concat concat_ws contains prefix suffix starts_with ends_with position strpos instr
    reverse replace translate overlay split split_part str_split string_split string_to_array
    str_split_regex string_split_regex regexp_split_to_array regexp_matches regexp_full_match
    regexp_extract regexp_extract_all regexp_replace regexp_escape ascii ord unicode chr
    strip_accents nfc_normalize levenshtein editdist3 damerau_levenshtein hamming mismatches jaccard
    jaro_similarity jaro_winkler_similarity md5 sha1 sha256 url_decode url_encode parse_path
    parse_filename parse_dirname parse_dirpath
    @> <@ && list_value list_pack array_value flatten list_contains list_has array_contains
    array_has list_has_all array_has_all list_has_any array_has_any list_position list_indexof
    array_position array_indexof list_extract list_element array_extract list_slice array_slice
    array_length list_concat list_cat array_concat array_cat list_append list_prepend array_append
    array_prepend list_distinct array_distinct list_unique array_unique list_intersect
    array_intersect list_sort array_sort list_reverse_sort array_reverse_sort list_reverse
    array_reverse list_zip array_zip list_filter array_filter filter list_transform array_transform
    list_apply array_apply apply list_where list_select array_where array_select array_to_string
    list_sum list_avg list_min list_max list_count list_first list_last list_any_value list_bool_and
    list_bool_or list_median list_mode list_product list_stddev_pop list_stddev_samp list_var_pop
    list_var_samp list_string_agg
    struct_extract struct_extract_at struct_pack struct_keys struct_values struct_contains row map
    map_contains map_contains_entry map_contains_value map_entries map_extract map_extract_value
    element_at map_from_entries map_keys map_values cardinality typeof
    ->> json_extract json_extract_path json_extract_string json_extract_path_text json_value
    json_exists json_contains json_keys json_type json_valid json_array_length json_array
    json_object json_quote json_structure to_json array_to_json row_to_json
    year month day quarter week weekday dayofweek isodow dayofyear hour minute second millisecond
    microsecond date_part datepart date_trunc datetrunc date_diff datediff date_sub datesub dayname
    monthname last_day epoch epoch_ms epoch_us epoch_ns make_date make_timestamp strftime to_years
    to_months to_weeks to_days to_hours to_minutes to_seconds to_milliseconds to_microseconds
    """.split()
)
NAMED = tuple(sorted(name for name in FUNCTIONS if name.isidentifier()))

# Values of these types are read and written by the clock of the machine.
ZONED_TYPES = frozenset(
    ("timestamptz", "timetz", "timestamp with time zone", "time with time zone")
)
