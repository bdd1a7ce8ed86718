"""Which signs are failure modes: verdicts left out, the rest tested together, then put in an order.

A mode is a group of signs that the same attempts bear, named by the one that says most. What the
record states of how an attempt ended is listed without a test. Every other description is tested
by max-T over the attempts of each run, every behaviour over the attempts at each task. The order
covers as many failures as it can.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from .max_t import max_t
from .repeats import beyond_single_tasks
from .score_parts import score_parts
from .signs import (
    LEVEL,
    NOTHING,
    Attempts,
    Integers,
    Numbers,
    Row,
    Sign,
    by_benchmark,
    candidates,
    contrast,
    first_place,
    groups,
    is_canned,
    is_nested,
    n_failing,
    of_failures,
    of_passes,
)
from .subsets import Flags, Subset, union

MOST_COUNTED = 3
LEAST_CONTRAST = 0.5
# Until what runs and tasks have of their own is taken from outcomes.
MOST_ROUNDS, LEAST_CHANGE = 50, 1e-9
# What harnesses call how an attempt ended, as is_end_name in sql/macros.sql.
END_NAME = re.compile(
    r"(^|[._])(error|exception|failure|termination|stop|exit|finish|end)"
    r"(_?(reason|message|msg|condition|mode|kind|type|status|details?|cause))?$",
    re.IGNORECASE,
)
WORDS_FOR_NOTHING = ("none", "null", "n/a")
# A harness may end every attempt so.
ENDS_ON_A_CALL = "is missing after the last tool call"
# Where the readers of harnesses put the score that is the reward, and all others beside it.
DECIDING, OTHER_SCORES = "score: ", "scores: "
DESCRIPTIONS = ("field", "check", "expected", "error", "answer")
YES_OR_NO = frozenset(
    "true false 0 1 0.0 1.0 pass passed fail failed success failure error correct incorrect yes no "
    "resolved unresolved".split()
)


@dataclass(frozen=True, eq=False)
class Mode:
    """A sign that is listed, why, and the other signs of its group; a child belongs to a parent."""

    sign: Sign
    reason: str
    members: tuple[str, ...] = ()
    p_adjusted: float | None = None
    parent: str | None = None


def same_as_score(signs: Sequence[Sign], attempts: Attempts) -> set[tuple[str, str]]:
    """The fields and checks that say the verdict again: they go with failing by definition."""
    values: dict[str, set[str]] = defaultdict(set)
    for sign in signs:
        if sign.kind in ("field", "explanation"):
            values[sign.name].add(sign.value.lower())
    of_passing = _n_with(signs, attempts.passes)
    of_failing = _n_with(signs, attempts.fails)
    has_passes = attempts.n_passes >= 3
    # Letters of which none is of passes and of failures are a grader's.
    mixed = {
        sign.name
        for sign in signs
        if sign.bears.count(attempts.passes) and sign.bears.count(attempts.fails)
    }
    codes = {
        name
        for name, words in values.items()
        if has_passes and name not in mixed and all(len(word) <= 2 for word in words)
        if of_passing[name] >= 0.9 * attempts.n_passes
        and of_failing[name] >= 0.9 * attempts.n_failures
    }
    # Of a column of words one was chosen as the pass: the column is the score.
    chosen = {
        sign.name.removeprefix(DECIDING).casefold()
        for sign in signs
        if sign.kind == "check" and sign.name.startswith(DECIDING)
    }
    fields = {
        sign.field
        for sign in signs
        if sign.kind == "field" and f"{sign.name} is {sign.value}".casefold() in chosen
    }
    n_of_runs: dict[Subset, int] = {}
    for sign in signs:
        if sign.kind not in ("field", "check", "explanation"):
            continue
        if sign.known not in n_of_runs:
            runs = np.unique(attempts.run[sign.known.places])
            n_of_runs[sign.known] = int(attempts.run_sizes[runs].sum())
        # A check that few attempts of its runs have is one test among many.
        if 2 * sign.known.size < n_of_runs[sign.known]:
            continue
        failing, passing = of_failures(sign, attempts), of_passes(sign, attempts)
        if sign.kind == "check" or sign.value.lower() in YES_OR_NO:
            is_same = failing >= 0.8 and passing <= 0.1
            is_same |= failing >= 0.5 and _n_unlike(sign, attempts) <= 0.01 * sign.known.size
            # Words of failures alone are their kinds.
            others = values[sign.name] - {sign.value.lower()}
            is_verdict = len(others) < 2 or not YES_OR_NO.isdisjoint(others)
            is_of_passes = has_passes and passing >= 0.9 and failing <= 0.1
            is_same |= sign.kind == "field" and is_verdict and is_of_passes
        elif sign.value in NOTHING:
            is_same = has_passes and failing >= 0.9 and passing == 0
        else:
            # Passes have another word of the field: it is written of every outcome.
            is_of_all = (
                len(values[sign.name]) <= 2 or of_passing[sign.name] >= 0.9 * attempts.n_passes
            )
            # Of few attempts that have it, words may go with the outcome by chance.
            n_known = min(
                outcome.count(sign.known) for outcome in (attempts.failing, attempts.passing)
            )
            is_same = n_known >= 3 and is_of_all and failing >= 0.9 and passing == 0
            # A word of all failures, beside other words of passes, is written by the outcome.
            n_with = min(of_failing[sign.name], of_passing[sign.name])
            is_of_failing = n_failing(sign, attempts) == of_failing[sign.name] and passing == 0
            is_same |= n_with >= 20 and is_of_failing and not END_NAME.search(sign.name)
            is_same |= sign.name in codes
        if is_same:
            fields.add(sign.field)
    return fields


def _n_with(signs: Sequence[Sign], outcome: Flags) -> dict[str, int]:
    """How many attempts of an outcome have each field, with any value."""
    counts: dict[str, int] = defaultdict(int)
    for sign in signs:
        if sign.kind in ("field", "explanation"):
            counts[sign.name] += sign.bears.count(outcome)
    return counts


def _n_unlike(sign: Sign, attempts: Attempts) -> int:
    """How many attempts bear it and pass, or fail without it."""
    n_both = sign.bears.count(attempts.failing.flags)
    return sign.bears.size + attempts.failing.count(sign.known) - 2 * n_both


def parts_of_score(signs: Sequence[Sign], attempts: Attempts) -> set[tuple[str, str]]:
    """Yes-or-no fields and checks of every attempt that hardly a pass fails: factors of the score.

    A field of the same object as one that repeats the verdict is a factor, too, and so is a number
    that multiplies or adds up to the reward. What is in an object with a factor may be a factor of
    some tasks alone.
    """
    objects = {_object(name) for kind, name in same_as_score(signs, attempts)} - {""}
    numbers = score_parts(attempts)
    parts = {
        sign.field
        for sign in signs
        if (sign.kind in ("field", "check") and sign.name.replace(": ", ".") in numbers)
        or sign.name in numbers
    } | {
        sign.field
        for sign in signs
        if (sign.kind == "check" or (sign.kind == "field" and sign.value.lower() in YES_OR_NO))
        and sign.known.size >= 0.9 * sign.known.n
        and attempts.n_passes >= 3
        and (of_failures(sign, attempts) >= 0.3 or _object(sign.name) in objects)
        and of_passes(sign, attempts) <= 0.02
    }
    objects = {_object(name) for kind, name in parts if kind == "field"} - {""}
    of_failing, of_passing = (
        _n_with(signs, outcome) for outcome in (attempts.fails, attempts.passes)
    )
    return parts | {
        sign.field
        for sign in signs
        if sign.kind == "field"
        and sign.value.lower() in YES_OR_NO
        and _object(sign.name) in objects
        and n_failing(sign, attempts) >= 0.3 * of_failing[sign.name]
        and of_passes(sign, attempts) == 0
        and of_passing[sign.name] >= 3
    }


def measures(signs: Sequence[Sign], attempts: Attempts) -> set[tuple[str, str]]:
    """Checks that decide nothing: other scores beside the one that does, and what passes fail too.

    What half of the passes fail is a penalty, or a score of which less is better.
    """
    is_decided = any(name.startswith(DECIDING) for _, name in same_as_score(signs, attempts))
    other_scores = {
        sign.field for sign in signs if sign.kind == "check" and sign.name.startswith(OTHER_SCORES)
    }
    return (other_scores if is_decided else set()) | {
        sign.field
        for sign in signs
        if sign.kind == "check"
        and 2 * sign.known.size >= sign.known.n
        and attempts.passing.count(sign.known) >= 4
        and of_passes(sign, attempts) >= 0.5
    }


def left_out(signs: Sequence[Sign], attempts: Attempts) -> set[tuple[str, str]]:
    """All fields and checks that say the score, or a part of it, again."""
    rules = (same_as_score, parts_of_score, measures)
    return set().union(*(rule(signs, attempts) for rule in rules))


def _object(name: str) -> str:
    """The object that a field or a check is in; none of the row itself."""
    source, colon, _ = name.partition(": ")
    return source if colon else name.rpartition(".")[0]


def terminal_fields(signs: Sequence[Sign], attempts: Attempts) -> list[list[Sign]]:
    """Fields whose few words partition the attempts: their values, what leans to failing first.

    The commonest word is the usual end, and leads only where no other leans.
    """
    if attempts.n_failures < 10 or attempts.n_passes < 3:
        return []
    values: dict[str, list[Sign]] = defaultdict(list)
    for sign in signs:
        if sign.kind == "field":
            values[sign.name].append(sign)
    fields = []
    for listed in values.values():
        is_words = not any(
            sign.value.lower() in YES_OR_NO or sign.value.startswith(("has ", "is "))
            for sign in listed
        )
        is_of_rollouts = any(sign.scope == "rollout" for sign in listed)
        if not (2 <= len(listed) <= 8 and is_words and is_of_rollouts):
            continue
        if (np.sum([sign.bears.flags for sign in listed], axis=0) == 1).mean() < 0.95:
            continue
        if _is_of_runs(listed, attempts):
            continue
        usual = max(listed, key=lambda sign: sign.bears.size)
        leaning = [
            sign
            for sign in listed
            if of_failures(sign, attempts) >= 1.25 * of_passes(sign, attempts)
            and n_failing(sign, attempts) >= max(3, 0.02 * attempts.n_failures)
        ]
        # Words that failures alone have are no usual end, however common.
        is_usual = usual.bears.count(attempts.passes) > 0
        leaning = [sign for sign in leaning if not (is_usual and sign is usual)] or leaning
        if leaning:
            lead = max(leaning, key=lambda sign: (n_failing(sign, attempts), sign.text))
            others = sorted(
                (sign for sign in listed if sign is not lead),
                key=lambda sign: (-n_failing(sign, attempts), sign.text),
            )
            fields.append([lead, *others])
    fields.sort(key=lambda listed: (-n_failing(listed[0], attempts), listed[0].text))
    chosen: list[list[Sign]] = []
    for listed in fields:
        if not any(is_nested(listed[0], other[0], 0.9) for other in chosen):
            chosen.append(listed)
    return chosen[:2]


def _is_of_runs(values: Sequence[Sign], attempts: Attempts) -> bool:
    """Whether nearly every attempt has the word of its run, and runs differ: a setting, no end."""
    n_runs = int(attempts.run.max()) + 1
    counts = np.array(
        [np.bincount(attempts.run[sign.bears.places], minlength=n_runs) for sign in values]
    )
    is_several = len(np.unique(counts.argmax(axis=0))) > 1
    return is_several and bool(counts.max(axis=0).sum() >= 0.9 * counts.sum())


def modes(signs: Sequence[Sign], attempts: Attempts) -> list[Mode]:
    """The modes of a benchmark in their order, with their children behind each."""
    if not attempts.n_failures:
        return []
    out = left_out(signs, attempts)
    signs = [sign for sign in signs if sign.field not in out]
    signs = _without_usual_words(signs, attempts)
    listed = [
        Mode(sign, "profile")
        for sign in signs
        if sign.kind == "profile" and n_failing(sign, attempts)
    ]
    ungraded = [sign for sign in signs if sign.kind == "ungraded" and n_failing(sign, attempts)]
    ungraded.sort(key=lambda sign: (-n_failing(sign, attempts), sign.text))
    listed += [Mode(sign, "ungraded", members) for sign, members in groups(ungraded)]
    listed += _stated_of_all(signs, attempts)
    ends = terminal_fields(signs, attempts)
    for values in ends:
        listed.append(Mode(values[0], "terminal"))
        listed += [Mode(sign, "terminal", parent=values[0].text) for sign in values[1:]]
    ended = {values[0].field for values in ends}
    signs = [sign for sign in signs if sign.field not in ended]
    ungraded = [mode.sign for mode in listed if mode.reason == "ungraded"]
    limits = _limits(signs, attempts, [values[0] for values in ends], ungraded)
    # What every attempt of a run ends at, or many passes, explains less than what comes before.
    usual = [mode for mode in limits if mode.reason == "counted"]
    listed += [mode for mode in limits if mode not in usual]
    listed += _recorded_errors(signs, attempts, listed)
    signs = [sign for sign in signs if not _is_recorded_error(sign)]
    listed += _descriptions(signs, attempts, listed)
    return listed + usual + _behaviours(_of_graded(signs), attempts)


def _of_graded(signs: Sequence[Sign]) -> list[Sign]:
    """The signs as far as attempts were graded: who broke down left out every call after it."""
    broken = [sign.bears for sign in signs if sign.kind == "ungraded"]
    if not broken:
        return list(signs)
    graded = ~union(broken).flags
    known = {some: some & graded for some in dict.fromkeys(sign.known for sign in signs)}
    return [replace(sign, bears=sign.bears & graded, known=known[sign.known]) for sign in signs]


def _limits(
    signs: Sequence[Sign], attempts: Attempts, ends: Sequence[Sign], ungraded: Sequence[Sign]
) -> list[Mode]:
    """Recorded limits, and numbers at which several attempts end; not what an end says already.

    Where those at a limit have no grade, they are counted as a part of the attempts without one.
    """
    limits = [
        sign
        for sign in signs
        if sign.kind == "limit"
        and n_failing(sign, attempts) >= _least_at_limit(sign, attempts)
        and _is_of_failures(sign, attempts)
        and not any(is_nested(sign, end, 0.7) for end in ends)
    ]
    limits.sort(key=lambda sign: (-n_failing(sign, attempts), of_passes(sign, attempts), sign.text))
    listed: list[Mode] = []
    for sign, members in groups(limits):
        if any(is_nested(sign, mode.sign, 0.7) for mode in listed):
            continue
        if not any(is_nested(sign, other, 0.9) for other in ungraded):
            is_usual = sign.scope == "run" and sign.name == "turns"
            is_usual |= contrast(sign, attempts) < LEAST_CONTRAST
            listed.append(Mode(sign, "counted" if is_usual else "limit", members))
    return listed


def _stated_of_all(signs: Sequence[Sign], attempts: Attempts) -> list[Mode]:
    """Why attempts ended or failed, where all say the same and none passes: the first thing to say.

    Other fields that all attempts have alike are no signs.
    """
    if attempts.n_passes or attempts.n_failures < 2:
        return []
    stated = [sign for sign in signs if sign.kind == "field" and sign.bears.size == sign.bears.n]
    stated.sort(key=lambda sign: (-len(sign.value), sign.text))
    return [Mode(sign, "recorded", members) for sign, members in groups(stated)]


def _is_recorded_error(sign: Sign) -> bool:
    return sign.kind == "error" and sign.value == "recorded"


def _recorded_errors(
    signs: Sequence[Sign], attempts: Attempts, before: Sequence[Mode]
) -> list[Mode]:
    """Fields of the rows that hold an error in some failures and hardly a pass, with the errors.

    An error in most failures is how their verdict is put, where others pass. Attempts without a
    grade and those at limits often have one, and are listed already.
    """
    covered = _covered(before, attempts)
    recorded = [
        sign
        for sign in signs
        if _is_recorded_error(sign)
        and n_failing(sign, attempts) >= 2
        and (of_failures(sign, attempts) < 0.8 or attempts.n_passes == 0)
        and contrast(sign, attempts) >= 0.5
        and not any(is_nested(sign, mode.sign, 0.7) for mode in before)
        and (sign.bears & attempts.fails).count(covered) < 0.9 * n_failing(sign, attempts)
    ]
    recorded.sort(key=lambda sign: (-n_failing(sign, attempts), sign.text))
    listed: list[Mode] = []
    for sign, members in groups(recorded):
        if any(is_nested(sign, mode.sign, 0.7) for mode in listed):
            continue
        parts = _kinds_of_error(sign, signs, attempts)
        listed.append(Mode(sign, "recorded", members))
        listed += [Mode(other, "part", parent=sign.text) for other in parts[:3]]
    return listed + _rest_of_ends(signs, attempts, [*before, *listed])


def _kinds_of_error(field: Sign, signs: Sequence[Sign], attempts: Attempts) -> list[Sign]:
    """The errors of a field, the most frequent first."""
    kinds = [
        sign
        for sign in signs
        if sign.kind == "error" and sign.name == field.name and not _is_recorded_error(sign)
    ]
    return sorted(kinds, key=lambda sign: (-n_failing(sign, attempts), sign.text))


def _rest_of_ends(signs: Sequence[Sign], attempts: Attempts, before: Sequence[Mode]) -> list[Mode]:
    """Errors of graded attempts in a field that holds the ends of those listed already.

    A field with the error of attempts that have no grade, or met a limit, is where a harness says
    what ended them: its other errors are such ends as well.
    """
    ended = [mode.sign.bears for mode in before if mode.reason in ("ungraded", "limit")]
    if not ended:
        return []
    is_ended = union(ended).flags
    others: list[Sign] = []
    for field in signs:
        kinds = _kinds_of_error(field, signs, attempts) if _is_recorded_error(field) else []
        if any(sign.bears.count(is_ended) >= 0.9 * sign.bears.size for sign in kinds):
            others += kinds
    others.sort(key=lambda sign: (-n_failing(sign, attempts), sign.text))
    listed: list[Mode] = []
    for sign in others:
        # Two fields may name one error.
        is_listed = any(
            sign.text == mode.sign.text or is_nested(sign, mode.sign, 0.7)
            for mode in (*before, *listed)
        )
        if (
            n_failing(sign, attempts) >= 2
            and of_failures(sign, attempts) < 0.8
            and contrast(sign, attempts) >= 0.5
            and not is_listed
        ):
            listed.append(Mode(sign, "recorded"))
    return listed


def _is_of_failures(sign: Sign, attempts: Attempts) -> bool:
    """More failures than passes reach it, also within the runs that have both.

    A limit that every attempt of a run reaches, passes too, decides nothing in it.
    """
    excesses = []
    for run in np.unique(attempts.run[sign.bears.places]):
        failing, passing = (
            (attempts.run == run) & each for each in (attempts.fails, attempts.passes)
        )
        n_fails, n_passes = int(failing.sum()), int(passing.sum())
        if n_fails and n_passes:
            weight = n_fails * n_passes / (n_fails + n_passes)
            shares = sign.bears.count(failing) / n_fails, sign.bears.count(passing) / n_passes
            excesses.append(weight * (shares[0] - shares[1]))
    return contrast(sign, attempts) > 0 and (not excesses or sum(excesses) > 0)


def _least_at_limit(sign: Sign, attempts: Attempts) -> int:
    """A recorded limit is listed for one attempt; a largest number may be one by chance."""
    return 1 if sign.name == "recorded limit" or attempts.has_few_failures else 2


def _descriptions(signs: Sequence[Sign], attempts: Attempts, before: Sequence[Mode]) -> list[Mode]:
    """Signs that failures bear and passes do not: first what adds most to those listed before."""
    # Nothing varies in a run whose every answer is empty, and yet it must be listed.
    of_whole_runs = [
        sign
        for sign in signs
        if sign.scope == "run"
        and sign.kind in ("answer", "error", "explanation")
        # What all attempts state is listed by its field.
        and not any(mode.sign.name == sign.name for mode in before if mode.reason == "recorded")
        # One attempt alone is a run, too.
        and n_failing(sign, attempts) >= 2
        and not sign.bears.count(attempts.passes)
        # What all passes would bear too is usual; without a pass an error is what there is to say.
        and (
            sign.value in NOTHING
            or sign.bears.size < sign.bears.n
            or (attempts.n_passes == 0 and sign.value != ENDS_ON_A_CALL)
        )
    ]
    is_few = attempts.has_few_failures
    # The words for few failures are soon those of all.
    kinds = (*DESCRIPTIONS, "call" if is_few else "explanation")
    described = candidates(signs, attempts, kinds)
    p_values: dict[Sign, float] = {}
    if is_few:
        in_passes = {
            sign.name
            for sign in signs
            if sign.kind == "field"
            and sign.value not in NOTHING
            and sign.value.lower() not in WORDS_FOR_NOTHING
            and sign.bears.count(attempts.passes)
        }
        passing = [
            sign
            for sign in described
            if _is_common(sign, attempts) and not _is_category(sign, in_passes, attempts)
        ]
    else:
        adjusted = max_t(described, attempts.run, attempts.fails)
        p_values = dict(zip(described, map(float, adjusted), strict=True))
        passing = [
            sign
            for sign, p_value in p_values.items()
            if p_value < LEVEL
            and n_failing(sign, attempts) >= 3
            and attempts.n_tasks(sign.bears & attempts.fails) >= 2
            and contrast(sign, attempts) >= _least_contrast(sign)
        ]
        passing = _where_recorded(passing, signs, attempts)
        passing = beyond_single_tasks(passing, attempts)
    listed_before = [mode.sign for mode in before if mode.parent is None]
    remaining = [
        one
        for one in groups([*of_whole_runs, *passing])
        if not any(is_nested(one[0], sign, 1.0 if is_few else 0.7) for sign in listed_before)
    ]
    remaining = _without_later_errors(remaining, attempts)
    untested = {*of_whole_runs, *_written_of_failures(passing, signs, attempts)}
    covered = _covered(before, attempts)
    least_new = 0 if is_few else max(3, 0.02 * attempts.n_failures)
    # Of few failures each sign is shown, however much it has in common with others.
    most_nested = np.inf if is_few else 0.7
    listed: list[Mode] = []
    while remaining and not (is_few and len(listed) == MOST_COUNTED):
        best = max(remaining, key=lambda one: (_gain(one[0], attempts, covered), _tie(one[0])))
        sign, members = best
        if (sign.bears - covered).count(attempts.fails) < least_new:
            break
        is_tested = not is_few and sign not in untested
        p_value = p_values.get(sign) if is_tested else None
        listed.append(Mode(sign, "tested" if is_tested else "counted", members, p_value))
        covered[sign.bears.places] = True
        failing = replace(sign, bears=sign.bears & attempts.fails)
        nested = [
            one
            for one in remaining
            if is_nested(replace(one[0], bears=one[0].bears & attempts.fails), failing, most_nested)
        ]
        remaining = [one for one in remaining if one is not best and one not in nested]
        listed += _parts(sign, nested, attempts)
    return listed


def _where_recorded(
    chosen: Sequence[Sign], signs: Sequence[Sign], attempts: Attempts
) -> list[Sign]:
    """Those that also set failures apart among the attempts that have the field.

    Where some passes have it, attempts with the field are what reports count the sign in: a field
    that failures have more often says nothing of its values.
    """
    values: dict[tuple[str, str], list[Subset]] = defaultdict(list)
    for sign in signs:
        values[sign.field].append(sign.bears)
    apart = []
    for sign in chosen:
        having = union(values[sign.field])
        is_of_attempts = sign.kind == "field" and 10 * having.count(attempts.passes) >= max(
            attempts.n_passes, 1
        )
        among = replace(sign, known=having) if is_of_attempts else sign
        if sign.value in NOTHING or contrast(among, attempts) >= LEAST_CONTRAST:
            apart.append(sign)
    return apart


def _written_of_failures(
    chosen: Sequence[Sign], signs: Sequence[Sign], attempts: Attempts
) -> list[Sign]:
    """Values of fields that nearly all failures have and no pass: no test can be about these."""
    values: dict[tuple[str, str], list[Subset]] = defaultdict(list)
    for sign in signs:
        values[sign.field].append(sign.bears)
    return [
        sign
        for sign in chosen
        if sign.kind == "field"
        and (having := union(values[sign.field])).count(attempts.fails) >= 0.9 * attempts.n_failures
        and not having.count(attempts.passes)
    ]


def _covered(listed: Sequence[Mode], attempts: Attempts) -> Flags:
    """The attempts that bear one of these modes."""
    covered = np.zeros(len(attempts.fails), dtype=bool)
    for mode in listed:
        if mode.parent is None:
            covered[mode.sign.bears.places] = True
    return covered


def _without_usual_words(signs: Sequence[Sign], attempts: Attempts) -> list[Sign]:
    """Without texts that several tasks get, where passes are answered with such texts as well.

    Then the words only say how an attempt came out.
    """
    canned = [sign for sign in signs if is_canned(sign)]
    if not canned:
        return list(signs)
    bears = union(sign.bears for sign in canned)
    is_usual = contrast(replace(canned[0], bears=bears), attempts) < LEAST_CONTRAST
    return [sign for sign in signs if not (is_usual and is_canned(sign))]


def _without_later_errors(
    listed: Sequence[tuple[Sign, tuple[str, ...]]], attempts: Attempts
) -> list[tuple[Sign, tuple[str, ...]]]:
    """Without errors that follow, in most failures that have them, others that these have too."""
    earlier: list[Sign] = []
    later: set[Sign] = set()
    errors = [sign for sign, _ in listed if sign.kind == "error"]
    for sign in sorted(errors, key=lambda sign: (first_place(sign), sign.text)):
        failing = (sign.bears & attempts.fails).places
        shared, after = np.zeros((2, len(failing)), dtype=bool)
        for other in earlier:
            if sign.first is not None and other.first is not None:
                shared |= other.bears.has(failing)
                after |= other.first.at(failing) < sign.first.at(failing)
        if shared.sum() >= 0.9 * len(failing) and 2 * after.sum() > len(failing):
            later.add(sign)
        else:
            earlier.append(sign)
    return [one for one in listed if one[0] not in later]


def _tie(sign: Sign) -> tuple[int, str]:
    """Of signs that cover as much, the commoner and then any fixed one."""
    return sign.bears.size, sign.text


def _parts(
    sign: Sign, nested: Sequence[tuple[Sign, tuple[str, ...]]], attempts: Attempts
) -> list[Mode]:
    """What a mode of more than a third of the failures is mostly made of, three at most."""
    if 3 * n_failing(sign, attempts) < attempts.n_failures:
        return []
    inside = [
        other
        for other, _ in nested
        if other is not sign and _is_part(other, sign) and _is_of_some(other, sign, attempts)
        # What hardly any of them have is no part of them.
        if 10 * n_failing(other, attempts) >= n_failing(sign, attempts)
    ]
    inside.sort(key=lambda other: (-n_failing(other, attempts), other.text))
    listed: list[Mode] = []
    for other in inside:
        if len(listed) < 3 and not any(is_nested(other, part.sign, 0.7) for part in listed):
            bears = other.bears & sign.bears
            listed.append(Mode(replace(other, bears=bears), "part", parent=sign.text))
    return listed


def _is_of_some(other: Sign, sign: Sign, attempts: Attempts) -> bool:
    """Whether a failure of the mode is known not to have the part.

    Of a check that only some have and all of these fail, the count would be of who has it.
    """
    inside = sign.bears & attempts.fails & other.known
    return inside.n_shared(other.bears) < inside.size


def _is_part(other: Sign, sign: Sign) -> bool:
    """Of expected calls only what is about the same tool, or of a change in the same sense."""
    if sign.kind != "expected" or other.kind != "expected":
        return True
    if sign.name != "a change":
        return other.name == sign.name
    is_same_sense = other.value.startswith("called") == sign.value.startswith("made")
    # No other sign is a missing call that changes something.
    return is_same_sense and is_nested(other, sign, 1.0)


def _is_common(sign: Sign, attempts: Attempts) -> bool:
    """In a small folder: most failures bear it, hardly a pass does."""
    return (
        n_failing(sign, attempts) >= max(2, 0.4 * attempts.n_failures)
        and contrast(sign, attempts) >= max(0.8, _least_contrast(sign))
        and of_passes(sign, attempts) <= 0.1
        # Without a pass nothing says whether a call or a flag goes with failing.
        and (attempts.n_passes > 0 or sign.kind in ("field", "error", "answer"))
        and (sign.kind != "call" or min(n_failing(sign, attempts), attempts.n_passes / 2) >= 3)
        and (attempts.n_passes > 0 or sign.value.lower() not in YES_OR_NO)
    )


def _is_category(sign: Sign, in_passes: Collection[str], attempts: Attempts) -> bool:
    """Whether a word may only say which kind of task it is: passes have others, or there is none.

    A few attempts show nothing else. Several words, what only failures have, and what harnesses
    call so, say how an attempt ended.
    """
    is_word = (
        sign.kind == "field"
        and " " not in sign.value
        and sign.value.lower() not in YES_OR_NO
        and not END_NAME.search(sign.name)
    )
    return is_word and (sign.name in in_passes or attempts.n_passes == 0)


def _least_contrast(sign: Sign) -> float:
    """A call that nobody expected may be one that only reads."""
    return 0.9 if sign.value == "called, not expected" else LEAST_CONTRAST


def _gain(sign: Sign, attempts: Attempts, covered: Flags) -> float:
    n_new = (sign.bears - covered).count(attempts.fails)
    return n_new * max(contrast(sign, attempts), 0.0) ** 2


def _behaviours(signs: Sequence[Sign], attempts: Attempts) -> list[Mode]:
    """Calls that failures and passes at one and the same task make unequally often, two at most."""
    if attempts.has_few_failures:
        return []
    # Where no run repeats a task, its attempts by several runs are compared.
    pairs = attempts.run * (attempts.task.max() + 1) + attempts.task
    strata = np.unique(pairs, return_inverse=True)[1]
    outcome: Flags | Numbers = attempts.fails
    if np.bincount(strata).max() == 1:
        strata = np.unique(attempts.task, return_inverse=True)[1]
        # A run may call more, and fail more for other reasons.
        outcome = _beyond_run_and_task(attempts.fails, attempts.run, strata)
        # Where it is known which calls a task expects, those say more.
        if np.bincount(strata).max() == 1 or any(sign.kind == "expected" for sign in signs):
            return []
    calls = candidates(signs, attempts, ("call",))
    # Where tasks have tools and no pass calls any, every call says that the attempt failed.
    called = [sign.bears for sign in signs if sign.kind == "call"]
    if len(called) > 1 and not union(called).count(attempts.passes):
        return []
    never = [
        replace(
            sign, value="never called", text=f"never {sign.text}", bears=sign.known - sign.bears
        )
        for sign in calls
    ]
    tested = [*calls, *never]
    p_values = dict(zip(tested, max_t(tested, strata, outcome), strict=True))
    differing = [
        sign
        for sign, p_value in p_values.items()
        if p_value < LEVEL
        and n_failing(sign, attempts) >= 3
        and contrast(sign, attempts) >= 0.2
        and _is_of_failures(sign, attempts)
    ]
    # Who does one thing in place of another does both.
    listed = [
        Mode(sign, "behaviour", members, float(p_values[sign]))
        for sign, members in groups(differing)
    ]
    listed.sort(key=lambda mode: (-contrast(mode.sign, attempts), mode.sign.text))
    return listed[:2]


def _beyond_run_and_task(fails: Flags, runs: Integers, tasks: Integers) -> Numbers:
    """By how much attempts fail more than their run and their task do, as far as these add up."""
    rest = fails.astype(np.float64)
    for _ in range(MOST_ROUNDS):
        before = rest.copy()
        for places in (runs, tasks):
            means = np.bincount(places, rest) / np.maximum(np.bincount(places), 1)
            rest = rest - means[places]
        if np.abs(rest - before).max() < LEAST_CHANGE:
            break
    return rest


def computed_modes(rows: pa.Table) -> pa.Table:
    """The modes of every benchmark, and the fields that are left out as saying the score again."""
    return by_benchmark(rows, COLUMNS, _listed)


COLUMNS = pa.schema(
    [
        ("benchmark", pa.string()),
        ("mode", pa.string()),
        ("reason", pa.string()),
        ("rank", pa.int64()),
        ("kind", pa.string()),
        ("name", pa.string()),
        ("value", pa.string()),
        ("parent", pa.string()),
        ("members", pa.list_(pa.string())),
        ("p_adjusted", pa.float64()),
    ]
)


def _listed(signs: Sequence[Sign], attempts: Attempts) -> Iterator[Row]:
    rank = 0
    for mode in modes(signs, attempts):
        rank += mode.parent is None
        sign = mode.sign
        place = rank if mode.parent is None else None
        yield (
            sign.text,
            mode.reason,
            place,
            sign.kind,
            sign.name,
            sign.value,
            mode.parent,
            list(mode.members),
            mode.p_adjusted,
        )
    same = same_as_score(signs, attempts)
    reasons = {
        "same as score": same,
        "part of score": parts_of_score(signs, attempts) - same,
        "measure": measures(signs, attempts) - same,
    }
    for reason, fields in reasons.items():
        for kind, name in sorted(fields):
            # How many attempts differ from the score, in place of a value.
            value = str(_n_differing((kind, name), signs, attempts)) if fields is same else ""
            text = failing_text((kind, name), signs, attempts) if fields is same else name
            yield text, reason, None, kind, name, value, None, [], None


def failing_text(field: tuple[str, str], signs: Sequence[Sign], attempts: Attempts) -> str:
    """A field's name, with the words that failures have where they say more than a verdict does."""
    kind, name = field
    worded = [
        sign
        for sign in signs
        if sign.field == field
        and kind == "field"
        and sign.value not in NOTHING
        and sign.value.lower() not in YES_OR_NO
        and of_failures(sign, attempts) >= 0.9
    ]
    return worded[0].text if worded else name


def _n_differing(field: tuple[str, str], signs: Sequence[Sign], attempts: Attempts) -> int:
    """How many attempts a field or check says something else of than the score.

    An attempt without the field says nothing of it; of a check it is known who has it.
    """
    values = [sign for sign in signs if sign.field == field]
    having = values[0].known if field[0] == "check" else union(sign.bears for sign in values)
    return min(
        sign.bears.size + outcome.count(having) - 2 * sign.bears.count(outcome.flags)
        for sign in values
        for outcome in (attempts.failing, attempts.passing)
    )
