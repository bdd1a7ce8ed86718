"""blade init lays out a package: what it chooses, writes and refuses."""

from __future__ import annotations

import errno
import json
import os
import re
import tomllib
from pathlib import Path
from unittest import mock

import duckdb
import pytest

from pipeline.errors import InputError
from pipeline.package.scaffold import Existing, File, Standing, planned, select, written
from pipeline.package.scaffold.drafts import draft_names
from pipeline.profile import beside, read
from pipeline.profile.contents import BUILT_IN
from pipeline.profile.tables import own_rules
from tests.lean import DIAGNOSIS, LOADED, METRICS, only
from tests.markdown_read import complaints
from tests.results import Row, call, rollout, write

HEADINGS = [
    "Overview",
    "Input Schema",
    "Workflow Funnel",
    "Failure Taxonomy",
    "Analysis Workflow",
    "Report Template",
]
NASTY = "a`|<b>x</b> <!-- curate: forged --> www.x.example"


def rows(*, passes: int) -> list[Row]:
    """Four tasks, two repeats: the first so many rollouts pass; every field is known by hand."""
    return [
        rollout(
            task,
            index,
            ask=f"{NASTY} question {task}",
            reward=float(2 * task + index < passes),
            output=[{"type": "message", "role": "assistant", "content": f"said {task} {index}"}],
            n_points=5 if 2 * task + index < passes else 2,
            level=["easy", "hard"][task % 2],
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
            "sums_a_rollouts.jsonl": other,
        },
    )
    # Reports take longest, and are what an analysis writes: see test_init_whole.py.
    without_reports = mock.patch("pipeline.package.scaffold.laying_out.draft_files", lambda *_: [])
    with only(*LOADED, *METRICS, *DIAGNOSIS, "report.gaps"), without_reports:
        ended = call(
            *("init", "--benchmark-dir", folder / "desk", "--benchmark", "desk"),
            *("--results", results, "--json"),
        )
    assert ended.code == 0, ended.stderr
    (folder / "printed.json").write_text(ended.stdout, encoding="utf-8")
    return folder


def skill(made: Path) -> str:
    """The draft of the skill."""
    return (made / "desk" / "skill" / "SKILL.md").read_text(encoding="utf-8")


def test_runs_of_the_benchmark_are_copied(made: Path) -> None:
    """Only its rollout files and their sidecars, byte for byte under their names."""
    copied = sorted(path.name for path in (made / "desk" / "rollouts").iterdir())
    assert copied == [
        "desk_a_rollouts.jsonl",
        "desk_b_rollouts.jsonl",
        "desk_b_rollouts_failures.jsonl",
    ]
    for name in copied:
        copy, given = made / "desk" / "rollouts" / name, made / "results" / name
        assert copy.read_bytes() == given.read_bytes()


def test_skill_tells_the_data(made: Path) -> None:
    """Its sections, and figures that follow from the rows by hand."""
    text = skill(made)
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == HEADINGS
    assert text.startswith('---\nname: analyze-desk\ndescription: "')
    assert "Values seen over 16 scored rollouts: 1 in 9, 0 in 7." in text
    assert (
        "| `n_points` | attempt | no value has both passes and failures, in 16 rollouts |" in text
    )
    assert "| `level` | task | slice | text | 16 of 16 (100.0%) | `easy` |" in text
    assert "| `level` | `easy` | 2 | 50.0% | 100.0% |" in text
    passed = "| passed | its reward is at least the pass threshold | 3 (−5) | 6 (−2) |"
    assert passed in text
    assert "`desk_a/1:1" in text, "task 1 of desk_a passes once and fails once"


def test_skill_is_inert(made: Path) -> None:
    """Text and field names of rollouts are no markup, no row of a table and no place to curate."""
    text = skill(made)
    body = text.split("---\n", 2)[2]
    assert [told for told in complaints(body) if not told.startswith("fence:")] == []
    assert text.count("```") == 6
    assert "curate: forged -->" in text and "<!-- curate: forged" not in text
    assert not re.search("[\ue000\ue001]", text)
    assert "1 of 16" not in text
    assert "| attempt |  | integer | 4 of 16 (25.0%) |" in text, "the nasty field of task 0"


def test_profile_says_what_was_found(made: Path) -> None:
    """Threshold, slices, stages and modes of the benchmark."""
    profile = tomllib.loads((made / "desk" / "blade.toml").read_text(encoding="utf-8"))
    assert profile["benchmark"] == "desk"
    assert profile["pass_threshold"] == 1.0
    assert profile["slices"] == ["level"]
    assert [stage["stage"] for stage in profile["funnel"]] == [
        "produced output",
        "attempted the core action",
        "completed without truncation",
        "reached the verifier",
    ]
    assert all(mode["when"] and mode["severity"] for mode in profile["failure_mode"])


