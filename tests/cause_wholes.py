"""Tasks for the rules of root causes that look at a run or a task whole, and for finer points."""

from __future__ import annotations

from tests.cause_attempts import (
    BROKEN_JUDGE,
    DONE,
    FINE,
    LOOKED,
    MISSING,
    SANDBOX,
    SENT,
    THRASH,
    WRONG,
    WRONG_CURRENCY,
    Attempts,
    answered,
    calls,
    fails,
    passes,
    says,
    spends,
    thinks,
    truncated,
)
from tests.cause_results import UNEXPLAINED, Case

THRASHES = [fails(*THRASH, reward=0.4), fails(LOOKED, *THRASH, reward=0.4)]
DIED = fails(reward=0.4, **SANDBOX)
CONSTANT = [
    # Every rollout of the run has one reward: nothing else counts.
    Case("constant_reward", "holds", "batch", THRASHES, "constant_reward DA strong"),
    Case("constant_reward", "holds", "batch", [DIED], "constant_reward DA strong"),
    Case("constant_reward", "nearly", "graded", THRASHES, "dominant_mode BI weak"),
    Case("constant_reward", "nearly", "graded", [fails(reward=0.3)], "dominant_mode BI weak"),
    Case("constant_reward", "in passes", "solved", [FINE], None),
    Case("constant_reward", "in passes", "solved", [FINE], None),
]


def twins(kind: str, ask: str, attempts: Attempts, then: str) -> list[Case]:
    """A task, and before it one that asks the same, expects 4 and always passes."""
    rule, twin = "conflicting_reference", [answered("4", ok=True, to="4")]
    return [
        Case(rule, "twin", "twins", twin, None, ask=ask),
        Case(rule, kind, "twins", attempts, then, ask=ask),
    ]


STRONG = "conflicting_reference DA strong"
TWINS = [
    *twins("holds", "sum", [answered("4", to="5"), answered("9", to="5")], STRONG),
    *twins("nearly", "word", [answered("7", to="4"), answered("9", to="4")], UNEXPLAINED),
    *twins(
        "in passes", "root", [answered("5", ok=True, to="5"), answered("9", to="5")], UNEXPLAINED
    ),
    # It passes at times, and else gives the other task's answer.
    *twins("holds", "half", [answered("5", ok=True, to="5"), answered("4", to="5")], STRONG),
]

# The findings of a published diagnosis, planted. A person's address is guessed where a lookup would
# have told it; and dates are filtered by eye where the query could.
GUESS = [
    calls("find_email", "lena.ruiz@office.example", name="Lena"),
    calls("search_customers", "customers 4, 7", assigned_to="lena.ruiz@office.example"),
    calls("reassign", "2 customers reassigned", ids="4,7", to="raj@office.example"),
    says("Lena's customers are now with Raj."),
]
KNOWN = {
    "expected_actions": [
        {"name": "reassign", "arguments": {"ids": "4,7", "to": "raj.patel@office.example"}}
    ]
}
BY_EYE = [
    calls("search_tickets", "12: 30 May, 14: 2 June"),
    thinks("Those up to the end of May are what is meant, so none but 12."),
    calls("close_tickets", "closed", ids="12"),
    DONE,
]
BY_QUERY = [
    calls("search_tickets", "12: 30 May, 13: 31 May", until="2024-05-31"),
    calls("close_tickets", "closed", ids="12,13"),
    DONE,
]
SEEDS = [
    Case(
        "skipped_lookup",
        "seed",
        "office",
        [fails(*GUESS, **KNOWN)] * 4,
        "dominant_mode BI weak",
    ),
    Case(
        "dropped_argument",
        "seed",
        "tickets",
        [*[passes(*BY_QUERY)] * 3, fails(*BY_EYE)],
        "dropped_argument UK weak",
    ),
]

FINER = [
    # One run alone may have a verifier of its own.
    Case(
        "verifier_error",
        "one run",
        "desk",
        [fails(SENT, DONE, **BROKEN_JUDGE), fails(LOOKED, DONE, **BROKEN_JUDGE)],
        "verifier_error TI moderate",
    ),
    # In most attempts, not in all: the mode alone speaks.
    Case(
        "verifier_error",
        "most",
        "desk",
        [fails(SENT, **BROKEN_JUDGE), fails(LOOKED, **BROKEN_JUDGE), WRONG],
        "dominant_mode TI weak",
    ),
    # What was not recorded bears no error.
    Case(
        "verifier_error",
        "missing",
        "lost",
        [fails(SENT, DONE, **BROKEN_JUDGE), MISSING, MISSING],
        "nothing_recorded IR moderate",
    ),
    # Another run has more room, and passes: this one's limit is too low.
    Case(
        "limit_for_all",
        "other limit",
        "desk",
        [truncated(SENT), truncated(LOOKED)],
        "limit_for_all TI moderate",
        b=[passes(SENT, DONE, limit=9000)],
    ),
    # The model's call failed; that it was asked for too much is not the service's fault.
    Case(
        "infrastructure",
        "model call",
        "desk",
        [fails(SENT, response={"error": {"code": "rate_limit_exceeded"}})] * 2,
        "infrastructure IR strong",
    ),
    Case(
        "infrastructure",
        "context",
        "desk",
        [fails(SENT, response={"error": {"message": "maximum context length is 8192"}})] * 2,
        "dominant_mode BI weak",
    ),
    Case(
        "nothing_recorded",
        "zero tokens",
        "desk",
        [spends(0, ok=False), spends(0, ok=False)],
        "nothing_recorded IR moderate",
    ),
    # Of two modes of the profile the commoner one speaks, and only for the attempts that have it.
    Case(
        "profile_mode",
        "two modes",
        "desk",
        [fails(SENT, says("You fool.")), fails(SENT, DONE, **WRONG_CURRENCY), WRONG],
        UNEXPLAINED,
    ),
    Case(
        "profile_mode",
        "words",
        "desk",
        [fails(SENT, says("You fool.")), fails(LOOKED, says("Not again, fool."))],
        "profile_mode KG weak",
    ),
    # One rollout in dispute says nothing of two others, nor does one where passes are, too.
    Case(
        "conflicting_duplicates",
        "few",
        "desk",
        [fails(SENT, index=0), passes(SENT, index=0), WRONG, WRONG],
        UNEXPLAINED,
    ),
    Case(
        "conflicting_duplicates",
        "as often",
        "desk",
        [
            *[fails(SENT, DONE, index=0), passes(SENT, DONE, index=0)],
            *[passes(LOOKED, index=1), fails(LOOKED, index=1)],
        ],
        UNEXPLAINED,
    ),
]
WHOLES = [*CONSTANT, *TWINS, *SEEDS, *FINER]
