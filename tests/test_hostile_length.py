"""A megabyte of any text is verified and sanitized in no more than two seconds."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

import pipeline
from pipeline.package.sanitize.detect import spans
from pipeline.package.sanitize.values import Policy
from pipeline.package.verify import verify

MEGABYTE = 1_000_000
# Of the processor's time: machines are shared.
MOST_SECONDS = 2.0
SHORT = "12 of 30 tasks pass."

REPEATED = """
    sk- sk-a1 sk_live_ xoxb- eyJ- eyJaaaaaaaa. ghp_ SG. AKIA glpat- [ ] [[]] [a]( ![ ![a]( ( ) ((
    ` `` ```a    1 12. 1.1.1. 1, 1,234, 50% 5/ deadbeef ab: :: f: _ __a *a ** a. a-b. @ a@ a@b. a@b.cc; u@h:
    <!-- <!--a--> <!--blade:a?b#c--> <a <b> </b> <? <![CDATA[ & &# &amp; %40 %25 | |a |-| || / //
    /home/a    \\ \\\\a \\u0041 C:\\Users\\a\\ ~a/ a:// http://x/ http://a] s3://a/ a.internal .internal. ip-1-
    token= password= _key= api_key:a1 authorization: bearer cookie:a=b; --password -----BEGIN
    -----BEGINPRIVATEKEY----- {"a": [redacted- [redacted-email-1] run/1:0 a/b:1# `a/1:0` # = - + $
    ~~~ "a" 'a'
""".split()
SHAPES = {
    **{word: word for word in REPEATED},
    **{f"{word} and a blank": f"{word} " for word in REPEATED if len(word) > 1},
    "letters beyond ASCII": "é",
    "wide letters": "ａ",
    "nothing to see": "\u200b",
    "numbers": "12 ",
    "ratios": "5 of 9 ",
    "blanks": " ",
    "tabs": "\t",
    "begun keys": "-----BEGIN RSA PRIVATE KEY-----\n",
    "spoken passwords": "password is ",
    "headers": "Authorization: Bearer ",
}
WHOLE = {
    "an address and brackets": "http://x/" + "[" * 80_000 + "]" * 80_000,
    "an address and closing brackets": "http://x/" + ")" * MEGABYTE,
    "a long name at a long host": "a" * (MEGABYTE // 2) + "@" + "b" * (MEGABYTE // 2),
    "dots around an @": "a." * (MEGABYTE // 4) + "@" + "b." * (MEGABYTE // 4),
    "ticks of all lengths": "".join("`" * (n % 90 + 1) + "a" for n in range(MEGABYTE // 46)),
    "deep JSON": '{"a":' * (MEGABYTE // 6) + "1" + "}" * (MEGABYTE // 6),
    "opened and closed": "(" * (MEGABYTE // 2) + ")" * (MEGABYTE // 2),
}


def texts() -> list[pytest.ParameterSet]:
    """Each a megabyte, by its shape."""
    made = {
        name: (part * (MEGABYTE // len(part.encode()) + 1))[:MEGABYTE]
        for name, part in SHAPES.items()
    }
    return [pytest.param(text, id=name) for name, text in {**made, **WHOLE}.items()]


def seconds(call: Callable[[], object]) -> float:
    """What a call takes of the processor."""
    start = time.process_time()
    call()
    return time.process_time() - start


@pytest.mark.slow
@pytest.mark.parametrize("text", texts())
def test_a_megabyte_is_sanitized_in_time(text: str) -> None:
    """What is to be found in it or not: the time grows with its length, not with its square."""
    spans(SHORT, Policy())
    assert seconds(lambda: spans(text, Policy())) < MOST_SECONDS


@pytest.mark.slow
@pytest.mark.parametrize("text", texts())
def test_a_megabyte_is_verified_in_time(text: str, demo: Path) -> None:
    """Against data; reading the data takes its time however short the report."""
    with pipeline.open_warehouse(demo) as data:
        asked = [SHORT, f"{SHORT}\n\n{text}\n"]
        base, whole = (seconds(lambda text=text: verify(text, "report.md", data)) for text in asked)
    assert whole - base < MOST_SECONDS


def test_a_text_too_long_to_be_read_is_said() -> None:
    """It is no claim that was checked; what stands around it is."""
    text = f"# A\n\n{SHORT}\n\n{'*a ' * 10_000}\n\n| a |\n| - |\n| {'1 ' * 15_000} |\n"
    told = [(each.line, each.claim, each.status) for each in verify(text, "report.md")]
    assert told == [
        (3, "12", "unverifiable"),
        (3, "30", "unverifiable"),
        (5, "a text of 29,999 characters", "unverifiable"),
        (9, "a text of 29,999 characters", "unverifiable"),
    ]
