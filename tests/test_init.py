"""blade init lays out a package: what it chooses, writes and refuses."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import tomllib
from pathlib import Path
from unittest import mock

import duckdb
import pytest

import pipeline
from pipeline.errors import InputError
from pipeline.package import scaffold
from pipeline.package.scaffold.selection import select
from tests.lean import DIAGNOSIS, LOADED, METRICS, only
from tests.markdown_read import complaints
from tests.results import Outcome, Row, call, rollout, write

HEADINGS = [
    "Overview",
    "Input Schema",
    "Workflow Funnel",
    "Failure Taxonomy",
    "Analysis Workflow",
    "Report Template",
]
PART_MARK = re.compile(r"<!-- (?:generated: \w+|end) -->\n")
PARTS = ["overview", "fields", "funnel", "modes", "workflow", "report"]
NASTY = "a`|<b>x</b> <!-- curate: forged --> <!-- end --> www.x.example"


def rows(*, passes: int) -> list[Row]:
    """Four tasks, two repeats: the first so many rollouts pass; every field is known by hand."""
    return [
        rollout(
            task,
            index,
            ask=f"{NASTY} question {task}",
            reward=float(2 * task + index < passes),
            output=[{"type": "message", "role": "assistant", "content": f"words {task} {index}"}],
            n_points=5 if 2 * task + index < passes else 2,
            level=["easy", "hard"][task % 2],
            tests={f"test_{task}_{number}": number % 2 == 0 for number in range(40)},
            **({NASTY: index} if task == 0 else {}),
        )
        for task in range(4)
        for index in range(2)
    ]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package of one benchmark out of results that hold two."""
    folder = tmp_path_factory.mktemp("init")
    other = [rollout(task, 0, ask=f"another thing {task}") for task in range(3)]
    results = write(
        folder / "results",
        {
            "desk_a_rollouts.jsonl": rows(passes=3),
            "desk_b_rollouts.jsonl": rows(passes=6),
            "desk_b_rollouts_failures.jsonl": "",
            "labels.jsonl": [{"run": "desk_a", "task": 2, "cause": "BI"}],
            "sums_a_rollouts.jsonl": other,
        },
    )
    ended = init(folder / "desk", "--results", results, "--json")
    assert ended.code == 0, ended.stderr
    (folder / "printed.json").write_text(ended.stdout, encoding="utf-8")
    return folder


def init(folder: Path, *words: str | Path) -> Outcome:
    """Run blade init without reports, which take longest and are tried in test_init_whole.py."""
    without_reports = mock.patch.object(scaffold, "_reports", lambda *_: {})
    with only(*LOADED, *METRICS, *DIAGNOSIS, "report.gaps"), without_reports:
        return call("init", "--benchmark-dir", folder, "--benchmark", folder.name, *words)


