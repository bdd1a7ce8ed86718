"""blade.toml: what it may say, and that every error names the right key."""

from __future__ import annotations

import json
import os
import re
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline import profile
from pipeline.errors import BladeError, InputError, UsageError
from pipeline.profile import Profile, Stage, check_predicates, json_path
from pipeline.profile.allowed import FUNCTIONS, ZONED_TYPES
from pipeline.profile.contents import Price
from tests.case_files import FOLDER, cases
from tests.results import write

COLUMNS = {
    "answer": "VARCHAR",
    "first_date": "DATE",
    "is_pass": "BOOLEAN",
    "lengths": "BIGINT[]",
    "metadata": "JSON",
    "n_tool_calls": "BIGINT",
    "usage": "STRUCT(input BIGINT)",
}
PREDICATE = 'For example: when = "n_tool_calls > 0"'
quick = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    database=None,
)


def read(folder: Path, content: str | bytes) -> Profile:
    path = folder / "blade.toml"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return profile.read(path, name="blade.toml")


def refusal(folder: Path, content: str | bytes) -> tuple[str, str]:
    """The message and the hint with which a file's contents are refused."""
    with pytest.raises(UsageError) as raised:
        read(folder, content)
    return str(raised.value), raised.value.hint


def test_everything_is_read(tmp_path: Path) -> None:
    """Each key lands in its attribute, paths as written."""
    actual = read(tmp_path, (FOLDER / "everything_blade.toml").read_text(encoding="utf-8"))
    assert actual == Profile(
        name="blade.toml",
        benchmark="office_desk",
        pass_threshold=0.5,
        task_id="verifier_metadata.instance_id",
        reward="metrics.score",
        answer="extracted_answer",
        group='verifier_metadata."repo.name"',
        slices=("category", "verifier_metadata.level"),
        expected_tasks=22,
        expected_repeats=4,
        funnel=(Stage("called a tool", "n_tool_calls > 0"), Stage("produced output", None)),
    )


@pytest.mark.parametrize("content", ["", "\n# nothing\n", "\ufeff", "\ufeff# marked\r\n"])
def test_an_empty_file_says_nothing(tmp_path: Path, content: str) -> None:
    """A file without keys is the empty profile, a byte order mark or not."""
    assert read(tmp_path, content) == Profile(name="blade.toml")
    assert hash(Profile()) == hash(Profile())


@pytest.mark.parametrize(
    ("content", "attribute", "expected"),
    [
        ("pass_threshold = 1", "pass_threshold", 1.0),
        ("pass_threshold = -2.5", "pass_threshold", -2.5),
        ("slices = []", "slices", ()),
        ("slices = [\n  'a', # first\n  'b.c',\n]", "slices", ("a", "b.c")),
        ("expected.tasks = ['a', 7]", "expected_task_ids", ("a", "7")),
        ("expected = {tasks = 1, repeats = 100000}", "expected_repeats", 100_000),
        ("expected = {tasks = 1, repeats = 100000}", "expected_tasks", 1),
        ("'fields'.\"rew\\u0061rd\" = 'x'", "reward", "x"),
        ("fields.group = 'Task Category'", "group", "Task Category"),
        ("price = [{model = 'm', input = 1, output = 2.5}]", "prices", (Price("m", 1.0, 2.5),)),
        ("funnel = []", "funnel", ()),
        (
            "funnel = [\n  {stage = 'received feedback'},\n  {stage = 'x', when = 'true'},\n]",
            "funnel",
            (Stage("received feedback", None), Stage("x", "true")),
        ),
        (
            "[[funnel]]\nwhen = '''\na >\n0'''\nstage = 'received feedback'",
            "funnel",
            (Stage("received feedback", "a >\n0"),),
        ),
    ],
)
def test_other_ways_to_say_it(
    tmp_path: Path, content: str, attribute: str, expected: object
) -> None:
    """Integers are numbers, task ids are text, and TOML's other notations mean the same."""
    assert getattr(read(tmp_path, content), attribute) == expected


@pytest.mark.parametrize(("content", "message", "hint"), cases("profile", "unknown_keys"))
def test_unknown_keys(tmp_path: Path, content: str, message: str, hint: str) -> None:
    """A key that is not ours is named, with what may stand there and what was meant."""
    assert refusal(tmp_path, content) == (f"blade.toml: {message}", hint)


