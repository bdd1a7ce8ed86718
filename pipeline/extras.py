"""Libraries that only some commands need, and the command that installs them."""

from __future__ import annotations

import re
import shlex
import sys
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

PACKAGE = "blade-eval"
# A checkout has its Makefile beside this package; an installed copy has none.
MAKEFILE = Path(__file__).parents[1] / "Makefile"


def install_hint(extra: str) -> str:
    """How to install the libraries of an extra, by the way that blade itself was installed."""
    return f"Install it with: {_command(extra)}"


def _command(extra: str) -> str:
    if MAKEFILE.is_file():
        return f"make {extra}-libraries"
    libraries = " ".join(map(shlex.quote, _libraries(extra)))
    parts = Path(sys.prefix).parts
    if "pipx" in parts:
        return f"pipx inject {PACKAGE} {libraries}"
    # An environment of uv has no pip of its own.
    if "uv" in parts:
        return f"uv pip install --python {shlex.quote(sys.executable)} {libraries}"
    return f"{shlex.quote(sys.executable)} -m pip install {libraries}"


def _libraries(extra: str) -> list[str]:
    """What the installed package lists for the extra, each with its versions."""
    try:
        listed = requires(PACKAGE) or []
    except PackageNotFoundError:
        listed = []
    marker = re.compile(rf"""extra\s*==\s*['"]{re.escape(extra)}['"]""")
    own = [each.partition(";")[0].strip() for each in listed if marker.search(each)]
    return own or [f"{PACKAGE}[{extra}]"]
