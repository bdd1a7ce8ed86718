"""Libraries that only some commands need, and the command that installs them."""

from __future__ import annotations

import json
import re
import shlex
import sys
from importlib.metadata import PackageNotFoundError, distribution, requires
from pathlib import Path

PACKAGE = "blade-eval"
# A checkout has its Makefile beside this package; an installed copy has none.
MAKEFILE = Path(__file__).parents[1] / "Makefile"


def install_hint(extra: str) -> str:
    """How to install the libraries of an extra, by the way that blade itself was installed."""
    if MAKEFILE.is_file():
        return f"Install it with: make {extra}-libraries"
    libraries = " ".join(map(shlex.quote, _libraries(extra)))
    parts = Path(sys.prefix).parts
    is_of_uv = _is_of_uv()
    # `pipx run` and `uvx` have an environment for each set of requirements, in a cache.
    if "pipx" in parts and "venvs" not in parts:
        return f"Run it with: pipx run --spec {_requirement(extra)} blade"
    if is_of_uv and "pipx" not in parts and any(part.startswith("archive-v") for part in parts):
        return f"Run it with: uvx --from {_requirement(extra)} blade"
    if "pipx" in parts:
        return f"Install it with: pipx inject {PACKAGE} {libraries}"
    python = shlex.quote(sys.executable)
    # An environment of uv has no pip of its own.
    installer = f"uv pip install --python {python}" if is_of_uv else f"{python} -m pip install"
    return f"Install it with: {installer} {libraries}"


def _is_of_uv() -> bool:
    try:
        settings = Path(sys.prefix, "pyvenv.cfg").read_text(encoding="utf-8")
    except (OSError, ValueError):
        return False
    return re.search(r"^uv\s*=", settings, re.MULTILINE) is not None


def _requirement(extra: str) -> str:
    """The package with an extra, from the file that it was installed from."""
    try:
        origin = json.loads(distribution(PACKAGE).read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        origin = {}
    place = f" @ {origin['url']}" if "url" in origin else ""
    return shlex.quote(f"{PACKAGE}[{extra}]{place}")


def _libraries(extra: str) -> list[str]:
    """What the installed package lists for the extra, each with its versions."""
    try:
        listed = requires(PACKAGE) or []
    except PackageNotFoundError:
        listed = []
    marker = re.compile(rf"""extra\s*==\s*['"]{re.escape(extra)}['"]""")
    own = [each.partition(";")[0].strip() for each in listed if marker.search(each)]
    return own or [f"{PACKAGE}[{extra}]"]
