"""Which quantity a number is meant to be, where its words leave no doubt."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pipeline.package.numbers import Number, Ratio
from pipeline.package.verify.passages import Passage, Piece
from pipeline.package.verify.totals import single

LINK = (
    r"\s*(?:[:=(]|,)?\s*(?:(?:is|are|was|were|of|at|stands at|equals|reaches|reached|comes to|"
    r"to be)"
    r"\s+)?(?:only |just |now |exactly )?"
)
# What makes another quantity of it, or less than a claim.
HEDGED = re.compile(
    r"\b(?:if|would|could|might|may|without|counted|dropped|at least|at most|up to|more than|"
    r"less than|"
    r"fewer than|over|about|around|roughly|nearly|almost|approximately|interval|standard error|"
    r"except|"
    r"excluding|remaining|rest|other|another|first|last|next|target|goal|should|expected to|any of|"
    r"when|where|whose|among|of these|of those|of them|their|its|each|every|per|only where|between|"
    r"twice|half|from|upper|lower|bound|worst|best|oracle|majority|baseline|previous|"
    r"earlier)\b|[<>~\u2248\u2264\u2265]",
    re.IGNORECASE,
)
# Of a run: the words that name a column, before the number, or after it.
BEFORE: Mapping[str, str] = {
    "pass_at_1": r"pass@1(?: score| rate)?",
    "pass_at_k": r"any[- ]pass(?: rate)?",
    "mean_reward": r"mean reward",
    "coverage": r"coverage",
    "consistency": r"consistency",
    "n_always_tasks": r"(?:tasks )?always(?:[- ]pass)?(?: tasks)?",
    "n_sometimes_tasks": r"sometimes(?:[- ]pass)?(?: tasks)?",
    "n_never_tasks": r"never(?:[- ]pass)?(?: tasks)?",
}
TASKS = r"(?:of (?:the |its )?\d+ )?(?:scored )?tasks?"
AFTER: Mapping[str, str] = {
    "pass_at_1": r"pass@1",
    "n_always_tasks": rf"always[- ]pass(?:ing)? tasks?|{TASKS} (?:that )?(?:always pass(?:es)?|"
    rf"pass(?:es)? "
    r"(?:always|every time|in every (?:scored )?attempt))",
    "n_sometimes_tasks": rf"(?:sometimes[- ]pass(?:ing)?|flaky) tasks?|{TASKS} (?:that )?(?:only )?"
    r"(?:pass(?:es)?(?: only)? (?:sometimes|in some)|sometimes pass(?:es)?|(?:are|is) flaky)",
    "n_never_tasks": rf"never[- ]pass(?:ing)? tasks?|{TASKS} (?:that )?(?:never pass(?:es)?|"
    r"pass(?:es)? (?:never|in none)|always fail(?:s)?|fail(?:s)? (?:every|in every|all) "
    r"(?:scored )?attempts?)",
    "n_scored": r"scored (?:rollouts|attempts)",
    "n_expected": r"expected (?:rollouts|attempts)",
    "n_scored_tasks": r"scored tasks",
    "n_failed": r"scored failures",
}
# Heads of columns by what the rows are: exact words of a head to the column meant.
HEADS: Mapping[str, Mapping[str, str]] = {
    "mode": {
        "rollouts|failures|count|n|attempts|cases|failed rollouts|occurrences|times": "n_rollouts",
        "tasks": "n_tasks",
        "share of failures|share|% of failures|%|of failures|percent": "share_of_failures",
    },
    "stage": {
        "reached|rollouts|count|n|rollouts reached|reach": "n_reached",
        "of all|share|reach rate|% of all|% of expected": "reach_rate",
        "of the stage before|step rate|of previous|conversion": "step_rate",
        "lost here|lost|dropped|drop-off": "n_lost",
    },
    "slice": {
        "tasks": "n_tasks",
        "rollouts scored|scored|scored rollouts": "n_scored",
        "passed|passes|passed rollouts": "n_passed",
        "pass@1|pass rate": "pass_at_1",
        "mean reward": "mean_reward",
        "always": "n_always",
        "sometimes": "n_sometimes",
        "never": "n_never",
        "missing": "n_missing",
    },
    "task": {
        "passed|passes|n passed": "n_passed",
        "scored|attempts|scored attempts|rollouts": "n_scored",
        "pass rate|pass@1": "pass_rate",
        "best reward": "max_reward",
        "failed|fails": "n_failed",
    },
    "cause": {
        "tasks|count|n": "n_tasks",
        "sometimes pass|sometimes": "n_sometimes",
        "never": "n_never",
        "missing": "n_missing",
        "curated": "n_curated",
        "strong": "n_strong",
        "moderate": "n_moderate",
        "weak": "n_weak",
    },
    "bucket": {"tasks|count|n|number": "n_tasks", "share|% of tasks|%": "task_rate"},
    "run": {
        "pass@1": "pass_at_1",
        "any pass": "pass_at_k",
        "tasks": "n_tasks",
        "tasks scored|scored tasks": "n_scored_tasks",
        "rollouts scored|scored rollouts": "n_scored",
        "always|always pass|always-pass tasks|always-pass": "n_always_tasks",
        "sometimes|sometimes pass|sometimes-pass tasks|sometimes-pass": "n_sometimes_tasks",
        "never|never pass|never-pass tasks|never-pass": "n_never_tasks",
        "missing|missing tasks": "n_missing_tasks",
        "coverage": "coverage",
        "mean reward": "mean_reward",
        "consistency": "consistency",
        "rollouts|recorded rollouts": "n_rollouts",
        "passed|passed rollouts": "n_passed",
        "failed|failed rollouts": "n_failed",
        "expected rollouts": "n_expected",
    },
}
# Rows whose first cell names the figure: "pass@1 | 44.0%".
FIGURE_ROWS: Mapping[str, str] = {
    **HEADS["run"],
    "total tasks|tasks expected|number of tasks": "n_tasks",
    "total rollouts|rollouts recorded": "n_rollouts",
    "expected rollouts|rollouts expected": "n_expected",
    "unscored rollouts|unscored": "n_unscored",
    "missing rollouts": "n_missing",
    "pass threshold": "pass_threshold",
    "retry value|worth of retries": "retry_value",
    "rollout pass rate": "rollout_pass_rate",
}
VALUE_HEADS = ("value", "figure", "count", "result", "score", "number", "")
WORD_HEADS = {
    kind: {name: column for names, column in heads.items() for name in names.split("|")}
    for kind, heads in HEADS.items()
}
WORD_ROWS = {name: column for names, column in FIGURE_ROWS.items() for name in names.split("|")}
BUCKET_WORDS = re.compile(
    r"(?P<bucket>always|sometimes|never|missing)(?:[- ]?pass(?:es|ing)?)?(?: tasks)?", re.IGNORECASE
)
AMOUNT_AFTER: Mapping[str, str] = {
    "n_turns": r"(?:agent |model )?turns?",
    "n_tool_calls": r"(?:tool |function )?calls",
    "n_tool_errors": r"tool errors?",
    "output_tokens": r"output tokens?",
    "input_tokens": r"input tokens?",
    "n_events": r"events",
}
PASS_RATIO = re.compile(
    r"\s*(?:scored |expected )?(?:attempts?|rollouts?|repeats?|tries|times)?(?: at (?:it|this "
    r"task))?,?\s*"
    r"(?P<word>pass(?:es|ed)?|succeeds?|fail(?:s|ed)?)\b(?![@^])",
    re.IGNORECASE,
)
RATIO_AFTER_VERB = re.compile(
    r"\b(?P<word>pass(?:es|ed)?|fail(?:s|ed)?|succeeds?) (?:only )?(?:in |on )?\Z", re.IGNORECASE
)
ATTEMPTS = re.compile(
    r"\s*(?:(?:scored |expected )?(?:attempts?|rollouts?|repeats?|tries|times)\b|[.,;:)|]|$|\()",
    re.IGNORECASE,
)
# What may be said of a whole: "14 of 21 scored tasks".
WHOLES = ("n_scored", "n_expected", "n_scored_tasks", "n_failed")
ATTEMPTS_NAMED = re.compile(r"\s*(?:failures?|attempts?|rollouts?|failed)\b")
CLAUSE_END = re.compile(r"[;:]\s|\.\s")
NAME = r"(?P<mode>[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)"
MODE_BEFORE = re.compile(
    rf"\b{NAME}\W{{0,2}}(?:\s*\((?:[A-Z]{{2}}(?:\+[A-Z]{{2}})*,\s*)?|:\s*|,\s+|\s+accounts for\s+|"
    r"\s+in\s+|\s+explains\s+|\s+is behind\s+|\s+with\s+)(?:only |another |the other )?\Z"
)
MODE_IN = re.compile(rf"{NAME}\W{{0,2}} in \Z")
MODE_AFTER = re.compile(
    r"\s(?:rollouts?|attempts?|failures?|cases?)?\s?(?:\([\d.]+%\)\s)?(?:are|is|have|has|bear|"
    r"show|end in|"
    rf"with|of)?\s?(?:the )?(?:primary )?(?:mode )?\W{{0,2}}{NAME}\b"
)
NOT_OF_MODE = re.compile(r"\s*(?:tasks?|runs?|turns?|calls?|points?|tokens?|of \d+ tasks?)\b")
_BEFORE = {column: re.compile(rf"\b(?:{words}){LINK}\Z", re.I) for column, words in BEFORE.items()}
_AFTER = {
    column: re.compile(rf"[\s-](?:{words})\b(?![@^])", re.I) for column, words in AFTER.items()
}
_AMOUNT = {column: re.compile(rf"\s(?:{words})\b", re.I) for column, words in AMOUNT_AFTER.items()}
LOOK_BACK = 48


@dataclass(frozen=True)
class Label:
    """What a number is said to be: a column of a row about something of a kind."""

    kind: str
    column: str
    # The mode, stage, slice or task; empty for a run.
    name: str


def of_sentence(piece: Piece, number: Number) -> str | None:
    """The column of a run's metrics that the words at a number name."""
    text = piece.block.text
    before = text[max(piece.start, number.start - LOOK_BACK) : number.start]
    is_whole = number.start in piece.wholes
    for column, pattern in _AFTER.items():
        # "12 scored failures" may be some of them, "12 of 45 scored failures" are of all.
        is_meant = column in WHOLES if is_whole else column != "n_failed"
        if is_meant and pattern.match(text, number.end, piece.end):
            return column
    if is_whole:
        return None
    for column, pattern in _BEFORE.items():
        match = pattern.search(before)
        if match and _fits(column, number):
            return column
    return None


