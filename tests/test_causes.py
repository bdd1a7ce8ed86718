"""Root causes: each rule holds where it should, not where it nearly does, nor where passes too."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.citation import parse
from tests.cause_cases import (
    FINE,
    KINDS,
    NAMED,
    PROFILE,
    RULES,
    WHOLES,
    Case,
    blank,
    fails,
    files,
    numbered,
    padding,
    passes,
)
from tests.fact_files import check
from tests.lean import without_pages
from tests.results import Results, Row, analyzed
from tests.test_sql import broken_grains

CASES = [*RULES, *WHOLES]
# Where a rule asks what passes do, some have to; of others every row is counted.
PLAIN = dict.fromkeys(("desk", "desk_even", "crm", "crm_even", "lost", "graded", "office"), FINE)
PLAIN |= dict.fromkeys(("quiz", "quiz_even"), passes("Fine."))
EVERY = [*CASES, *(case for name, each in PLAIN.items() for case in padding(name, each))]
EVERY += blank(RULES)
# What speaks without a transcript: data, the verifier, the machinery, fields and answers.
OF_FIELDS = (
    "profile_mode conflicting_duplicates verifier_error answer_is_reference suspect_check "
    "infrastructure nothing_recorded limit_for_all unstable_verdict same_wrong_answer "
    "dominant_mode".split()
)
CONFIDENCE = {"strong": 3, "moderate": 2, "weak": 1}
# What is told of which kinds of case: twins and passing ones too.
WRONG_WITH_TASKS = {
    "constant_reward": ["holds", "holds"],
    "conflicting_reference": ["holds", "holds", "in passes", "twin", "twin", "twin"],
    "conflicting_duplicates": ["as often", "few", "holds", "in passes"],
    "unstable_verdict": ["holds", "in passes", "in passes"],
    "verifier_error": ["holds", "missing", "one run"],
    "suspect_check": ["holds"],
    # The one in a run of constant rewards is not told.
    "infrastructure": ["holds", "model call"],
}
HOSTILE = "</td><script>alert(1)</script>\x1b[31m" + "x" * 5000


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """All cases in one folder, analysed once."""
    given = {**files(EVERY), "blade.toml": PROFILE}
    with without_pages():
        return analyzed(tmp_path_factory.mktemp("causes"), given)


@pytest.fixture(scope="module")
def causes(found: Results) -> dict[tuple[str, str], str]:
    """Rule, cause and confidence by run and task."""
    rows = found.rows("select run_id, task_id, rule, cause, confidence from root_causes")
    return {(run, task): f"{rule} {cause} {sure}" for run, task, rule, cause, sure in rows}


@pytest.mark.parametrize(
    ("case", "task"),
    numbered(CASES),
    ids=[f"{case.rule}-{case.kind}" for case in CASES],
)
def test_case(case: Case, task: int, causes: dict[tuple[str, str], str]) -> None:
    """The task gets the cause it should, and no more confidence than its evidence allows."""
    assert causes.get((f"{case.benchmark}_a", str(task))) == case.then


def test_every_rule_has_its_cases(found: Results) -> None:
    """A task it holds for, one it nearly holds for, and one of which passes bear the signal."""
    rules = set(found.column("select rule from staging.cause_rules"))
    cases = {(case.rule, case.kind) for case in CASES}
    assert {(rule, kind) for rule in rules for kind in KINDS} <= cases
    for case in CASES:
        if case.kind in KINDS:
            assert (case.kind == "holds") == (str(case.then).split()[0] == case.rule), case


def test_rules_claim_no_more_than_they_may(found: Results) -> None:
    """Knowledge is never strong; nothing is surer than its rule may be, and all name a remedy."""
    rules = found.rows("select rule, cause, highest, intervention from staging.cause_rules")
    assert not [rule for rule, cause, highest, _ in rules if cause in ("KG", "UK") and highest > 2]
    allowed = {rule: (cause, highest, remedy) for rule, cause, highest, remedy in rules}
    said = "select rule, cause, confidence, intervention, is_suggested from root_causes"
    for rule, cause, sure, remedy, is_suggested in found.rows(f"{said} where rule is not null"):
        own_cause, highest, own_remedy = allowed[rule]
        assert cause == (own_cause or cause) and remedy == (own_remedy or remedy) is not None
        assert CONFIDENCE[sure] <= highest and is_suggested


def test_nothing_is_told_of_what_nobody_recorded(found: Results) -> None:
    """Without a transcript no rule of behaviour speaks: only fields, checks and answers do."""
    rules = found.rows("""
        select distinct coalesce(rule, 'none'), cause from root_causes where run_id = 'blank_a'
    """)
    assert {rule for rule, _ in rules} <= {*OF_FIELDS, "none"}
    assert {("none", "UNEXPLAINED"), ("answer_is_reference", "TI"), ("suspect_check", "TI")} <= {
        *rules
    }
    modes = found.column("""
        select distinct mode from rollout_modes where run_id = 'blank_a' and cause = 'BI'
    """)
    assert set(modes) <= {"CUT_OFF", "NOT_EXTRACTED", "WRONG_CURRENCY"}


def test_tasks_with_a_root_cause(found: Results) -> None:
    """Exactly those that do not always pass have one."""
    buckets = found.rows("""
        select bucket, count(*), count(causes.task_id)
        from task_outcomes left join root_causes as causes using (run_id, task_id, bucket)
        group by all order by all
    """)
    assert {bucket: n == n_caused for bucket, n, n_caused in buckets} == {
        "always": False,
        "missing": True,
        "never": True,
        "sometimes": True,
    }
    assert found.one("select count(*) from root_causes") == sum(n for _, _, n in buckets)


def missing_citations(results: Results) -> list[str]:
    """What is cited and does not exist."""
    cited = results.column("""
        select distinct unnest(evidence) from (
            select evidence from root_causes union all select evidence from suspicions
            union all select [best_rollout] from never_dives
        )
    """)
    keys = set(results.rows("select run_id, task_id, rollout_index from rollouts"))
    events = set(results.rows("select run_id, task_id, rollout_index, seq from events"))
    absent = []
    for text in cited:
        citation = parse(text)
        assert citation is not None, text
        key = (citation.run_id, citation.task_id, citation.rollout_index)
        if key not in keys or (citation.seq is not None and (*key, citation.seq) not in events):
            absent.append(text)
    assert cited
    return absent


def test_evidence_exists(found: Results) -> None:
    """Every citation is a rollout, or an event of one; of what was recorded each cause has one."""
    assert missing_citations(found) == []
    bare = found.column("select run_id from root_causes where rule is not null and evidence = []")
    assert set(bare) == {"lost_a", "blank_a"}


def test_planted_findings(found: Results) -> None:
    """The guessed address and the query without its date are cited as what decided it."""
    check(found, "planted_causes")


def test_suspicions(found: Results) -> None:
    """What is wrong with a task is told where it passes, too; what passes bear alike is not."""
    kinds = {(f"{case.benchmark}_a", str(task)): case.kind for case, task in numbered(EVERY)}
    told: dict[str, list[str]] = {}
    for rule, run, task in found.rows("select rule, run_id, task_id from suspicions"):
        if run.endswith("_a") and run != "blank_a":
            told.setdefault(rule, []).append(kinds[run, task])
    assert {rule: sorted(told[rule]) for rule in WRONG_WITH_TASKS} == WRONG_WITH_TASKS
    rows = found.rows("""
        select confidence, n_with, evidence from suspicions
        where run_id = 'twins_a' and task_id = '0'
    """)
    assert rows == [("strong", 0, ["twins_a/0:0"])]
    assert found.rows("select distinct cause from suspicions order by all") == [
        ("DA",),
        ("IR",),
        ("TI",),
    ]


def test_grains_hold_on_the_cases(found: Results) -> None:
    """Every relation has one row for each value of its grain."""
    assert broken_grains(found.path) == []


@pytest.mark.slow
def test_labels_go_before_rules(tmp_path: Path) -> None:
    """What a curator says stands, with what the rules would have said beside it."""
    attempts = [fails(NAMED["thrash"]), fails(NAMED["sent"], NAMED["thrash"])]
    cases = [Case("", "", "desk", attempts, None) for _ in range(3)]
    labels: list[Row] = [
        {"run": "desk_a", "task": 0, "cause": "TI", "note": "n", "evidence": ["desk_a/0:1#2"]},
        {"run": "desk_a", "task": 1, "cause": "KG+BI", "intervention": "data"},
    ]
    given = {**files([*cases, *padding("desk", FINE)]), "labels.jsonl": labels}
    query = """
        select cause, is_suggested, confidence, rule, note, evidence, intervention, suggested_cause,
            suggested_rule
        from root_causes order by task_id
    """
    rule = "dominant_mode"
    shown = ["desk_a/2:0#3", "desk_a/2:1#5"]
    told = "the commonest mode of its failing attempts: THRASH"
    assert analyzed(tmp_path, given, needs=["root_causes"]).rows(query) == [
        (
            "TI",
            False,
            "curated",
            "labels.jsonl",
            "n",
            ["desk_a/0:1#2"],
            "verifier repair",
            "BI",
            rule,
        ),
        ("KG+BI", False, "curated", "labels.jsonl", None, [], "data", "BI", rule),
        ("BI", True, "weak", rule, told, shown, "harness", "BI", rule),
    ]


@pytest.mark.slow
def test_untrusted_text_is_bounded(tmp_path: Path) -> None:
    """Names and messages of any length leave notes and dives short."""
    named = [HOSTILE, {HOSTILE: HOSTILE}, "Error: " + HOSTILE]
    worked, sent = [HOSTILE, {HOSTILE: "a"}, "ok"], NAMED["sent"]
    cases = [
        Case("", "", "desk", [fails(named, named, named)] * 2, None),
        Case("", "", "desk", [*[FINE] * 2, *[fails(worked, NAMED["done"])] * 2], None),
        Case("", "", "desk", [*[fails(worked, reward=1.0)] * 2, *[fails(sent)] * 2], None),
        Case("", "", "desk", [*[fails(worked, reward=1.0)] * 2, fails([HOSTILE, {}, "ok"])], None),
        Case("", "", "desk", [fails(sent, sandbox_error=HOSTILE)] * 2, None),
        Case("", "", "desk", [fails(sent, extracted_answer=HOSTILE)] * 2, None),
    ]
    results = analyzed(tmp_path, files(cases), needs=["root_causes", "suspicions", "never_dives"])
    notes = results.column("select note from root_causes union all select note from suspicions")
    rules = set(results.column("select rule from root_causes"))
    assert {"dropped_argument", "infrastructure"} <= rules
    assert max(len(note or "") for note in notes) <= 300
    dives = results.rows("select error_signature, shared_answer from never_dives")
    assert max(len(text or "") for row in dives for text in row) <= 200
