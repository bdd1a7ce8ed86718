"""Paths that tell of a person's home or of a cluster's storage."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipeline.package.sanitize.values import Place, Policy

# A home, and the roots that shared storage is mounted on.
ROOTS = (
    *("home", "users", "export/home", "var/home", "lustre", "scratch", "gscratch", "gpfs", "mnt"),
    *("nfs", "fsx", "efs", "beegfs", "ceph", "cephfs", "weka", "wekafs", "vast", "afs", "pfs"),
    *("raid", "cluster", "projects", "groups", "dbfs", "volumes", "shared_storage", "net", "media"),
)
WORDS = (*(f"/{root}" for root in ROOTS), "\\users", ":/users", "~", "\\\\", "documents and")
SCREEN = (
    rf"/(?:{'|'.join(ROOTS)})[0-9]{{0,3}}/[^\s\"]|[\\/](?:users|documents and settings)[\\/]"
    r"|~[a-z_][a-z0-9_-]+/|\\{2,}[a-z0-9][\w.-]+\\+[\w.$-]{2}"
)
_CHARACTER = r"[^\s\"'`<>|:;,()\[\]{}*?&#\\^$!\x00-\x1f]"
# Behind a letter it is part of another path or address, unless that is an option (-I/home) or the
# rest of an escaped line break.
_BEFORE = r"(?:(?<![\w.~})\]-])|(?<=(?<!\w)-[A-Za-z])|(?<=\\[nrt]))"
UNIX = re.compile(
    rf"{_BEFORE}/(?:(?i:{'|'.join(ROOTS)})[0-9]{{0,3}})/"
    rf"(?:(?<=/Users/)[\w.-]{{1,32}}[ ][A-Z][\w.-]{{0,32}}(?=/))?{_CHARACTER}+"
)
# Scratch and lustre as such, without anything below, name the storage but nobody on it.
WINDOWS = re.compile(
    r"(?<![A-Za-z0-9])[A-Za-z]:(?:[\\/]{1,4})(?:Users|Documents and Settings)[\\/]{1,4}"
    r"(?:[^\\/:*?\"'`<>|\s,;()\[\]{}](?:[^\\/:*?\"`<>|\r\n\t\[\]{}]{0,80}[^\\/:*?\"`<>|\s\[\]{}])?[\\/]{1,4}(?![nrt][^\w.-]))*"
    r"[^\\/:*?\"'`<>|\s,;()\[\]{}]*",
    re.IGNORECASE,
)
SHARE = re.compile(
    r"(?<![\\\w:])\\\\(?P<host>[A-Za-z0-9][\w.-]{1,62})\\[\w.$-]{2,80}"
    r"(?:\\[\w.$-]+(?: [\w.$-]+){0,4})*"
)
TILDE = re.compile(r"(?<![\w/~.])~[a-z_][a-z0-9_-]{1,31}(?=/[\w.])")


def paths(text: str, policy: Policy) -> Iterator[Place]:
    """Each from its root to its end; what is cleared stays."""
    for pattern in (UNIX, WINDOWS, TILDE):
        for match in pattern.finditer(text):
            found = match[0].rstrip(".,:;!?-_~%@=+")
            if found.count("/") + found.count("\\") < 2 and pattern is not TILDE:
                continue
            if not _is_cleared(found, policy):
                yield match.start(), match.start() + len(found)
    for match in SHARE.finditer(text):
        # Two backslashes and a word also open an escape of an escaped text.
        is_escape = match["host"][0] in "nrtu" and not re.search(r"[0-9.-]", match["host"])
        if not is_escape and not _is_cleared(match[0], policy):
            yield match.span()


def _is_cleared(path: str, policy: Policy) -> bool:
    for prefix in policy.allow.paths:
        stem = prefix.rstrip("/\\")
        if path == stem or path.startswith((f"{stem}/", f"{stem}\\")):
            return True
    return False
