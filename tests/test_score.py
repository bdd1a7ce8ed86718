"""A score goes to what a report says and shows, not to the words it is made of."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.package.facts import Fact, Subject, read_facts
from pipeline.package.scoring.calibration import look_alikes
from pipeline.package.scoring.passages import passages
from pipeline.package.scoring.score import Score, Standard, score, standard
from pipeline.package.sources import CONTRADICTED, VERIFIED, Finding
from tests.case_files import cases
from tests.conftest import REPORTS
from tests.package_reports import GOLDEN, TEXTS, facts_json, written
from tests.results import call
from tests.test_sample_package import GOLDEN as SAMPLE

OFFICE = REPORTS / "office_desk"
# What each report of the sample package may score, at least and at most.
TARGETS = {
    "paraphrase": (0.85, 1),
    "own_headings": (0.95, 1),
    "bullets": (0.95, 1),
    "inverted_causes": (0, 0.80),
    "false_claims": (0, 0.40),
    "vague": (0, 0.15),
    "fabricated": (0, 0.15),
    "honest_other": (0, 0.15),
}


@pytest.fixture(scope="module")
def by(tmp_path_factory: pytest.TempPathFactory) -> Standard:
    """The golden report and its facts."""
    found = written(tmp_path_factory.mktemp("standard"))
    return standard(GOLDEN, read_facts(found["facts"]))


@pytest.fixture(scope="module")
def sample() -> Standard:
    """The sample package's golden report and facts."""
    facts = read_facts(SAMPLE.with_name("aster-8b_anchor_facts.json"))
    return standard(SAMPLE.read_text(encoding="utf-8"), facts)


def met(found: Score) -> list[str]:
    return [each.asked.fact.id for each in found.facts if each.is_met]


def one(fact: Fact, text: str) -> bool:
    """Whether a report of one block states a fact."""
    return met(score(text, standard(text, [fact]))) == [fact.id]


def test_the_golden_report_has_all_points(by: Standard, sample: Standard) -> None:
    """Against itself nothing is lacking."""
    for text, own in ((GOLDEN, by), (SAMPLE.read_text(encoding="utf-8"), sample)):
        found = score(text, own)
        assert [each.lacking for each in found.facts] == [""] * len(own.asked)
        assert found.final == 1.0


@pytest.mark.parametrize("name", TARGETS)
def test_reports_of_known_worth_score_it(name: str, sample: Standard) -> None:
    """Written by hand beside the golden report; tests/reports/office_desk/NOTES.md says how."""
    least, most = TARGETS[name]
    found = score((OFFICE / f"{name}.md").read_text(encoding="utf-8"), sample)
    print(f"{name:16} {found.final:.3f}, {least} to {most}")
    assert least <= found.final <= most, found.as_json()


@pytest.mark.slow
def test_facts_of_text_alone_score_the_same_way(sample: Standard) -> None:
    """A file of the public toolkit's form, which has nothing but sentences."""
    facts = [Fact(each.fact.id, each.fact.fact, each.fact.difficulty) for each in sample.asked]
    golden = SAMPLE.read_text(encoding="utf-8")
    own = standard(golden, facts)
    assert score(golden, own).final >= 0.85
    for name, (least, most) in TARGETS.items():
        found = score((OFFICE / f"{name}.md").read_text(encoding="utf-8"), own)
        assert least <= found.final <= most, (name, found.as_json())


@pytest.mark.parametrize(
    ("said", "instead"),
    [
        ("9 of 22 failures: the", "12 of 24 failures: the"),
        ("the booking returns an error", "the booking never returns an error"),
        ("FALSE_CLAIM leads", "WRONG_DEPOT leads"),
        ("says that the\nparcel is", "does not say that the\nparcel is"),
    ],
)
def test_a_changed_claim_is_no_longer_met(by: Standard, said: str, instead: str) -> None:
    """Another number, a no, another name: only the claim of f1 is gone, and counts against."""
    assert said in GOLDEN
    found = score(GOLDEN.replace(said, instead), by)
    assert sorted({f"f{n}" for n in range(1, 9)} - set(met(found))) == ["f1"]
    assert len(found.soundness.contradicted) == 1


SEVEN = Subject(task="7")
CAUSE = Fact("f", "Task 7 fails for behaviour.", subject=SEVEN, predicate="cause", value="BI")


@pytest.mark.parametrize(
    ("text", "is_met"),
    cases("score", "a_cause_counts_where_it_is_not_the_rejected_one"),
)
def test_a_cause_counts_where_it_is_not_the_rejected_one(text: str, is_met: bool) -> None:
    """Beside its task, in prose, under a heading, in a row or an item."""
    assert one(CAUSE, text) is is_met


