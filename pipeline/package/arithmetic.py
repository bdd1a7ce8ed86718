"""What a report says twice or adds up itself: ratios, ranges, totals, shares of a whole, counts."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from .blocks import Block, Report, Span, masked, plain
from .findings import CONTRADICTED, JUDGED, Finding

WHOLE = r"\d{1,3}(?:,\d{3})+|\d{1,15}"
# `14 of 57 (24.6%)`
RATIO = re.compile(
    rf"(?<![\w.,:/#@^=&?$-])(?P<part>{WHOLE})(?:/|\s(?:out )?of\s(?:the |all |its )?)"
    rf"(?P<whole>{WHOLE})(?![\w/]|[.,]\d)(?P<noun>[^.;:|()\n\d%]{{0,60}})"
    r"(?:\((?P<percent>\d{1,3}(?:\.\d{1,9})?)\s?%(?P<more>[^()]{0,60})\))?"
)
# What makes the percentage one of something else; what is no part of a whole.
OTHER = re.compile(
    r"\b(?:of|interval|CI|confidence|pass@|pass\^|reward|rate|mean|from|vs|than)\b"
    r"|,? 9\d%|^ ?(?:to|–)"
)
NO_PART = re.compile(r"\b(?:best|top|first|last|any|k|choice|task|attempt|rollout)\s+\Z", re.I)
RANGE = re.compile(
    r"\bCI (?P<low>[+-]?\d+(?:\.\d+)?)(?P<unit>%?) to (?P<high>[+-]?\d+(?:\.\d+)?)(?P=unit)"
)
COUNT = re.compile(
    rf"[*_\s]*(?P<about>~|≈|about )?\s?(?P<part>{WHOLE})(?:\s?(?:/|of)\s?(?P<whole>{WHOLE}))?"
    r"(?:\s*\(\s*\d[\d.]*\s?%\s*\))?[*_\s]*"
)
TOTAL = re.compile(r"(?:grand )?(?:total|totals|sum|all|overall|together)\b.{0,30}")
NOTHING = re.compile(r"[-–—]?|nothing|n/a|none")
# Heads of columns of counts, and of those of which a sum means nothing or whose rows may overlap.
COUNTS = re.compile(
    r"(?:#|n|no\.?|counts?|number|rollouts?|failures?|occurrences?|attempts?|cases?|times)"
    r"(?: of .{0,30})?"
)
NO_SUM = re.compile(
    r"%|percent|share|rate|mean|median|average|avg|pass@|pass\^|reward|\bp\b|\bq\b|percentile|highest"
    r"|lowest|\bmax|\bmin|\bk\b|interval|\bci\b|gain|change|delta|rank|seconds|tokens|turns|runs?\b"
    r"|best|worst|scores?\b|distinct|unique|odds|ratio|points|reached"
)
OVERLAPPING = re.compile(r"mode|sign|check|symptom|finding")
SHARE_OF = re.compile(
    rf"(?:(?:%|percent|share)\s*(?:of|/)|\A\s*of)\s*(?:the |all )?(?P<whole>{WHOLE})\b"
)
# Sections where one name has several counts: those of runs side by side, those of files.
SEVERAL = re.compile(r"cross\b(?!-tab)|compar|versus|\bvs\b|artifact|inventory", re.I)
# Counts with a name: `### Simulation mismatches (1024 rollouts, ...`, `% of 1056 sim mismatches`,
# `all 75 lint failures are`; not of a part, as in `all 26 syntax errors in one category`.
TITLE_NAME = re.compile(
    rf"(?P<name>[A-Za-z][\w -]*) \((?P<count>{WHOLE}) (?:rollouts|attempts|failures|cases)\b"
)
HEAD_NAME = re.compile(rf"(?:%|percent|share) of (?P<count>{WHOLE}) (?P<name>[A-Za-z][\w -]*)")
PROSE_NAME = re.compile(
    rf"\ball (?P<count>{WHOLE}) (?P<name>(?:[a-z]+[ -]){{0,2}}[a-z]+s)\b"
    r"(?! (?:in|of|from|at|by|with|on|that|which|under|for|within|whose|where|to|and|or)\b|,)",
    re.IGNORECASE,
)
# `1,024 total rollouts`, `total rollouts: 1,024`
TOTAL_NAMES = tuple(
    re.compile(pattern + r"(?![\w/]|[.,]\d| of)", re.IGNORECASE)
    for pattern in (
        rf"\b(?P<count>{WHOLE})\s+(?P<name>(?:total|overall)\s+[a-z]+(?: [a-z]+)?)",
        rf"\b(?P<name>total\s+[a-z]+(?: [a-z]+)?)\s*(?::|is|was|=|\|)\s*(?P<count>{WHOLE})",
    )
)
# Heads of parts of a whole, and of columns that name kinds of failures.
PART_HEAD = re.compile(rf"\(of (?P<whole>{WHOLE})\)\Z")
KINDS = re.compile(r"mode|type|sign|symptom|error|category|failure|class")
ANY_FAILURE = frozenset("failure failed error check case rollout attempt task run all".split())
NEARLY_ALL, ROUGHLY, FEWEST_LETTERS = 0.95, 0.05, 4


@dataclass(frozen=True)
class Cell:
    """A cell of a table; a count or a part of a whole where `part` is known."""

    span: Span
    line: int
    text: str
    part: int | None = None
    whole: int | None = None
    is_about: bool = False
    # Whether the data verify a figure of it.
    is_known: bool = False

    @property
    def head(self) -> str:
        """The head of its column in plain small letters."""
        return plain(self.span.head).casefold()


Rows = list[list[Cell]]


def check(report: Report, verified_at: Sequence[int]) -> Iterator[Finding]:
    """All of a report; `verified_at` has the places, in order, of figures that the data verify."""
    tables: list[tuple[Block, Rows]] = []
    for block in report.blocks:
        for span in block.spans if block.kind != "heading" else ():
            yield from _ratios(report, span)
        if block.kind == "table":
            cells = [
                [_cell(report, span, verified_at) for span in row] for row in block.rows if row
            ]
            tables.append((block, cells))
            if len(cells) > 1:
                yield from _totals(cells)
                yield from _shares(block, cells)
    yield from _repeated(report, tables)


def _cell(report: Report, span: Span, verified_at: Sequence[int]) -> Cell:
    text = plain(re.sub(r"<!--.{0,2000}?-->", "", span.text)).casefold()
    line, place = report.line_at(span.start), bisect_left(verified_at, span.start)
    match = COUNT.fullmatch(masked(span.text).replace("\x01", ""))
    if match is None:
        return Cell(span, line, text)
    whole = _int(match["whole"]) if match["whole"] else None
    is_known = place < len(verified_at) and verified_at[place] < span.end
    return Cell(span, line, text, _int(match["part"]), whole, bool(match["about"]), is_known)


def _ratios(report: Report, span: Span) -> Iterator[Finding]:
    """`14 of 57 (24.6%)`: the part within the whole, the percentage their quotient."""
    seen = masked(span.text)
    for match in RANGE.finditer(seen):
        if float(match["low"]) > float(match["high"]):
            line, expected = report.line_at(span.start + match.start()), "the lower end first"
            yield Finding(line, CONTRADICTED, match[0], expected, "the text itself", "ratio")
    for match in RATIO.finditer(seen):
        part, whole = _int(match["part"]), _int(match["whole"])
        if NO_PART.search(seen, max(0, match.start() - 12), match.start()):
            continue
        line = report.line_at(span.start + match.start())
        claim = f"{match['part']} of {match['whole']}"
        if part > whole and match["noun"].startswith(" "):
            expected = f"at most {match['whole']}"
            yield Finding(line, CONTRADICTED, claim, expected, "the text itself", "ratio")
        elif match["percent"] and whole and not OTHER.search(match["noun"] + match["more"]):
            line = report.line_at(span.start + match.start("percent"))
            status, expected = _share(part, whole, match["percent"])
            claim = f"{claim} ({match['percent']}%)"
            yield Finding(line, status, claim, expected, "the text itself", "ratio")


def _share(part: int, whole: int, percent: str) -> tuple[str, str]:
    """Whether a percentage is that of a part, and what it would be."""
    decimals, share = len(percent.partition(".")[2]), 100 * part / whole
    is_right = abs(share - float(percent)) <= 0.5 * 10.0**-decimals + 1e-9
    return JUDGED[is_right], f"{share:.{decimals}f}%"


def _totals(rows: Rows) -> Iterator[Finding]:
    """The row that is called a total against the sum of the others."""
    named = [row for row in rows if _is_total(row)]
    parts = [row for row in rows if not _is_total(row)]
    if len(named) != 1 or len(parts) < 2 or named[0] not in (rows[0], rows[-1]):
        return
    for place, total in enumerate(named[0][1:], 1):
        is_tasks = total.head == "tasks" and OVERLAPPING.search(named[0][0].head)
        if total.part is None or total.is_known or is_tasks or NO_SUM.search(total.head):
            continue
        column = [row[place] for row in parts if place < len(row)]
        column = [cell for cell in column if not NOTHING.fullmatch(cell.text)]
        if len(column) < 2 or any(cell.part is None for cell in column):
            continue
        if {cell.whole is None for cell in column} != {total.whole is None}:
            continue
        is_about = any(cell.is_about for cell in (total, *column))
        sums = [(total.part, sum(cell.part or 0 for cell in column))]
        if total.whole is not None:
            sums.append((total.whole, sum(cell.whole or 0 for cell in column)))
        lines = f"the rows of the table, lines {column[0].line} to {column[-1].line}"
        for printed, summed in sums:
            is_right = abs(printed - summed) <= (ROUGHLY * summed if is_about else 0)
            claim = f"{total.span.head.strip()}: {printed:,}"
            yield Finding(total.line, JUDGED[is_right], claim, f"{summed:,}", lines, "total")


def _shares(block: Block, rows: Rows) -> Iterator[Finding]:
    """A column headed `% of 1056` beside one of counts: each share, and the sum of the counts."""
    heads = [plain(each).casefold() for each in block.heads]
    shares = [(n, match) for n, head in enumerate(heads) if (match := SHARE_OF.search(head))]
    counts = [n for n, head in enumerate(heads) if COUNTS.fullmatch(head)]
    if len(shares) != 1 or len(counts) != 1:
        return
    (place, match), whole = shares[0], _int(shares[0][1]["whole"])
    listed = []
    for row in (row for row in rows if len(row) > max(place, counts[0])):
        count = row[counts[0]]
        share = re.fullmatch(r"~?(\d{1,3}(?:\.\d{1,9})?)\s?%?", row[place].text)
        if count.part is None:
            continue
        if not _is_total(row):
            listed.append(count)
        if share and whole and not count.is_about:
            status, expected = _share(count.part, whole, share[1])
            claim = f"{count.part:,}: {share[1]}%"
            source = f"the head says of {match['whole']}"
            yield Finding(count.line, status, claim, expected, source, "total")
    summed = sum(count.part or 0 for count in listed)
    is_known = all(count.is_known for count in listed)
    # Rows may be a choice of the commonest: only a sum near the whole claims to be all of it, and
    # one more may belong to no row.
    if len(listed) > 1 and not is_known and NEARLY_ALL * whole < summed and abs(summed - whole) > 1:
        claim, source = f"% of {match['whole']}", "the sum of the rows"
        yield Finding(block.line, CONTRADICTED, claim, f"{summed:,}", source, "total")


def _repeated(report: Report, tables: list[tuple[Block, Rows]]) -> Iterator[Finding]:
    """One name with different counts: in tables of different sections, in headings, in prose."""
    groups: list[list[NamedCount]] = []
    figures = {token.value for block in report.blocks for token in block.tokens}
    for named in (*_listed(tables, figures), *_stated(report)):
        group = next((each for each in groups if _is_same_name(named.words, each[0].words)), None)
        if group is None:
            groups.append(group := [])
        group.append(named)
    for group in groups:
        uses = Counter(each.count for each in group)
        # What the data verify is right; else what is printed most often, else first.
        order = sorted(group, key=lambda each: (not each.is_known, -uses[each.count]))
        right = [each for each in order if each.count == order[0].count]
        for named in (each for each in group if each.count != right[0].count and not each.is_known):
            if model := next((each for each in right if _is_comparable(named, each)), None):
                claim, expected = f"{named.count:,}", f"{model.count:,}"
                source = f"line {model.line} says {model.count:,}: {model.name}"
                yield Finding(named.line, CONTRADICTED, claim, expected, source, "repeated")


@dataclass(frozen=True)
class NamedCount:
    """A count and what it is of, at one place of a report."""

    name: str
    count: int
    line: int
    path: tuple[str, ...]
    # The head above the name, of a row.
    head: str | None = None
    is_known: bool = False

    @property
    def words(self) -> frozenset[str]:
        """The name without words about failures in general, each word in the singular."""
        bare = re.sub(r"\([^()]*\)", " ", self.name.casefold())
        words = (re.sub(r"(?<=ch|sh)es\Z|s\Z", "", each) for each in re.findall(r"[a-z]{3,}", bare))
        names = frozenset(words)
        # Of a total it matters of what.
        return names if names & {"total", "overall"} else names - ANY_FAILURE


def _is_same_name(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two names have the same words, of which one may be cut: sim, simulation."""
    pairs = zip(sorted(one), sorted(other), strict=False)
    return len(one) == len(other) and all(a.startswith(b) or b.startswith(a) for a, b in pairs)


