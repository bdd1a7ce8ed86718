"""`blade formats` lists what is read, from the declarations that docs/formats.md is made of."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.ingest import formats, unread
from tests import test_formats_promptfoo, test_formats_swe_bench
from tests.conftest import ROOT
from tests.lean import RECORDED
from tests.results import analyzed, call

SAMPLES = {"promptfoo": test_formats_promptfoo, "swe_bench": test_formats_swe_bench}
SEEN = """
select
    count(n_turns) > 0,
    count(coalesce(input_tokens, output_tokens)) > 0,
    count(duration_s) > 0
from rollouts
"""


def test_what_is_read_is_listed() -> None:
    """Every format with its files, Gym's own first, and those that are not read."""
    outcome = call("formats", "--json")
    answer = json.loads(outcome.stdout)
    assert [one["format"] for one in answer["read"]] == ["gym", *formats.modules()]
    assert set(answer["not_read"]) == {one[0] for one in unread.declared()}
    lines = call("formats").stdout.splitlines()
    documented = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    for one in answer["read"]:
        assert f"{one['title']} ({one['format']})" in lines
        assert f"  files  {one['files']}" in lines
        assert set(one["gives"]) <= set(formats.EVIDENCE)
        row = f"(`{one['format']}`) | {one['files']} | {', '.join(one['gives'])} |"
        assert one["format"] == "gym" or row in documented, "docs/formats.md lacks it: make golden"
    assert all(title in documented for title in answer["not_read"])


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLES)
def test_what_is_declared_is_given(name: str, tmp_path: Path) -> None:
    """The samples of a format have what it declares."""
    results = analyzed(tmp_path, SAMPLES[name].files(), needs=(*RECORDED, "checks"))
    (seen,) = results.rows(SEEN)
    (has_checks,) = results.column("select count(*) > 0 from checks")
    gives = dict(zip(formats.EVIDENCE, (has_checks, *seen), strict=True))
    (listed,) = (one["gives"] for one in formats.listed() if one["format"] == name)
    assert [word for word, is_given in gives.items() if is_given] == listed
