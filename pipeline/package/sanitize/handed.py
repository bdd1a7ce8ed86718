"""Secrets handed over without a sign between: by a flag, a login, a cookie or a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipeline.package.sanitize.tokens import is_mixed

Place = tuple[int, int]

_OPEN = r"\\*[\"'`]?"
_VALUE = r"(?P<value>[^\s\"'`<>;,&|\\]{8,200})"
FLAG = re.compile(
    r"(?i)--[a-z0-9-]{0,40}(?:pass(?:word|wd|phrase)?|token|secret|api-?key|access-?key|credentials?)"
    rf"[ \t]+{_OPEN}{_VALUE}"
)
# `machine x login y password z`, `the password is z`.
SPOKEN = re.compile(
    r"(?i)(?<![a-z0-9_-])pass(?:word|wd|phrase|code)(?:[ \t]+(?:is|was|to|now))?"
    rf"[ \t]+{_OPEN}{_VALUE}"
)
LOGIN = re.compile(
    r"(?i)(?<![a-z])(?:wandb|huggingface-cli|hf|ngc|docker|gh|vault)[ \t]+(?:auth[ \t]+)?login"
    r"(?:[ \t]+--?[a-z-]{1,20})?[ \t]+(?P<value>[a-z0-9_.-]{16,200})"
)
_PAIR = r"[\w.%-]{1,60}=[^\s;,\"'\\]*"
COOKIES = re.compile(rf"(?i)cookie[\"']?[ \t]*:[ \t]*{_OPEN}(?P<pairs>{_PAIR}(?:;[ \t]?{_PAIR})*)")
COOKIE = re.compile(r"=(?P<value>[^;]{8,})")

WORDS = ("--", "login", "cookie", "passw", "passphrase", "passcode")
_GAP = r"(?:\s|\\+t)+"
SCREEN = (
    rf"--[a-z0-9-]{{0,40}}(?:pass|token|secret|key|credential)[a-z]{{0,12}}{_GAP}"
    rf"|login{_GAP}[a-z0-9_.-]|cookie[\\\"']*(?:\s|\\+t)*:|pass(?:word|wd|phrase|code){_GAP}"
)


def handed_over(text: str) -> Iterator[Place]:
    """Values of letters and digits that stand where a secret is expected."""
    for pattern in (FLAG, SPOKEN, LOGIN):
        for match in pattern.finditer(text):
            value = match["value"].rstrip(".:!?)]}")
            if len(value) >= 8 and is_mixed(value) and "(" not in value and "$" not in value[:2]:
                yield match.start("value"), match.start("value") + len(value)
    for match in COOKIES.finditer(text):
        for pair in COOKIE.finditer(match["pairs"]):
            if is_mixed(pair["value"]):
                start = match.start("pairs") + pair.start("value")
                yield start, start + len(pair["value"])