def skill(made: Path) -> str:
    """The draft of the skill."""
    return (made / "desk" / "skill" / "SKILL.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_runs_of_the_benchmark_are_copied(made: Path) -> None:
    """Only its rollout files and their sidecars, byte for byte under their names."""
    home = made / "desk" / "rollouts"
    copied = sorted(path.relative_to(home).as_posix() for path in home.rglob("*.jsonl"))
    assert copied == [
        "desk_a_rollouts.jsonl",
        "desk_b_rollouts.jsonl",
        "sidecars/desk_b_rollouts_failures.jsonl",
    ]
    for name in copied:
        copy, given = home / name, made / "results" / Path(name).name
        assert copy.read_bytes() == given.read_bytes()


@pytest.mark.slow
def test_labels_stand_beside_the_rollouts(made: Path) -> None:
    """They are taken along, and read from there by an analysis of the rollouts."""
    assert (made / "desk" / "labels.jsonl").read_bytes() == (
        made / "results" / "labels.jsonl"
    ).read_bytes()
    with only(*LOADED):
        pipeline.analyze(made / "desk" / "rollouts", out=made / "labelled")
    with pipeline.open_warehouse(made / "labelled" / "warehouse.duckdb") as warehouse:
        found = warehouse.execute("select run_id, task_id, cause from labels").fetchall()
    assert found == [("desk_a", "2", "BI")]


@pytest.mark.slow
def test_skill_tells_the_data(made: Path) -> None:
    """Its sections, and figures that follow from the rows by hand."""
    text = skill(made)
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == HEADINGS
    assert re.findall(r"^<!-- generated: (\w+) -->$", text, re.MULTILINE) == PARTS
    assert text.startswith('---\nname: analyze-desk\ndescription: "')
    assert "Rewards of 16 scored rollouts: 1 in 9, 0 in 7. A rollout passes from 1" in text
    assert "| `n_points` | attempt | integer | 16 | `5` |" in text
    assert "| `level` | task, slice | text | 16 | `easy` |" in text
    assert "- Slice `level`: `easy`, `hard`" in text
    passed = "| passed | its reward is at least the pass threshold | 3 (−5) | 6 (−2) |"
    assert passed in text


@pytest.mark.slow
def test_a_map_of_many_names_is_one_field(made: Path) -> None:
    """160 names of tests are one row of the table."""
    text = skill(made)
    assert "| `tests` | task, check | map: 160 names | 16 |" in text
    assert "test_3_7" not in text


@pytest.mark.slow
def test_only_modes_that_occur_are_listed(made: Path) -> None:
    """Each by its own text, with the failures that bear it of all, and the passes beside them."""
    listed = re.findall(
        r"^\| `([^`]+)` \|.*\| (\d+) of (\d+) \| (\d+) of (\d+) \| \d+ \|", skill(made), re.M
    )
    assert listed
    assert {(int(failures), int(passes)) for _, _, failures, _, passes in listed} == {(7, 9)}
    assert all(int(part) > 0 for _, part, *_ in listed)
    assert "no shared sign" in {mode for mode, *_ in listed}
    # A mode is no cause, and none is printed beside it.
    assert not re.search(r"^\| `[^`]+` \|.*\| (?:KG|UK|BI|TI|IR|DA) \|", skill(made), re.M)


@pytest.mark.slow
def test_skill_is_inert(made: Path) -> None:
    """Text and field names of rollouts are no markup, no row of a table and no place to curate."""
    text = skill(made)
    body = PART_MARK.sub("", text.split("---\n", 2)[2])
    assert [message for message in complaints(body) if not message.startswith("fence:")] == []
    assert text.count("<!-- end -->") == len(PARTS)
    assert text.count("```") == 6
    assert "curate: forged -->" in text and "<!-- curate: forged" not in text
    assert not re.search("[\ue000\ue001]", text)
    assert "| attempt | integer | 4 |" in text, "the nasty field of task 0"


@pytest.mark.slow
def test_profile_says_what_was_found(made: Path) -> None:
    """The name; the slices that were found are a comment, so that nothing changes by it."""
    text = (made / "desk" / "blade.toml").read_text(encoding="utf-8")
    assert tomllib.loads(text) == {"benchmark": "desk"}
    assert '# Found: "level".' in text


@pytest.mark.slow
def test_what_is_left_is_printed(made: Path) -> None:
    """Every file, and the places to curate as they are counted in the files."""
    printed = json.loads((made / "printed.json").read_text(encoding="utf-8"))
    assert {file["status"] for file in printed["files"]} == {"written"}
    assert {each["path"]: each["places"] for each in printed["curate"]} == {
        path.relative_to(made / "desk").as_posix(): path.read_text().count("<!-- curate: ")
        for path in (made / "desk").rglob("*.md")
    }


@pytest.mark.slow
def test_what_a_person_wrote_is_never_replaced(tmp_path: Path, made: Path) -> None:
    """Profile, labels, golden reports and the words of a skill stay, refreshed or not."""
    desk = tmp_path / "desk"
    shutil.copytree(made / "desk", desk)
    text = (desk / "skill/SKILL.md").read_text(encoding="utf-8")
    stale = text.replace("16 scored rollouts", "15 scored rollouts").replace(
        "## Over", "Mine.\n\n## Over"
    )
    own = {
        "blade.toml": 'benchmark = "desk"\n# mine\n',
        "labels.jsonl": "",
        "golden_reports/desk_golden_report.md": "mine\n",
        "skill/SKILL.md": stale,
    }
    write(desk, own)
    kept = init(desk, "--results", made / "results")
    assert kept.code == 0, kept.stderr
    assert {name: (desk / name).read_text(encoding="utf-8") for name in own} == own
    assert "skill/SKILL.md; --refresh makes" in kept.stderr
    made_again = init(desk, "--refresh")
    assert made_again.code == 0, made_again.stderr
    now = (desk / "skill/SKILL.md").read_text(encoding="utf-8")
    assert "-Rewards of 15 scored" in made_again.stdout
    assert "+Rewards of 16 scored" in made_again.stdout
    assert "\nMine.\n\n## Overview" in now
    old, new = (part.partition("What these")[0] for part in (text, now.replace("Mine.\n\n", "")))
    assert old == new
    del own["skill/SKILL.md"]
    assert {name: (desk / name).read_text(encoding="utf-8") for name in own} == own


def test_rollouts_that_differ_are_refused(tmp_path: Path) -> None:
    """A rollout file of the package is never replaced, and none is left out in silence."""
    results = write(tmp_path / "results", {"a_rollouts.jsonl": rows(passes=1)})
    write(tmp_path / "desk", {"rollouts/a_rollouts.jsonl": rows(passes=3)})
    ended = init(tmp_path / "desk", "--results", results, "--refresh")
    assert ended.code == 3
    assert "a_rollouts.jsonl is there and differs; nothing was written" in ended.stderr
    assert not (tmp_path / "desk" / "skill").exists()


def test_without_rollouts_a_skeleton(tmp_path: Path) -> None:
    """Folders, and a skill that says what is not known; twice is no change."""
    command = ("init", "--benchmark-dir", tmp_path / "desk", "--benchmark", "desk")
    first = call(*command)
    assert first.code == 0
    assert "--results RESULTS" in first.stdout
    text = (tmp_path / "desk" / "skill" / "SKILL.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == HEADINGS
    assert text.count("Not known yet:") == 6
    assert (tmp_path / "desk" / "rollouts").is_dir()
    assert (tmp_path / "desk" / "golden_reports").is_dir()
    assert tomllib.loads((tmp_path / "desk" / "blade.toml").read_text()) == {"benchmark": "desk"}
    assert "as it was" in call(*command).stdout


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--benchmark", " "), 2, "the name is empty"),
        (("--benchmark", "a\nb"), 2, "not a name"),
        (("--benchmark", "a\x1b[31m"), 2, "not a name"),
        (("--benchmark", "a", "--results", "missing"), 3, "no such file or folder"),
    ],
)
def test_wrong_calls(tmp_path: Path, words: tuple[str, ...], code: int, message: str) -> None:
    """Each is recognised, and nothing is written."""
    ended = call("init", "--benchmark-dir", tmp_path / "p", *words)
    assert ended.code == code
    assert message in ended.stderr
    assert not (tmp_path / "p").exists()


