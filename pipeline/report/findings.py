"""What matters most in an analysis, a sentence a finding: the same for a page and a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pipeline.report.figures import Figure, Row
from pipeline.report.sentences import METRICS, Voice
from pipeline.report.wording import ADVICE, cause
from pipeline.text import one_line

# Words of a profile may be of any length.
LONGEST_TITLE = 60
# Kinds whose sentence counts the other runs that it holds for.
OF_OTHERS = ("unscored", "unsettled", "unknown", "reported")


def sentence(row: Row, voice: Voice) -> str:
    """The finding in one sentence, with the denominator of every share."""
    return SENTENCES[row.kind](row, voice)


def foremost(ranked: Iterable[Row], most: int) -> list[Row]:
    """The first of them; what one says of other runs too is not said again of each."""
    told: list[Row] = []
    for row in ranked:
        if row.kind not in OF_OTHERS or all(row.kind != each.kind for each in told):
            told.append(row)
    return told[:most]


def _unscored(row: Row, voice: Voice) -> str:
    return f"{voice.name(row.run_id)} has no scored attempt{_alike(row, voice)}."


def _unsettled(row: Row, voice: Voice) -> str:
    return (
        f"{voice.name(row.run_id)} has no pass threshold: its {voice.count(row.n_total)} rewards "
        f"go from {voice.number(row.low)} to {voice.number(row.high)}{_alike(row, voice)}."
    )


def _unknown(row: Row, voice: Voice) -> str:
    parts = []
    if row.n_tasks.value:
        are = "is" if row.n_tasks.value == 1 else "are"
        parts.append(f"{_many(row.n_tasks, 'task', voice)} of other runs {are} not in it")
    if row.n_concerned.value:
        have = "has" if row.n_concerned.value == 1 else "have"
        parts.append(f"{_many(row.n_concerned, 'attempt', voice)} {have} failures only")
    return (
        f"What was expected of {voice.name(row.run_id)} is not recorded; {' and '.join(parts)}: "
        f"its score may be of the easier part{_alike(row, voice)}."
    )


def _reported(row: Row, voice: Voice) -> str:
    differ = "differs" if row.n_concerned.value == 1 else "differ"
    return (
        f"{voice.count(row.n_concerned)} of {_many(row.n_total, 'figure', voice)} that "
        f"{voice.name(row.run_id)} reported of itself {differ} from its rows: "
        f"{voice.name(row.subject)} is {voice.number(row.value)} there and "
        f"{voice.number(row.ours)} by the rows{_alike(row, voice)}."
    )


def _change(row: Row, voice: Voice) -> str:
    is_rate = row.metric == "pass_at_1"
    told = voice.points if is_rate else voice.signed
    interval = f" (95% CI {told(row.low)} to {told(row.high)})" if row.low.value is not None else ""
    said = f": {row.verdict}" if isinstance(row.verdict, str) else ""
    example = f", most on {voice.name(row.example)}" if isinstance(row.example, str) else ""
    return (
        f"{voice.name(row.run_id)} vs {voice.name(row.base)}: {METRICS[row.metric]} "
        f"{told(row.value)}{' points' if is_rate else ''}{interval} on "
        f"{_many(row.n_total, 'common task', voice)}{said}{example}."
    )


def _missing(row: Row, voice: Voice) -> str:
    are = "is" if row.n_concerned.value == 1 else "are"
    return (
        f"{voice.count(row.n_concerned)} of {_many(row.n_total, 'attempt', voice)} of "
        f"{voice.name(row.run_id)} {are} missing or unscored: pass@1, now "
        f"{voice.percent(row.value)}, lies between {voice.percent(row.low)} and "
        f"{voice.percent(row.high)}."
    )


def _suspect(row: Row, voice: Voice) -> str:
    causes = [f"the {voice.text(cause(name))}" for name in row.subject.split(", ")]
    return (
        f"{_share(row, 'failure', voice)} on {_many(row.n_tasks, 'task', voice)} may come from "
        f"{' or '.join(causes)}, not from the model{_such(row, voice)}."
    )


def _unhealthy(row: Row, voice: Voice) -> str:
    are = "is" if row.n_concerned.value == 1 else "are"
    return (
        f"{_share(row, 'attempt', voice)} {are} unhealthy, most by "
        f"{voice.name(row.subject)}{_such(row, voice)}."
    )


def _funnel(row: Row, voice: Voice) -> str:
    return (
        f"{voice.name(row.run_id)} loses most attempts before the verdict at "
        f'"{voice.text(row.subject)}": {voice.count(row.n_concerned)} of '
        f"{voice.count(row.n_total)} that came so far ({voice.percent(row.share)})"
        f"{_such(row, voice)}."
    )


def _mode(row: Row, voice: Voice) -> str:
    title = voice.text(one_line(row.title, LONGEST_TITLE))
    have = "has" if row.n_concerned.value == 1 else "have"
    return (
        f"{_share(row, 'failure', voice)} {have} the mode {voice.name(row.subject)} ({title})"
        f"{_such(row, voice)}."
    )


def _unexplained(row: Row, voice: Voice) -> str:
    return f"Nothing on record explains {_share(row, 'failure', voice)}{_such(row, voice)}."


def _retries(row: Row, voice: Voice) -> str:
    passes = "passes" if row.n_concerned.value == 1 else "pass"
    return (
        f"A perfect selector among the attempts of {voice.name(row.run_id)} would add "
        f"{voice.points(row.value).removeprefix('+')} points: {voice.count(row.n_concerned)} of "
        f"{_many(row.n_total, 'task', voice)} {passes} only sometimes{_such(row, voice)}."
    )


def _recommendation(row: Row, voice: Voice) -> str:
    topic, _, subject = row.subject.partition("\t")
    advice = ADVICE[topic]
    if topic == "association":
        return (
            f"{advice.action}: attempts of {voice.name(row.run_id)} with {voice.name(subject)} "
            f"pass {voice.points(row.value).removeprefix('+')} points less often than other "
            f"attempts at the same tasks (95% CI {voice.points(row.low).removeprefix('+')} to "
            f"{voice.points(row.high).removeprefix('+')}); {voice.count(row.n_concerned)} of "
            f"{_many(row.n_total, 'attempt', voice)} have it{_such(row, voice)}."
        )
    return (
        f"{advice.action}: {_share(row, 'failure', voice, is_by_task=True)} "
        f"{advice.about(row.n_concerned.value)} {voice.name(subject)}{_such(row, voice)}."
    )


def _share(row: Row, noun: str, voice: Voice, *, is_by_task: bool = False) -> str:
    """`3 of 57 failures of a run (5.3%)`, or `(5.3%, 2 tasks)`."""
    tasks = f", {_many(row.n_tasks, 'task', voice)}" if is_by_task else ""
    return (
        f"{voice.count(row.n_concerned)} of {_many(row.n_total, noun, voice)} of "
        f"{voice.name(row.run_id)} ({voice.percent(row.share)}{tasks})"
    )


def _many(figure: Figure, noun: str, voice: Voice) -> str:
    return f"{voice.count(figure)} {noun}{'' if figure.value == 1 else 's'}"


def _such(row: Row, voice: Voice) -> str:
    return f", for example {voice.name(row.example)}" if isinstance(row.example, str) else ""


def _alike(row: Row, voice: Voice) -> str:
    """How many other runs the same holds for: they come far below."""
    if not row.n_alike.value:
        return ""
    return f"; the same holds for {_many(row.n_alike, 'other run', voice)}"


SENTENCES: dict[str, Callable[[Row, Voice], str]] = {
    "unscored": _unscored,
    "unsettled": _unsettled,
    "unknown": _unknown,
    "reported": _reported,
    "change": _change,
    "missing": _missing,
    "suspect": _suspect,
    "unhealthy": _unhealthy,
    "funnel": _funnel,
    "mode": _mode,
    "unexplained": _unexplained,
    "recommendation": _recommendation,
    "retries": _retries,
}
