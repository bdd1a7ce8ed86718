"""What a predicate may call: functions whose result follows from their arguments alone.

Named one by one. The engine's catalog says which functions are stable, but it calls some stable
that are not (`current_localtimestamp`, `age` of one date, `version`), and others read what a
predicate must not: `json_serialize_plan` plans any query, files included.
"""

from __future__ import annotations

LOGIC = "if nullif constant_or_null greatest least".split()
ARITHMETIC = """
    + - * / // % ** ^ & | << >> ~ @ abs ceil ceiling floor round round_even trunc sign sqrt cbrt pow
    power exp ln log log2 log10 mod even gcd lcm isnan isinf isfinite
    add subtract multiply divide xor bit_count
""".split()
TEXT = """
    || ~~ !~~ ~~* !~~* ~~~ ^@ like_escape not_like_escape ilike_escape not_ilike_escape
    lower lcase upper ucase length len strlen char_length character_length bit_length octet_length
    length_grapheme left right substring substr left_grapheme right_grapheme substring_grapheme
    trim ltrim rtrim concat concat_ws contains prefix suffix starts_with ends_with position strpos
    instr reverse replace translate overlay split split_part str_split string_split string_to_array
    str_split_regex string_split_regex regexp_split_to_array regexp_matches regexp_full_match
    regexp_extract regexp_extract_all regexp_replace regexp_escape ascii ord unicode chr
    strip_accents nfc_normalize levenshtein editdist3 damerau_levenshtein hamming mismatches jaccard
    jaro_similarity jaro_winkler_similarity md5 sha1 sha256 url_decode url_encode parse_path
    parse_filename parse_dirname parse_dirpath
""".split()
LISTS = """
    @> <@ && list_value list_pack array_value flatten
    list_contains list_has array_contains array_has
    list_has_all array_has_all list_has_any array_has_any list_position list_indexof array_position
    array_indexof list_extract list_element array_extract list_slice array_slice array_length
    list_concat list_cat array_concat array_cat list_append list_prepend array_append array_prepend
    list_distinct array_distinct list_unique array_unique list_intersect array_intersect list_sort
    array_sort list_reverse_sort array_reverse_sort list_reverse array_reverse list_zip array_zip
    list_filter array_filter filter list_transform array_transform list_apply array_apply apply
    list_where list_select array_where array_select array_to_string list_sum list_avg list_min
    list_max list_count list_first list_last list_any_value list_bool_and list_bool_or list_median
    list_mode list_product list_stddev_pop list_stddev_samp list_var_pop list_var_samp
    list_string_agg
""".split()
NESTED = """
    struct_extract struct_extract_at struct_pack struct_keys struct_values struct_contains row
    map map_contains map_contains_entry map_contains_value map_entries map_extract
    map_extract_value element_at map_from_entries map_keys map_values cardinality typeof
""".split()
JSON = """
    ->> json_extract json_extract_path json_extract_string json_extract_path_text json_value
    json_exists json_contains json_keys json_type json_valid json_array_length json_array
    json_object json_quote json_structure to_json array_to_json row_to_json
""".split()
DATES = """
    year month day quarter week weekday dayofweek isodow dayofyear hour minute second millisecond
    microsecond date_part datepart date_trunc datetrunc date_diff datediff date_sub datesub
    dayname monthname last_day epoch epoch_ms epoch_us epoch_ns make_date make_timestamp strftime
    to_years to_months to_weeks to_days to_hours to_minutes to_seconds to_milliseconds
    to_microseconds
""".split()
FUNCTIONS = frozenset([*LOGIC, *ARITHMETIC, *TEXT, *LISTS, *NESTED, *JSON, *DATES])
NAMED = tuple(sorted(name for name in FUNCTIONS if name.isidentifier()))

# Values of these types are read and written by the clock of the machine.
ZONED_TYPES = frozenset(
    ("timestamptz", "timetz", "timestamp with time zone", "time with time zone")
)
