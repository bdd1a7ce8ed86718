"""blade sanitize on folders: copies, files in place, checks, the log, the policy."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pipeline.package.sanitize import placeholders, share
from pipeline.package.sanitize.policy import Policy
from tests.case_files import cases
from tests.conftest import DEMO
from tests.results import call, contents, write

MAIL = "omar@northwind.io"
OTHER = "hana@northwind.io"
FILES = {
    "report.md": f"# Report\n\n| a | b |\n| - | - |\n| omar&#64;northwind.io | {OTHER} |\n",
    "rollouts/a.jsonl": f'{{"x": 1.50,  "to": "{MAIL}"}}\nnot json {OTHER}\n{{"y":[]}}\n',
    "rollouts/b.json": f'{{\n  "who": "{MAIL}"\n}}',
    "clean.txt": "nothing here\r\nat all",
}


def test_copies(tmp_path: Path) -> None:
    """Copies have the same names, one placeholder a secret, and nothing else changed."""
    inputs = write(tmp_path / "in", FILES)
    before = contents(inputs)
    ended = call("sanitize", inputs, "--out", tmp_path / "out")
    assert ended.code == 0, ended.stderr
    after = contents(tmp_path / "out")
    assert contents(inputs) == before
    assert list(after) == [*sorted([*FILES, "redactions.json"])]
    assert (
        after["report.md"].decode().splitlines()[-1]
        == "| [redacted-email-1] | [redacted-email-2] |"
    )
    assert after["rollouts/a.jsonl"].decode() == (
        '{"x": 1.50,  "to": "[redacted-email-1]"}\nnot json [redacted-email-2]\n{"y":[]}\n'
    )
    assert after["rollouts/b.json"] == b'{\n  "who": "[redacted-email-1]"\n}'
    assert after["clean.txt"] == before["clean.txt"]
    assert b"northwind" not in b"".join(after.values())


def test_log_tells_places_and_no_secret(tmp_path: Path) -> None:
    """The log has each placeholder with its rule, count and places, and can be read again."""
    inputs = write(tmp_path / "in", FILES)
    call("sanitize", inputs, "--out", tmp_path / "out")
    read = placeholders.read(tmp_path / "out" / "redactions.json")
    assert [(r.placeholder, r.kind, r.rule, r.count) for r in read.redactions] == [
        ("[redacted-email-1]", "email", "email", 3),
        ("[redacted-email-2]", "email", "email", 2),
    ]
    assert read.redactions[0].places == [
        ("report.md", 5),
        ("rollouts/a.jsonl", 1),
        ("rollouts/b.json", 2),
    ]
    assert read.files["rollouts/a.jsonl"] == {"email": 2}
    assert read.files["clean.txt"] == {}
    assert placeholders.by_kind(read.redactions) == {"email": 5}


def test_in_place_and_again(tmp_path: Path) -> None:
    """Files are rewritten in place; a second call, in place or to copies, changes no byte."""
    inputs = write(tmp_path / "in", FILES)
    (inputs / "report.md").chmod(0o640)
    assert call("sanitize", inputs).code == 0
    once = contents(inputs)
    assert b"northwind" not in b"".join(once.values())
    assert (inputs / "report.md").stat().st_mode & 0o777 == 0o640
    ended = call("sanitize", inputs)
    assert (ended.code, contents(inputs)) == (0, once)
    assert "nothing found" in ended.stdout
    assert call("sanitize", inputs, "--out", tmp_path / "out").code == 0
    assert contents(tmp_path / "out") == once
    assert call("sanitize", inputs, "--check").code == 0


def test_numbers_go_on_above_those_that_are_there(tmp_path: Path) -> None:
    """A placeholder that is in any file, or in the log, is never given to something else."""
    inputs = write(
        tmp_path / "in", {"a.md": "x@y.io", "z.md": "[redacted-email-7] \\[redacted\\-ip\\-3\\]"}
    )
    call("sanitize", inputs)
    assert (inputs / "a.md").read_text() == "[redacted-email-8]"
    write(inputs, {"b.md": "10.0.0.7 z@y.io"})
    call("sanitize", inputs)
    assert (inputs / "b.md").read_text() == "[redacted-ip-4] [redacted-email-9]"
    read = placeholders.read(inputs / "redactions.json")
    assert [r.placeholder for r in read.redactions] == [
        "[redacted-ip-4]",
        "[redacted-email-8]",
        "[redacted-email-9]",
    ]


def test_check_writes_nothing_and_tells_no_secret(tmp_path: Path) -> None:
    """A check lists each string once: where first, kind, rule, how often; and ends with 1."""
    inputs = write(tmp_path / "in", FILES)
    before = contents(inputs)
    ended = call("sanitize", inputs, "--check")
    assert ended.code == 1
    assert ended.stdout.splitlines() == [
        "report.md:5: email (email), 3 times",
        "report.md:5: email (email), 2 times",
        "5 found in 4 files: 5 email, 2 different",
    ]
    assert contents(inputs) == before
    answer = json.loads(call("sanitize", inputs, "--check", "--json").stdout)
    assert (answer["is_clean"], answer["by_kind"], len(answer["findings"])) == (
        False,
        {"email": 5},
        2,
    )
    first = {"file": "report.md", "line": 5, "kind": "email", "rule": "email", "count": 3}
    assert answer["findings"][0] == first


def test_private_names_of_files(tmp_path: Path) -> None:
    """Copies have other names where theirs are private, the same as in citations."""
    inputs = write(
        tmp_path / "in",
        {
            "sanitize.toml": 'names = ["heron"]\n',
            "heron/heron_aster-8b_rollouts.jsonl": '{"a": 1}\n',
            "report.md": "see heron_aster-8b/3:0#5 of Heron",
            "heron.duckdb": b"\0",
        },
    )
    ended = call("sanitize", inputs, "--out", tmp_path / "out")
    assert ended.code == 0
    assert "policy" in ended.stderr
    after = contents(tmp_path / "out")
    assert list(after) == [
        "redacted-name-1/redacted-name-1_aster-8b_rollouts.jsonl",
        "redactions.json",
        "report.md",
    ]
    assert after["report.md"] == b"see redacted-name-1_aster-8b/3:0#5 of [redacted-name-1]"
    assert b"eron" not in b"".join(after.values())
    ended = call("sanitize", inputs, "--check")
    assert "heron/heron_aster-8b_rollouts.jsonl (its name): name (listed-name)" in ended.stdout
    ended = call("sanitize", inputs)
    assert ended.code == 1
    assert "the name of the file is private" in ended.stderr
    once = contents(inputs)
    assert b"eron" not in once["redactions.json"]
    call("sanitize", inputs)
    assert contents(inputs) == once


def test_what_is_no_text_cannot_be_cleared(tmp_path: Path) -> None:
    """A warehouse or a picture is not copied, and fails a check, unless the policy clears it."""
    inputs = write(
        tmp_path / "in", {"a.md": "x", "w.duckdb": b"\0\1\2DUCK", "u.txt": b"\xff\xfea\0"}
    )
    ended = call("sanitize", inputs, "--check")
    assert ended.code == 1
    assert "w.duckdb: not checked: not text" in ended.stdout
    ended = call("sanitize", inputs, "--out", tmp_path / "out")
    assert ended.code == 0
    assert "w.duckdb: not text" in ended.stderr
    assert list(contents(tmp_path / "out")) == ["a.md", "redactions.json"]
    assert call("sanitize", inputs).code == 1
    (inputs / "redactions.json").unlink()
    write(inputs, {"sanitize.toml": 'allow.files = ["*.duckdb", "u.txt"]\n'})
    assert call("sanitize", inputs, "--check").code == 0
    call("sanitize", inputs, "--out", tmp_path / "out2")
    assert contents(tmp_path / "out2")["w.duckdb"] == b"\0\1\2DUCK"


def test_links(tmp_path: Path) -> None:
    """A link to a file becomes a copy, is refused in place; one to a folder is not followed."""
    write(tmp_path, {"else/a.jsonl": f'"{MAIL}"\n', "in/b.md": "x"})
    (tmp_path / "in" / "a.jsonl").symlink_to(tmp_path / "else" / "a.jsonl")
    ended = call("sanitize", tmp_path / "in")
    assert ended.code == 3
    assert "is a link" in ended.stderr
    assert call("sanitize", tmp_path / "in" / "a.jsonl").code == 3
    (tmp_path / "in" / "deep").symlink_to(tmp_path / "else")
    (tmp_path / "in" / "gone").symlink_to(tmp_path / "absent")
    ended = call("sanitize", tmp_path / "in", "--out", tmp_path / "out")
    assert contents(tmp_path / "out")["a.jsonl"] == b'"[redacted-email-1]"\n'
    assert not (tmp_path / "out" / "a.jsonl").is_symlink()
    assert "deep: a link to a folder" in ended.stderr
    assert "gone: a broken link" in ended.stderr


WRONG_CALLS = cases("sanitize", "wrong_calls")


@pytest.mark.parametrize(("arguments", "code", "complaint"), WRONG_CALLS)
def test_wrong_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], code: int, complaint: str
) -> None:
    """A call that cannot be answered says why, and writes nothing."""
    write(tmp_path, {"in/a.md": MAIL, "other/x.txt": "x", "other/redactions.json": "{}"})
    if "not of" in complaint:
        (tmp_path / "other" / "redactions.json").unlink()
    before = contents(tmp_path)
    monkeypatch.chdir(tmp_path)
    ended = call("sanitize", *arguments)
    assert ended.code == code
    assert complaint in ended.stderr
    assert contents(tmp_path) == before


POLICIES = cases("sanitize", "policies")


@pytest.mark.parametrize(("text", "complaint"), POLICIES)
def test_wrong_policies(tmp_path: Path, text: str, complaint: str) -> None:
    """A policy that cannot be followed is refused, with its key."""
    write(tmp_path, {"in/a.md": "x", "in/sanitize.toml": text})
    ended = call("sanitize", tmp_path / "in", "--check")
    assert ended.code == 2
    assert re.search(rf"sanitize\.toml:(1:)? .*{re.escape(complaint)}", ended.stderr, re.DOTALL)


def test_nothing_is_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where one file cannot be written, in place or as a copy, none is; nothing is left over."""
    inputs = write(tmp_path / "in", FILES)
    before = contents(inputs)

    def fail(*_: object) -> str:
        raise OSError(28, "No space left on device", "redactions.json")

    monkeypatch.setattr(placeholders.Log, "text", fail)
    for arguments in ([inputs], [inputs, "--out", tmp_path / "out"]):
        ended = call("sanitize", *arguments)
        assert (ended.code, "No space left" in ended.stderr) == (3, True)
    assert contents(tmp_path) == {f"in/{name}": content for name, content in before.items()}


