"""A score goes to what a report says and shows, not to the words it is made of."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.package.blocks import edited, read
from pipeline.package.fact_drafts import draft
from pipeline.package.facts import Fact, Subject, read_facts
from pipeline.package.findings import CONTRADICTED, VERIFIED, Finding
from pipeline.package.passages import tasks_in
from pipeline.package.score import Score, Standard, score, standard, text_of
from pipeline.package.verify import verify
from pipeline.run import part, run
from pipeline.settings import Settings
from pipeline.warehouse import open_warehouse
from tests.conftest import REPORTS, ROOT
from tests.package_reports import GOLDEN, TEXTS, facts_json, written
from tests.results import call
from tests.test_sample_package import GOLDEN as SAMPLE

OTHERS = {"KG": "BI", "UK": "KG", "BI": "KG", "TI": "BI", "IR": "TI", "DA": "IR", "BI+IR": "KG"}
# Another word for each: what a paraphrase changes, which is nothing that is a name or a figure.
WORDS = {
    "passes": "gets through", "pass": "get through", "attempts": "tries", "attempt": "try",
    "failures": "misses", "failure": "miss", "never": "at no time", "most": "the bulk",
    "the": "each", "and": "as well as", "with": "having", "without": "lacking", "over": "across",
}  # fmt: skip
COMMENT = re.compile(r"[ \t]*<!--.*?(?:-->|\Z)[ \t]*\n?", re.DOTALL)
# Code is one word; what has no letter or digit (a bullet, the line under a head) is none.
WORD = re.compile(r"(?=[^\s|]*[\w`])(?:`[^`\n]*`|[^\s|])+")
A_LINE = 14


def false_fact(fact: Fact) -> Fact:
    """The same subject with another value."""
    text = fact.fact
    if fact.predicate == "cause":
        return replace(fact, fact=text.replace(str(fact.value), OTHERS[str(fact.value)]))
    if fact.quotes:
        quote = fact.quotes[0]
        return replace(fact, fact=text.replace(quote, "nothing of the kind was ever written"))
    if isinstance(fact.value, str):
        return replace(fact, fact=text.replace(fact.value, "no_such_thing"))
    return replace(fact, fact=re.sub(r"(?<![\w/:#.`-])\d[\d.,]*(?!\w)", _more, text))


def _more(match: re.Match[str]) -> str:
    bare = match[0].rstrip(".,").replace(",", "")
    return (
        f"{float(bare) + 7:.{len(bare.partition('.')[2])}f}"
        + match[0][len(match[0].rstrip(".,")) :]
    )


def variants(golden: str, facts: Sequence[Fact], run: str) -> dict[str, str]:
    """Reports by name; what each may score is in tests/test_score.py."""
    seen = COMMENT.sub("", golden)
    twelve = list(facts)[:12]
    third = sorted(facts, key=lambda each: each.id)[::3]
    return {
        "golden": golden,
        "paraphrase": paraphrase(seen),
        "table": facts_as_table(seen, facts),
        "bullets": facts_as_items(seen, facts),
        "headings": headings_changed(seen),
        "short": facts_as_items(seen, third),
        "five errors": facts_as_items(seen, [*map(false_fact, twelve[:5]), *twelve[5:]]),
        "rows as items": tables_as_items(seen),
        "tasks exchanged": ids_swapped(seen),
        "numbers changed": numbers_perturbed(seen),
        "soup": words_shuffled(seen),
        "soup per fact": soup_per_fact(seen, facts),
        "thirteen false": thirteen_false(seen),
        "fabricated": fabricated(golden, run),
    }


def paraphrase(text: str) -> str:
    """Other words around the same names and figures, paragraphs in another order."""
    pieces = re.split(r"(`[^`]*`|\"[^\"]*\"|\|.*|#.*)", text)
    changed = [
        piece if no % 2 else re.sub(r"\b[a-z]+\b", lambda word: WORDS.get(word[0], word[0]), piece)
        for no, piece in enumerate(pieces)
    ]
    return "".join(changed)


def thirteen_false(text: str) -> str:
    """Every third figure of the text another: many claims, the same words."""
    tokens = [token for block in read(text).blocks for token in block.tokens if token.value]
    return edited(
        text,
        (
            (token.start, token.end, re.sub(r"\d[\d,.]*", _more, token.text))
            for no, token in enumerate(tokens)
            if no % 3 == 0
        ),
    )


def fabricated(golden: str, run: str) -> str:
    """The golden report with thirty claims about rollouts that do not exist."""
    lines = [f"- `{run}/{9000 + n}:0#3` deletes record {n}, and nobody notices." for n in range(30)]
    return golden + "\n## More findings\n\n" + "\n".join(lines) + "\n"


def headings_changed(text: str) -> str:
    """The same text under numbered parts: only headings that name a task keep their words."""
    headings = (block for block in read(text).blocks if block.kind == "heading")
    spans = [span for block in headings for span in block.spans]
    titles = [(span, text[span.start : span.end]) for span in spans[1:]]
    others = [span for span, title in titles if not tasks_in(title) and "`" not in title]
    return edited(text, ((span.start, span.end, f"Part {n}") for n, span in enumerate(others, 1)))


def tables_as_items(text: str) -> str:
    """Each row of a table as an item that names its columns."""
    lines = text.split("\n")
    for block in read(text).blocks:
        if block.kind == "table":
            lines[block.line - 1] = lines[block.line] = ""
            for place, row in enumerate(block.rows, start=block.line + 1):
                cells = [(span.head, text[span.start : span.end].strip()) for span in row]
                lines[place] = "- " + "; ".join(f"{name}: {cell}" for name, cell in cells if cell)
    return "\n".join(lines)


def facts_as_table(text: str, facts: Sequence[Fact]) -> str:
    """Nothing but the facts, a row each: what it is about, and its value."""
    rows = [
        " | ".join(cell.replace("|", "\\|") for cell in (_about(fact), value_text(fact)))
        for fact in facts
    ]
    return "\n".join(
        [
            _title(text),
            "",
            "| about | found |",
            "| --- | --- |",
            *(f"| {row} |" for row in rows),
            "",
        ]
    )


def facts_as_items(text: str, facts: Sequence[Fact]) -> str:
    """Nothing but the facts, an item each."""
    return "\n".join([_title(text), "", *(f"- {fact.fact}" for fact in facts), ""])


def _about(fact: Fact) -> str:
    task = f"task `{fact.subject.task}` " if fact.subject.task else ""
    run = f"`{fact.subject.run}` " if fact.subject.run and not fact.subject.task else ""
    names = re.findall(r"`[^`]+`", fact.fact) if not (task or run) else []
    cited = " ".join(f"`{each}`" for each in fact.citations)
    return f"{run}{task}{' '.join(names)} {cited}".strip()


def value_text(fact: Fact) -> str:
    """A fact's value as a table prints it; of a call or of a fact of text alone its sentence."""
    value = fact.value
    if fact.predicate == "expected_call":
        return fact.fact
    if isinstance(value, bool) or value is None:
        return " ".join(f'"{quote}"' for quote in fact.quotes) or fact.fact
    if isinstance(value, float):
        return f"{100 * value:.1f}%" if abs(value) <= 1 else f"{value:g}"
    if isinstance(value, int):
        of = re.search(rf"\b{value:,}\b (?:out )?of (?:the |all )?[\d,]+", fact.fact)
        return of[0] if of else f"{value:,}"
    return f"`{value}`" if "_" in value else value


