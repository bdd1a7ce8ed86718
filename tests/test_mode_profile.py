"""[[failure_mode]] of blade.toml: modes of one's own, and what is refused, with its key."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline import open_warehouse, profile
from pipeline.errors import UsageError
from pipeline.profile import ASKABLE, Profile, check_predicates
from pipeline.profile.askable import FEATURE_COLUMNS, LONG_COLUMNS
from pipeline.profile.contents import built_in
from pipeline.profile.tables import rules
from tests.case_files import FOLDER, cases
from tests.conftest import ROOT
from tests.fact_files import check
from tests.mode_cases import no, ok, padded
from tests.results import analyzed, rollout


def read(folder: Path, content: str) -> Profile:
    path = folder / "blade.toml"
    path.write_text(content, encoding="utf-8")
    return profile.read(path, name="blade.toml")


def test_feature_columns_are_those_of_the_relation(demo: Path) -> None:
    """What a predicate may ask has the names and types of rollout_features, or of rollouts."""
    with open_warehouse(demo) as warehouse:
        features = warehouse.execute("describe rollout_features").fetchall()
        rollouts = dict(row[:2] for row in warehouse.execute("describe rollouts").fetchall())
    assert {row[0]: row[1] for row in features} == FEATURE_COLUMNS
    assert {name: rollouts[name] for name in LONG_COLUMNS} == LONG_COLUMNS


def test_built_in_modes_are_a_profile() -> None:
    """The modes of every benchmark keep to the rules for a profile's, and ask no long texts."""
    check_predicates(built_in(), FEATURE_COLUMNS, name="failure_modes.toml")
    assert all(mode.evidence is None or mode.evidence in FEATURE_COLUMNS for mode in built_in())
    assert len({mode.mode for mode in built_in()}) == len(built_in())


def test_own_modes_go_first() -> None:
    """A profile's modes come before those built in, and take the place of one with their name."""
    own = replace(built_in()[3], when="true")
    found = rules(Profile(failure_modes=(own,)))
    assert found[0] == own and len(found) == len(built_in())
    assert [mode.mode for mode in found].count(own.mode) == 1


@pytest.mark.parametrize(
    ("content", "message"),
    cases("mode_profile", "wrong_modes"),
)
def test_wrong_modes(tmp_path: Path, content: str, message: str) -> None:
    """What a mode may not say is refused with its key."""
    with pytest.raises(UsageError) as raised:
        read(tmp_path, f"[[failure_mode]]\n{content}\n")
    assert str(raised.value).startswith(f"blade.toml{message}")
    assert message != ": failure_mode[0].mode is " or "a letter, then up to 59" in str(raised.value)


def test_own_modes(tmp_path: Path) -> None:
    """A mode of one's own asks features and long texts, replaces one built in, can be primary."""
    content = (FOLDER / "own_modes_blade.toml").read_text(encoding="utf-8")
    paid = ("pay", {}, "ok")
    rows = [
        rollout(0, 0, **no(paid, "EUR 5" + "!" * 500, currency="USD")),
        rollout(4, 0, **ok(paid, "EUR 5", currency="USD")),
        rollout(1, 0, **no("Nothing.")),
        rollout(2, 0, **no("Nothing.")),
        rollout(3, 0, **no(paid, "Paid.", log="x" * 400)),
    ]
    files = {"a_rollouts.jsonl": padded("a", rows, ok(paid, "Fine.")), "blade.toml": content}
    found = analyzed(tmp_path, files, needs=["rollout_modes", "failure_modes", "mode_tests"])
    check(found, "own_modes")


def test_built_in_modes_are_documented() -> None:
    """docs/cli.md lists every built-in mode with its severity, cause and title, in their order."""
    text = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `([A-Z_]+)` \| (\d+) \| (\w+) \| (.*) \|$", text, re.MULTILINE)
    expected = [(m.mode, str(m.severity), m.cause, m.title) for m in built_in()]
    assert listed == expected


def test_the_documented_profile_is_one(tmp_path: Path) -> None:
    """The blade.toml of docs/cli.md is read, and its predicates can be asked."""
    text = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    found = read(tmp_path, text.partition("```toml\n")[2].partition("```")[0])
    check_predicates(found.failure_modes, ASKABLE, name="blade.toml")
    assert [mode.mode for mode in found.failure_modes] == ["WRONG_CURRENCY"]
