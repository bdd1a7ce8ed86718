"""Read failures by a plan: what to read next, labels, and the shares that they give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..answers import label_file, reading
from ..answers.names import Row
from ..answers.tasks import cited, cited_key, is_citation
from ..errors import UsageError
from ..warehouse import open_warehouse
from .completion import complete_task
from .options import PATH, command, count_option, json_option, warehouse_option, where
from .page import print_next
from .terminal import print_page, show_aliases


@click.command()
@click.argument("name", required=False, default="", shell_complete=complete_task)
@count_option("--size", reading.SIZE, "How many failures the plan has.")
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), help="Draw another plan.  [default: 0]")
@click.option(
    "--next",
    "n_next",
    type=click.IntRange(min=0),
    default=1,
    metavar="N",
    help="How many digests to print.",
)
@click.option("--label", is_flag=True, help="Label the rollout that is cited.")
@click.option("--mode", help="How it failed, in a few words of your own.")
@click.option("--cause", help="KG, UK, BI, TI, IR, DA, UNEXPLAINED, or two such as BI+KG.")
@click.option("--note", help="Anything else about it.")
@click.option("--evidence", multiple=True, help="A citation; may be given several times.")
@click.option("--by", help="Who has read it.")
@click.option("--rename", nargs=2, metavar="OLD NEW", help="Rename a mode, or merge it into one.")
@click.option(
    "--labels",
    type=PATH,
    help="File of labels.  [default: labels.jsonl beside the warehouse]",
)
@json_option
@warehouse_option
def read(
    name: str,
    size: int,
    seed: int | None,
    n_next: int,
    label: bool,
    rename: tuple[str, str] | None,
    labels: Path | None,
    as_json: bool,
    warehouse: Path,
    **fields: Any,
) -> None:
    """Print what to read of the failures of NAME, a benchmark or run, and what was read.

    Failures are drawn at random within strata, one for each mode, so that labels of those that
    were read give shares of all failures. With a citation for NAME, its digest is printed; with
    --label, the rollout is labelled.

    \b
    Examples:
      blade read office_desk
      blade read office_desk_aster-8b/10:3
      blade read --label office_desk_aster-8b/10:3 --mode "deletes unseen meetings" --by ana
      blade read --rename "deletes unseen meetings" "acts without looking"
    """
    file = labels or warehouse.parent / label_file.NAME
    is_labelling = label or rename is not None
    if not is_labelling and any(fields.values()):
        raise UsageError("a label needs --label and a citation.", hint="See: blade read --help")
    if label:
        row = _labelled(warehouse, name, fields, seed)
    if is_labelling:
        line = {"rename": rename[0], "to": rename[1]} if rename else row
        with open_warehouse(warehouse) as opened:
            text = label_file.add(file, opened, line)
        click.echo(f"{file}: {text}")
        print_next([f"blade read{where(warehouse)}"])
        return
    if is_citation(name):
        with open_warehouse(warehouse) as opened:
            digests = [reading.digest(opened, name)]
            show_aliases(opened)
        print_page("read", json=digests[0] if as_json else None, plan=None, digests=digests)
        return
    planned = reading.plan(warehouse, name, labels=file, size=size, seed=seed)
    with open_warehouse(warehouse) as opened:
        digests = [reading.digest(opened, each) for each in planned["next"][:n_next]]
        show_aliases(opened)
    content = {**planned, "digests": digests}
    print_page("read", json=content if as_json else None, plan=planned, digests=digests)
    if not as_json:
        print_next(_next(planned["next"], warehouse))


def _labelled(warehouse: Path, name: str, fields: Row, seed: int | None) -> Row:
    cited(name)
    with open_warehouse(warehouse) as opened:
        run_id, task_id, index = cited_key(opened, name)
    key = {"run": run_id, "task": task_id, "rollout": index}
    return {**key, **fields, "evidence": list(fields["evidence"]), "seed": seed}


def _next(citations: list[str], warehouse: Path) -> list[str]:
    return [
        each
        for citation in citations[:1]
        for each in (
            command("show", citation, warehouse),
            command("read", citation, warehouse) + ' --label --mode "..." --by NAME',
        )
    ]