def _title(text: str) -> str:
    """The title of a report with its opening, which say what it is about."""
    report = text_of(text)
    return f"# {' '.join(report.title.split())}"


def words_shuffled(text: str) -> str:
    """The words of each section in an order of their own, in lines as long as before."""
    pieces = []
    for heading, body in _sections(text):
        words = sorted(WORD.findall(body), key=_chance)
        lines = [" ".join(words[at : at + A_LINE]) for at in range(0, len(words), A_LINE)]
        pieces.append("\n".join([heading, *lines, "", ""]))
    return "".join(pieces)


def soup_per_fact(text: str, facts: Sequence[Fact]) -> str:
    """For each fact its names, values and words in any order."""
    blocks = [" ".join(sorted(WORD.findall(fact.fact), key=_chance)) for fact in facts]
    return "\n\n".join([_title(text), *blocks, ""])


def _chance(word: str) -> bytes:
    return hashlib.sha256(word.encode("utf-8", "backslashreplace")).digest()


def numbers_perturbed(text: str) -> str:
    """Every figure a tenth and one more, as likely as before; ids and code stay."""

    def more(digits: re.Match[str]) -> str:
        bare = digits[0].replace(",", "")
        comma, decimals = "," if "," in digits[0] else "", len(bare.partition(".")[2])
        return f"{float(bare) * 1.1 + 1:{comma}.{decimals}f}"

    tokens = [token for block in read(text).blocks for token in block.tokens]
    changed = ((each.start, each.end, re.sub(r"\d[\d,.]*", more, each.text)) for each in tokens)
    return edited(text, changed)


