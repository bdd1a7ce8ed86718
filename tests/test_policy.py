"""policy.toml: what it may say, and that every error names the right key."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import BladeError, UsageError
from pipeline.profile import policy
from pipeline.profile.policy import CONTRACT, METRICS, Criterion, Policy, Requirements, Waiver
from tests.case_files import cases
from tests.conftest import ROOT

DOCUMENT = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8").partition("## A policy\n")[2]
METRIC = '[[metric]]\nmetric = "pass_at_1"\n'


def read(folder: Path, content: str | bytes) -> Policy:
    path = folder / "policy.toml"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return policy.read(path, name="policy.toml")


def test_documented_example_is_read(tmp_path: Path) -> None:
    """The example of docs/cli.md is a policy, and each of its keys lands where it belongs."""
    example = re.findall(r"```toml\n(.*?)```", DOCUMENT, re.DOTALL)[0]
    assert read(tmp_path, example) == Policy(
        name="policy.toml",
        criteria=(
            Criterion("pass_at_1", "non-inferior", 0.02, "higher", "blocking"),
            Criterion("output_tokens", "non-inferior", 200.0, "lower", "tracked"),
        ),
        require=Requirements(0.95, 0.9, 20),
        waivers=(Waiver("12", "the answer key is wrong, the vendor knows"),),
        confidence=0.95,
        unseen=0.01,
    )


def test_every_key_and_metric_is_documented() -> None:
    """The tables of docs/cli.md list every key of the contract, and every metric."""
    section = DOCUMENT.partition("\n## ")[0]
    assert set(re.findall(r"^\| `(\w+(?:\.\w+)?)` \|", section, re.MULTILINE)) == {*CONTRACT.keys}
    assert [metric for metric in METRICS if f"`{metric}`" not in section] == []


@pytest.mark.parametrize(
    ("metric", "margin", "expected"),
    [
        ("pass_at_1", None, (0.02, "higher")),
        ("mean_reward", 0.5, (0.5, "higher")),
        ("duration_s", 2.5, (2.5, "lower")),
    ],
)
def test_defaults(
    tmp_path: Path, metric: str, margin: float | None, expected: tuple[float, str]
) -> None:
    """A rate of pass may differ by two points; what costs is better where it is lower."""
    line = "" if margin is None else f"margin = {margin}\n"
    (criterion,) = read(tmp_path, f'[[metric]]\nmetric = "{metric}"\n{line}').criteria
    wanted = Criterion(metric, "non-inferior", *expected, "blocking")
    assert criterion == wanted


def test_a_number_names_a_task(tmp_path: Path) -> None:
    """A task id may be written as the number it looks like."""
    actual = read(tmp_path, METRIC + '[[waive]]\ntask_id = 12\nreason = "known"')
    assert actual.waivers == (Waiver("12", "known"),)


@pytest.mark.parametrize(
    ("content", "complaint", "hint"),
    cases("policy", "contents_that_are_refused"),
)  # fmt: skip
def test_contents_that_are_refused(tmp_path: Path, content: str, complaint: str, hint: str) -> None:
    """What a policy may not say is refused with the key, what is wrong and what may stand."""
    with pytest.raises(UsageError) as raised:
        read(tmp_path, content)
    assert (str(raised.value), raised.value.hint) == (f"policy.toml: {complaint}", hint)
    assert raised.value.exit_code == 2


WORDS = st.sampled_from(
    'metric margin rule [[metric]] [require] [[waive]] task_id reason min_coverage = "pass_at_1" '
    '"x" 1 -1 0.5 true nan [ ] { } , . \n \n'.split(" ")
)


@given(st.lists(WORDS, max_size=12).map(" ".join))
def test_any_text_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    """Anything that is written is a policy with a metric or a complaint, never a crash."""
    path = tmp_path_factory.getbasetemp() / "soup.toml"
    path.write_text(text, encoding="utf-8")
    try:
        assert policy.read(path, name="soup.toml").criteria
    except BladeError as error:
        assert str(error).startswith("soup.toml:")