@pytest.mark.parametrize(
    ("content", "message"),
    cases("profile", "wrong_values"),
)  # fmt: skip
def test_wrong_values(tmp_path: Path, content: str, message: str) -> None:
    """A value of another kind is named by its key, with what was expected."""
    reported, hint = refusal(tmp_path, content)
    assert reported == f"blade.toml: {message}"
    if "expected" in message.partition(" is ")[2] and "list of tables" not in message:
        example = hint.removeprefix("For example: ").partition(", or ")[0]
        key = re.sub(r"\[\d+\]", "", message.split()[0])
        assert {*key.split(".")} & {*tomllib.loads(example)}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a = [{b = 'x'},\n{c = 1,\n}]", ":2: not TOML: Invalid initial character for a key part."),
        ('a = """\nx\n\n', ":2: not TOML: Unterminated string."),
        ("[fields]\n[expected]\n[fields]\n", ":3: not TOML: Cannot declare ('fields',) twice."),
        ("a = 1\nb = " + "[" * 100_000, ": not TOML: nested beyond what can be read."),
        ("\n" + "a." * 100_000 + "a = 1", ":2: not TOML: a key of more than 20 parts."),
        ("\na = " + "1" * 5000, ": not TOML: a number beyond what can be read."),
    ],
)
def test_what_is_not_toml(tmp_path: Path, content: str, message: str) -> None:
    """The parser's error with its line; what would keep the parser busy is refused before."""
    assert refusal(tmp_path, content)[0] == f"blade.toml{message}"


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    """Absent, no file, too large or not UTF-8: an error of the input, not of the contents."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large").write_bytes(b"#" * 1_000_001)
    (tmp_path / "most").write_bytes(b"#" * 1_000_000)
    (tmp_path / "latin").write_bytes(b"a = 1\nb = '\xe9'")
    by_name = {}
    for name in ("absent", "pipe", ".", "large", "latin", "a\0b"):
        with pytest.raises(InputError) as raised:
            profile.read(tmp_path / name, name=name)
        by_name[name] = str(raised.value)
    assert by_name == {
        "absent": "absent: no such file.",
        "pipe": "pipe: is a pipe or a device, not a file.",
        ".": ".: is a folder.",
        "large": "large: has more than 1,000,000 bytes.",
        "latin": "latin:2: not UTF-8 text.",
        "a\0b": "a\0b: no such file.",
    }
    assert profile.read(tmp_path / "most").name == str(tmp_path / "most")


@pytest.mark.slow
@pytest.mark.parametrize(
    "content",
    [
        "".join(f"k{n}=1\n" for n in range(90_000)),
        '"' + "a\\" * 400_000,
        "".join(f'"k{n}" . "a" = 1\n' for n in range(40_000)),
    ],
)
def test_large_files_take_no_long_time(tmp_path: Path, content: str) -> None:
    """A megabyte made to be slow is refused within seconds."""
    begun = time.monotonic()
    refusal(tmp_path, content)
    assert time.monotonic() - begun < 10


@pytest.mark.parametrize(("path", "names"), cases("profile", "paths_find_their_field"))
def test_paths_find_their_field(path: str, names: list[str]) -> None:
    """DuckDB finds exactly the field that a path of any characters names."""
    value: object = "found"
    for name in reversed(names):
        value = {"decoy": 1, name: value, name + "x": 2}
    query = "select json_extract_string(?::json, ?::varchar)"
    assert duckdb.execute(query, [json.dumps(value), json_path(path)]).fetchall() == [("found",)]


@quick
@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1), min_size=1, max_size=3))
def test_any_quoted_name_is_found_or_refused(names: list[str]) -> None:
    """Of all names only a lone * and those with NUL cannot be looked up."""
    path = ".".join('"' + re.sub(r'(["\\])', r"\\\1", name) + '"' for name in names)
    if any(name == "*" or "\0" in name for name in names):
        with pytest.raises(UsageError):
            json_path(path)
    else:
        test_paths_find_their_field(path, names)


@pytest.mark.parametrize(("path", "reason"), cases("profile", "paths_that_are_none"))
def test_paths_that_are_none(tmp_path: Path, path: str, reason: str) -> None:
    """A path that cannot be meant is refused with its key and the reason."""
    reported, hint = refusal(tmp_path, f"[fields]\n\ngroup = '{path}'")
    shown = json.dumps(path)
    assert reported == f"blade.toml: fields.group is {shown}, which is not a field path: {reason}."
    assert hint == 'Write names with dots between: verifier_metadata.level or a."b.c".d'


def check(when: str | None, stage: str = "called a tool") -> None:
    check_predicates([Stage(stage, when)], COLUMNS, name="blade.toml")


@pytest.fixture(scope="module")
def columns() -> Iterator[duckdb.DuckDBPyConnection]:
    """A table of the columns that a predicate may use."""
    with duckdb.connect() as db:
        db.execute(f"create table t ({', '.join(map(' '.join, COLUMNS.items()))})")
        yield db


@pytest.mark.parametrize(
    "when",
    cases("profile", "predicates_that_pass"),
)  # fmt: skip
def test_predicates_that_pass(when: str, columns: duckdb.DuckDBPyConnection) -> None:
    """One boolean expression over the columns is taken, and stays inside parentheses."""
    check(when)
    query = f"select count(*) from t where ({when}) and false"
    assert columns.execute(query).fetchall() == [(0,)]


NESTED = "not a SQL predicate: nested more than 100 levels deep."
DEEP = [("abs(" * 200 + "1" + ")" * 200 + " = 1", NESTED), ("not " * 100_000 + "true", NESTED)]
HINTS = {
    "listed": f"A predicate may use: {', '.join(COLUMNS)}.",
    "callable": "It may call functions of text, numbers, lists, JSON and dates, such as contains, "
    "regexp_matches, length, json_extract_string.",
    "compare": f"Compare it with something. {PREDICATE}",
    "example": PREDICATE,
}


@pytest.mark.parametrize(
    ("when", "complaint", "hint"),
    [*cases("profile", "predicates_that_are_refused"), *((*deep, "{example}") for deep in DEEP)],
)
def test_predicates_that_are_refused(when: str, complaint: str, hint: str) -> None:
    """A predicate reads its row and nothing else; what it does beyond is named with its key."""
    with pytest.raises(UsageError) as raised:
        check(when)
    message = f'blade.toml: funnel[0].when: funnel stage "called a tool": {complaint}'
    assert (str(raised.value), raised.value.hint) == (message, hint.format(**HINTS))


SQL_SOUP = st.lists(
    st.sampled_from(
        "( ) [ ] { } , ; : . -> ->> = <> > + - * / % ? $1 $$ # ' '' 'a' \" \\ -- /* */ \n \x01 é "
        "1 1e9 0x1 true null not and or is in between like case when then else end cast( as "
        "int ::int json select from where values exists any lambda x: x answer is_pass "
        "n_tool_calls usage lengths metadata rollouts lower( len( list_filter( now() "
        "columns(*) over () try( distinct interval date at time zone collate escape filter order "
        "by default row( map{ group limit pivot describe set pragma with union".split(" ")
    )
    | st.text(max_size=3),
    max_size=12,
).map(" ".join)


@settings(quick, max_examples=30)
@given(SQL_SOUP)
def test_any_text_is_a_predicate_or_refused(columns: duckdb.DuckDBPyConnection, when: str) -> None:
    """Any text: it passes and can be asked in parentheses, or there is a clean error."""
    try:
        check(when)
    except UsageError as error:
        assert str(error).startswith('blade.toml: funnel[0].when: funnel stage "called a tool": ')
    else:
        test_predicates_that_pass(when, columns)


def test_callable_functions_are_stable() -> None:
    """The engine calls each stable, in all its forms; macros are made of aggregates of a list."""
    rows = duckdb.execute(
        "select function_name, function_type, stability, coalesce(macro_definition, '') "
        "from duckdb_functions() where schema_name = 'main' and function_name in ?",
        [sorted(FUNCTIONS)],
    ).fetchall()
    assert {name for name, *_ in rows} == FUNCTIONS
    unstable = re.compile(r"(?i)select|current|now|random|sample|quantile|approx")
    for name, kind, stability, definition in rows:
        assert (kind, stability) in {("scalar", "CONSISTENT"), ("macro", None)}, name
        assert not unstable.search(definition), name


def test_types_with_a_zone_are_all_known() -> None:
    """No name of such a type is missing from the list."""
    query = "select type_name from duckdb_types() where logical_type like '%TIME ZONE%'"
    assert {name for (name,) in duckdb.execute(query).fetchall()} == ZONED_TYPES


SOUP = st.one_of(
    st.binary(max_size=60),
    st.lists(
        st.sampled_from(
            [b"[", b"]", b"[[", b"]]", b"{", b"}", b"=", b",", b".", b"\n", b"\r\n", b" ", b"#",
             b'"', b"'", b'"""', b"'''", b"\\", b"funnel", b"stage", b"fields", b"reward",
             b"expected", b"tasks", b"slices", b"1", b"-inf", b"nan", b"true", b"2020-01-01",
             b"\x00", b"\xff", b"\xef\xbb\xbf", b"benchmark = 'x'\n", b"[expected]\n",
             b"[[funnel]]\n", b"0x", b"1e9", b"stage = 'received feedback'\n", b"slices = ['a']\n",
             b"pass_threshold = 1\n", b"'a.\"b\"'"]
        ),
        max_size=25,
    ).map(b"".join),
)  # fmt: skip