def ids_swapped(text: str) -> str:
    """Each task under the name of the next one, wherever it is cited or named."""
    cited = {task for piece in text_of(text).pieces for _, task, _ in piece.rollouts}
    tasks = sorted(cited, key=lambda each: (len(each), each))
    following = dict(zip(tasks, tasks[1:] + tasks[:1], strict=True))
    longest = sorted(map(re.escape, tasks), key=lambda each: (-len(each), each))
    name = re.compile(rf"(?<![\w.:#-])(?:{'|'.join(longest) or '(?!)'})(?![\w.-])")
    places = re.compile(r"`[^`\n]*`|\b[Tt]asks?:? [\w.,` -]+|^\| [^|\n]*", re.MULTILINE)
    return places.sub(lambda match: name.sub(lambda each: following[each[0]], match[0]), text)


def _sections(text: str) -> list[tuple[str, str]]:
    """Headings of the first two levels, each with what is below it."""
    parts = re.split(r"(?m)^(#{1,2}\s.*\n?)", text)
    return list(zip(["", *parts[1::2]], parts[0::2], strict=True))


OFFICE, RUN = REPORTS / "office_desk", "office_desk_aster-8b"
TAU = ROOT.parent / "shared" / "corpus" / "tau_airline"
# What each report of the sample package may score, at least and at most: those written by hand
# (tests/reports/office_desk/NOTES.md says how), then those made of the golden report and its facts.
TARGETS = {
    "golden": (1.00, 1.00),
    "hand: paraphrase": (0.90, 1.00),
    "paraphrase": (0.90, 1.00),
    "table": (0.90, 1.00),
    "bullets": (0.90, 1.00),
    "headings": (0.90, 1.00),
    "short": (0.30, 0.40),
    "five errors": (0.00, 0.55),
    "hand: inverted_causes": (0.00, 0.70),
    "hand: false_claims": (0.00, 0.40),
    "thirteen false": (0.00, 0.40),
    "rows as items": (0.90, 1.00),
    "tasks exchanged": (0.00, 0.75),
    "numbers changed": (0.00, 0.75),
    "soup": (0.00, 0.20),
    "soup per fact": (0.00, 0.20),
    "fabricated": (0.00, 0.70),
    "hand: vague": (0.00, 0.15),
    "hand: fabricated": (0.00, 0.15),
    "hand: honest_other": (0.00, 0.15),
}
TRUE = [name for name, (least, _) in TARGETS.items() if least >= 0.9]


@pytest.fixture(scope="module")
def by(tmp_path_factory: pytest.TempPathFactory) -> Standard:
    """The golden report and its facts, which are text alone."""
    found = written(tmp_path_factory.mktemp("standard"))
    return standard(GOLDEN, read_facts(found["facts"]))