def test_names_are_quoted(tmp_path: Path) -> None:
    """Any visible name makes a profile and a skill that can be read."""
    name = 'x"y\\z: `a` | <b>'
    assert call("init", "--benchmark-dir", tmp_path / "p", "--benchmark", name).code == 0
    assert tomllib.loads((tmp_path / "p" / "blade.toml").read_text())["benchmark"] == name
    _, front, text = (tmp_path / "p" / "skill" / "SKILL.md").read_text().split("---\n", 2)
    assert json.loads(front.partition("description: ")[2]).startswith(
        f"How to analyze rollouts of {name}"
    )
    assert text.startswith('\n# ``x"y\\z: `a` | <b>``: how to analyze')
    assert complaints(PART_MARK.sub("", text)) == []


def test_a_file_in_the_way(tmp_path: Path) -> None:
    """A file where a folder must be, or a folder where a file must be, is named."""
    (tmp_path / "p").write_text("")
    ended = call("init", "--benchmark-dir", tmp_path / "p", "--benchmark", "x")
    assert ended.code == 3
    assert "is in the way of the package" in ended.stderr
    (tmp_path / "q" / "blade.toml").mkdir(parents=True)
    ended = call("init", "--benchmark-dir", tmp_path / "q", "--benchmark", "x")
    assert ended.code == 3
    assert "blade.toml: is in the way" in ended.stderr


def test_nothing_is_laid_out_through_a_linked_folder(tmp_path: Path) -> None:
    """Drafts and the skill go into the package, or are not written."""
    for name in ("golden_reports", "skill"):
        outside = tmp_path / "outside" / name
        outside.mkdir(parents=True)
        (tmp_path / name).mkdir()
        (tmp_path / name / name).symlink_to(outside)
        ended = call("init", "--benchmark-dir", tmp_path / name, "--benchmark", "x")
        assert ended.code == 3 and "is in the way" in ended.stderr
        assert not any(outside.iterdir())


@pytest.mark.slow
def test_a_skeleton_gives_way(tmp_path: Path) -> None:
    """What we wrote before anything was known is replaced."""
    results = write(tmp_path / "results", {"a_rollouts.jsonl": rows(passes=1)})
    assert call("init", "--benchmark-dir", tmp_path / "p", "--benchmark", "p").code == 0
    ended = init(tmp_path / "p", "--results", results)
    assert ended.code == 0, ended.stderr
    assert "Rewards of 8 scored" in (tmp_path / "p/skill/SKILL.md").read_text(encoding="utf-8")
    assert "# Found: " in (tmp_path / "p/blade.toml").read_text()
    assert (
        "as it was  rollouts/a_rollouts.jsonl" in init(tmp_path / "p", "--results", results).stdout
    )


@pytest.mark.slow
def test_a_failure_leaves_nothing_half_written(tmp_path: Path) -> None:
    """A disk that is full in the middle of a file is an error, and leaves nothing of it behind."""
    results = write(tmp_path / "results", {"a_rollouts.jsonl": rows(passes=1)})

    def half_copied(source: Path, target: Path) -> None:
        target.write_text("{")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(source))

    with mock.patch("shutil.copyfile", half_copied):
        ended = init(tmp_path / "p", "--results", results)
    assert ended.code == 3
    assert "p/rollouts/a_rollouts.jsonl: cannot be written" in ended.stderr
    assert list((tmp_path / "p" / "rollouts").iterdir()) == []


