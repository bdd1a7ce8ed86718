"""What matters most in an analysis, a sentence a finding: the same for a page and a terminal."""

from __future__ import annotations

from collections.abc import Callable

from pipeline.report.figures import Figure, Row
from pipeline.report.sentences import METRICS, Voice, way
from pipeline.report.wording import ADVICE
from pipeline.text import one_line

# Words of a profile may be of any length.
LONGEST_TITLE = 60
SUSPECTS = {
    "TI": "the task or its verifier",
    "DA": "the data",
    "IR": "the infrastructure",
}


def sentence(row: Row, voice: Voice) -> str:
    """The finding in one sentence, with the denominator of every share."""
    return SENTENCES[row.kind](row, voice)


def _unscored(row: Row, voice: Voice) -> str:
    return (
        f"{voice.name(row.run_id)} has no scored rollout, {_recorded(row.n_total, voice)}: "
        f"nothing can be said of how well it does{_alike(row, voice)}."
    )


def _recorded(figure: Figure, voice: Voice) -> str:
    return f"{voice.count(figure)} recorded"


UNSETTLED = {
    "others": ", those of other runs beyond 0 and 1",
    "continuous": ", most of them high and hardly one 1",
}


def _unsettled(row: Row, voice: Voice) -> str:
    # What passes is settled for a benchmark, whichever run goes beyond 0 and 1.
    others = UNSETTLED.get(row.subject, "") if isinstance(row.subject, str) else ""
    return (
        f"What passes is not settled for {voice.name(row.run_id)}: its {voice.count(row.n_total)} "
        f"rewards go from {voice.number(row.low)} to {voice.number(row.high)}{others}, so a "
        f"pass_threshold is needed{_alike(row, voice)}."
    )


def _unknown(row: Row, voice: Voice) -> str:
    parts = []
    if row.n_tasks.value:
        parts.append(f"{_many(row.n_tasks, 'task', voice)} of other runs not in it")
    if row.n_concerned.value:
        parts.append(f"{_many(row.n_concerned, 'attempt', voice)} with failures only")
    return (
        f"Nothing says what was expected of {voice.name(row.run_id)}, with {' and '.join(parts)}: "
        f"its {_many(row.n_total, 'rollout', voice)} may be the easier part{_alike(row, voice)}."
    )


def _reported(row: Row, voice: Voice) -> str:
    differ = "differs" if row.n_concerned.value == 1 else "differ"
    return (
        f"{voice.count(row.n_concerned)} of {_many(row.n_total, 'figure', voice)} that "
        f"{voice.name(row.run_id)} reported of itself {differ} from its rows: "
        f"{voice.name(row.subject)} is {voice.number(row.value)} there, "
        f"{voice.number(row.ours)} by the rows{_alike(row, voice)}."
    )


def _change(row: Row, voice: Voice) -> str:
    is_rate = row.metric == "pass_at_1"
    told = voice.points if is_rate else voice.signed
    unit = " points" if is_rate else ""
    parts = [row.verdict] if isinstance(row.verdict, str) else []
    if row.low.value is not None:
        parts.append(f"95% interval for new tasks {told(row.low)} to {told(row.high)}")
    settled = f" ({'; '.join(parts)})" if parts else ""
    many = row.n_pairs.value or 0
    largest = (
        f", the largest settled change of {voice.count(row.n_pairs)} pairs" if many > 1 else ""
    )
    example = f", most at {voice.name(row.example)}" if isinstance(row.example, str) else ""
    return (
        f"{voice.name(row.run_id)} against {voice.name(row.base)}: {METRICS[row.metric]} "
        f"{way(row.value)} {told(row.value)}{unit}{settled} on "
        f"{_many(row.n_total, 'task', voice)} of both{largest}{example}."
    )


def _missing(row: Row, voice: Voice) -> str:
    are = "is" if row.n_concerned.value == 1 else "are"
    return (
        f"{voice.count(row.n_concerned)} of {_many(row.n_total, 'rollout', voice)} of "
        f"{voice.name(row.run_id)} {are} missing or unscored: its pass@1 of "
        f"{voice.percent(row.value)} could be anything from {voice.percent(row.low)} to "
        f"{voice.percent(row.high)}."
    )


