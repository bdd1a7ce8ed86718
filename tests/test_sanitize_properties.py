"""All that is planted goes, nothing else changes, and a second call finds nothing."""

from __future__ import annotations

import json
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.package.sanitize.detect import PLACEHOLDER
from pipeline.package.sanitize.placeholders import Placeholders
from pipeline.package.sanitize.policy import PATTERNS, Policy
from pipeline.package.sanitize.share import _sanitized
from tests.case_files import cases

POLICY = Policy(
    names=("zephyr nine", "quillfeather", "ünalçelik"), users=("jdoe7",), hosts=("buildgamma",)
)
LISTED = ["[[zephyr nine]]", "[[quillfeather]]", "[[ünalçelik]]", "[[jdoe7]]", "[[buildgamma]]"]
WORDS = ["the run ended", "see notes, table 3 (n=12)", "11:00 for task:3", "é", '"', "`", "<", "|"]
MARKED = [
    text for pattern in PATTERNS for text in cases("sanitize_patterns", pattern["id"])["finds"]
]
MARK = re.compile(r"\[\[(.*?)\]\]", re.DOTALL)
# Neither hexadecimal digits nor letters of an escape or a word of JSON.
ESCAPABLE = "ghijkmopqvwxyz"
parts = st.lists(st.sampled_from([*MARKED, *LISTED]) | st.sampled_from(WORDS), max_size=6)
escaped_letters = st.sets(st.sampled_from(ESCAPABLE))


def clean(text: str) -> str:
    """A text without what must go; once more it changes no byte."""
    output = _sanitized(text.encode(), 1, "file", POLICY, Placeholders()).decode()
    again = Placeholders()
    assert _sanitized(output.encode(), 1, "file", POLICY, again).decode() == output
    assert not again.by_secret
    return output


def unmarked(marked: str) -> str:
    """The text with its secrets."""
    return MARK.sub(lambda match: match[1], marked)


@settings(max_examples=60)
@given(parts.map("\n".join))
def test_prose_loses_its_secrets_and_nothing_else(marked: str) -> None:
    """Each secret is a placeholder, with as many line breaks behind it as it had."""
    expected = MARK.sub(lambda match: "[[]]" + "\n" * match[1].count("\n"), marked)
    assert PLACEHOLDER.sub("[[]]", clean(unmarked(marked))) == expected


@settings(max_examples=60)
@given(parts.map("\n".join), parts.map(" | ".join), escaped_letters, st.booleans())
def test_rows_lose_their_secrets_and_nothing_else(
    body: str, inner: str, escaped: set[str], is_ascii: bool
) -> None:
    """The same of JSON, in values and in JSON within strings, however it is escaped."""
    row = {"id": 1, "body": unmarked(body), "more": [json.dumps([unmarked(inner), 2.50])]}
    line = json.dumps(row, ensure_ascii=is_ascii)
    for letter in escaped:
        line = line.replace(letter, f"\\u{ord(letter):04x}")
    after = json.loads(clean(line))
    assert after.keys() == row.keys() and after["id"] == 1
    ((text, number),) = map(json.loads, after["more"])
    assert number == 2.5
    assert PLACEHOLDER.sub("[[]]", after["body"]) == MARK.sub("[[]]", body)
    # Deep down a path with spaces may take the one behind it along.
    got, expected = PLACEHOLDER.sub("[[]]", text), MARK.sub("[[]]", inner)
    assert got.replace(" ", "") == expected.replace(" ", "")
