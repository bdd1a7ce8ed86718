"""blade sanitize: what must not be shared, found or taken out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipeline.cli.options import json_option
from pipeline.text import json_text, neutral

if TYPE_CHECKING:
    from pipeline.package.sanitize import Finding, Policy, Shared, Survey, Unchecked


@click.command()
@click.argument(
    "paths", nargs=-1, required=True, metavar="PATH...", type=click.Path(path_type=Path)
)
@click.option(
    "--check", is_flag=True, help="Write nothing; list what is found, exit 1 if anything is."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Write copies to this folder; without it the files are rewritten in place.",
)
@click.option(
    "--policy",
    "policy_file",
    type=click.Path(path_type=Path),
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
    from pipeline.errors import UsageError

    if check and out is not None:
        raise UsageError("--check writes nothing, and --out says where to.", hint="Leave one away.")
    policy = _policy(paths, policy_file)
    if check:
        _check(paths, policy, as_json)
    else:
        _rewrite(paths, out, policy, as_json)


def _policy(paths: Iterable[Path], policy_file: Path | None) -> Policy:
    from pipeline.package.sanitize import Policy, policy

    chosen = policy_file or policy.found(list(paths))
    if chosen is None:
        return Policy()
    if policy_file is None:
        click.echo(f"policy: {neutral(str(chosen))}", err=True)
    return policy.read(chosen)


def _check(paths: tuple[Path, ...], policy: Policy, as_json: bool) -> None:
    from pipeline.package.sanitize import survey, survey_findings

    given = survey(paths, policy)
    counted: Counter[str] = Counter()
    findings = survey_findings(given, policy)
    if as_json:
        listed = list(_counted(findings, counted))
        click.echo(json_text(_checked(given, listed, counted), indent=2))
    else:
        for finding, same in groupby(_counted(findings, counted)):
            place = (
                f"{finding.file}:{finding.line}" if finding.line else f"{finding.file} (its name)"
            )
            times = f", {n} times" if (n := sum(1 for _ in same)) > 1 else ""
            click.echo(f"{neutral(place)}: {finding.kind} ({finding.rule}){times}")
        _print_unchecked(given.unchecked)
        click.echo(_summary(counted, len(given.files), "found"))
    if counted or given.unchecked:
        raise click.exceptions.Exit(1)


def _counted(findings: Iterable[Finding], counted: Counter[str]) -> Iterator[Finding]:
    for finding in findings:
        counted[finding.kind] += 1
        yield finding


def _checked(given: Survey, listed: list[Finding], counted: Counter[str]) -> dict[str, Any]:
    return {
        "is_clean": not listed and not given.unchecked,
        "n_files": len(given.files),
        "by_kind": _by_kind(counted),
        "findings": [vars(finding) for finding in listed],
        "unchecked": [vars(item) for item in given.unchecked],
    }


def _rewrite(paths: tuple[Path, ...], out: Path | None, policy: Policy, as_json: bool) -> None:
    from pipeline.package.sanitize import copies, in_place, log

    shared = in_place(paths, policy) if out is None else copies(paths, out, policy)
    where = (shared.survey.root if out is None else out) / log.LOG_NAME
    if as_json:
        click.echo(json_text(_written(shared, where), indent=2))
    else:
        n_files = len(shared.survey.files)
        click.echo(_summary(shared.counted, n_files, f"taken out of {len(shared.changed)} of"))
        click.echo(f"log: {neutral(str(where))}")
    _warn(shared, is_copy=out is not None)
    if out is None and (shared.survey.unchecked or shared.renamed):
        raise click.exceptions.Exit(1)


def _written(shared: Shared, where: Path) -> dict[str, Any]:
    return {
        "n_files": len(shared.survey.files),
        "changed": list(shared.changed),
        "renamed": list(shared.renamed),
        "by_kind": _by_kind(shared.counted),
        "unchecked": [vars(item) for item in shared.survey.unchecked],
        "log": str(where),
    }


def _warn(shared: Shared, *, is_copy: bool) -> None:
    for item in shared.survey.unchecked:
        fate = "not copied" if is_copy else "left as it is, and cannot be cleared"
        click.echo(f"blade: {neutral(item.file)}: {item.reason}; {fate}.", err=True)
    for name in shared.survey.policies:
        fate = "not copied" if is_copy else "left as it is; do not share it"
        click.echo(
            f"blade: {neutral(name)}: a policy, which holds private names; {fate}.", err=True
        )
    if not is_copy:
        for name in shared.renamed:
            told = "the name of the file is private; --out writes a copy with another"
            click.echo(f"blade: {neutral(name)}: {told}.", err=True)


def _print_unchecked(unchecked: Iterable[Unchecked]) -> None:
    for item in unchecked:
        click.echo(f"{neutral(item.file)}: not checked: {item.reason}")


def _by_kind(counted: Counter[str]) -> dict[str, int]:
    from pipeline.package.sanitize.values import KINDS

    return {kind: counted[kind] for kind in KINDS if counted[kind]}


def _summary(counted: Counter[str], n_files: int, verb: str) -> str:
    files = f"{n_files} file" if n_files == 1 else f"{n_files} files"
    if not counted:
        return f"nothing found in {files}"
    kinds = ", ".join(f"{n} {kind}" for kind, n in _by_kind(counted).items())
    joined = verb if verb.endswith(" of") else f"{verb} in"
    return f"{sum(counted.values())} {joined} {files}: {kinds}"