def amount(piece: Piece, number: Number) -> str | None:
    """The measure of one rollout that the words after a number name."""
    if number.unit or number.is_signed:
        return None
    text = piece.block.text
    found = (
        column for column, pattern in _AMOUNT.items() if pattern.match(text, number.end, piece.end)
    )
    return next(found, None)


def of_mode(piece: Piece, number: Number, modes: frozenset[str]) -> str | None:
    """The failure mode whose count the words at a number give: `MODE (BI, 5)`, `5 have MODE`."""
    if number.is_signed or (number.decimals and not number.unit):
        return None
    text = piece.block.text
    before = MODE_BEFORE.search(text[max(piece.start, number.start - 90) : number.start])
    ratio = piece.ratio_at.get(number.start)
    if ratio is not None and (
        number == ratio.whole or not ATTEMPTS_NAMED.match(text, ratio.whole.end, piece.end)
    ):
        return None
    if before and before["mode"] in modes and not NOT_OF_MODE.match(text, number.end, piece.end):
        return before["mode"]
    after = MODE_AFTER.match(text, number.end, min(piece.end, number.end + 120))
    return after["mode"] if after and after["mode"] in modes else None


def is_hedged(piece: Piece, number: Number) -> bool:
    """Whether the sentence says something else than a plain figure."""
    text = piece.block.text
    before = text[max(piece.start, number.start - 90) : number.start]
    after = text[number.end : min(piece.end, number.end + 60)]
    clause = CLAUSE_END.split(before)[-1] + " " + CLAUSE_END.split(after)[0]
    return HEDGED.search(clause) is not None


