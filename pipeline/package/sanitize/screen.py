"""Which of many texts may hold something private: one pattern over all, most texts need no more."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from pipeline.package.sanitize.rules import active
from pipeline.package.sanitize.values import Policy

# Escapes behind which anything could hide, and characters that are not seen or look like others,
# as the bytes they are written in.
ESCAPES = (
    r"&#|&(?:amp|lt|gt|quot|apos|commat|colon|sol|period);|%[2-7][0-9a-f]|\\[_.@:/+~=\-]"
    r"|\\u(?:00[2-7a]|034f|061c|11[56]|180[b-e]|200[b-f]|202[a-e]|20[6-9]|21[0-4]|24[6-f]|fb0|fe|ff[0-5]|d835)"
)
ODD_BYTES = (
    r"\xc2\xad|\xcd\x8f|\xd8\x9c|\xe1\x85[\x9f\xa0]|\xe1\xa0[\x8b-\x8e]"
    r"|\xe2(?:\x80[\x8b-\x8f\xaa-\xae]|\x81[\xa0-\xbf]|\x82[\x80-\x9c]|\x84|\x85[\x80-\x8f]"
    r"|\x91[\xa0-\xbf]|[\x92\x93])"
    r"|\xef(?:\xac[\x80-\x86]|\xb8[\x80-\x8f]|\xbb\xbf|\xbc[\x81-\xbf]|\xbd[\x80-\x9e])"
    r"|\xf0\x9d[\x90-\x9f]"
)


@lru_cache(maxsize=64)
def pattern(policy: Policy) -> str:
    """What any of a policy's rules could find something in; also the names of its fields."""
    screens = [rule.screen for rule in active(policy)]
    fields = [path.split(".") for path in (*policy.source_fields, *policy.withheld_fields)]
    last = {next(n for n in reversed(path) if n.strip("*")) for path in fields}
    return "|".join([*screens, ESCAPES, ODD_BYTES, *sorted(_spelled(name) for name in last)])


def _spelled(name: str) -> str:
    """A field's name as bytes; letters beyond ASCII may be escaped in many ways."""
    if not name[:1].isascii():
        return r"\\u|[\x80-\xff]"
    return re.escape(re.split(r"[^\x20-\x7e]|[\"\\/]", name)[0])


def suspects(texts: Sequence[bytes], policy: Policy) -> list[bool]:
    """Of each text, whether any rule could find something in it."""
    return matched(texts, pattern(policy)) if texts else []


def matched(texts: Sequence[bytes], pattern: str) -> list[bool]:
    """Of each text, whether a pattern matches somewhere, whatever the case of letters."""
    import pyarrow
    import pyarrow.compute

    column = pyarrow.array(texts, pyarrow.large_binary())
    found = pyarrow.compute.match_substring_regex(column, pattern=pattern, ignore_case=True)
    return list(found.to_pylist())