@pytest.fixture(scope="module")
def sample() -> Standard:
    """The sample package's golden report and facts."""
    facts = read_facts(SAMPLE.with_name("aster-8b_anchor_facts.json"))
    return standard(SAMPLE.read_text(encoding="utf-8"), facts)


def met(found: Score) -> list[str]:
    return [each.wanted.fact.id for each in found.facts if each.is_met]


def one(fact: Fact, text: str) -> bool:
    """Whether a report of one block states a fact."""
    return met(score(text, standard(text, [fact]))) == [fact.id]


def test_the_golden_report_has_all_points(by: Standard, sample: Standard) -> None:
    """Against itself nothing is lacking."""
    for text, own in ((GOLDEN, by), (SAMPLE.read_text(encoding="utf-8"), sample)):
        found = score(text, own)
        assert [each.lacking for each in found.facts] == [""] * len(own.wanted)
        assert found.final == 1.0


def scored(reports: dict[str, str], own: Standard, warehouse: Path | None) -> dict[str, float]:
    """The scores of all reports, each within its target.

    Against a warehouse, where there is one; without it a citation that nobody has cannot be seen.
    """
    scores = {}
    with open_warehouse(warehouse) if warehouse else nullcontext() as opened:
        for name, text in reports.items():
            given = verify(text, f"{RUN}.md", opened) if opened else None
            scores[name] = score(text, own, findings=given).final
    wrong = {
        name: final
        for name, final in scores.items()
        if not TARGETS[name][0] <= final <= TARGETS[name][1] and (warehouse or name != "fabricated")
    }
    assert wrong == {}
    assert scores["five errors"] < min(scores[name] for name in TRUE if name in scores)
    return scores


@pytest.fixture(scope="module")
def reports(sample: Standard) -> dict[str, str]:
    """All reports of the table."""
    text = SAMPLE.read_text(encoding="utf-8")
    made = variants(text, [each.fact for each in sample.wanted], RUN)
    hand = {path.stem: path for path in OFFICE.glob("*.md") if path.stem != "NOTES"}
    return made | {f"hand: {name}": path.read_text(encoding="utf-8") for name, path in hand.items()}


@pytest.mark.slow
def test_the_targets_hold_on_the_sample_package(
    reports: dict[str, str], sample: Standard, demo: Path
) -> None:
    """Every form of the truth near 1, less for less, little for errors and soup."""
    assert set(scored(reports, sample, None)) == set(TARGETS)
    # The demo has the rollouts of the sample package.
    with open_warehouse(demo) as opened:
        given = verify(reports["fabricated"], f"{RUN}.md", opened)
    assert score(reports["fabricated"], sample, findings=given).final <= 0.70


@pytest.mark.slow
def test_the_targets_hold_against_a_warehouse(
    reports: dict[str, str], sample: Standard, tmp_path: Path
) -> None:
    """What the data say of each report changes no order."""
    out = part(Settings((SAMPLE.parent.parent,), tmp_path / "out"))
    scored(reports, sample, out)


@pytest.mark.slow
@pytest.mark.skipif(not TAU.is_dir(), reason="the corpus is not here")
def test_the_targets_hold_on_a_report_of_other_results(tmp_path: Path) -> None:
    """A labelled report of tau-bench's airline tasks, with the facts that are drafted of it."""
    results = tmp_path / "results"
    results.mkdir()
    for path in TAU.iterdir():
        (results / path.name).symlink_to(path)
    causes = {"1": "BI", "10": "KG", "11": "BI", "12": "UK", "14": "TI", "15": "BI", "16": "KG"}
    labels = [
        {"run": "gpt-4o", "task": task, "cause": cause, "note": "as read"}
        for task, cause in causes.items()
    ]
    lines = "".join(f"{json.dumps(label)}\n" for label in labels)
    (results / "labels.jsonl").write_text(lines, encoding="utf-8")
    made = run(Settings((results,), tmp_path / "out", follow_links=True))
    golden = (made.out / "runs" / "gpt-4o" / "report.md").read_text(encoding="utf-8")
    rows = "".join(f"| `{task}` | {cause} |\n" for task, cause in causes.items())
    golden += f"\n## Causes\n\n| task | cause |\n| --- | --- |\n{rows}"
    facts = list(draft(golden, model="gpt-4o", most=12).facts)
    assert len(facts) == 12 and any(fact.predicate == "cause" for fact in facts)
    own = standard(golden, facts)
    scored(variants(golden, facts, "gpt-4o"), own, made.warehouse)


