"""blade score: a report scored by a golden one and its anchor facts."""

from __future__ import annotations

from pathlib import Path

import click

from pipeline.cli.options import PATH, json_option
from pipeline.cli.page import print_table
from pipeline.text import json_text, neutral


@click.command()
@click.option("--report", required=True, type=PATH, help="The report to score, Markdown.")
@click.option("--golden", required=True, type=PATH, help="The golden report, Markdown.")
@click.option("--anchor-facts", required=True, type=PATH, help="The golden report's facts, JSON.")
@click.option("--output-dir", type=PATH, help="Write reward.json to this folder too.")
@click.option(
    "--warehouse",
    type=PATH,
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
    from pipeline.package.resolving import resolver
    from pipeline.package.scoring.files import facts
    from pipeline.package.scoring.score import score as scored
    from pipeline.package.scoring.score import standard
    from pipeline.package.verify import verify
    from pipeline.warehouse import open_warehouse

    by = standard(files.report_text(golden), facts(anchor_facts))
    text = files.report_text(report)
    if warehouse is None:
        result = scored(text, by).as_json()
    else:
        # What is cited must be recorded there, and figures must be the data's.
        with open_warehouse(warehouse) as opened:
            checked = verify(text, report.as_posix(), opened)
            result = scored(text, by, resolves=resolver(opened), findings=checked).as_json()
    if output_dir is not None:
        files.write_json(output_dir / "reward.json", result)
    if as_json:
        click.echo(json_text(result, indent=2))
        return
    click.echo(f"final score {result['final_score']:.4f}")
    parts = [
        (name, _digits(result["weights"][name]), _digits(part), _digits(result["gates"].get(name)))
        for name, part in result["parts"].items()
    ]
    print_table(
        ("part", "weight", "score", "times"),
        [*parts, ("sense", None, None, _digits(result["gates"]["sense"]))],
    )
    click.echo(f"\n{result['n_facts_met']} of {result['n_facts']} facts met")
    print_table(
        ("fact", "difficulty", "credit", "line", "lacking"),
        [
            (each["id"], each["difficulty"], _digits(each["credit"]), each["line"], each["lacking"])
            for each in result["facts"]
        ],
    )
    if output_dir is not None:
        click.echo(neutral(f"\nwritten to {output_dir / 'reward.json'}"))


def _digits(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