def _suspect(row: Row, voice: Voice) -> str:
    causes = [f"{SUSPECTS[cause]} ({cause})" for cause in row.subject.split(", ")]
    return (
        f"{_share(row, 'failure', voice)}, at {_many(row.n_tasks, 'task', voice)}, may come from "
        f"{' or '.join(causes)} and not from the model{_such(row, voice)}."
    )


def _unhealthy(row: Row, voice: Voice) -> str:
    are = "is" if row.n_concerned.value == 1 else "are"
    return (
        f"{_share(row, 'rollout', voice)} {are} unhealthy whatever the reward{_such(row, voice)} "
        f"by {voice.name(row.subject)}."
    )


def _funnel(row: Row, voice: Voice) -> str:
    return (
        f"The largest loss of {voice.name(row.run_id)} before the verdict is at "
        f'"{voice.text(row.subject)}": {voice.count(row.n_concerned)} of '
        f"{_many(row.n_total, 'attempt', voice)} that came so far "
        f"({voice.percent(row.share)}){_such(row, voice)}."
    )


def _mode(row: Row, voice: Voice) -> str:
    title = voice.text(one_line(row.title, LONGEST_TITLE))
    have = "has" if row.n_concerned.value == 1 else "have"
    # What most failures have needs no such word.
    rank = "" if row.share.value > 0.5 else "; no mode is commoner"
    return (
        f"{_share(row, 'failure', voice)} {have} the mode {voice.text(row.subject)} ({title})"
        f"{_such(row, voice)}{rank}."
    )


def _unexplained(row: Row, voice: Voice) -> str:
    share = _share(row, "failure", voice)
    return f"No rule explains {share}{_such(row, voice)}: read some of them."


def _retries(row: Row, voice: Voice) -> str:
    passes = "passes" if row.n_concerned.value == 1 else "pass"
    return (
        f"Retries are worth up to {voice.points(row.value)} points to {voice.name(row.run_id)}: "
        f"{voice.count(row.n_concerned)} of {_many(row.n_total, 'task', voice)} {passes} only "
        f"sometimes (pass@1 {voice.percent(row.low)}, any pass {voice.percent(row.high)})"
        f"{_such(row, voice)}."
    )


def _recommendation(row: Row, voice: Voice) -> str:
    topic, _, subject = row.subject.partition("\t")
    advice = ADVICE[topic]
    if topic == "association":
        return (
            f"{advice.action}: attempts of {voice.name(row.run_id)} with {voice.name(subject)} "
            f"pass {voice.points(row.value).removeprefix('+')} points less often than others on "
            f"the same tasks (95% CI {voice.points(row.low).removeprefix('+')} to "
            f"{voice.points(row.high).removeprefix('+')}); {voice.count(row.n_concerned)} of "
            f"{_many(row.n_total, 'attempt', voice)} bear it{_such(row, voice)}."
        )
    return (
        f"{advice.action}: {_share(row, 'failure', voice)}, at "
        f"{_many(row.n_tasks, 'task', voice)}, {advice.about} {voice.name(subject)}"
        f"{_such(row, voice)}."
    )


def _share(row: Row, noun: str, voice: Voice) -> str:
    """`3 of 57 failures of a run (5.3%)`."""
    return (
        f"{voice.count(row.n_concerned)} of {_many(row.n_total, noun, voice)} of "
        f"{voice.name(row.run_id)} ({voice.percent(row.share)})"
    )


def _many(figure: Figure, noun: str, voice: Voice) -> str:
    return f"{voice.count(figure)} {noun}{'' if figure.value == 1 else 's'}"


def _such(row: Row, voice: Voice) -> str:
    return f", such as {voice.name(row.example)}" if isinstance(row.example, str) else ""


def _alike(row: Row, voice: Voice) -> str:
    """How many other runs the same holds for: they come far below."""
    if not row.n_alike.value:
        return ""
    return f"; so for {_many(row.n_alike, 'other run', voice)}"


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
