"""Check that the score separates a golden report from a shallow one."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from .options import PATH, Number, json_option
from .terminal import print_page


@click.command()
@click.option("--golden-report", required=True, type=PATH, help="Golden report, in Markdown.")
@click.option(
    "--anchor-facts", required=True, type=PATH, help="Anchor facts of the golden report, in JSON."
)
@click.option(
    "--shallow-report",
    required=True,
    type=PATH,
    help="Negative control of the golden report, in Markdown.",
)
@click.option(
    "--output-dir",
    type=PATH,
    help="Also write every reward.json and calibration_summary.json to this folder.",
)
@click.option(
    "--min-spread",
    type=Number(0, 1),
    default=0.50,
    help="Least difference between the scores of the golden and the shallow report.",
)
@json_option
def calibrate(
    golden_report: Path,
    anchor_facts: Path,
    shallow_report: Path,
    output_dir: Path | None,
    min_spread: float,
    as_json: bool,
) -> None:
    """Check that the score separates a golden report from a shallow one; exit 1 if not.

    The golden report must score at least 0.85 against itself, the shallow one at most 0.40, and the
    two must be --min-spread apart.

    \b
    Examples:
      blade calibrate --golden-report aster-8b_golden_report.md \\
        --anchor-facts aster-8b_anchor_facts.json --shallow-report aster-8b_shallow.md
    """
    from ..package import calibration, files
    from ..package.facts import read_facts, review_warning
    from ..text import neutral

    summary, rewards = calibration.calibrate(
        files.report_text(golden_report),
        files.report_text(shallow_report),
        read_facts(anchor_facts),
        min_spread=min_spread,
    )
    if warning := review_warning(anchor_facts):
        summary["review_required"] = True
        click.echo(neutral(warning), err=True)
    if output_dir is not None:
        for name, reward in rewards.items():
            path = output_dir / name / "reward.json"
            files.write_json(path, reward.as_json(), folder=output_dir)
        files.write_json(output_dir / "calibration_summary.json", summary)
    print_page("calibrate", json=summary if as_json else None, summary=summary)
    sys.exit(0 if summary["passed"] else 1)