@pytest.mark.slow
def test_demo_has_one_host() -> None:
    """In the demo there is the host of an error message; its people are of an example domain."""
    actual = share.check(share.survey([DEMO], Policy()), Policy())
    assert [(each.kind, each.rule) for each in actual] == [("endpoint", "host-port")]


def test_keys_over_many_lines(tmp_path: Path) -> None:
    """A key goes whole though it is spread across blocks of lines, in prose and among rows."""
    body = "QUJDREVG\n" * 100
    key = f"-----BEGIN PRIVATE KEY-----\n{body}-----END PRIVATE KEY-----\n"
    putty = f"PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 100\n{body}Private-MAC: 0a1b\n"
    files = {
        "a.md": "x\n" * 60 + key + "y\n",
        "b.jsonl": '{"a":1}\n' + key + "{}\n",
        "c.md": "x\n" * 60 + putty + "y\n",
    }
    inputs = write(tmp_path / "in", files)
    call("sanitize", inputs)
    for name, before in files.items():
        after = (inputs / name).read_text()
        assert "QUJD" not in after and after.count("[redacted-key-1]") == (name != "c.md")
        assert after.count("\n") == before.count("\n")
        assert after.splitlines()[-1] == before.splitlines()[-1]


def test_copies_keep_what_was_cleared(tmp_path: Path) -> None:
    """A copy has no policy, and its log says what was cleared: a check of the copy is clean."""
    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    (folder / "a.md").write_text("a@b.io, c@d.io, Heron\n")
    policy = 'names = ["Heron"]\n[allow]\ndomains = ["b.io"]\n'
    (folder / "sanitize.toml").write_text(policy)
    assert call("sanitize", str(folder), "--out", str(out)).code == 0
    ended = call("sanitize", str(out), "--check")
    assert (ended.code, ended.stdout) == (0, "nothing found in 1 file\n")
    (out / "a.md").write_text("a@b.io, e@f.io\n")
    assert call("sanitize", str(out), "--check").code == 1


def test_a_host_of_a_prompt_is_one_placeholder_everywhere(tmp_path: Path) -> None:
    """What a task names stays the same in prompt, answer and other files."""
    row = {"input": "Log in to build.northwind.corp", "output": "ssh build.northwind.corp"}
    inputs = write(tmp_path / "in", {"a.jsonl": json.dumps(row), "b.md": "build.northwind.corp"})
    call("sanitize", inputs, "--out", tmp_path / "out")
    texts = [(tmp_path / "out" / name).read_text() for name in ("a.jsonl", "b.md")]
    assert "".join(texts).count("[redacted-host-1]") == 3


def test_copies_are_made_again(tmp_path: Path) -> None:
    """The folder of an earlier call is written over, and what is no longer there goes."""
    inputs = write(tmp_path / "in", FILES)
    call("sanitize", inputs, "--out", tmp_path / "out")
    (inputs / "clean.txt").unlink()
    assert call("sanitize", inputs, "--out", tmp_path / "out").code == 0
    assert "clean.txt" not in contents(tmp_path / "out")
