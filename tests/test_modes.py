"""Which signs become modes: by hand on a few attempts, and max-T against enumeration."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import combinations, product
from unittest import mock

import numpy as np
import pytest

from pipeline.analysis import max_t as module
from pipeline.analysis.max_t import max_t
from pipeline.analysis.modes import (
    Attempts,
    Mode,
    Sign,
    failing_text,
    groups,
    modes,
    parts_of_score,
    same_as_score,
    terminal_fields,
)
from pipeline.analysis.score_parts import score_parts
from pipeline.analysis.signs import Firsts
from pipeline.analysis.subsets import Subset

# Forty attempts, two at each task; the first twenty fail.
N, N_FAILURES = 40, 20
FAILURES, PASSES = range(N_FAILURES), range(N_FAILURES, N)


def attempts(n: int = N, n_failures: int = N_FAILURES, *, n_per_task: int = 2) -> Attempts:
    """One run whose first attempts fail."""
    places = np.arange(n)
    fails = places < n_failures
    return Attempts(np.zeros(n, dtype=np.int64), places // n_per_task, fails, ~fails)


def sign(
    text: str,
    bearing: Iterable[int],
    *,
    kind: str = "field",
    known: Collection[int] | None = None,
    n: int = N,
    scope: str = "rollout",
) -> Sign:
    """A sign by its text, `name = value`, borne by these attempts."""
    name, _, value = text.partition(" = ")
    bears, knows = np.zeros(n, dtype=bool), np.ones(n, dtype=bool)
    bears[list(bearing)] = True
    if known is not None:
        knows = np.isin(np.arange(n), list(known))
    return Sign(kind, name, value, text, scope, Subset.of(bears), Subset.of(knows))


def texts(listed: Sequence[Mode]) -> list[str]:
    return [mode.sign.text for mode in listed]


def met(text: str, places: dict[int, int]) -> Sign:
    """An error by where each attempt first meets it."""
    own = sorted(places)
    first = Firsts(Subset(N, np.array(own)), np.array([float(places[each]) for each in own]))
    return replace(sign(text, places, kind="error"), first=first)


@pytest.mark.parametrize("step", [-3, 3])
def test_the_error_that_comes_first_leads(step: int) -> None:
    """Of errors that the same failures meet, and of one that follows either of two others."""
    reset = met("reset refused", dict.fromkeys(range(18), 10))
    payload = met("invalid payload, and many more words", dict.fromkeys(range(18), 10 + step))
    leading = reset if step > 0 else payload
    assert texts(modes([payload, reset], attempts()))[0] == leading.text
    one = met("server error", dict.fromkeys(range(9), 2))
    two = met("bad request", dict.fromkeys(range(9, 18), 2))
    listed = texts(modes([one, two, payload], attempts()))
    assert listed == ["server error", "bad request"]


# --- the verdict again


VERDICTS = {
    "false in all failures alone": (["ok = false"], [FAILURES], True),
    "true in passes alone": (["ok = true"], [PASSES], True),
    "false in 16 failures and 2 passes": (["ok = false"], [[*range(16), 20, 21]], True),
    "false in 15 failures": (["ok = false"], [range(15)], False),
    "false in 3 passes too": (["ok = false"], [[*FAILURES, 20, 21, 22]], False),
    "null in 18 failures and no pass": (["log = is null"], [range(18)], True),
    "null in a pass too": (["log = is null"], [[*FAILURES, 20]], False),
    "two words": (["end = good", "end = bad"], [PASSES, FAILURES], True),
    "a word of most failures, others of passes": (
        ["end = a", "end = b", "end = c"],
        [PASSES, FAILURES[1:], [0]],
        True,
    ),
    "a word of most failures, none of passes": (
        ["end = b", "end = c", "end = d"],
        [FAILURES[1:], [0], [20]],
        False,
    ),
    "passes are correct, failures have one of several words": (
        ["kind = correct", "kind = wrong tool", "kind = bad json"],
        [PASSES, range(15), range(15, 20)],
        False,
    ),
    "a letter of all passes, others of failures": (
        ["raw = A", "raw = B", "raw = C"],
        [PASSES, range(15), range(15, 20)],
        True,
    ),
    "a letter of passes and of a failure, others of failures": (
        ["raw = A", "raw = B", "raw = C"],
        [[0, *PASSES], range(1, 15), range(15, 20)],
        False,
    ),
    "passes are correct, some failures incorrect": (
        ["kind = correct", "kind = incorrect", "kind = no answer"],
        [PASSES, range(15), range(15, 20)],
        True,
    ),
}


@pytest.mark.parametrize("case", VERDICTS)
def test_same_as_score(case: str) -> None:
    """A field that failures and passes have unlike says the verdict again; a reason varies."""
    names, bearing, is_same = VERDICTS[case]
    signs = [sign(name, places) for name, places in zip(names, bearing, strict=True)]
    assert bool(same_as_score(signs, attempts())) is is_same


@pytest.mark.parametrize(("name", "is_same"), [("part", True), ("stop_reason", False)])
def test_a_word_of_all_failures_beside_others_of_passes(name: str, is_same: bool) -> None:
    """It is written by the outcome, also where passes often have no word; an end is a finding."""
    signs = [
        sign(f"{name} = last", range(20), n=100),
        sign(f"{name} = first", range(20, 35), n=100),
        sign(f"{name} = middle", range(35, 45), n=100),
    ]
    assert bool(same_as_score(signs, attempts(100, 20))) is is_same


def test_a_column_of_which_a_word_was_chosen_as_the_pass_is_the_score() -> None:
    """Its other words are no reasons; those of another column with the same words are."""
    names = [f"{name} = {word}" for name in ("grade", "kind") for word in ("PASS", "SOFT", "HARD")]
    signs = [
        sign(name, places)
        for name, places in zip(names, 2 * [PASSES, range(15), range(15, 20)], strict=True)
    ]
    deciding = sign("score: grade is pass = fails", FAILURES, kind="check")
    assert ("field", "grade") not in same_as_score(signs, attempts())
    assert same_as_score([*signs, deciding], attempts()) == {
        ("field", "grade"),
        ("check", "score: grade is pass"),
    }


def test_words_are_the_finding_where_hardly_anything_passes() -> None:
    """With two passes a word is no verdict; a boolean still is."""
    few = attempts(12, 10)
    signs = [
        sign("category = no call", range(10), n=12),
        sign("category = call", [10, 11], n=12),
        sign("ok = false", range(10), n=12),
    ]
    assert same_as_score(signs, few) == {("field", "ok")}


def test_words_of_failures_are_listed_with_their_field() -> None:
    """What all failures say beside the score is told; that they are false is not."""
    signs = [
        sign("error_type = no call was decoded", FAILURES),
        sign("error_type is null", PASSES),
        sign("correct = false", FAILURES),
        sign("correct = true", PASSES),
    ]
    signs[1] = replace(signs[1], name="error_type", value="is null")
    same = same_as_score(signs, attempts())
    assert {failing_text(field, signs, attempts()) for field in same} == {
        "correct",
        "error_type = no call was decoded",
    }


def test_a_check_of_few_attempts_is_no_verdict() -> None:
    """A test that a quarter of the attempts have, and that fails in all failures among them."""
    known = [*range(5), *range(20, 25)]
    rare = sign("tests: a = fails", range(5), kind="check", known=known)
    common = sign("tests: b = fails", FAILURES, kind="check")
    assert same_as_score([rare, common], attempts()) == {("check", "tests: b")}


def test_factors_of_the_score() -> None:
    """Booleans of every attempt that no pass lacks; also what is beside the verdict."""
    signs = [
        sign("r.actions = 0", range(6)),
        sign("r.outputs = 0", [0]),
        sign("r.all = 0", FAILURES),
        # Of some tasks alone.
        sign("r.some = 0", range(3)),
        sign("r.some = 1", [*range(3, 6), *range(30, 34)]),
        sign("other = 0", [0]),
        sign("rare = 0", range(6), known=range(30)),
    ]
    assert parts_of_score(signs, attempts()) == {
        ("field", "r.actions"),
        ("field", "r.outputs"),
        ("field", "r.all"),
        ("field", "r.some"),
    }


# --- always listed


ENDS = [
    sign("stop = done", [*range(8), *range(20, 38)]),
    sign("stop = timeout", [*range(8, 18), 38]),
    sign("stop = crash", [18, 19, 39]),
]


@pytest.mark.parametrize(
    ("n_failures", "n_passes"), [(9, 31), (38, 2)], ids=["few failures", "few passes"]
)
def test_a_terminal_field_needs_both_sides(n_failures: int, n_passes: int) -> None:
    """Fewer than ten failures, or than three passes, show no end."""
    assert terminal_fields(ENDS, attempts(n_failures + n_passes, n_failures)) == []


def test_the_commonest_word_leads_where_failures_alone_have_it() -> None:
    """What no pass ends with is not how attempts usually end."""
    many = attempts(N, 32)
    signs = [
        sign("kind = syntax", range(20)),
        sign("kind = assertion", range(20, 32)),
        sign("kind = ok", range(32, N)),
    ]
    (listed,) = terminal_fields(signs, many)
    assert listed[0].text == "kind = syntax"


def test_an_end_within_another_is_not_listed() -> None:
    """Of two fields that end the same attempts the first is listed."""
    again = [
        sign("status = fine", [*range(9), *range(20, 40)]),
        sign("status = slow", range(9, 18)),
        sign("status = odd", [18, 19]),
    ]
    leads = [values[0].text for values in terminal_fields([*ENDS, *again], attempts())]
    assert leads == ["stop = timeout"]


def test_a_setting_of_runs_is_no_end() -> None:
    """Nearly all attempts of a run have one word, and those of another run another."""
    host = [sign("host = near", [*range(1, 20)]), sign("host = far", [0, *range(20, 40)])]
    two_runs = replace(attempts(), run=np.arange(N) // 20)
    assert terminal_fields(host, two_runs) == []
    assert terminal_fields(host, replace(attempts(), run=np.arange(N) % 2))


# --- groups and order


def test_signs_of_the_same_attempts_are_one_mode() -> None:
    """Nine of ten in common are one group, eight are two; the most specific kind names it."""
    ten = sign("a = x", range(10))
    nine = sign("call b failed", range(9), kind="error")
    eight = sign("c = y", range(8))
    named = groups([ten, nine, eight])
    assert [(lead.text, members) for lead, members in named] == [
        ("call b failed", ("a = x",)),
        ("c = y", ()),
    ]


def test_modes_cover_failures_in_turn() -> None:
    """Next is what adds most failures by contrast squared; nested signs and small rests go."""
    n = 400
    signs = [
        sign("a = lost", range(10), n=n),
        # Six of its eight failures are covered by the first.
        sign("b = lost", range(4, 12), n=n),
        # Five new ones and 5% of passes: 5 x 0.64, against 4 for four new ones and no pass.
        sign("c = lost", [*range(12, 17), *range(20, 39)], n=n),
        sign("d = lost", range(15, 19), n=n),
        # Adds one.
        sign("e = lost", [17, 18, 19], n=n),
    ]
    listed = modes(signs, attempts(n, 20))
    whole = [mode for mode in listed if mode.parent is None]
    assert texts(whole) == ["a = lost", "d = lost", "c = lost"]
    assert all(mode.reason == "tested" and mode.p_adjusted < 0.05 for mode in whole)
    # Of more than a third of the failures, what is nested in it is a part of it.
    assert [(mode.sign.text, mode.parent) for mode in listed if mode.parent] == [
        ("b = lost", "a = lost")
    ]


def test_without_an_effect_nothing_is_listed() -> None:
    """A sign of as many passes as failures is no mode, nor one of a run or a task."""
    signs = [
        sign("a = x", [*range(6), *range(20, 26)]),
        sign("b = x", range(10), scope="task"),
        sign("c = x", range(10), scope="run"),
    ]
    assert modes(signs, attempts()) == []


def test_what_chance_explains_is_not_listed() -> None:
    """Three failures of twenty and no pass: 1,140 of 9,880 ways to place three do that, 12%."""
    assert modes([sign("a = x", [0, 2, 4])], attempts()) == []
    # Six of twenty: 1% do.
    assert texts(modes([sign("a = x", [0, 2, 4, 6, 8, 10])], attempts())) == ["a = x"]


def test_a_floor_of_failures_and_tasks() -> None:
    """Two failures, or failures at one task, are no mode, however clear."""
    many = attempts(400, 20, n_per_task=5)
    signs = [sign("two = x", [0, 5], n=400), sign("one task = x", range(5), n=400)]
    assert modes(signs, many) == []
    assert texts(modes([sign("three = x", [0, 5, 10], n=400)], many)) == ["three = x"]


def test_few_failures_are_counted() -> None:
    """Of five failures two must bear it and hardly a pass; no test is made."""
    few = attempts(20, 5, n_per_task=1)
    signs = [
        sign("a = x", [0, 1], n=20),
        sign("b = x", [2], n=20),
        sign("c = x", [2, 3, 4, 10, 11], n=20),
    ]
    listed = modes(signs, few)
    assert [(mode.sign.text, mode.reason, mode.p_adjusted) for mode in listed] == [
        ("a = x", "counted", None)
    ]


def test_without_a_pass_only_texts_are_counted() -> None:
    """Nothing then shows whether a call or a flag goes with failing."""
    alone = attempts(4, 4, n_per_task=1)
    signs = [
        sign("category = no call", [0, 1, 2], n=4),
        sign("flag = true", [0, 1], n=4),
        sign("find = called", [1, 2], n=4, kind="call"),
    ]
    assert texts(modes(signs, alone)) == ["category = no call"]


def test_a_reason_that_all_attempts_have_comes_first_without_a_pass() -> None:
    """It distinguishes none, and is what there is to say; where some pass, it is left out."""
    reason = sign("error = server is down", list(range(12)), scope="run", n=12)
    other = sign("answer is empty", [0, 1, 2], n=12, kind="answer")
    assert texts(modes([other, reason], attempts(12, 12))) == ["error = server is down"]
    assert modes([reason], attempts(12, 6)) == []


def test_numbers_that_give_the_reward_are_parts_of_the_score() -> None:
    """Factors and addends are left out, however few failures lack them."""
    count = 48
    whole = attempts(count, 0)
    factors = {
        "right": np.array([float(place % 2) for place in range(count)]),
        "form": np.array([float(place % 6 != 1) for place in range(count)]),
        "other": np.array([float(place % 5 != 0) for place in range(count)]),
    }
    product = factors["right"] * factors["form"]
    total = 0.7 * factors["right"] + 0.3 * factors["form"]
    for reward in (product, total, 2 * total - 1):
        scored = replace(
            whole, reward=reward, fails=reward < 1, passes=reward >= 1, numbers=factors
        )
        assert score_parts(scored) == {"right", "form"}
    short = replace(whole, reward=product, numbers={"right": factors["right"], "other": product})
    assert score_parts(short) == {"other"}
    unlike = replace(whole, reward=product, numbers={"other": factors["other"]})
    assert score_parts(unlike) == set()


def test_a_flag_that_is_the_verdict_but_for_one_in_a_hundred() -> None:
    """It repeats the score though a quarter of the few failures lack it."""
    many = attempts(400, 8)
    flag = sign("is_ok = false", [0, 1, 2, 3, 4, 5], n=400)
    rare = sign("is_late = true", [0, 1], n=400)
    assert same_as_score([flag, rare], many) == {("field", "is_ok")}


def test_a_run_of_empty_answers_is_a_mode() -> None:
    """Nothing varies within it, and yet it is listed."""
    run = np.repeat([0, 1], 20)
    both = Attempts(run, np.tile(np.arange(20), 2), np.arange(N) < 20, np.arange(N) >= 20)
    signs = [sign("answer = is empty", FAILURES, kind="answer", scope="run")]
    assert [(mode.sign.text, mode.reason) for mode in modes(signs, both)] == [
        ("answer = is empty", "counted")
    ]


def test_behaviours_are_compared_within_tasks() -> None:
    """A call that failures make and passes of the same tasks do not; over tasks it says nothing."""
    places = np.arange(80)
    # Forty tasks, one attempt at each fails.
    mixed = Attempts(np.zeros(80, dtype=np.int64), places // 2, places % 2 == 0, places % 2 == 1)
    within = sign("shell = called", range(0, 60, 2), kind="call", n=80)
    over = sign("mail = called", range(40), kind="call", n=80)
    listed = modes([within, over], mixed)
    assert [(mode.sign.text, mode.reason) for mode in listed] == [("shell = called", "behaviour")]


# --- max-T


def enumerated(signs: Sequence[Sign], strata: np.ndarray, fails: np.ndarray) -> np.ndarray:
    """Step-down p-values over every way to place the failures, statistics from their definition."""
    placings = []
    for stratum in np.unique(strata):
        places = np.flatnonzero(strata == stratum)
        placings.append(list(combinations(places, int(fails[places].sum()))))
    outcomes = np.zeros((np.prod([len(ways) for ways in placings]), len(fails)))
    for row, chosen in enumerate(product(*placings)):
        outcomes[row, [place for places in chosen for place in places]] = 1
    sums = np.stack([outcomes @ _excess(one, strata) for one in signs])
    spread = sums.std(axis=1, keepdims=True)
    scores = (sums - sums.mean(axis=1, keepdims=True)) / np.where(spread > 1e-9, spread, np.inf)
    observed = np.array([_excess(one, strata) @ fails for one in signs])
    observed = (observed - sums.mean(axis=1)) / np.where(spread > 1e-9, spread, np.inf)[:, 0]
    is_usable = spread[:, 0] > 1e-9
    p_values, largest = np.ones(len(signs)), 0.0
    order = sorted(np.flatnonzero(is_usable), key=lambda place: -observed[place])
    for place, number in enumerate(order):
        beyond = scores[order[place:]].max(axis=0) >= observed[number] - 1e-9
        largest = max(largest, float(beyond.mean()))
        p_values[number] = largest
    return p_values


def _excess(one: Sign, strata: np.ndarray) -> np.ndarray:
    """Whether an attempt bears it, less the share of its stratum among those known."""
    excess = np.zeros(len(strata))
    for stratum in np.unique(strata):
        places = (strata == stratum) & one.known.flags
        if places.any():
            excess[places] = one.bears.flags[places] - one.bears.flags[places].mean()
    return excess


def drawn_signs(seed: int, n: int, n_signs: int) -> list[Sign]:
    """Signs of random attempts, some not known of all."""
    random = np.random.default_rng(seed)
    signs = []
    for number in range(n_signs):
        known = random.random(n) < (1 if number % 2 else 0.8)
        bears = (random.random(n) < 0.4) & known
        signs.append(
            Sign(
                "field",
                f"f{number}",
                "x",
                f"f{number} = x",
                "rollout",
                *map(Subset.of, (bears, known)),
            )
        )
    return signs


def every_placing(outcome: np.ndarray, strata: np.ndarray, _n: int) -> Iterable[np.ndarray]:
    """All ways to place the failures, as the draws of a test."""
    placings = []
    for stratum in np.unique(strata):
        places = np.flatnonzero(strata == stratum)
        placings.append(list(combinations(places, int(outcome[places].sum()))))
    columns = []
    for chosen in product(*placings):
        column = np.zeros(len(outcome), dtype=np.float32)
        column[[place for places in chosen for place in places]] = 1
        columns.append(column)
    yield np.stack(columns, axis=1)


@pytest.mark.parametrize("most", [1 << 24, 1])
@pytest.mark.parametrize("seed", range(4))
def test_max_t_is_that_of_all_permutations(seed: int, most: int) -> None:
    """Where every placing of the failures is drawn, p-values are those of enumeration.

    Also where there are more signs than fit into memory, and sums are those of few attempts.
    """
    strata = np.array([0, 1, 0, 1, 1, 0, 0, 2, 1, 2, 0, 2])
    fails = np.random.default_rng(100 + seed).random(12) < 0.5
    signs = drawn_signs(seed, 12, 5)
    # Two alike, and one that does not vary within strata.
    flags = Subset.of(strata == 0), Subset.of(strata >= 0)
    signs += [signs[1], Sign("field", "run", "x", "", "rollout", *flags)]
    expected = enumerated(signs, strata, fails)
    (draws,) = every_placing(fails[np.argsort(strata, kind="stable")], np.sort(strata), 0)
    n_draws = draws.shape[1]
    with (
        mock.patch.object(module, "_shuffles", every_placing),
        mock.patch.object(module, "N_PERMUTATIONS", n_draws),
        mock.patch.object(module, "MOST_WEIGHTS", most),
        mock.patch.object(module, "SPARSE_SHARE", 2),
    ):
        found = max_t(signs, strata, fails)
    # The observed outcome counts once more.
    corrected = np.where(expected == 1, 1, (n_draws * expected + 1) / (n_draws + 1))
    assert found == pytest.approx(corrected, abs=1e-9)
    # What is drawn at random comes near.
    assert max_t(signs, strata, fails) == pytest.approx(expected, abs=0.06)


@pytest.mark.parametrize("few", [0, 0.4, 2])
@pytest.mark.parametrize("most", [1, 50, 100])
def test_max_t_of_many_signs_is_computed_in_blocks(most: int, few: float) -> None:
    """With any part in memory at a time, p-values are those of all signs at once.

    So they are where none, some or all of the signs are summed over few attempts.
    """
    strata, fails = np.arange(40) % 3, np.arange(40) % 7 < 3
    signs = [*drawn_signs(1, 40, 5), sign("run = x", np.flatnonzero(strata == 1))]
    for outcome in (fails, np.random.default_rng(2).permutation(40) ** 2.0):
        whole = max_t(signs, strata, outcome)
        with (
            mock.patch.object(module, "MOST_WEIGHTS", most),
            mock.patch.object(module, "SPARSE_SHARE", few),
            mock.patch.object(module, "MOST_PLACES", most),
        ):
            assert (max_t(signs, strata, outcome) == whole).all()
        assert len(set(whole)) > 2 and whole[-1] == 1


def test_many_signs_of_few_attempts_have_no_weights_but_for_these() -> None:
    """No attempt is weighed for a sign that it does not bear; what many failures bear is shown."""
    n, n_signs = 30_000, 1_000
    clear = sign("error: clear", range(300), kind="error", n=n)
    usual = [
        replace(clear, text=f"error: {number}", bears=Subset(n, number + 1000 * np.arange(5)))
        for number in range(n_signs)
    ]
    with mock.patch.object(module._Tests, "_weights", side_effect=AssertionError):
        listed = modes([*usual, clear], attempts(n, n // 2, n_per_task=1))
    assert texts(listed) == ["error: clear"]


def test_max_t_steps_down() -> None:
    """A clear sign does not raise the p-value of the next: it is compared with those behind it."""
    n = 40
    fails = np.arange(n) < 20
    strata = np.zeros(n, dtype=np.int64)
    clear, weak = sign("a = x", range(20)), sign("b = x", [*range(10), 20, 21, 22])
    both, alone = max_t([clear, weak], strata, fails), max_t([weak], strata, fails)
    assert both[0] <= both[1] and both[1] == pytest.approx(alone[0], abs=0.02)
    assert all(np.diff(np.sort(both)) >= 0)


def test_outcomes_stay_in_their_strata() -> None:
    """Every draw has as many failures in each stratum as there are."""
    strata = np.repeat([0, 1, 2, 3], [7, 3, 7, 1])
    outcome = np.random.default_rng(5).random(18) < 0.5
    n_draws = 0
    for block in module._shuffles(outcome, strata, 250):
        for stratum in range(4):
            drawn = block[strata == stratum].sum(axis=0)
            assert (drawn == outcome[strata == stratum].sum()).all()
        n_draws += block.shape[1]
    assert n_draws == 250


def test_a_verdict_of_one_run_is_a_verdict() -> None:
    """Another run's verifier has another name; in its own run the check says the score again."""
    n = 80
    fails = np.arange(n) % 2 == 0
    runs = np.repeat([0, 1], 40)
    both = Attempts(runs, np.arange(n), fails, ~fails)
    own = range(40)
    graded = sign("qa: graded = fails", range(0, 40, 2), kind="check", known=own, n=n)
    assert same_as_score([graded], both) == {graded.field}


