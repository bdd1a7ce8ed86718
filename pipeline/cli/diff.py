"""blade diff: two reports compared by their claims."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from pipeline.cli.options import PATH, json_option
from pipeline.cli.terminal import print_page


@click.command()
@click.argument("old", type=PATH)
@click.argument("new", type=PATH)
@json_option
def diff(old: Path, new: Path, as_json: bool) -> None:
    """Compare two reports by what their sources bind: OLD and NEW.

    Figures and names that moved, with both lines; claims that are gone; claims that are new. Words
    are not compared: a sentence that says the same otherwise is no difference.

    \b
    Examples:
      blade diff blade_out/report.md newer_out/report.md
      blade diff old_golden_report.md aster-8b_golden_report.md --json
    """
    from pipeline.package.diff import difference
    from pipeline.package.files import report_text

    found = difference(report_text(old), report_text(new))
    content = {
        "moved": [
            {
                "asked": one.asked,
                "old": one.text,
                "old_line": one.line,
                "new": two.text,
                "new_line": two.line,
            }
            for one, two in found.moved
        ],
        "gone": [asdict(each) for each in found.gone],
        "new": [asdict(each) for each in found.new],
    }
    print_page("diff", json=content if as_json else None, found=found)
