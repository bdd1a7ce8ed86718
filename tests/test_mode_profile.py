"""[[failure_mode]] of blade.toml: modes of one's own, and what is refused, with its key."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline import profile
from pipeline.errors import UsageError
from pipeline.profile import MODE_COLUMNS, Profile, check_predicates
from pipeline.profile.allowed import FEATURE_COLUMNS, LONG_COLUMNS
from tests.attempts import no, ok, padded
from tests.case_files import FOLDER, cases
from tests.conftest import ROOT
from tests.fact_files import check
from tests.results import analyzed, rollout, rows_of


def read(folder: Path, content: str) -> Profile:
    path = folder / "blade.toml"
    path.write_text(content, encoding="utf-8")
    return profile.read(path, name="blade.toml")


def test_feature_columns_are_those_of_the_relation(demo: Path) -> None:
    """What a predicate may ask has the names and types of rollout_features, or of rollouts."""
    features = rows_of(demo, "describe rollout_features")
    rollouts = dict(row[:2] for row in rows_of(demo, "describe rollouts"))
    assert {row[0]: row[1] for row in features} == FEATURE_COLUMNS
    assert {name: rollouts[name] for name in LONG_COLUMNS} == LONG_COLUMNS


@pytest.mark.parametrize(("content", "message"), cases("mode_profile", "wrong_modes"))
def test_wrong_modes(tmp_path: Path, content: str, message: str) -> None:
    """What a mode may not say is refused with its key."""
    with pytest.raises(UsageError) as raised:
        read(tmp_path, f"[[failure_mode]]\n{content}\n")
    assert str(raised.value).startswith(f"blade.toml{message}")
    assert message != ": failure_mode[0].mode is " or "a letter, then up to 59" in str(raised.value)


def test_own_modes(tmp_path: Path) -> None:
    """A mode of one's own asks features and long texts, and comes before all others."""
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
    found = analyzed(tmp_path, files, needs=["failure_modes", "root_causes", "signs"])
    check(found, "own_modes")


def test_the_documented_profile_is_one(tmp_path: Path) -> None:
    """The blade.toml of docs/cli.md is read, and its predicates can be asked."""
    text = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    found = read(tmp_path, text.partition("```toml\n")[2].partition("```")[0])
    check_predicates(found.failure_modes, MODE_COLUMNS, name="blade.toml")
    assert [mode.mode for mode in found.failure_modes] == ["WRONG_CURRENCY"]
