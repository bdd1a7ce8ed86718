"""Whether a section says something: words of its own, no filler, no sentence said before."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from pipeline.package.reading import Block, Reading, Section, Table
from pipeline.package.statements import sentences, stems

WORD = re.compile(r"[^\W_][\w'./-]*")
# Prompts that are quoted may speak of a todo list, or say "<your answer>".
FILLER = re.compile(
    r"\blorem ipsum\b|\b(?:TODO|TBD|FIXME|XXX+)\b(?! (?:list|item|app|comment))"
    r"|\bto be (?:written|filled in|completed|added)\b|\bplaceholder (?:text|section|only)\b"
    r"|\bcoming soon\b|(?<![\"'`])<(?:insert|fill in|your)\b[^>]*>"
    r"|\bwrite (?:this section|something) here\b"
)
BLANK = "is blank"


@dataclass(frozen=True)
class Substance:
    """How much a section says: words in sentences that stand nowhere before it, and filler."""

    n_words: int
    n_stems: int
    n_repeated: int
    filler: str

    def lack(self, least: int) -> str:
        """Why it says too little, in words; empty where it says enough."""
        if self.filler:
            return f'holds "{self.filler}"'
        repeated = f", {self.n_repeated} sentences repeat others" if self.n_repeated else ""
        if not self.n_words:
            return f"{BLANK}{repeated}"
        if self.n_words < least:
            return f"has {self.n_words} of at least {least} words{repeated}"
        if self.n_stems < least // 3:
            return f"has {self.n_words} words but only {self.n_stems} different ones"
        return ""


def substance(sections: Iterable[Section], seen: set[str], *, with_code: bool) -> Substance:
    """What sections say that is not in `seen`; their sentences are added to it."""
    n_words = n_repeated = 0
    kept: list[str] = []
    filler = ""
    for piece in (piece for section in sections for piece in _pieces(section, with_code)):
        found = FILLER.search(piece)
        filler = filler or (found[0] if found else "")
        plain = " ".join(WORD.findall(piece.lower()))
        if not plain:
            continue
        if plain in seen and len(plain.split()) > 3:
            n_repeated += 1
            continue
        seen.add(plain)
        kept.append(piece)
        n_words += len(plain.split())
    return Substance(n_words, len(stems(" ".join(kept))), n_repeated, filler)


def n_words(reading: Reading) -> int:
    """All words of a text, tables and code included."""
    return sum(len(WORD.findall(block.text)) for block in reading.blocks)


def _pieces(section: Section, with_code: bool) -> Iterable[str]:
    """Sentences, rows of tables, and the lines of fences where code counts."""
    for part in section.parts:
        if isinstance(part, Table):
            yield " | ".join(cell.text for cell in part.header)
            for row in part.rows:
                yield " | ".join(cell.text for cell in row.cells)
        elif part.kind == "fence":
            yield from part.text.splitlines() if with_code else ()
        else:
            yield from _sentences(part)


def _sentences(block: Block) -> Iterable[str]:
    for start, end in sentences(block):
        yield block.text[start:end]