@pytest.mark.parametrize("name", ["desk/golden_report.md", "parcel_desk.md"])
def test_a_published_package_scores_itself(name: str) -> None:
    """Facts of the public helper are sentences and nothing else."""
    golden = (REPORTS / name).read_text(encoding="utf-8")
    path = "desk/facts.txt" if "/" in name else "parcel_desk_facts.txt"
    texts = (REPORTS / path).read_text(encoding="utf-8").splitlines()
    facts = [Fact(f"f{no}", text) for no, text in enumerate(texts)]
    assert score(golden, standard(golden, facts)).final >= 0.9


PROSE = """# Lathe 3 on turning

Most syntax errors (26 of 29, 89.7%) are in lint tasks, where the model declares variables inside
procedural blocks that the open toolchain rejects.

The passing rollout keeps a latency counter in registers. The failing rollout drives its outputs
from combinational logic, so that the valid signal never rises.

| Error | Count |
| --- | ---: |
| missing signal | 42 |
"""
# As the public helper's packages have them: sentences in words of their own, with no id.
STATED = (
    "Nearly nine in ten syntax errors sit in lint tasks: variables declared inside procedural "
    "blocks, which the open toolchain rejects.",
    "Whether a rollout passes depends on registers with a latency counter; failing ones drive "
    "outputs from combinational logic.",
)


def test_a_fact_in_words_of_its_own_is_met_where_the_golden_report_says_it() -> None:
    """By what both share; not by the words in any order, nor by a report on something else."""
    facts = [Fact(f"f{no}", text) for no, text in enumerate(STATED)]
    own = standard(PROSE, facts)
    assert score(PROSE, own).final == 1.0
    assert score("# Other\n\nThe model passes few lint tasks and drives slowly.", own).final == 0
    assert score("\n\n".join(" ".join(sorted(each.split())) for each in STATED), own).final == 0
    foreign = Fact("g", "Timeouts of the browser explain why the shop tasks stay without an order.")
    assert score(PROSE, standard(PROSE, [foreign])).final == 0


def test_a_fact_with_another_figure_is_contradicted() -> None:
    """Without any data: five of twelve facts changed cost more than the five."""
    facts = [
        Fact(f"f{n}", f"Task {n} of the desk needs {n + 3} calls of the tool before it can pass.",
             subject=Subject(task=str(n)), predicate="count", value=n + 3)
        for n in range(12)
    ]  # fmt: skip
    own = standard("# r", facts)
    items = [f"- {fact.fact}" for fact in facts]
    false = [item.replace(" calls", "0 calls") for item in items[:5]]
    assert score("\n".join(items), own).final == 1.0
    found = score("\n".join([*false, *items[5:]]), own)
    assert found.final < 0.55 and len(found.soundness.contradicted) == 5


SEVEN = Subject(task="7")
CAUSE = Fact("f", "Task 7 fails for behaviour.", subject=SEVEN, predicate="cause", value="BI")