@settings(quick, max_examples=150)
@given(SOUP)
def test_any_bytes_are_read_or_refused(tmp_path: Path, content: bytes) -> None:
    """Any bytes: a profile, or an error with the file's name in front."""
    try:
        assert isinstance(read(tmp_path, content), Profile)
    except BladeError as error:
        assert isinstance(error, UsageError | InputError)
        assert re.match(r"blade\.toml:(\d+:)? .*\.$", str(error), re.DOTALL)


@pytest.mark.parametrize("place", ["p", "p/rollouts", "p/rollouts/a.jsonl", "p/data"])
def test_profile_of_a_package_is_found(tmp_path: Path, place: str) -> None:
    """From the package, from its folder of rollouts, and from a file in it."""
    write(tmp_path, {"p/blade.toml": "", "p/rollouts/a.jsonl": "", "p/data/a.jsonl": ""})
    assert profile.find([tmp_path / place]) == tmp_path / "p" / "blade.toml"
    write(tmp_path, {"p/other/a.jsonl": ""})
    assert profile.find([tmp_path / "p" / "other"]) is None


def test_profile_of_the_folder_itself_goes_first(tmp_path: Path) -> None:
    """A profile among the rollouts counts before the package's, and two places are no conflict."""
    write(tmp_path, {"blade.toml": "", "rollouts/blade.toml": ""})
    assert profile.find([tmp_path / "rollouts"]) == tmp_path / "rollouts" / "blade.toml"
