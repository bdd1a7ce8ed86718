"""Draft the anchor facts that reports are scored by."""

from __future__ import annotations

from pathlib import Path

import click

from ..errors import BladeError, UsageError
from ..package import fact_drafts, files
from ..package.facts import DIFFICULTIES, document
from ..text import neutral
from .options import PATH, count_option

HINT = (
    "A fact names a task, rollout, tool or mode and says what happened there: "
    "add such findings to the report, or lower --min-facts."
)


@click.command("extract-anchor-facts")
@click.option("--golden", required=True, type=PATH, help="Golden report, in Markdown.")
@click.option("--output", required=True, type=PATH, help="File to write the facts to.")
@click.option("--benchmark", required=True, help="Name of the benchmark, as written to the file.")
@click.option(
    "--model-name", required=True, help="Name of the model; the ids of its facts begin with it."
)
@count_option("--num-facts", 12, "Write at most N facts.")
@count_option("--min-facts", 8, "With fewer than N facts, write nothing and exit with 1.")
def extract_anchor_facts(
    golden: Path, output: Path, benchmark: str, model_name: str, num_facts: int, min_facts: int
) -> None:
    """Draft the anchor facts that reports are scored by, from a golden report.

    A fact is one claim in the words of the report, with its subject, its value, its query, its
    citations and its quotes. These are drafts: read each one, and delete those that a reader could
    guess without the data.

    \b
    Examples:
      blade extract-anchor-facts --golden aster-8b_golden_report.md \\
        --benchmark office_desk --model-name aster-8b --output aster-8b_anchor_facts.json
    """
    if min_facts > num_facts:
        message = f"--min-facts {min_facts} is more than --num-facts {num_facts}."
        raise UsageError(message, hint="Ask for at least as many facts as are needed.")
    drafted = fact_drafts.draft(files.report_text(golden), model=model_name, most=num_facts)
    if len(drafted.facts) < min_facts:
        shortfall = f"{len(drafted.facts)} facts found, {min_facts} needed"
        reasons = [f"{n} left out: {why}" for why, n in drafted.left_out]
        raise BladeError(
            f"{golden}: {shortfall}; nothing written.", hint="\n".join([*reasons, HINT])
        )
    files.write_json(output, document(drafted.facts, benchmark=benchmark, model=model_name))
    levels = [fact.difficulty for fact in drafted.facts]
    counts = ", ".join(f"{levels.count(level)} {level}" for level in DIFFICULTIES)
    click.echo(neutral(f"{output}: {len(levels)} facts drafted ({counts}); review each of them."))