@pytest.mark.parametrize(
    ("predicate", "value", "text", "is_met"),
    cases("score", "a_value_stands_beside_its_subject"),
)
def test_a_value_stands_beside_its_subject(
    predicate: str, value: str | float | bool, text: str, is_met: bool
) -> None:
    """Each predicate has its own way to be said."""
    told = "A fact about the seventh task, told in its own words."
    fact = Fact("f", told, subject=SEVEN, predicate=predicate, value=value, terms=("7",))
    assert one(fact, text) is is_met


def test_claims_that_a_report_brings_are_matched() -> None:
    """By subject, predicate and value, beside the report or as the source of a block."""
    fact = Fact(
        "f", "25 failures end without an accepted write.", subject=Subject(run="r"),
        predicate="count", value=25, terms=("accepted write",),
        sql="select n_matched from failure_modes where run_id = 'r' and mode = 'X'",
    )  # fmt: skip
    own = standard("25 failures end without an accepted write.", [fact])
    source = "<!-- from failure_modes where run_id = 'r' and mode = 'X': n_matched -->"
    assert met(score(f"It is 25.\n{source}", own)) == ["f"]
    assert met(score(f"It is 26.\n{source}", own)) == []
    assert met(score("Nothing is said.", own, claims=[fact])) == ["f"]
    other = Fact("g", fact.fact, subject=fact.subject, predicate="count", value=26)
    assert met(score("Nothing is said.", own, claims=[other])) == []


def test_one_statement_cannot_state_all_facts(by: Standard) -> None:
    """It stands for as many facts as any statement of the golden report does."""
    assert len(met(score("; ".join(TEXTS), by))) <= by.most_of_one == 3


def test_words_in_no_order_state_nothing(by: Standard, sample: Standard) -> None:
    """Each line has its own words, the line's subject and value among them, in another order."""
    for text, own in ((GOLDEN, by), (SAMPLE.read_text(encoding="utf-8"), sample)):
        lines = [line.split() for line in text.splitlines()]
        told = [words if words[:1] == ["|"] else words[::2] + words[1::2] for words in lines]
        assert score("\n".join(map(" ".join, told)), own).final <= 0.30


def test_comments_are_no_words(by: Standard) -> None:
    """A comment cannot state a fact."""
    assert met(score(f"# Report\n\n<!-- {' '.join(TEXTS)} -->", by)) == []


def test_the_data_decide_where_they_were_asked(by: Standard) -> None:
    """A contradicted figure makes its block false; one lie in five is worth half."""
    text = "\n\n".join(f"Figure number {n} stands here." for n in range(5))
    lines = [(1, VERIFIED), (3, VERIFIED), (5, VERIFIED), (7, VERIFIED), (9, CONTRADICTED)]
    findings = [Finding(line, status, "", "4", "", "source", "r.md") for line, status in lines]
    found = score(text, by, findings=findings)
    assert found.soundness.share == 0.8
    assert round(found.soundness.value, 4) == 0.5