@pytest.mark.parametrize("is_graded", [True, False])
def test_who_broke_down_left_out_no_call(is_graded: bool) -> None:
    """A call that attempts without a grade did not come to make goes with no failure."""
    signs = [sign("look = called", [*range(1, N_FAILURES, 2), *PASSES], kind="call")]
    if not is_graded:
        signs.append(sign("reward = is not recorded", range(0, N_FAILURES, 2), kind="ungraded"))
    # Each task has an attempt that makes the call, and one that does not.
    fails = np.arange(N) < N_FAILURES
    tasks = np.concatenate([np.arange(N_FAILURES), np.arange(N_FAILURES)])
    tried = Attempts(np.zeros(N, dtype=np.int64), tasks, fails, ~fails)
    behaviours = [mode.sign.text for mode in modes(signs, tried) if mode.reason == "behaviour"]
    assert behaviours == (["never look = called"] if is_graded else [])


def test_a_call_of_the_run_that_fails_more_goes_with_no_failure() -> None:
    """Where tasks are tried once by each run, it is compared within runs, too."""
    places = np.arange(N)
    fails = (places < 15) | (places >= 38)
    tried = Attempts(places // 20, places % 20, fails, ~fails)
    assert modes([sign("look = called", range(20), kind="call")], tried) == []
    assert texts(modes([sign("look = called", range(14), kind="call")], tried)) != []


@pytest.mark.parametrize("n_won", [0, 12])
def test_words_that_say_how_it_came_out(n_won: int) -> None:
    """A text that several tasks get is a mode, unless passes get texts of this kind as often."""
    lost = sign("answer = is given at several tasks: Lost.", range(12), kind="answer")
    won = range(N_FAILURES, N_FAILURES + n_won)
    signs = [lost, sign("answer = is given at several tasks: Won.", won, kind="answer")]
    assert texts(modes(signs, attempts())) == ([] if n_won else [lost.text])


def of_two_runs() -> Attempts:
    """Forty attempts of two runs; 15 of the first 20 fail, and 5 of the others."""
    places = np.arange(N)
    fails = (places < 15) | (places >= 35)
    return Attempts(places // 20, places // 2, fails, ~fails)


@pytest.mark.parametrize(
    ("bearing", "listed"),
    [
        # All attempts of the run that fails more.
        (range(20), ["field = odd"]),
        # Failures alone.
        (range(10), ["limit = turns", "field = odd"]),
        # All failures, and most passes: after what distinguishes failures.
        ([*range(30), *range(35, 40)], ["field = odd", "limit = turns"]),
    ],
)
def test_a_limit_is_of_failures_within_runs(bearing: Sequence[int], listed: list[str]) -> None:
    """What every attempt of a run reaches, passes too, explains none of its failures."""
    signs = [
        sign("limit = turns", bearing, kind="limit"),
        sign("field = odd", [*range(1, 15, 2), *range(35, 40)]),
    ]
    assert texts(modes(signs, of_two_runs())) == listed


def test_a_largest_number_of_one_attempt_is_no_limit() -> None:
    """It may be so by chance; a limit that the record states is reported of one."""
    largest = sign("output tokens = at 2,048, the largest of the run", [0], kind="limit")
    stated = sign("recorded limit = time", [1], kind="limit")
    assert texts(modes([largest, stated], attempts())) == ["recorded limit = time"]
    twice = sign("output tokens = at 2,048, the largest of the run", [0, 2], kind="limit")
    assert len(modes([twice], attempts())) == 1


def test_parts_speak_of_the_same() -> None:
    """Of a tool that was not called as expected its own ways, and no other tool's."""
    whole = sign("book = expected, not made as expected", range(16), kind="expected")
    never = sign("book = expected, never called", range(8), kind="expected")
    other = sign("search = expected, never called", range(4, 12), kind="expected")
    listed = modes([whole, never, other], attempts())
    assert texts(listed)[:2] == [whole.text, never.text]
    assert not any(mode.sign is other and mode.parent for mode in listed)


def test_a_part_is_of_some() -> None:
    """A check that only a few failures of a mode have, and all of these fail, is no part of it."""
    whole = sign("stop = wandered", range(16))
    has = [*range(12), *PASSES]
    always = sign("all: DB = fails", range(12), kind="check", known=has)
    listed = modes([whole, always], attempts())
    assert not any(mode.parent for mode in listed)
    some = sign("all: DB = fails", range(10), kind="check", known=[*range(14), *PASSES])
    listed = modes([whole, some], attempts())
    assert [mode.sign.text for mode in listed if mode.parent] == [some.text]


def of_runs(n_runs: int, n_tasks: int, n_failing: int) -> Attempts:
    """Runs that try each task once and fail the same first tasks."""
    run, task = np.divmod(np.arange(n_runs * n_tasks), n_tasks)
    fails = task < n_failing
    return Attempts(run, task, fails, ~fails, run_names=tuple(map(str, range(n_runs))))


def test_two_tasks_in_twenty_runs_show_nothing() -> None:
    """Attempts at one task are no independent ones: a sign of few tasks is of these tasks."""
    tried = of_runs(20, 20, 10)
    few, many = (sign("answer = 12", np.flatnonzero(tried.task < n), n=400) for n in (2, 7))
    assert texts(modes([few], tried)) == []
    assert texts(modes([many], tried)) == ["answer = 12"]


def test_what_fails_within_tasks_is_shown() -> None:
    """Every task fails half of its attempts, those with the sign."""
    tried = replace(of_runs(20, 10, 5), fails=(fails := np.arange(200) % 4 < 2), passes=~fails)
    assert texts(modes([sign("tool = broken", np.flatnonzero(fails)[:60], n=200)], tried))


def test_a_value_of_a_field_that_failures_have_more_often() -> None:
    """Among the attempts that have the field, passes have it as often: it shows nothing."""
    rare = [
        sign("template = a", [*range(0, 18, 2), 20], scope="rollout"),
        sign("template = b", [*range(1, 18, 2), 21], scope="rollout"),
    ]
    assert texts(modes(rare, attempts(n_per_task=1))) == []
    apart = [sign("template = a", range(9)), sign("template = b", [*range(9, 18), 20, 21])]
    assert texts(modes(apart, attempts(n_per_task=1))) == ["template = a"]


def test_parts_of_a_change_are_of_its_sense() -> None:
    """What was made and not expected is not made of what was expected and not made."""
    made = sign("a change = made that is not expected", range(16), kind="expected")
    called = sign("book = called with another date", range(8), kind="expected")
    missing = sign("cancel = expected, never called", range(4, 14), kind="expected")
    listed = modes([made, called, missing], attempts())
    assert [mode.sign.text for mode in listed if mode.parent] == [called.text]


@pytest.mark.parametrize("is_decided", [True, False])
def test_other_scores_beside_the_deciding_one_are_no_mode(is_decided: bool) -> None:
    """A second metric that mostly agrees decides nothing where the first is the reward."""
    deciding = sign("score: turn_1 = fails", FAILURES if is_decided else [0, 30], kind="check")
    other = sign("scores: turn_2 = fails", [*range(15), 20, 21, 22], kind="check")
    listed = texts(modes([deciding, other], attempts()))
    assert (other.text in listed) == (not is_decided)


def test_errors_that_are_listed_by_parts_already_are_not_listed_again() -> None:
    """Attempts without a grade and those at a limit have an error each: it adds nothing."""
    ungraded = sign("attempt is not graded", range(5), kind="ungraded")
    limit = sign("recorded limit = timeout", range(5, 9), kind="limit")
    both = sign("exception = recorded", range(9), kind="error")
    assert texts(modes([ungraded, limit, both], attempts())) == [ungraded.text, limit.text]
    more = sign("exception = recorded", range(14), kind="error")
    assert more.text in texts(modes([ungraded, limit, more], attempts()))


def test_what_is_done_in_place_of_another_is_one_behaviour() -> None:
    """Escalating and never closing, by the same attempts."""
    bearing = [*range(0, N, 2)]
    places = np.arange(N)
    fails = (places % 2 == 0) & (places < 36)
    of_pairs = Attempts(np.zeros(N, dtype=np.int64), places // 2, fails, ~fails)
    escalates = sign("calls escalate", bearing, kind="call")
    closes = sign("calls close_ticket", set(range(N)) - set(bearing), kind="call")
    (listed,) = modes([escalates, closes], of_pairs)
    assert {listed.sign.text, *listed.members} == {"calls escalate", "never calls close_ticket"}


def test_recorded_errors_are_listed_untested() -> None:
    """A field with an error in a few failures and no pass, with what the errors are.

    One failure is no mode; what most failures have is their verdict; passes may have it, too.
    """

    def fields(name: str, bearing: Sequence[int]) -> list[Sign]:
        recorded = replace(
            sign(f"{name} has an error", bearing, kind="error"), name=name, value="recorded"
        )
        which = sign(f"error: {name}", bearing[:1], kind="error")
        return [recorded, replace(which, name=name)]

    listed = modes(fields("crash", range(3)), attempts())
    assert [(mode.sign.text, mode.reason, mode.parent) for mode in listed] == [
        ("crash has an error", "recorded", None),
        ("error: crash", "part", "crash has an error"),
    ]
    for bearing in ([0], range(18), [0, 1, *PASSES[:2]]):
        assert "recorded" not in [mode.reason for mode in modes(fields("x", bearing), attempts())]


def test_errors_of_graded_attempts_beside_those_that_ended_others() -> None:
    """A field that most failures fill lists the errors that no grade and no limit says already."""

    def error(value: str, bearing: Sequence[int], name: str = "exception") -> Sign:
        text = f"{name} has an error" if value == "recorded" else f"error: {value}"
        return replace(sign(text, bearing, kind="error"), name=name, value=value)

    ungraded = sign("attempt is not graded", range(8), kind="ungraded")
    limit = sign("recorded limit = late", range(8, 12), kind="limit")
    field = error("recorded", [*FAILURES, PASSES[0]])
    kinds = [
        error("Cancelled", range(8)),
        error("late", range(8, 12)),
        error("exit code", [*range(12, 18), PASSES[0]]),
        error("alone", [18]),
    ]
    said_again = [error("recorded", FAILURES, "message"), error("exit code", range(8), "message")]
    listed = modes([ungraded, limit, field, *kinds, *said_again], attempts())
    assert [(mode.sign.text, mode.reason) for mode in listed] == [
        ("attempt is not graded", "ungraded"),
        ("recorded limit = late", "limit"),
        ("error: exit code", "recorded"),
    ]
    # Where nothing else ended, an error in every failure is how the verdict is put.
    assert "recorded" not in [mode.reason for mode in modes([field, *kinds], attempts())]
    # Passes have it as often.
    usual = error("exit code", [*range(12, 18), *PASSES[:6]])
    assert "error: exit code" not in texts(
        modes([ungraded, limit, field, *kinds[:2], usual], attempts())
    )


def test_a_run_of_one_attempt_is_no_pattern() -> None:
    """An error that a run of one attempt records is of that attempt alone."""
    alone = sign("error: no module", [0], kind="error", scope="run", n=12)
    assert modes([alone], attempts(12, 11, n_per_task=1)) == []


@pytest.mark.parametrize(
    ("passing", "reason"), [([], "counted"), ([20], "tested")], ids=["failures alone", "a pass too"]
)
def test_what_is_written_of_failures_alone_is_not_tested(passing: list[int], reason: str) -> None:
    """A verifier that words its reason only when it fails: no test can be about the word."""
    kinds = [
        sign("kind = bad json", range(11)),
        sign("kind = wrong tool", range(11, 16)),
        sign("kind = other", [*range(16, 20), *passing]),
    ]
    listed = modes(kinds, attempts())
    assert (listed[0].sign.text, listed[0].reason) == ("kind = bad json", reason)
    assert (listed[0].p_adjusted is None) == (reason == "counted")


@pytest.mark.slow
@pytest.mark.parametrize("is_reason", [False, True])
def test_a_call_that_runs_and_tasks_explain_goes_with_no_failure(is_reason: bool) -> None:
    """Seven runs try fifty tasks once; those that call most fail most, at tasks that need calls.

    A call of no reason is listed in few of forty draws, one that makes failures likelier in most.
    """
    random = np.random.default_rng(5)
    run, task = (each.ravel() for each in np.indices((7, 50)))
    n_listed = 0
    for _ in range(40):
        level, need = random.normal(0, 2, 7), random.normal(0, 1, 50)
        calls = random.random(350) < 1 / (1 + np.exp(-level[run] - need[task]))
        beyond = 2.5 * (calls - 0.5) if is_reason else 0
        fails = random.random(350) < 1 / (1 + np.exp(1 - level[run] - need[task] - beyond))
        signs = [sign("look = called", np.flatnonzero(calls), kind="call", n=350)]
        listed = modes(signs, Attempts(run, task, fails, ~fails))
        n_listed += any(mode.reason == "behaviour" for mode in listed)
    assert n_listed >= 30 if is_reason else n_listed <= 5
