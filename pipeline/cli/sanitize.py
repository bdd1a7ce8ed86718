"""Remove credentials, names and private data from files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..errors import UsageError
from ..package.sanitize import share
from ..package.sanitize.placeholders import Entry, by_kind
from ..package.sanitize.policy import LOG_NAME, Policy, nearest
from ..package.sanitize.share import Survey
from ..text import neutral
from .options import PATH, json_option
from .terminal import print_page


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=PATH)
@click.option(
    "--check", is_flag=True, help="Only list what would be removed; exit 1 if anything would be."
)
@click.option(
    "--out",
    type=PATH,
    help="Write copies to this folder.  [default: rewrite the files in place]",
)
@click.option(
    "--policy",
    "policy_file",
    type=PATH,
    help="What is private and what is not.  [default: the nearest sanitize.toml, here or above]",
)
@json_option
def sanitize(
    paths: tuple[Path, ...], check: bool, out: Path | None, policy_file: Path | None, as_json: bool
) -> None:
    """Remove credentials, names and private data from the files at PATH.

    Each removed value is replaced by a placeholder such as [redacted-email-3]. The same value gets
    the same placeholder in all files of a call. redactions.json lists every placeholder with its
    place and the rule that matched.

    \b
    Examples:
      blade sanitize benchmarks/office_desk --check
      blade sanitize benchmarks/office_desk --out shared/office_desk
      blade sanitize report.md --policy sanitize.toml
    """
    if check and out is not None:
        raise UsageError(
            "--check and --out: with --check nothing is written.", hint="Leave one out."
        )
    chosen = policy_file or nearest([*paths])
    if chosen is not None and policy_file is None:
        click.echo(f"policy: {neutral(str(chosen))}", err=True)
    policy = share.read_policy(chosen)
    if check:
        _check(paths, policy, as_json=as_json)
    else:
        _rewrite(paths, out, policy, as_json=as_json)


def _check(paths: tuple[Path, ...], policy: Policy, *, as_json: bool) -> None:
    survey = share.survey(paths, policy)
    entries = share.check(survey, policy)
    content = {
        "is_clean": not entries and not survey.unchecked,
        "n_files": len(survey.files),
        "by_kind": by_kind(entries),
        "findings": [
            dict(zip(("file", "line"), each.places[0], strict=True))
            | {"kind": each.kind, "rule": each.rule, "count": each.count}
            for each in entries
        ],
        "unchecked": [{"file": each.name, "reason": each.reason} for each in survey.unchecked],
    }
    _print(entries, survey, json=content if as_json else None, verb="found in", is_check=True)
    if entries or survey.unchecked:
        raise click.exceptions.Exit(1)


def _rewrite(paths: tuple[Path, ...], out: Path | None, policy: Policy, *, as_json: bool) -> None:
    shared = share.rewrite(paths, policy, out)
    survey = shared.survey
    where = (survey.root if out is None else out) / LOG_NAME
    content = {
        "n_files": len(survey.files),
        "changed": list(shared.changed),
        "renamed": list(shared.renamed),
        "by_kind": by_kind(shared.entries),
        "unchecked": [{"file": each.name, "reason": each.reason} for each in survey.unchecked],
        "log": str(where),
    }
    words = {"verb": f"taken out of {len(shared.changed)} of", "log": str(where)}
    _print(shared.entries, survey, json=content if as_json else None, is_check=False, **words)
    print_page("unshared", is_aside=True, shared=shared, is_copy=out is not None)
    if out is None and (survey.unchecked or shared.renamed):
        raise click.exceptions.Exit(1)


def _print(entries: list[Entry], survey: Survey, **words: Any) -> None:
    print_page("sanitize", entries=entries, given=survey, kinds=by_kind(entries), **words)