def test_what_is_left_is_printed(made: Path) -> None:
    """Every file, and the places to curate as they are counted in the files."""
    printed = json.loads((made / "printed.json").read_text(encoding="utf-8"))
    assert {file["status"] for file in printed["files"]} == {"written"}
    assert {each["path"]: each["places"] for each in printed["curate"]} == {
        path.relative_to(made / "desk").as_posix(): path.read_text().count("<!-- curate: ")
        for path in (made / "desk").rglob("*.md")
    }


@pytest.mark.parametrize("existing", [Existing(), Existing(keep=True), Existing(force=True)])
def test_rollouts_that_differ_are_refused(tmp_path: Path, existing: Existing) -> None:
    """A rollout file of the package is never replaced, and none is left out in silence."""
    given = write(tmp_path / "results", {"a.jsonl": rows(passes=1)}) / "a.jsonl"
    write(tmp_path / "desk", {"rollouts/a.jsonl": rows(passes=3)})
    files = [File("rollouts/a.jsonl", given), File("skill/SKILL.md", "text\n")]
    with pytest.raises(InputError, match=r"a\.jsonl is there and differs; nothing") as refused:
        planned(tmp_path / "desk", files, existing)
    assert "rename the new file" in refused.value.hint


def test_without_rollouts_a_skeleton(tmp_path: Path) -> None:
    """Folders, and a skill that says what is not known; twice is no change."""
    command = ("init", "--benchmark-dir", tmp_path / "desk", "--benchmark", "desk")
    first = call(*command)
    assert first.code == 0
    assert "--results RESULTS" in first.stdout
    text = (tmp_path / "desk" / "skill" / "SKILL.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == HEADINGS
    assert text.count("Not known yet.") == 5
    assert (tmp_path / "desk" / "rollouts").is_dir()
    assert (tmp_path / "desk" / "golden_reports").is_dir()
    assert tomllib.loads((tmp_path / "desk" / "blade.toml").read_text()) == {"benchmark": "desk"}
    assert "as it was" in call(*command).stdout


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("--benchmark", " "), 2, "the name is empty"),
        (("--benchmark", "a\nb"), 2, "not a name"),
        (("--benchmark", "a\x1b[31m"), 2, "not a name"),
        (("--benchmark", "a", "--keep", "--force"), 2, "one of them at most"),
        (("--benchmark", "a", "--results", "nowhere"), 3, "no such file or folder"),
    ],
)
def test_wrong_calls(tmp_path: Path, words: tuple[str, ...], code: int, told: str) -> None:
    """Each is told apart, and nothing is written."""
    ended = call("init", "--benchmark-dir", tmp_path / "p", *words)
    assert ended.code == code
    assert told in ended.stderr
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
    assert complaints(text) == []


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


def test_drafts_that_differ(tmp_path: Path) -> None:
    """Refused by default; kept, or replaced, where that is asked for."""
    write(tmp_path, {"blade.toml": "benchmark = 'mine'\n"})
    files = [File("blade.toml", "benchmark = 'ours'\n"), File("skill/SKILL.md", "text\n")]
    with pytest.raises(InputError, match=r"blade\.toml is there and differs; nothing was written"):
        planned(tmp_path, files, Existing())
    kept = planned(tmp_path, files, Existing(keep=True))
    assert [step.standing for step in kept] == [Standing.KEPT, Standing.NEW]
    forced = planned(tmp_path, files, Existing(force=True))
    written(tmp_path, forced, folders=["rollouts"], link=False)
    assert (tmp_path / "blade.toml").read_text() == "benchmark = 'ours'\n"
    again = planned(tmp_path, files, Existing())
    assert {step.standing for step in again} == {Standing.SAME}


def test_a_curated_skill_is_no_draft(tmp_path: Path) -> None:
    """Force replaces a skill while it has a place to curate, and never after."""
    files = [File("skill/SKILL.md", "anew\n")]
    write(tmp_path, {"skill/SKILL.md": "mine <!-- curate: more -->\n"})
    assert planned(tmp_path, files, Existing(force=True))[0].standing is Standing.REPLACED
    write(tmp_path, {"skill/SKILL.md": "mine, all of it\n"})
    with pytest.raises(InputError, match="is there and differs"):
        planned(tmp_path, files, Existing(force=True))
    # A dangling link is something that is there.
    (tmp_path / "skill" / "SKILL.md").unlink()
    (tmp_path / "skill" / "SKILL.md").symlink_to("nowhere")
    with pytest.raises(InputError, match="is there and differs"):
        planned(tmp_path, files, Existing())


def test_a_skeleton_gives_way(tmp_path: Path) -> None:
    """What we wrote before anything was known is replaced without being asked."""
    write(tmp_path, {"skill/SKILL.md": "nothing known\n"})
    files = [File("skill/SKILL.md", "known\n", skeleton="nothing known\n")]
    for existing in (Existing(), Existing(keep=True)):
        assert planned(tmp_path, files, existing)[0].standing is Standing.REPLACED


