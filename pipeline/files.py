"""Files beside the rollouts: one reader for all of them, with one limit on what they hold."""

from __future__ import annotations

import stat
from pathlib import Path

MOST_BYTES = 64 << 20  # unpacked
TOO_LARGE = f"has more than {MOST_BYTES >> 20} MB"


class UnreadableError(Exception):
    """Why a file cannot be used, in words."""


def content(path: Path, *, most: int = MOST_BYTES) -> bytes:
    """All bytes of a plain file; UnreadableError says why they are not read."""
    try:
        if reason := not_plain(path.stat().st_mode):
            raise UnreadableError(reason)
        with path.open("rb") as file:
            found = file.read(most + 1)
    except (FileNotFoundError, NotADirectoryError, ValueError) as error:
        raise UnreadableError("no such file") from error
    except OSError as error:
        raise UnreadableError(f"cannot be read: {reason_of(error)}") from error
    if len(found) > most:
        raise UnreadableError(TOO_LARGE if most == MOST_BYTES else f"has more than {most:,} bytes")
    return found


def not_plain(mode: int) -> str:
    """What a path leads to other than a file; reading a pipe or a device may never end."""
    if stat.S_ISDIR(mode):
        return "is a folder"
    return "" if stat.S_ISREG(mode) else "is a pipe or a device, not a file"


def reason_of(error: Exception) -> str:
    """The system's own words: a message must not carry a path of this machine."""
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return reason or "the system refuses it"
