"""Score a report against the anchor facts of a golden report."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from ..text import neutral
from .options import PATH, json_option


@click.command()
@click.option("--report", required=True, type=PATH, help="The report to score, Markdown.")
@click.option("--golden", required=True, type=PATH, help="The golden report, Markdown.")
@click.option("--anchor-facts", required=True, type=PATH, help="The golden report's facts, JSON.")
@click.option("--output-dir", type=PATH, help="Write reward.json to this folder too.")
@click.option(
    "--warehouse",
    type=PATH,
    help="Compare the report's claims with these data, not with the golden report.",
)
@click.option(
    "--judge",
    metavar="COMMAND",
    help="Ask this program which facts the prose states; it reads and answers JSON lines.",
)
@json_option
def score(
    report: Path,
    golden: Path,
    anchor_facts: Path,
    output_dir: Path | None,
    warehouse: Path | None,
    judge: str | None,
    as_json: bool,
) -> None:
    """Score a report, from 0 to 1, by the anchor facts of a golden one.

    A fact is met by a paragraph, item or row that holds what it is about and its value, under any
    heading. The share of facts met, by their difficulty, is multiplied with soundness: one
    contradicted claim in seven halves it. No model is asked unless --judge names one.

    \b
    Examples:
      blade score --report candidate.md --golden aster-8b_golden_report.md \\
        --anchor-facts aster-8b_anchor_facts.json --output-dir scored
    """
    from ..package import files
    from ..package.facts import read_facts, review_warning
    from ..package.judge import judged
    from ..package.score import score as scored
    from ..package.score import standard
    from ..package.verify import verify
    from ..warehouse import open_warehouse
    from .terminal import print_page

    by = standard(files.report_text(golden), read_facts(anchor_facts))
    text = files.report_text(report)
    cache = output_dir / "judge_answers.jsonl" if output_dir else None
    judge_program = partial(judged, command=judge, cache=cache) if judge else None
    findings = None
    if warehouse is not None:
        with open_warehouse(warehouse) as opened:
            findings = verify(text, report.as_posix(), opened)
    result = scored(text, by, findings=findings, judge=judge_program).as_json()
    if warning := review_warning(anchor_facts):
        result["review_required"] = True
        click.echo(neutral(warning), err=True)
    if output_dir is not None:
        files.write_json(output_dir / "reward.json", result)
    print_page("score", json=result if as_json else None, result=result)
    if output_dir is not None and not as_json:
        click.echo(neutral(f"\nwritten to {output_dir / 'reward.json'}"))