def _is_comparable(named: NamedCount, model: NamedCount) -> bool:
    """Two rows only below one head and not in like parts of sections, as those on two runs."""
    if named.head is None or model.head is None:
        return all(each.head is None or KINDS.search(each.head) for each in (named, model))
    is_alike = min(len(named.path), len(model.path)) > 1 and named.path[-1] == model.path[-1]
    return named.head == model.head and named.path[:1] != model.path[:1] and not is_alike


def _listed(tables: list[tuple[Block, Rows]], figures: Set[float | None]) -> Iterator[NamedCount]:
    """Rows with one count, or with one for each part of a whole that the report gives elsewhere."""
    for block, rows in tables:
        names = [row[0].text for row in rows]
        is_several = any(map(SEVERAL.search, block.path))
        wholes = [_int(match["whole"]) for head in block.heads if (match := PART_HEAD.search(head))]
        is_parted = len(wholes) > 1 and sum(wholes) in figures
        for row in rows if is_parted or not is_several else ():
            name = row[0].text
            wanted = PART_HEAD.search if is_parted else COUNTS.fullmatch
            cells = [cell for cell in row[1:] if wanted(cell.head)]
            is_count = len(cells) == (len(wholes) if is_parted else 1) and all(
                each.part is not None and not each.is_about for each in cells
            )
            is_name = len(re.findall(r"[a-z]", name)) >= FEWEST_LETTERS and names.count(name) == 1
            if is_name and is_count and not _is_total(row):
                count, is_known = sum(each.part or 0 for each in cells), cells[0].is_known
                yield NamedCount(name, count, cells[0].line, block.path, row[0].head, is_known)


def _stated(report: Report) -> Iterator[NamedCount]:
    """Counts with their names in headings, in heads of shares, and in prose on all of them."""
    for block in report.blocks:
        if any(map(SEVERAL.search, block.path)):
            continue
        texts: list[tuple[str, int, tuple[re.Pattern[str], ...]]] = [
            (head, block.line, (HEAD_NAME,)) for head in block.heads
        ]
        patterns = (TITLE_NAME,) if block.kind == "heading" else (PROSE_NAME, *TOTAL_NAMES)
        for row in filter(None, block.rows):
            text = " | ".join(plain(span.text) for span in row)
            texts.append((text, report.line_at(row[0].start), patterns))
        for text, line, wanted in texts:
            for match in (match for pattern in wanted for match in pattern.finditer(text)):
                named = NamedCount(match["name"], _int(match["count"]), line, block.path)
                if named.words:
                    yield named


def _is_total(row: list[Cell]) -> bool:
    return TOTAL.fullmatch(row[0].text) is not None


def _int(digits: str) -> int:
    return int(digits.replace(",", ""))
