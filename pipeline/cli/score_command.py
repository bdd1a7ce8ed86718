"""blade score: a report held against a golden one and its anchor facts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipeline.cli.options import json_option
from pipeline.cli.tables import print_table
from pipeline.text import json_text, neutral

if TYPE_CHECKING:
    from pipeline.package.scoring.score import Score, Standard


@click.command()
@click.option(
    "--report",
    required=True,
    type=click.Path(path_type=Path),
    help="The report to score, Markdown.",
)
@click.option(
    "--golden", required=True, type=click.Path(path_type=Path), help="The golden report, Markdown."
)
@click.option(
    "--anchor-facts",
    required=True,
    type=click.Path(path_type=Path),
    help="The golden report's facts, JSON.",
)
@click.option(
    "--output-dir", type=click.Path(path_type=Path), help="Write reward.json to this folder too."
)
@click.option(
    "--warehouse",
    type=click.Path(path_type=Path),
    help="Hold citations and numbers against these data, not against the golden report alone.",
)
@json_option
def score(
    report: Path,
    golden: Path,
    anchor_facts: Path,
    output_dir: Path | None,
    warehouse: Path | None,
    as_json: bool,
) -> None:
    """Score a report, from 0 to 1, by the anchor facts of a golden one.

    A fact is met where its claim stands: what it names, its numbers, its yes or no, together in a
    sentence of a section of the same kind. Sections, citations that resolve and numbers that agree
    count beside it, and lower the whole where they are wrong. No model is asked.

    \b
    Examples:
      blade score --report candidate.md --golden aster-8b_golden_report.md \\
        --anchor-facts aster-8b_anchor_facts.json --output-dir scored
    """
    from pipeline.package import files
    from pipeline.package.scoring.files import facts
    from pipeline.package.scoring.score import standard

    by = standard(files.report_text(golden), facts(anchor_facts))
    result = _scored(files.report_text(report), report.as_posix(), by, warehouse).as_json()
    if output_dir is not None:
        files.write_json(output_dir / "reward.json", result)
    if as_json:
        click.echo(json_text(result, indent=2))
        return
    click.echo(f"final score {result['final_score']:.4f}")
    parts = [
        (name, _told(result["weights"][name]), _told(part), _told(result["gates"].get(name)))
        for name, part in result["parts"].items()
    ]
    print_table(
        ("part", "weight", "score", "times"),
        [*parts, ("sense", None, None, _told(result["gates"]["sense"]))],
    )
    click.echo(f"\n{result['n_facts_met']} of {result['n_facts']} facts met")
    print_table(
        ("fact", "difficulty", "credit", "line", "lacking"),
        [
            (each["id"], each["difficulty"], _told(each["credit"]), each["line"], each["lacking"])
            for each in result["facts"]
        ],
    )
    if output_dir is not None:
        click.echo(neutral(f"\nwritten to {output_dir / 'reward.json'}"))


def _told(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _scored(text: str, name: str, by: Standard, warehouse: Path | None) -> Score:
    """With a warehouse, what is cited must be recorded there, and figures must be the data's."""
    from pipeline.package.resolving import resolver
    from pipeline.package.scoring.score import score as scored
    from pipeline.package.verify import verify
    from pipeline.warehouse import open_warehouse

    if warehouse is None:
        return scored(text, by)
    with open_warehouse(warehouse) as opened:
        findings = verify(text, name, opened)
        return scored(text, by, resolves=resolver(opened), findings=findings)