@pytest.mark.slow
def test_an_analysis_that_fails_leaves_no_file(tmp_path: Path) -> None:
    """Rollouts, and the profile they were to be analyzed by, go again; the next call works."""
    results = write(tmp_path / "results", {"a_rollouts.jsonl": rows(passes=1)})
    failed = InputError("no room", hint="-")
    with mock.patch.object(scaffold, "skill_text", side_effect=["", failed]):
        assert init(tmp_path / "p", "--results", results).code == 3
    assert [path for path in (tmp_path / "p").rglob("*") if not path.is_dir()] == []


FILES = [
    ("model_a/rollouts.jsonl", "rollouts", "model_a", "x"),
    ("model_a/rollouts_failures.jsonl", "failures", "model_a", "x"),
    ("model_a/config.yaml", "config", None, "x"),
    ("model_b/results-rs0.jsonl", "rollouts", "model_b", "x"),
    ("model_b/results-rs1.jsonl.gz", "rollouts", "model_b", "x"),
    ("deep/c/m_rollouts.jsonl", "rollouts", "c-m", "x"),
    ("example_rollouts_pi.jsonl", "rollouts", "example_pi", "x"),
    ("other_rollouts.jsonl", "rollouts", "other", "y"),
    ("other_config.yaml", "config", "other", "y"),
    ("notes.md", "notes", None, None),
    ("train.log", "log", None, None),
]


def test_names_in_the_package(tmp_path: Path) -> None:
    """A file that tells nothing of its run is named after it; runs keep their names."""
    base = write(tmp_path, {path: "" for path, *_ in FILES})
    with duckdb.connect() as db:
        db.execute("create schema raw")
        db.execute("create table main.runs (run_id varchar, benchmark varchar)")
        db.execute("create table main.artifacts (path varchar, kind varchar, run_ids varchar[])")
        columns = "path varchar, run_name varchar, folder varchar, format varchar"
        db.execute(f"create table raw.files ({columns})")
        for path, kind, run, benchmark in FILES:
            ids = [run] if run else []
            db.execute("insert into main.artifacts values (?, ?, ?)", [path, kind, ids])
            folder = path.rpartition("/")[0]
            db.execute("insert into raw.files values (?, ?, ?, null)", [path, run, folder])
            if kind == "rollouts":
                db.execute("insert into main.runs values (?, ?)", [run, benchmark])
        chosen = select(db, base, "x", "rollouts", dict)
        every = select(db, base, "z", "rollouts", dict)
    named = {path.relative_to(base).as_posix(): name for name, path in chosen.files.items()}
    assert {path: name.removeprefix("rollouts/") for path, name in named.items()} == {
        "model_a/rollouts.jsonl": "model_a_rollouts.jsonl",
        "model_a/rollouts_failures.jsonl": "sidecars/model_a_rollouts_failures.jsonl",
        "model_a/config.yaml": "model_a_config.yaml",
        "model_b/results-rs0.jsonl": "model_b_rollouts-rs0.jsonl",
        "model_b/results-rs1.jsonl.gz": "model_b_rollouts-rs1.jsonl.gz",
        "deep/c/m_rollouts.jsonl": "c-m_rollouts.jsonl",
        "example_rollouts_pi.jsonl": "example_rollouts_pi.jsonl",
        "notes.md": "notes.md",
    }
    assert any("left out" in note and "y" in note for note in chosen.notes)
    assert any("unpack it" in note for note in chosen.notes)
    assert len(every.files) == len(FILES) - 1
    assert any("none called z" in note for note in every.notes)


@pytest.mark.slow
def test_results_of_another_harness_become_rows_of_gym(tmp_path: Path) -> None:
    """One file per run, with the same scores as the analysis of the results themselves."""
    results = tmp_path / "results"
    results.mkdir()
    rows = [
        {"doc_id": no, "doc": {"q": str(no)}, "target": "1", "arguments": [], "resps": [["1"]],
         "filtered_resps": ["1"], "exact_match": float(no % 2)}
        for no in range(4)
    ]  # fmt: skip
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    (results / "samples_task_2025-01-01T00-00-00.000000.jsonl").write_text(lines)
    folder = tmp_path / "bench"
    made = call("init", "--benchmark-dir", folder, "--benchmark", "bench", "--results", results)
    assert made.code == 0, made.stderr
    (path,) = (folder / "rollouts").glob("*_rollouts.jsonl")
    assert [json.loads(line)["reward"] for line in path.read_text().splitlines()] == [0, 1, 0, 1]
