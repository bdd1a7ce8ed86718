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
    "hex": "0-9a-f",
    "HEXHEX": "0-9a-fA-F",
    "lower": "a-z0-9",
    "upper": "A-Z0-9",
    "alnum": "A-Za-z0-9",
    "word": "A-Za-z0-9_",
    "url": "A-Za-z0-9_-",
    "dotted": "A-Za-z0-9_.-",
    "b64": "A-Za-z0-9+/=",
    "padded": "A-Za-z0-9+/=_-",
    "percent": "A-Za-z0-9%",
    "path": "A-Za-z0-9/_@-",
    "azure": "A-Za-z0-9_~.-",
    "discord": "A-Za-z0-9_-",
    "asana": "0-9/",
}
# No published token is longer; a minimum without a maximum ends here.
LONGEST_TOKEN = 2000
PROVIDER = "provider-token"
# A word that says what a secret is comes this close before it, or behind it.
BEFORE, BEHIND = 64, 40
# Letters and digits take turns in a token.
FEWEST_TURNS = 3
# A program's name comes this close before its flag.
COMMAND = 200
DIGIT = re.compile("[0-9]")
PART = re.compile(r"(\w+):([0-9]+)(?:(\+)|-([0-9]+))?")
VALUE = r"""[^\s"'`<>;,&|\\]"""


@dataclass(frozen=True)
class Token:
    """A kind of token: its rule, its pattern, and the words that it needs close by."""

    rule: str
    regex: re.Pattern[str]
    prefixes: tuple[str, ...]
    anchor: str
    context: re.Pattern[str] | None

    def is_near(self, match: re.Match[str]) -> bool:
        """Whether a word that it needs is close by, if it needs one."""
        return self.context is None or is_close(self.context, match)


def is_close(words: re.Pattern[str], match: re.Match[str]) -> bool:
    """Whether one of the words is a little before a match, or behind it."""
    text = match.string
    if words.search(text, max(0, match.start() - BEFORE), match.start()):
        return True
    return words.search(text, match.end(), match.end() + BEHIND) is not None


def _length(least: str, is_open: str | None, most: str | None) -> str:
    if is_open:
        return f"{{{least},{LONGEST_TOKEN}}}+"
    return f"{{{least},{most}}}" if most else f"{{{least}}}"


def _body(body: str) -> str:
    """The pattern of a body: one of a given length ends where its characters do."""
    pattern, last = "", ""
    for text in body.split():
        if part := PART.fullmatch(text):
            last = CHARACTERS[part[1]]
            pattern += f"[{last}]{_length(*part.group(2, 3, 4))}"
        else:
            pattern, last = pattern + re.escape(text), "A-Za-z0-9"
    # A longer one takes what there is, so that no text is read twice.
    return pattern if pattern.endswith("+") else f"{pattern}(?![{re.sub('[/=%]', '', last)}])"


def _any(words: Iterable[str]) -> str:
    """The longest first: one may begin another."""
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))


def _token(row: dict[str, Any]) -> Token:
    prefixes = tuple(row.get("prefix", ()))
    context = row.get("context", ())
    return Token(
        row.get("rule", PROVIDER),
        re.compile(rf"(?<![A-Za-z0-9])(?:{_any(prefixes)}){_body(row['body'])}"),
        prefixes,
        row.get("anchor", ""),
        re.compile(_any(context), re.IGNORECASE) if context else None,
    )


TOKENS = [_token(row) for row in DATA["tokens"]]
RULE_OF = {token.regex: token.rule for token in TOKENS}
RULES = {*RULE_OF.values()}
WITH_PREFIX = [token for token in TOKENS if token.prefixes]
ANCHORED = [token for token in TOKENS if token.anchor]
CONTEXTUAL = [token for token in TOKENS if not token.prefixes and not token.anchor]
BY_PREFIX = {
    prefix: [each for each in WITH_PREFIX if prefix.startswith(each.prefixes)]
    for token in WITH_PREFIX
    for prefix in token.prefixes
}


def _grouped(words: Iterable[str]) -> str:
    """Any of the words. Those with one first letter are grouped: most positions end there."""
    starts = {
        letter: f"{re.escape(letter)}(?:{_any(word[1:] for word in group)})"
        for letter, group in groupby(sorted(words), key=lambda word: word[0])
    }
    return f"(?=[{re.escape(''.join(starts))}])(?:{'|'.join(starts.values())})"


HEAD = re.compile(rf"(?<![A-Za-z0-9]){_grouped(BY_PREFIX)}")
# The words of those that have nothing but a word, in lower case.
CONTEXT = re.compile(
    _grouped({w for row in DATA["tokens"] if "prefix" not in row for w in row.get("context", ())})
)
# What could be a token without a prefix.
RUN = re.compile(r"(?<![A-Za-z0-9_+/.~:-])[A-Za-z0-9_+/.~:-]{20,}+")
TURN = re.compile(r"(?<=[A-Za-z])[0-9]|(?<=[0-9])[A-Za-z]")


def tokens(text: str) -> Iterator[re.Match[str]]:
    """Tokens of all kinds; `RULE_OF` has the rule of a match's pattern."""
    at = 0
    while head := HEAD.search(text, at):
        at = head.start() + 1
        for token in BY_PREFIX[head[0]]:
            match = token.regex.match(text, head.start())
            if match and token.is_near(match):
                yield match
                at = match.end()
                break
    for run in RUN.finditer(text):
        start, end = run.span()
        if end - start > LONGEST_TOKEN or len(TURN.findall(text, start, end)) < FEWEST_TURNS:
            continue
        kinds = [token for token in ANCHORED if token.anchor in run[0]]
        window = text[max(0, start - BEFORE) : end + BEHIND].lower()
        kinds += CONTEXTUAL if CONTEXT.search(window) else ()
        for token in kinds:
            match = token.regex.search(text, start, end)
            if match and token.is_near(match):
                yield match


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
