"""Templates: ours, and before them a user's own, whose mistakes are reported with file and line."""

from __future__ import annotations

import hashlib
import re
import resource
import signal
import threading
import traceback
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import jinja2
from jinja2.bccache import Bucket
from jinja2.ext import Extension
from jinja2.sandbox import ImmutableSandboxedEnvironment

from .. import files
from ..errors import InputError, did_you_mean
from ..settings import data_folder
from ..text import one_line
from .figures import Figure, Row

OURS = data_folder("report_templates")
KINDS = ("markdown", "html")
LONGEST = 300
SECONDS = 60.0
MEMORY = 2 << 30
OBJECT = re.compile(r"'(?:blade\.)?pipeline\.[\w.]*?(\w+) object'")
HINT = "docs/report.md tells what a template can read and which filters there are."


class CompiledTemplates(jinja2.FileSystemBytecodeCache):
    """Our templates as Python compiled them, kept beside them as Python keeps its own.

    Compiling them takes longer than all queries of a small analysis.
    """

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep what was compiled; where the folder cannot be written it is compiled again."""
        with suppress(OSError):
            Path(self.directory).mkdir(exist_ok=True)
            super().dump_bytecode(bucket)


COMPILED = CompiledTemplates(str(OURS / "__pycache__"))


class ContinuedLines(Extension):
    """A line that ends in a backslash goes on in the next, without the white space before it."""

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        """An empty comment takes the place of the backslash, so that lines keep their numbers."""
        return source.replace("\\\n", "{# -#}\n")


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
        extensions=[ContinuedLines],
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


def replaced(folder: Path | None) -> list[dict[str, str]]:
    """The files that go before ours, each with its hash."""
    return [
        {"path": path.name, "sha256": hashlib.sha256(files.content(path)).hexdigest()}
        for path in ([] if folder is None else _files(folder))
    ]


def check(folder: Path, environments: Mapping[str, Any]) -> None:
    """Every file must replace one of ours and be a template.

    `environments` are the cached functions that give the environment of each kind.
    """
    ours = {path.name: kind for kind in KINDS for path in sorted((OURS / kind).glob("*.*"))}
    paths = _files(folder) if folder.is_dir() else []
    if not paths:
        fault = "holds no template" if folder.is_dir() else "no such folder of templates"
        raise InputError(f"{folder}: {fault}.", hint=f"It may hold: {', '.join(ours)}.")
    for path in paths:
        if path.name not in ours or not path.is_file():
            meant = "" if path.name in ours else did_you_mean(path.name, ours)
            hint = f"{meant}These can be replaced: {', '.join(ours)}."
            raise InputError(f"{path}: replaces nothing.", hint=hint)
    # The folder may have changed since templates were last read from it.
    for environment in environments.values():
        environment.cache_clear()
    for path in paths:
        try:
            files.content(path).decode("utf-8")
        except files.UnreadableError as error:
            raise InputError(f"{path}: {error}.", hint=HINT) from error
        except UnicodeDecodeError as error:
            raise InputError(f"{path}: cannot be read as UTF-8 text.", hint=HINT) from error
        if path.suffix == ".j2":
            with explained(folder, read=path):
                environments[ours[path.name]](folder).get_template(path.name)


@contextmanager
def explained(folder: Path | None, *, read: Path | None = None) -> Iterator[None]:
    """What fails in a user's template is theirs to fix; what fails in ours is a bug.

    `read` is the template that is only read.
    """
    if folder is None:
        yield
        return
    try:
        with _bounded():
            yield
    except Exception as error:
        is_spent = isinstance(error, (TimeoutError, MemoryError))
        place = _place(error, folder) or read or (folder if is_spent else None)
        if place is None:
            raise
        raise InputError(f"{place}: {one_line(_message(error), LONGEST)}", hint=HINT) from error


def refuse_long(n_characters: int, folder: Path | None) -> None:
    """Say so where a user's templates write a page that nobody could open."""
    if folder is not None and n_characters > files.MOST_BYTES:
        fault = f"a page of more than {files.MOST_BYTES >> 20} MB comes of these templates"
        raise InputError(f"{folder}: {fault}.", hint=HINT)


@contextmanager
def _bounded() -> Iterator[None]:
    """For a page so many seconds and so much memory: a loop may be endless, a text may double."""

    def late(_number: int, _frame: object) -> None:
        raise TimeoutError(f"took longer than {SECONDS} s and was ended.")

    with ExitStack() as after:
        # Elsewhere than on the main thread there are no alarms.
        if threading.current_thread() is threading.main_thread():
            after.callback(signal.signal, signal.SIGALRM, signal.signal(signal.SIGALRM, late))
            after.callback(signal.setitimer, signal.ITIMER_REAL, 0)
            # Repeatedly: folding of constants ignores the first.
            signal.setitimer(signal.ITIMER_REAL, SECONDS, 1)
        taken = Path("/proc/self/statm")
        if taken.exists():
            most, hardest = resource.getrlimit(resource.RLIMIT_AS)
            wanted = int(taken.read_text().split()[0]) * resource.getpagesize() + MEMORY
            if most == resource.RLIM_INFINITY or wanted < most:
                after.callback(resource.setrlimit, resource.RLIMIT_AS, (most, hardest))
                resource.setrlimit(resource.RLIMIT_AS, (wanted, hardest))
        yield


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if not path.name.startswith("."))


def _place(error: BaseException, folder: Path) -> str | None:
    """File and line of the innermost template, where that is the user's."""
    places = {folder, *(OURS / kind for kind in KINDS)}
    steps = [(step.filename, step.lineno) for step in traceback.extract_tb(error.__traceback__)]
    inside = [step for step in steps if Path(step[0]).parent in places]
    if isinstance(error, jinja2.TemplateSyntaxError):
        inside = [(error.filename or "", error.lineno)]
    is_theirs = bool(inside) and Path(inside[-1][0]).parent == folder
    return "{}:{}".format(*inside[-1]) if is_theirs else None


def _message(error: BaseException) -> str:
    if isinstance(error, jinja2.TemplateNotFound):
        return f"there is no template {error.name}."
    if isinstance(error, MemoryError):
        return f"took more than {MEMORY >> 30} GB of memory and was ended."
    # Names of our modules mean nothing to the author of a template.
    message = str(error.args[0]) if error.args else type(error).__name__
    return OBJECT.sub(r"\1", message)