@pytest.mark.parametrize(
    ("text", "is_met"),
    [
        ("Task 7 is BI.", True),
        ("Task `7`: BI, since it stops.", True),
        ("### Task 7\n\nThis is BI.", True),
        ("- task 7: BI", True),
        ("| task | cause |\n| - | - |\n| 7 | BI |", True),
        ("| cause | its tasks |\n| - | - |\n| BI | 5, 7 and 9 |", True),
        ("Task 7 is KG.", False),
        ("Task 7 is BI, not KG.", False),
        ("Task 8 is BI.", False),
        ("7 BI stops", False),
        ("| task | cause |\n| - | - |\n| 7 | KG |\n| 8 | BI |", False),
    ],
)
def test_a_label_counts_beside_its_task_and_no_other_label(text: str, is_met: bool) -> None:
    """In prose, under a heading, in a row or an item; two labels in one block are unclear."""
    assert one(CAUSE, text) is is_met


@pytest.mark.parametrize(
    ("predicate", "value", "text", "is_met"),
    [
        ("count", 3, "Task 7 passes 3 times.", True),
        ("count", 3, "Task 7 passes 4 times.", False),
        ("rate", 0.25, "Task 7: 25.0%.", True),
        ("rate", 0.25, "Task 7: 25.3%.", False),
        ("mode", "LOOP_THRASH", "Task 7 ends in LOOP_THRASH.", True),
        ("bucket", "never", "| task | bucket |\n| - | - |\n| 7 | never |", True),
        ("bucket", "never", "Task 7 never or sometimes passes.", False),
    ],
)
def test_a_value_is_in_the_block_of_its_subject(
    predicate: str, value: str | float, text: str, is_met: bool
) -> None:
    """Numbers at their printed precision, names and labels as they are."""
    answer = "A fact about the seventh task, put in its own words."
    assert one(Fact("f", answer, subject=SEVEN, predicate=predicate, value=value), text) is is_met


def test_a_block_states_as_many_facts_as_it_has_values() -> None:
    """Three facts with one value between them are one."""
    facts = [
        Fact(f"f{n}", f"Task {n} has 5 of something in it.", subject=Subject(task=str(n)),
             predicate="count", value=5)
        for n in range(3)
    ]  # fmt: skip
    assert len(met(score("Tasks 0, 1 and 2 have 5.", standard("", facts)))) == 1
    assert len(met(score("- task 0: 5\n- task 1: 5\n- task 2: 5", standard("", facts)))) == 3


def test_comments_are_no_words(by: Standard) -> None:
    """A comment cannot state a fact."""
    assert met(score(f"# Report\n\n<!-- {' '.join(TEXTS)} -->", by)) == []


def test_the_data_decide_where_they_were_asked(by: Standard) -> None:
    """One false claim in seven halves; of a few each costs a tenth at most."""

    def value(n_right: int, n_wrong: int) -> float:
        statuses = [VERIFIED] * n_right + [CONTRADICTED] * n_wrong
        findings = [
            Finding(no, status, str(no), "4", "", "source") for no, status in enumerate(statuses)
        ]
        return round(score("Nothing.", by, findings=findings).soundness.value, 4)

    assert value(12, 2) == 0.5
    assert value(4, 1) == 0.9 and value(0, 2) == 0.8
    assert value(600, 0) == 1.0


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
    answer = {each["id"]: (each["met"], each["by"]) for each in reward["facts"]}
    assert any(is_met and by == "judge" for is_met, by in answer.values())
    assert any(not is_met and by == "judge" for is_met, by in answer.values())
    assert reward["judge"]["cached"] == 0
    assert set(reward["judge"]["qualities"]["evidence"]) == {"met", "reason"}
    assert reward["judge"]["shortcuts"]["template filling"]["reason"] == "template filling"
    again = json.loads(call("score", *flags, command).stdout)
    assert again["judge"]["cached"] == again["judge"]["asked"] == reward["judge"]["asked"]
    for wrong in ("no-such-program", f"{python} -c pass", f"{python} -c print(1)"):
        assert call("score", *flags, wrong).code == 3
    assert call("score", *flags, f"{python} -c 'raise SystemExit(2)'").code == 3


