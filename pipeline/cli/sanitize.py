"""blade sanitize: what must not be shared, found or taken out."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from pathlib import Path

import click

from pipeline.cli.options import PATH, json_option
from pipeline.errors import UsageError
from pipeline.package.sanitize import Policy, copies, in_place, log, share, survey, survey_findings
from pipeline.package.sanitize import policy as policies
from pipeline.text import json_text, neutral


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=PATH)
@click.option(
    "--check", is_flag=True, help="Write nothing; list what is found, exit 1 if anything is."
)
@click.option(
    "--out",
    type=PATH,
    help="Write copies to this folder; without it the files are rewritten in place.",
)
@click.option(
    "--policy",
    "policy_file",
    type=PATH,
    help="What is private and what is cleared; sanitize.toml of the folder or of one above it.",
)
@json_option
def sanitize(
    paths: tuple[Path, ...], check: bool, out: Path | None, policy_file: Path | None, as_json: bool
) -> None:
    """Take credentials, names and private data out of the files at PATH.

    What is taken out leaves a placeholder such as [redacted-email-3]: the same thing the same
    placeholder in all files of a call. redactions.json says which stands where, and by which rule.

    \b
    Examples:
      blade sanitize benchmarks/office_desk --check
      blade sanitize benchmarks/office_desk --out shared/office_desk
      blade sanitize report.md --policy sanitize.toml
    """
    if check and out is not None:
        raise UsageError("--check writes nothing, and --out says where to.", hint="Leave one out.")
    chosen = policy_file or policies.found([*paths])
    if chosen is not None and policy_file is None:
        click.echo(f"policy: {neutral(str(chosen))}", err=True)
    policy = policies.read(chosen)
    if check:
        _check(paths, policy, as_json=as_json)
    else:
        _rewrite(paths, out, policy, as_json=as_json)


def _check(paths: tuple[Path, ...], policy: Policy, *, as_json: bool) -> None:
    given = survey(paths, policy)
    counted: Counter[str] = Counter()
    listed = []
    for finding, same in groupby(survey_findings(given, policy)):
        n_same = sum(1 for _ in same)
        counted[finding.kind] += n_same
        if as_json:
            listed += [vars(finding)] * n_same
            continue
        place = f"{finding.file}:{finding.line}" if finding.line else f"{finding.file} (its name)"
        times = f", {n_same} times" if n_same > 1 else ""
        click.echo(f"{neutral(place)}: {finding.kind} ({finding.rule}){times}")
    if as_json:
        content = {
            "is_clean": not listed and not given.unchecked,
            "n_files": len(given.files),
            "by_kind": share.by_kind(counted),
            "findings": listed,
            "unchecked": [vars(item) for item in given.unchecked],
        }
        click.echo(json_text(content, indent=2))
    else:
        for item in given.unchecked:
            click.echo(f"{neutral(item.file)}: not checked: {item.reason}")
        click.echo(share.summary(counted, len(given.files), "found in"))
    if counted or given.unchecked:
        raise click.exceptions.Exit(1)


def _rewrite(paths: tuple[Path, ...], out: Path | None, policy: Policy, *, as_json: bool) -> None:
    shared = in_place(paths, policy) if out is None else copies(paths, out, policy)
    given = shared.survey
    where = (given.root if out is None else out) / log.LOG_NAME
    if as_json:
        content = {
            "n_files": len(given.files),
            "changed": list(shared.changed),
            "renamed": list(shared.renamed),
            "by_kind": share.by_kind(shared.counted),
            "unchecked": [vars(item) for item in given.unchecked],
            "log": str(where),
        }
        click.echo(json_text(content, indent=2))
    else:
        verb = f"taken out of {len(shared.changed)} of"
        click.echo(share.summary(shared.counted, len(given.files), verb))
        click.echo(f"log: {neutral(str(where))}")
    for name, words in share.warnings(shared, is_copy=out is not None):
        click.echo(f"blade: {neutral(name)}: {words}.", err=True)
    if out is None and (given.unchecked or shared.renamed):
        raise click.exceptions.Exit(1)
