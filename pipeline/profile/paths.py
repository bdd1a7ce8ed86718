"""Field paths: names with dots between, `a."b.c".d`, and what they are to DuckDB."""

from __future__ import annotations

import re

from pipeline.errors import UsageError

EXAMPLE = "verifier_metadata.level"
# A quoted name may hold anything, with \" and \\ for the two characters that mean something.
PART = re.compile(r'"(?P<quoted>(?:[^"\\]|\\["\\])*+)"|(?P<bare>[^."]+)')
ESCAPED = re.compile(r'\\(["\\])')
# Habits from other notations, which would be looked up as names and never found.
FOREIGN = re.compile(r"[\[\]]|^[$*]$")


def names(path: str) -> tuple[str, ...]:
    """The names along a path, outermost first."""
    found = []
    position = 0
    while True:
        match = PART.match(path, position)
        if match is None:
            raise _refused("a name is missing" if _ends(path, position) else "a quote is stray")
        found.append(_name(match))
        position = match.end()
        if position == len(path):
            return tuple(found)
        if path[position] != ".":
            raise _refused("a quote is stray")
        position += 1


def json_path(path: str) -> str:
    r"""The path as DuckDB reads it: `a.b` is `$."a"."b"`.

    Inside its quotes a backslash makes the next character plain, and nothing else has a meaning
    but a lone `*`, which is every field even there.
    """
    quoted = [re.sub(r'(["\\])', r"\\\1", name) for name in names(path)]
    return "$" + "".join(f'."{name}"' for name in quoted)


def _name(match: re.Match[str]) -> str:
    if match["bare"] is not None:
        name = match["bare"]
        if FOREIGN.search(name):
            raise _refused("only names can be given, no brackets, no $ and no *")
        if name != name.strip():
            raise _refused("a name begins or ends with a blank")
    else:
        name = ESCAPED.sub(r"\1", match["quoted"])
    if not name:
        raise _refused("a name is empty")
    if name == "*" or "\0" in name:
        raise _refused("a name is * or holds a NUL character, which DuckDB cannot look up")
    return name


def _ends(path: str, position: int) -> bool:
    return position == len(path) or path[position] == "."


def _refused(reason: str) -> UsageError:
    return UsageError(reason, hint=f"""Write names with dots between: {EXAMPLE} or a."b.c".d""")
