"""A golden report with other numbers, or with its tasks and rollouts exchanged."""

from __future__ import annotations

import re

from pipeline import citation
from pipeline.package.numbers import FIGURE, FRACTION, NAMING
from pipeline.package.scoring.markdown import CODE, HEADING, fenced, outside_code
from pipeline.package.scoring.passages import report
from pipeline.package.scoring.vocabulary import SPELLED, SPELLED_WORD
from pipeline.package.statements import BARE_CITATION, TASK_NAMED

NAMES = list(SPELLED)


def numbers_perturbed(text: str) -> str:
    """Every figure one more, in its last digit or of its count; ids and code stay."""
    lines = []
    for line, is_fenced in fenced(text):
        is_kept = is_fenced or HEADING.match(line)
        lines.append(line if is_kept else outside_code(line, _perturbed))
    return "\n".join(lines)


def ids_swapped(text: str) -> str:
    """Each task under the name of the next one cited, wherever it is named."""
    tasks = dict.fromkeys(task for each in report(text).statements for task in each.tasks)
    order = list(tasks)
    if len(order) < 2:
        return _other_rollouts(text)
    following = dict(zip(order, order[1:] + order[:1], strict=True))
    return "\n".join(
        line if is_fenced else _swapped(line, following) for line, is_fenced in fenced(text)
    )


def _perturbed(piece: str) -> str:
    told = FRACTION.sub(_fraction, piece)
    told = FIGURE.sub(_figure, told)
    return SPELLED_WORD.sub(_spelled, told)


def _fraction(match: re.Match[str]) -> str:
    return f"{_more(match['part'])}/{_more(match['whole'])}"


def _figure(match: re.Match[str]) -> str:
    if NAMING.search(match.string[max(0, match.start() - 30) : match.start()]):
        return match[0]
    return f"{match['sign'] or ''}{_more(match['digits'])}{match['unit'] or ''}"


def _spelled(match: re.Match[str]) -> str:
    return NAMES[(NAMES.index(match[0].lower()) + 3) % len(NAMES)]


def _more(digits: str) -> str:
    """A number that is wrong and as likely: a tenth and one more."""
    plain = digits.replace(",", "")
    decimals = len(plain.partition(".")[2])
    value = float(plain) * 1.1 + 1
    return f"{value:,.{decimals}f}" if "," in digits else f"{value:.{decimals}f}"


def _swapped(line: str, following: dict[str, str]) -> str:
    pieces = CODE.split(line)
    told = [
        _swapped_code(piece, following) if place % 2 else _swapped_prose(piece, following)
        for place, piece in enumerate(pieces)
    ]
    return "".join(told)


def _swapped_code(span: str, following: dict[str, str]) -> str:
    inner = span[1:-1]
    cited = citation.parse(inner)
    if cited is not None and cited.task_id in following:
        start = len(cited.run_id) + 1
        end = start + len(cited.task_id)
        return f"`{inner[:start]}{following[cited.task_id]}{inner[end:]}`"
    return f"`{following.get(inner, inner)}`"


def _swapped_prose(piece: str, following: dict[str, str]) -> str:
    told = BARE_CITATION.sub(lambda match: _swapped_code(f"`{match[0]}`", following)[1:-1], piece)
    return TASK_NAMED.sub(lambda match: _renamed(match, following), told)


def _renamed(match: re.Match[str], following: dict[str, str]) -> str:
    return re.sub(r"[\w-]*\d[\w-]*", lambda name: following.get(name[0], name[0]), match[0])


def _other_rollouts(text: str) -> str:
    """With one task only, the next rollout of it."""
    return re.sub(
        r"(`[^`\n/]+/[^`\n]*:)(\d{1,9})((?:#\d+)?`)",
        lambda match: f"{match[1]}{int(match[2]) + 1}{match[3]}",
        text,
    )
