"""Compare the claims of two reports: changed, removed, added."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .options import PATH, json_option
from .terminal import print_page

if TYPE_CHECKING:
    from ..package.diff import Claim


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
    from ..package.diff import difference
    from ..package.files import report_text

    changes = difference(report_text(old), report_text(new))
    content = {
        "moved": [
            {
                "asked": one.question,
                "old": one.text,
                "old_line": one.line,
                "new": two.text,
                "new_line": two.line,
            }
            for one, two in changes.moved
        ],
        "gone": [_claim(each) for each in changes.gone],
        "new": [_claim(each) for each in changes.new],
    }
    print_page("diff", json=content if as_json else None, found=changes)


def _claim(claim: Claim) -> dict[str, Any]:
    return {"asked": claim.question, "text": claim.text, "line": claim.line}
