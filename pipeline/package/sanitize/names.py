"""Names that the policy calls private: in prose, in identifiers, in the names of files."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache

from pipeline.package.sanitize.values import Place

SEPARATORS = re.compile(r"[\s_.-]+")


@lru_cache(maxsize=64)
def pattern(names: tuple[str, ...]) -> re.Pattern[str] | None:
    """One pattern for all names, longest first; any separator may stand between their words."""
    spelled: dict[str, None] = {}
    for name in sorted(names, key=lambda name: (-len(name), name)):
        for words in _spellings(name):
            spelled[r"[\s_.\-]{0,4}".join(map(re.escape, words))] = None
    return re.compile("|".join(spelled), re.IGNORECASE) if spelled else None


def identity(name: str) -> str:
    """One text for all spellings of a name."""
    return SEPARATORS.sub(" ", unicodedata.normalize("NFC", name)).strip().casefold()


def listed(text: str, names: Sequence[str]) -> Iterator[Place]:
    """Where a name stands as a word, or as a part of an identifier."""
    found = pattern(tuple(names))
    if found is None:
        return
    at = 0
    while (match := found.search(text, at)) is not None:
        if _is_word(text, match.start(), match.end()):
            yield match.span()
            at = match.end()
        else:
            at = match.start() + 1


def _is_word(text: str, start: int, end: int) -> bool:
    return (start == 0 or _parts(text[start - 1], text[start])) and (
        end == len(text) or _parts(text[end - 1], text[end])
    )


def _parts(left: str, right: str) -> bool:
    """Whether a word may end between two characters: aB, a1 and 1a part, ab and AB do not."""
    if left.isalpha() and right.isalpha():
        return left.islower() and right.isupper()
    return not (left.isdigit() and right.isdigit())


def is_in_identifier(text: str, start: int, end: int) -> bool:
    """Whether more of a run's or a task's name stands beside it, or it is all there is."""
    before, after = text[:start][-1:], text[end : end + 2]
    if not before and not after:
        return True
    # A full stop or a dash ends a sentence, or goes on.
    is_followed = bool(re.match(r"[A-Za-z0-9_/]|[.-][A-Za-z0-9]", after))
    return is_followed or bool(re.match(r"[A-Za-z0-9_./=-]", before))


def first_words(names: Sequence[str]) -> tuple[str, ...]:
    """What must stand in a text, in lower case, for any of the names to be there."""
    return tuple(dict.fromkeys(words[0].lower() for name in names for words in _spellings(name)))


def _spellings(name: str) -> Iterator[list[str]]:
    """The words of a name, their accents as one letter and apart."""
    for form in ("NFC", "NFD"):
        yield [word for word in SEPARATORS.split(unicodedata.normalize(form, name)) if word]


def screen(names: Sequence[str]) -> str:
    """A pattern of bytes that matches wherever one of the names begins, as UTF-8 or escaped."""
    return "|".join("".join(map(_letter, word)) for word in first_words(names))


def _letter(letter: str) -> str:
    if letter.isascii():
        return re.escape(letter)
    spelled = []
    for form in dict.fromkeys((letter, letter.lower(), letter.upper(), letter.title())):
        units = form.encode("utf-16-be").hex()
        spelled.append("".join(f"\\x{byte:02x}" for byte in form.encode("utf-8", "replace")))
        spelled.append("".join(rf"\\+u{units[n : n + 4]}" for n in range(0, len(units), 4)))
    return f"(?:{'|'.join(spelled)})"
