"""Each pattern by its own examples, what hides a secret, and what a policy says."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.package.sanitize import detect, share
from pipeline.package.sanitize.placeholders import Placeholders
from pipeline.package.sanitize.policy import PATTERNS, Allow, Policy
from pipeline.package.sanitize.share import _sanitized
from tests.case_files import cases
from tests.conftest import CORPUS, needs_corpus

LISTS = Policy(names=("Heron", "José Niño"), users=("jdoe",), hosts=("build-7",))


def clean(text: str, policy: Policy = LISTS) -> str:
    """A text without what must go."""
    content = text.encode("utf-8", "surrogateescape")
    output = _sanitized(content, 1, "file", policy, Placeholders())
    return output.decode("utf-8", "surrogateescape")


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern["id"])
def test_patterns(pattern: dict[str, Any]) -> None:
    """Each pattern finds what its examples mark, whole, and nothing in its near misses."""
    examples = cases("sanitize_patterns", pattern["id"])
    assert pattern["what"] and examples["finds"] and examples["leaves"]
    assert pattern["replace"] in detect.KINDS
    for marked in examples["finds"]:
        text = marked.replace("[[", "").replace("]]", "")
        actual = detect.spans(text, Policy())
        assert pattern["id"] in {span.rule for span in actual}, marked
        for span in reversed(actual):
            text = f"{text[: span.start]}[[{text[span.start : span.end]}]]{text[span.end :]}"
        assert text == marked
    for text in examples["leaves"]:
        assert detect.spans(text, Policy()) == [], text


HIDDEN = [
    *cases("sanitize_rules", "found"),
    ('{"a": "x\udcff a@b.io"}', '{"a": "x\udcff [redacted-email-1]"}'),
]
HARMLESS = cases("sanitize_rules", "left")


@pytest.mark.parametrize(("text", "expected"), HIDDEN)
def test_hidden_secrets_are_found(text: str, expected: str) -> None:
    """What is private is replaced, whole, however it is written; JSON stays JSON."""
    assert clean(text) == expected


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_private_stays(text: str) -> None:
    """Citations, hashes, counts of tokens and placeholders are left as they are."""
    assert clean(text) == text


def test_words_of_json_stay() -> None:
    """A listed name that is a number, or a word of JSON, goes from strings alone."""
    policy = Policy(names=("true", "2024"))
    expected = '{"a": true, "b": 2024, "c": "redacted-name-1"}'
    assert clean('{"a": true, "b": 2024, "c": "2024"}', policy) == expected


def test_keys_keep_their_lines() -> None:
    """Of a key over several lines one placeholder is left, and as many lines."""
    key = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc=\n-----END RSA PRIVATE KEY-----"
    assert clean(f"a\n{key}\nb") == "a\n[redacted-key-1]\n\n\n\nb"
    cut = f"a\n-----BEGIN PRIVATE KEY-----\n{'QUJD' * 16}\nabc="
    assert clean(cut) == "a\n[redacted-key-1]\n\n"


ALLOWED = [
    (Allow(domains=("northwind.io",)), "a@northwind.io b@mail.northwind.io"),
    (Allow(patterns=("a@b.io",)), "a@b.io"),
    (Allow(domains=("b.io",)), "https://api.b.io/v1/models c.b.io:80"),
    (Allow(domains=("agent-server",)), "agent-server:8000 http://agent-server:8000/x"),
    (Allow(paths=("/home/mara",)), "/home/mara /home/mara/x.txt"),
    (Allow(patterns=(r"sk-demo-\w+",)), "sk-demo-abc123DEF456ghi789"),
]


@pytest.mark.parametrize(("allow", "text"), ALLOWED)
def test_what_a_policy_clears_stays(allow: Allow, text: str) -> None:
    """Each list of the policy clears what it names, which is found without it."""
    assert clean(text, Policy(allow=allow)) == text
    assert clean(text, Policy()) != text


def test_policy_is_exact() -> None:
    """A path that only begins like a cleared one, or a domain that only ends like one, is found."""
    policy = Policy(allow=Allow(paths=("/home/mara",), domains=("b.io",)))
    assert clean("/home/mara2/x a@bb.io", policy) == "[redacted-path-1] [redacted-email-1]"


def test_rules_can_be_put_off() -> None:
    """A rule that is off finds nothing, and others go on."""
    assert clean("a@b.io", Policy(off=("email",))) == "a@b.io"
    assert clean("a@b.io", Policy(off=("login",))) == "[redacted-email-1]"


FIELDS = cases("sanitize_rules", "fields")


@pytest.mark.parametrize(("source", "withheld", "text", "expected"), FIELDS)
def test_listed_fields_go_whole(
    source: list[str], withheld: list[str], text: str, expected: str
) -> None:
    """The value of a listed field is one placeholder, also in JSON within a string."""
    policy = Policy(source_fields=tuple(source), withheld_fields=tuple(withheld))
    output = clean(text, policy)
    assert output == expected
    assert clean(output, policy) == output


def test_one_secret_one_placeholder() -> None:
    """A token is the same whether a key names it or its own shape does, escaped or not."""
    token = "sk-proj-abcDEF123456ghiJKL7890"
    line = f'{{"api_key": "{token}", "b": "x {token} y", "c": "{token[:5]}\\u006f{token[6:]}"}}'
    assert clean(line).count("[redacted-token-1]") == 3


@pytest.mark.slow
@needs_corpus
def test_corpus_has_few_findings() -> None:
    """Of real rollouts the home of a person is taken, no example's address, no image's account."""
    paths = [CORPUS / "gym" / name for name in ("biomnibench_da", "osworld", "structeval")]
    actual = share.check(share.survey(paths, Policy()), Policy())
    assert {(each.rule, each.places[0][0].partition("/")[0]) for each in actual} == {
        ("path", "biomnibench_da")
    }
