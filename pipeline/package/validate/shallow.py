"""D3, the shallow baseline: a negative control that is there, and is shallow."""

from __future__ import annotations

from pipeline.files import UnreadableError
from pipeline.package.files import text_of
from pipeline.package.layout import Golden
from pipeline.package.reading import Reading, read
from pipeline.package.statements import statements
from pipeline.package.validate.check import Check, Rule, counted
from pipeline.package.validate.prose import n_words

MOST_SHARE = 0.6
PRESENT = Rule(
    "shallow.present",
    "shallow baseline",
    "Without a negative control nothing shows that the score tells a diagnosis from a metric dump.",
    "Write it with `blade make-shallow --input GOLDEN_REPORT --output <model>_shallow.md`.",
    "missing shallow baseline",
)
SHALLOW = Rule(
    "shallow.shallow",
    "shallow baseline is shallow",
    "A baseline with evidence or diagnosis in it is no negative control: calibration would fail.",
    "Write it again with `blade make-shallow`: headings and the aggregate tables, no more.",
)


def checks(golden: Golden, reading: Reading) -> list[Check]:
    """All checks of one baseline."""
    name = f"golden_reports/{golden.shallow.name}"
    try:
        text = text_of(golden.shallow)
    except UnreadableError as error:
        return [PRESENT.failed(f"{name} {error}", file=name)]
    shallow = read(text)
    if not any(section.title for section in shallow.sections):
        return [PRESENT.failed(f"{name} has no heading", file=name)]
    return [PRESENT.passed(name, file=name), _shallow(shallow, reading, name)]


def _shallow(shallow: Reading, golden: Reading, name: str) -> Check:
    cited = [each for each in statements(shallow) if each.citations]
    if cited:
        told = f"{name}:{cited[0].line} cites {cited[0].citations[0]}"
        return SHALLOW.failed(told, file=name, line=cited[0].line)
    n_own, n_golden = n_words(shallow), n_words(golden)
    told = f"{name}: {counted(n_own, 'word')}, the golden report has {n_golden:,}"
    if n_own > MOST_SHARE * n_golden:
        return SHALLOW.failed(told, file=name)
    return SHALLOW.passed(f"{told}; no citation", file=name)