def pass_ratio(piece: Piece, ratio: Ratio) -> bool | None:
    """Whether `N of M attempts` counts passes; none where it counts something else."""
    text = piece.block.text
    after = PASS_RATIO.match(text, ratio.whole.end, piece.end)
    before = RATIO_AFTER_VERB.search(
        text[max(piece.start, ratio.part.start - 20) : ratio.part.start]
    )
    if before and not after and not ATTEMPTS.match(text, ratio.whole.end, piece.end):
        return None
    match = after or before
    return None if match is None else match["word"].lower().startswith(("pass", "succ"))


def of_cell(passage: Passage, place: int, kinds: Mapping[str, frozenset[str]]) -> Label | None:
    """What a cell with one number is, by its row's name and its column's head."""
    if place == 0 or single(passage, place) is None:
        return None
    head = _plain(passage.pieces[place].head)
    first = passage.pieces[0].text.strip()
    bucket = BUCKET_WORDS.fullmatch(first)
    if bucket and head in WORD_HEADS["bucket"]:
        return Label("bucket", WORD_HEADS["bucket"][head], bucket["bucket"].lower())
    if _plain(first) in WORD_ROWS and (head in VALUE_HEADS or head in kinds["run"]):
        return Label("run", WORD_ROWS[_plain(first)], head if head in kinds["run"] else "")
    for kind, names in kinds.items():
        name = first if first in names else first.rpartition(": ")[2]
        if name in names and head in WORD_HEADS.get(kind, {}):
            if _is_other(kind, _plain(passage.pieces[0].head)):
                continue
            return Label(kind, WORD_HEADS[kind][head], name)
    return None


def _is_other(kind: str, first_head: str) -> bool:
    """Whether the head over a row's name says that it is of another kind."""
    if kind == "task":
        return first_head not in ("task", "task id")
    return ("cause" in first_head) != (kind == "cause") and kind in ("mode", "cause")


def _plain(text: str) -> str:
    return " ".join(text.replace("_", " ").replace("*", "").split()).casefold()


def _fits(column: str, number: Number) -> bool:
    is_count = column.startswith("n_")
    return (
        not (number.unit or number.decimals) if is_count else bool(number.unit or number.decimals)
    )