def test_a_count_has_its_whole_in_its_block() -> None:
    """25 of 45 is not any 25, and no 25%."""
    fact = Fact("f", "25 of 45 failures end so.", subject=Subject("r"), predicate="count", value=25)
    assert one(fact, "# r\n\nOf 45 failures 25 end so.")
    assert one(fact, "# r\n\n| a | n | of |\n| - | - | - |\n| end | 25 | 45 |")
    assert not one(fact, "# r\n\n25 are red.")
    assert not one(fact, "# r\n\nOf 45 failures 25% end so.")


PIECES = (
    '# |## Summary\n|\n|\n\n|`|"|<!--|-->|Task 3| fails |`a/3:1#7`| not |. |4 of 4|'
    "- |> |```\n|\\|\x00|é| KG | rather than "
).split("|")
TABLE = ["| a | b |\n", "| --- | --- |\n", "|"]


@given(st.lists(st.sampled_from([*PIECES, *TABLE]), max_size=40).map("".join))
def test_any_text_has_a_score(text: str) -> None:
    """With anything in a report, nothing breaks, and a score lies between 0 and 1."""
    fact = Fact("f", "Task 3 fails in 4 of 4 attempts with `a/3:1#7`.", "high")
    own = standard(text, [fact])
    assert 0 <= score(text, own).final <= 1
    for variant in variants(text, [fact], "a").values():
        assert 0 <= score(variant, own).final <= 1
    assert all(each.plain is not None for each in text_of(text).pieces)


def test_facts_that_nobody_has_read_are_warned_of(tmp_path: Path) -> None:
    """By score and calibrate, until the mark is removed."""
    found = written(tmp_path)
    answer = json.loads(facts_json())
    for mark in (True, False):
        found["facts"].write_text(json.dumps({**answer, "review_required": mark}), encoding="utf-8")
        outcome = call("score", *_flags(found), "--json")
        assert ("`review_required` is still true" in outcome.stderr) is mark
        assert ("review_required" in json.loads(outcome.stdout)) is mark
        flags = ["--golden-report", found["golden"], "--shallow-report", found["golden"]]
        outcome = call("calibrate", *flags, "--anchor-facts", found["facts"])
        assert ("`review_required` is still true" in outcome.stderr) is mark


def test_reward_is_written_and_printed(tmp_path: Path) -> None:
    """`reward.json` has the score, its parts and the block that met each fact."""
    found = written(tmp_path)
    flags = ["--golden", found["golden"], "--anchor-facts", found["facts"]]
    out = tmp_path / "deep" / "er"
    answer = call("score", "--report", found["golden"], *flags, "--output-dir", out)
    reward = json.loads((out / "reward.json").read_text(encoding="utf-8"))
    assert (answer.code, answer.stderr) == (0, "")
    assert f"final score {reward['final_score']:.4f}" in answer.stdout
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
    answer = call("score", *_flags(found))
    assert answer.code == 3
    assert reason in answer.stderr
    assert answer.stderr.count("\n") >= 2


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    """Absent, a folder, empty, not UTF-8: a message or a score, never a traceback."""
    found = written(tmp_path, empty=" \n")
    for path in (tmp_path / "absent.md", tmp_path, found["empty"]):
        answer = call("score", *_flags({**found, "golden": path}))
        assert answer.code == 3, path
    odd = tmp_path / "odd.md"
    odd.write_bytes(b"## Results\n\n\xff\xfe \x00 text | a\n| --- |\n")
    answer = call(
        "score", "--report", odd, "--golden", found["golden"], "--anchor-facts", found["facts"]
    )
    assert answer.code == 0
    assert answer.stdout.startswith("final score 0.00")
    blocked = tmp_path / "golden.md" / "below"
    assert call("score", *_flags(found), "--output-dir", blocked).code == 3


def _flags(found: dict[str, Path]) -> list[str | Path]:
    golden = found["golden"]
    return ["--report", golden, "--golden", golden, "--anchor-facts", found["facts"]]
