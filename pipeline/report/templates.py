"""Where templates stand: ours, and before them those of a user's own folder."""

from __future__ import annotations

from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

import jinja2
from jinja2.bccache import Bucket
from jinja2.sandbox import ImmutableSandboxedEnvironment

from pipeline.report.figures import Figure, Row
from pipeline.settings import data_folder

OURS = data_folder("report_templates")


class CompiledTemplates(jinja2.FileSystemBytecodeCache):
    """Our templates as Python compiled them, kept beside them as Python keeps its own.

    Compiling them anew takes longer than all queries of a small analysis.
    """

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep what was compiled; where the folder cannot be written it is compiled again."""
        try:
            Path(self.directory).mkdir(exist_ok=True)
            super().dump_bytecode(bucket)
        except OSError:
            return


COMPILED = CompiledTemplates(str(OURS / "__pycache__"))


class Ours(jinja2.Environment):
    """Hands each page one dictionary of globals: jinja2's own chain is copied name by name."""

    def make_globals(self, d: MutableMapping[str, Any] | None) -> MutableMapping[str, Any]:
        """Those of the environment, and a template's own before them."""
        return {**self.globals, **(d or {})}


def environment(kind: str, folder: Path | None, *, autoescape: bool) -> jinja2.Environment:
    """Templates of one kind; a name that is not given is an error."""
    # What is not ours may print what it is given, and reach nothing else.
    kind_of = ImmutableSandboxedEnvironment if folder else Ours
    return kind_of(
        loader=jinja2.FileSystemLoader([*([folder] if folder else []), OURS / kind]),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        autoescape=autoescape,
        finalize=_refuse_figures,
        bytecode_cache=None if folder else COMPILED,
    )


def _refuse_figures(value: object) -> object:
    """A figure printed without a format would be printed as an object."""
    if isinstance(value, str):
        return value
    if isinstance(value, Figure):
        raise TypeError(f"the figure {value.source} is printed without a format, such as | num")
    if isinstance(value, Row):
        raise TypeError(f"a row of {value.relation} is printed whole: name one of its columns")
    return value
