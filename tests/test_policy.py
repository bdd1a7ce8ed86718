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
from tests.conftest import ROOT

DOCUMENT = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8").partition("## A policy\n")[2]
METRIC = '[[metric]]\nmetric = "pass_at_1"\n'
LISTED = f"Metrics: {', '.join(sorted(METRICS))}, and pass_at_2, pass_hat_2 and so on."
INDEX = "Allowed in [[metric]]: direction, level, margin, metric, rule."


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
    )


def test_every_key_and_metric_is_documented() -> None:
    """The tables of docs/cli.md list every key of the contract, and every metric."""
    section = DOCUMENT.partition("\n## ")[0]
    assert set(re.findall(r"^\| `(\w+\.\w+)` \|", section, re.MULTILINE)) == {*CONTRACT.keys}
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
    found = read(tmp_path, METRIC + '[[waive]]\ntask_id = 12\nreason = "known"')
    assert found.waivers == (Waiver("12", "known"),)


@pytest.mark.parametrize(
    ("content", "told", "hint"),
    [
        ("", "metric: a policy without a metric decides nothing.",
         'Add: [[metric]], and below it metric = "pass_at_1"'),
        ("[metric]\nmetric = 'pass_at_1'", "metric is a table, expected a list of tables.",
         "Write [[metric]], with double brackets, above each metric."),
        (METRIC + "margn = 1", "metric[0].margn is not a key of this file.",
         f"{INDEX} Did you mean margin?"),
        ("margin = 1\n" + METRIC, "margin is not a key of this file.",
         "Allowed at the top: metric, require, waive. It belongs in [[metric]]."),
        ("[[metric]]\nmargin = 1", "metric[0]: this [[metric]] has no metric.",
         'Add: metric = "pass_at_1"'),
        ("[[metric]]\nmetric = 1", "metric[0].metric is 1, expected the name of a metric.",
         'For example: metric = "pass_at_1"'),
        ("[[metric]]\nmetric = 'pass_at_0'", 'metric[0].metric: "pass_at_0" is not a metric.',
         f"{LISTED} Did you mean pass_at_k?"),
        ("[[metric]]\nmetric = 'zzz'", 'metric[0].metric: "zzz" is not a metric.', LISTED),
        ("[[metric]]\nmetric = 'mean_reward'",
         "metric[0].metric: mean_reward has no margin: how much is little depends on its unit.",
         "Add: margin = 0.02"),
        (METRIC + "margin = -0.1", "metric[0].margin is -0.1, expected a number from 0 on.",
         "For example: margin = 0.02"),
        (METRIC + "margin = nan", "metric[0].margin is nan, expected a finite number.",
         "For example: margin = 0.02"),
        (METRIC + "rule = 'better'",
         'metric[0].rule is "better", expected one of non-inferior, superior.', ""),
        (METRIC + METRIC, "metric[1].metric: pass_at_1 has two rules that are non-inferior.",
         "Leave one out."),
        (METRIC + "[require]\nmin_coverage = 95",
         "require.min_coverage is 95, expected a number from 0 to 1.",
         "For example: min_coverage = 0.95"),
        (METRIC + "[require]\nmin_common_tasks = 0",
         "require.min_common_tasks is 0, expected an integer from 1 to 10000000.",
         "For example: min_common_tasks = 20"),
        (METRIC + "[[waive]]\nreason = 'x'", "waive[0]: this [[waive]] has no task_id.",
         'Add: task_id = "12"'),
        (METRIC + "[[waive]]\ntask_id = '1'", "waive[0]: this [[waive]] has no reason.",
         'Add: reason = "the answer key is wrong"'),
        (METRIC + "[[waive]]\ntask_id = 1\nreason = 'x'\n[[waive]]\nreason = 'x'\ntask_id = '1'",
         'waive[1].task_id: task "1" is waived twice.', "Leave one out."),
    ],
)  # fmt: skip
def test_contents_that_are_refused(tmp_path: Path, content: str, told: str, hint: str) -> None:
    """What a policy may not say is refused with the key, what is wrong and what may stand."""
    with pytest.raises(UsageError) as raised:
        read(tmp_path, content)
    assert (str(raised.value), raised.value.hint) == (f"policy.toml: {told}", hint)
    assert raised.value.exit_code == 2


WORDS = st.sampled_from(
    'metric margin rule [[metric]] [require] [[waive]] task_id reason min_coverage = "pass_at_1" '
    '"x" 1 -1 0.5 true nan [ ] { } , . \n \n'.split(" ")
)


@given(st.lists(WORDS, max_size=12).map(" ".join))
def test_any_text_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    """Whatever is written, it is a policy with a metric or a complaint, never a crash."""
    path = tmp_path_factory.getbasetemp() / "soup.toml"
    path.write_text(text, encoding="utf-8")
    try:
        assert policy.read(path, name="soup.toml").criteria
    except BladeError as error:
        assert str(error).startswith("soup.toml:")
