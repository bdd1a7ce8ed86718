"""secrets.toml -> patterns: tokens by prefix or by a word close by, passwords behind a flag."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any

DATA = tomllib.loads(Path(__file__).with_name("secrets.toml").read_text(encoding="utf-8"))
CHARACTERS = {
    "digits": "0-9",
    "hex": "0-9a-fA-F",
    "uuid": "0-9a-f-",
    "lower": "a-z0-9",
    "upper": "A-Z0-9",
    "code": "A-Z0-9-",
    "alnum": "A-Za-z0-9",
    "url": "A-Za-z0-9_-",
    "dotted": "A-Za-z0-9_.-",
    "b64": "A-Za-z0-9+/=",
    "padded": "A-Za-z0-9+/=_-",
    "path": "A-Za-z0-9/_@-",
    "azure": "A-Za-z0-9_~.-",
    "asana": "0-9/",
}
# No published token is longer; a minimum without a maximum ends here.
LONGEST_TOKEN = 2000
# A word that says what a secret is comes this close before it, or behind it.
BEFORE, BEHIND = 64, 40
# Letters and digits take turns in a token.
FEWEST_TURNS = 3
# A program's name comes this close before its flag.
COMMAND = 200
DIGIT = re.compile("[0-9]")
PART = re.compile(r"(\w+):([0-9]+)(?:(\+)|-([0-9]+))?")
VALUE = r"""[^\s"'`<>;,&|\\]"""


def _shape(shape: str) -> str:
    """The pattern of a shape; one of a given length ends where its characters do."""
    pattern, last = "", ""
    for text in shape.split():
        if part := PART.fullmatch(text):
            last = CHARACTERS[part[1]]
            least, is_open, most = part.group(2, 3, 4)
            # A minimum takes what there is, so that no text is read twice.
            length = f"{{{least},{LONGEST_TOKEN}}}+" if is_open else f"{{{least},{most or least}}}"
            pattern += f"[{last}]{length}"
        else:
            pattern, last = pattern + re.escape(text), "A-Za-z0-9"
    return pattern if pattern.endswith("+") else f"{pattern}(?![{re.sub('[/=%]', '', last)}])"


def _any(words: Iterable[str]) -> str:
    """The longest first: one may begin another."""
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))


def _grouped(words: Iterable[str]) -> str:
    """Any of the words. Those with one first letter are grouped: most positions end there."""
    starts = {
        letter: f"{re.escape(letter)}(?:{_any(word[1:] for word in group)})"
        for letter, group in groupby(sorted(words), key=lambda word: word[0])
    }
    return f"(?=[{re.escape(''.join(starts))}])(?:{'|'.join(starts.values())})"


# What follows each prefix.
PREFIXES = {
    prefix: re.compile(re.escape(prefix) + _shape(shape))
    for shape, prefixes in DATA["prefixes"].items()
    for prefix in prefixes
}
HEAD = re.compile(rf"(?<![A-Za-z0-9]){_grouped(PREFIXES)}")
# Shapes without a prefix: each with a text that is in it, or with the words that must be close by.
ANCHORED = [
    (
        max((part for part in shape.split() if not PART.fullmatch(part)), key=len),
        re.compile(rf"(?<![A-Za-z0-9]){_shape(shape)}"),
    )
    for shape in DATA["tokens"]["shapes"]
]
NEAR = [
    (re.compile(_any(words)), re.compile(rf"(?<![A-Za-z0-9]){_shape(shape)}"))
    for shape, words in DATA["near"].items()
]
NEAR_WORD = re.compile(_grouped({word for words in DATA["near"].values() for word in words}))
# What could be a token without a prefix.
RUN = re.compile(r"(?<![A-Za-z0-9_+/.~:-])[A-Za-z0-9_+/.~:-]{20,}+")
TURN = re.compile(r"(?<=[A-Za-z])[0-9]|(?<=[0-9])[A-Za-z]")


def tokens(text: str) -> Iterator[re.Match[str]]:
    at = 0
    while head := HEAD.search(text, at):
        match = PREFIXES[head[0]].match(text, head.start())
        at = match.end() if match else head.start() + 1
        if match:
            yield match
    for run in RUN.finditer(text):
        start, end = run.span()
        if end - start > LONGEST_TOKEN or len(TURN.findall(text, start, end)) < FEWEST_TURNS:
            continue
        window = f"{text[max(0, start - BEFORE) : start]}\n{text[end : end + BEHIND]}".lower()
        kinds = [regex for anchor, regex in ANCHORED if anchor in run[0]]
        if NEAR_WORD.search(window):
            kinds += [regex for words, regex in NEAR if words.search(window)]
        yield from filter(None, (regex.search(text, start, end) for regex in kinds))


@dataclass(frozen=True)
class Command:
    """Programs, and the flag behind which they take a password."""

    programs: re.Pattern[str]
    regex: re.Pattern[str]
    needs: tuple[str, ...]

    def matches(self, text: str) -> Iterator[re.Match[str]]:
        """Where a text calls one of the programs with a password; one without a digit is a word."""
        for match in self.regex.finditer(text):
            if DIGIT.search(match["secret"]) and self.is_called(match):
                yield match

    def is_called(self, match: re.Match[str]) -> bool:
        """Whether one of the programs is before the flag, in the same command."""
        start = max(0, match.start() - COMMAND)
        line = match.string[start : match.start()]
        return self.programs.search(re.split(r"[\n|;&]", line)[-1]) is not None


def _command(row: dict[str, Any]) -> Command:
    programs = "|".join(map(re.escape, row["programs"]))
    flags = "|".join(row["flags"])
    gap = "[:=]?" if row.get("is_joined") else "(?:[ \\t]{1,4}|=)"
    user = rf"""[^\s:%"'`<>|&;]{{1,64}}{row["user"]}""" if "user" in row else ""
    flag = rf"(?<![\w/-])(?:{flags}){gap}"
    regex = rf"""{flag}["']?{user}(?:pass:)?(?P<secret>{VALUE}{{4,200}}+)"""
    return Command(
        re.compile(rf"(?<![\w-])(?:{programs})(?![\w-])"),
        re.compile(regex),
        tuple(row["needs"])
        if "needs" in row
        else tuple(f" {flag.lower()}" for flag in row["flags"]),
    )


COMMANDS = [_command(row) for row in DATA["command"]]

NAMES: dict[str, list[str]] = DATA["names"]
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


@lru_cache(maxsize=4096)
def named(name: str) -> str:
    """What a name says of its value: password, secret, less surely vague or key, or nothing."""
    words = [word.lower() for word in WORD.findall(name)]
    while len(words) > 1 and (words[-1].isdigit() or words[-1] in NAMES["suffix"]):
        words.pop()
    joined = "".join(words)
    last = words[-1] if words else ""
    if last in NAMES["whole_password"] or joined.endswith(tuple(NAMES["password"])):
        return "password"
    if joined in ("token", "sid") or last in NAMES["whole_secret"]:
        return "vague"
    if joined.endswith(tuple(NAMES["secret"])):
        return "secret"
    if last not in NAMES["key"]:
        return ""
    is_variable = len(words) > 1 and name.isupper() and "_" in name
    return "vague" if is_variable else "key"