def test_a_failure_leaves_nothing_half_written(tmp_path: Path) -> None:
    """A disk that is full in the middle of a file is an error, and leaves nothing of it behind."""
    given = write(tmp_path / "results", {"a.jsonl": "{}\n"}) / "a.jsonl"
    steps = planned(tmp_path / "p", [File("rollouts/a.jsonl", given)], Existing())

    def half_copied(source: Path, target: Path) -> None:
        target.write_text("{")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(source))

    with (
        mock.patch("shutil.copyfile", half_copied),
        pytest.raises(InputError, match=r"p/rollouts/a.jsonl: cannot be written"),
    ):
        written(tmp_path / "p", steps, folders=["rollouts"], link=False)
    assert list((tmp_path / "p" / "rollouts").iterdir()) == []


def test_links_are_relative(tmp_path: Path) -> None:
    """A linked file is found from the package, wherever both are moved together."""
    source = write(tmp_path / "results", {"a.jsonl": "{}\n"}) / "a.jsonl"
    steps = planned(tmp_path / "p", [File("rollouts/a.jsonl", source)], Existing())
    written(tmp_path / "p", steps, folders=[], link=True)
    assert (tmp_path / "p/rollouts/a.jsonl").readlink() == Path("../../results/a.jsonl")
    again = planned(tmp_path / "p", [File("rollouts/a.jsonl", source)], Existing())
    assert again[0].standing is Standing.SAME


def test_draft_names() -> None:
    """A model names its run's draft; two of a model, or none that can be a name, the run."""
    runs = [("r1", "org/model 7b"), ("r2", "m"), ("r3", "M"), ("r4", "///"), ("r5", "a_vs_b")]
    assert draft_names(runs) == {
        "r1": "org-model-7b",
        "r2": "r2",
        "r3": "r3",
        "r4": "r4",
        "r5": "a-vs-b",
    }


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
        db.execute("create table raw.files (path varchar, run_name varchar, folder varchar)")
        for path, kind, run, benchmark in FILES:
            ids = [run] if run else []
            db.execute("insert into main.artifacts values (?, ?, ?)", [path, kind, ids])
            folder = path.rpartition("/")[0]
            db.execute("insert into raw.files values (?, ?, ?)", [path, run, folder])
            if kind == "rollouts":
                db.execute("insert into main.runs values (?, ?)", [run, benchmark])
        chosen = select(db, base, "x")
        every = select(db, base, "z")
    assert {file.source.relative_to(base).as_posix(): file.name for file in chosen.files} == {
        "model_a/rollouts.jsonl": "model_a_rollouts.jsonl",
        "model_a/rollouts_failures.jsonl": "model_a_rollouts_failures.jsonl",
        "model_a/config.yaml": "model_a_config.yaml",
        "model_b/results-rs0.jsonl": "model_b_rollouts-rs0.jsonl",
        "model_b/results-rs1.jsonl.gz": "model_b_rollouts-rs1.jsonl.gz",
        "deep/c/m_rollouts.jsonl": "c-m_rollouts.jsonl",
        "example_rollouts_pi.jsonl": "example_rollouts_pi.jsonl",
        "notes.md": "notes.md",
    }
    assert chosen.benchmark == "x"
    assert any("left out" in note and "y" in note for note in chosen.notes)
    assert any("unpack it" in note for note in chosen.notes)
    assert len(every.files) == len(FILES) - 1
    assert every.benchmark is None
    assert any("none called z" in note for note in every.notes)


@pytest.mark.parametrize("place", ["p", "p/rollouts", "p/rollouts/a.jsonl", "p/data"])
def test_profile_of_a_package_is_found(tmp_path: Path, place: str) -> None:
    """From the package, from its folder of rollouts, and from a file in it."""
    write(tmp_path, {"p/blade.toml": "", "p/rollouts/a.jsonl": "", "p/data/a.jsonl": ""})
    assert beside([tmp_path / place]) == tmp_path / "p" / "blade.toml"
    write(tmp_path, {"p/other/a.jsonl": ""})
    assert beside([tmp_path / "p" / "other"]) is None


def test_profile_of_the_folder_itself_goes_first(tmp_path: Path) -> None:
    """A profile among the rollouts counts before the package's, and two places are no conflict."""
    write(tmp_path, {"blade.toml": "", "rollouts/blade.toml": ""})
    assert beside([tmp_path / "rollouts"]) == tmp_path / "rollouts" / "blade.toml"


def test_what_is_built_in_stays_built_in(tmp_path: Path) -> None:
    """A profile that says again what is built in has no mode of its own; a changed one is its."""
    text = BUILT_IN.read_text(encoding="utf-8")
    write(
        tmp_path, {"same.toml": text, "other.toml": text.replace("cut off by a limit", "too slow")}
    )
    assert own_rules(read(tmp_path / "same.toml")) == set()
    assert {mode.mode for mode in own_rules(read(tmp_path / "other.toml"))} == {"CUT_OFF"}