JUDGE = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps({"met": "sunny" in asked["blocks"][0]["text"], "reason": asked["id"]}))
"""


def test_a_judge_decides_about_prose(tmp_path: Path) -> None:
    """It gets a fact with the blocks that are about it; its answers are kept and named."""
    found = written(tmp_path, mine="Task 3 is sunny.\n\nTask 8 is not.\n")
    (tmp_path / "judge.py").write_text(JUDGE, encoding="utf-8")
    out = tmp_path / "out"
    flags = [
        "--report",
        found["mine"],
        "--golden",
        found["golden"],
        "--anchor-facts",
        found["facts"],
    ]
    flags += ["--output-dir", out, "--json", "--judge"]
    python = shlex.quote(sys.executable)
    command = f"{python} {shlex.quote(str(tmp_path / 'judge.py'))}"
    reward = json.loads(call("score", *flags, command).stdout)
    told = {each["id"]: (each["met"], each["by"]) for each in reward["facts"]}
    assert [name for name, (is_met, _) in told.items() if is_met] == ["f1", "f3", "f4", "f8"]
    assert told["f7"] == (False, "judge") and told["f5"] == (False, None)
    assert reward["judge"]["cached"] == 0
    again = json.loads(call("score", *flags, command).stdout)
    assert again["judge"]["cached"] == again["judge"]["asked"] == reward["judge"]["asked"]
    for wrong in ("no-such-program", f"{python} -c pass", f"{python} -c print(1)"):
        assert call("score", *flags, wrong).code == 3
    assert call("score", *flags, f"{python} -c 'raise SystemExit(2)'").code == 3


PIECES = (
    '# |## Summary\n|\n|\n\n|`|"|<!--|-->|Task 3| fails |`a/3:1#7`| not |. |4 of 4|'
    "- |> |```\n|\\|\x00|é| KG | rather than "
).split("|")
TABLE = ["| a | b |\n", "| --- | --- |\n", "|"]


@given(st.lists(st.sampled_from([*PIECES, *TABLE]), max_size=40).map("".join))
@settings(max_examples=60)
def test_any_text_has_a_score(text: str) -> None:
    """Whatever stands in a report, nothing breaks, and a score lies between 0 and 1."""
    fact = Fact("f", "Task 3 fails in 4 of 4 attempts with `a/3:1#7`.", "high")
    own = standard(text, [fact])
    assert 0 <= score(text, own).final <= 1
    for each in look_alikes(text):
        assert 0 <= score(each.text, own).final <= 1
    assert all(each.seen is not None for each in passages(text).passages)


def test_reward_is_written_and_printed(tmp_path: Path) -> None:
    """`reward.json` has the score, its parts and the block that met each fact."""
    found = written(tmp_path)
    flags = ["--golden", found["golden"], "--anchor-facts", found["facts"]]
    out = tmp_path / "deep" / "er"
    told = call("score", "--report", found["golden"], *flags, "--output-dir", out)
    reward = json.loads((out / "reward.json").read_text(encoding="utf-8"))
    assert (told.code, told.stderr) == (0, "")
    assert f"final score {reward['final_score']:.4f}" in told.stdout
    assert set(reward["parts"]) == {"facts", "soundness"}
    assert len(reward["facts"]) == reward["n_facts"] == 8
    assert all(each["block"] and each["line"] for each in reward["facts"] if each["met"])
    printed = call("score", "--report", found["golden"], *flags, "--json")
    assert json.loads(printed.stdout) == reward


def test_a_warehouse_contradicts(tmp_path: Path, demo: Path) -> None:
    """With a warehouse a citation of what is not recorded is a false claim."""
    run = "office_desk_aster-8b"
    cited = [f"{run}/2:0#8", f"{run}/2:0#8000", "nobody/2:0", f"{run}/13:0", f"{run}/13:0#1"]
    report = tmp_path / "r.md"
    lines = [f"Task 2 stops after reading the list in `{each}` here." for each in cited]
    report.write_text("## Failure modes\n\n" + "\n\n".join(lines), encoding="utf-8")
    facts = tmp_path / "f.json"
    facts.write_text(facts_json((lines[0],)), encoding="utf-8")
    flags = ["--report", report, "--golden", report, "--anchor-facts", facts, "--json"]
    claims = json.loads(call("score", *flags, "--warehouse", demo).stdout)["claims"]
    assert (claims["checkable"], claims["contradicted"]) == (5, 3)


GOOD = '{"fact": "a fact of more than twenty characters"}'


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"{", "not JSON"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b"{}", "no list of facts"),
        (b'{"anchor_facts": ["text"]}', "fact 1 is not an object"),
        (b'{"anchor_facts": [{"fact": "too short"}]}', "20 characters"),
        (f'{{"anchor_facts": [{GOOD}, {GOOD}]}}'.encode(), "are the same"),
    ],
)
def test_a_bad_file_of_facts_is_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    """Each says what is wrong and what to do."""
    found = written(tmp_path)
    found["facts"].write_bytes(content)
    told = call("score", *_flags(found))
    assert told.code == 3
    assert reason in told.stderr
    assert told.stderr.count("\n") >= 2


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    """Absent, a folder, empty, not UTF-8: a message or a score, never a traceback."""
    found = written(tmp_path, empty=" \n")
    for path in (tmp_path / "absent.md", tmp_path, found["empty"]):
        told = call("score", *_flags({**found, "golden": path}))
        assert told.code == 3, path
    odd = tmp_path / "odd.md"
    odd.write_bytes(b"## Results\n\n\xff\xfe \x00 text | a\n| --- |\n")
    told = call(
        "score", "--report", odd, "--golden", found["golden"], "--anchor-facts", found["facts"]
    )
    assert told.code == 0
    assert told.stdout.startswith("final score 0.00")
    blocked = tmp_path / "golden.md" / "below"
    assert call("score", *_flags(found), "--output-dir", blocked).code == 3


def _flags(found: dict[str, Path]) -> list[str | Path]:
    golden = found["golden"]
    return ["--report", golden, "--golden", golden, "--anchor-facts", found["facts"]]
