"""Short arithmetic questions, worked out, with the slips people make in them."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from simulator.episode import Task
from simulator.phrases import FIRST_NAMES, WEEKDAYS

RULE = "Answer the question. Put the final answer, and nothing else, inside \\boxed{}."


@dataclass(frozen=True)
class Sum:
    """A question with its working and some wrong answers that look right."""

    question: str
    answer: str
    working: list[str]
    slips: list[str]


def arithmetic(rng: random.Random) -> Sum:
    a, b, c = rng.randint(12, 89), rng.randint(12, 89), rng.randint(100, 999)
    answer = a * b + c
    return Sum(
        f"What is {a} * {b} + {c}?",
        str(answer),
        [f"{a} * {b} = {a * b}.", f"{a * b} + {c} = {answer}."],
        [str(answer + 10), str(answer - 100), str(a * (b + c)), str(answer + a)],
    )


def percent(rng: random.Random) -> Sum:
    price, off = rng.randint(4, 60) * 20, rng.choice((5, 10, 15, 20, 25, 35, 40))
    who = rng.choice(FIRST_NAMES)
    answer = price * (100 - off) // 100
    return Sum(
        f"{who} buys a desk that costs {price} crowns with {off}% off. How many crowns is that?",
        str(answer),
        [f"{off}% of {price} is {price * off // 100}.", f"{price} minus that is {answer}."],
        [
            str(price * off // 100),
            str(price - off),
            str(price * (100 + off) // 100),
            str(answer - 2),
        ],
    )


def weekday(rng: random.Random) -> Sum:
    start, days = rng.randrange(7), rng.randint(15, 220)
    answer = WEEKDAYS[(start + days) % 7]
    return Sum(
        f"Today is {WEEKDAYS[start]}. Which day of the week is it {days} days from now?",
        answer,
        [f"{days} modulo 7 is {days % 7}.", f"{WEEKDAYS[start]} plus {days % 7} days is {answer}."],
        [WEEKDAYS[(start + days + shift) % 7] for shift in (1, -1, 2, 3)],
    )


def sequence(rng: random.Random) -> Sum:
    first, step, ratio = rng.randint(1, 9), rng.randint(2, 9), rng.choice((2, 3))
    terms = [first]
    for _ in range(5):
        terms.append(terms[-1] * ratio + step)
    shown = ", ".join(map(str, terms[:5]))
    return Sum(
        f"What is the next term of {shown}?",
        str(terms[5]),
        [f"Each term is {ratio} times the last, plus {step}.", f"The next one is {terms[5]}."],
        [
            str(terms[5] - step),
            str(2 * terms[4] - terms[3]),
            str(terms[5] + 1),
            str(terms[4] * ratio),
        ],
    )


def fraction(rng: random.Random) -> Sum:
    one = Fraction(rng.randint(1, 7), rng.randint(8, 12))
    two = Fraction(rng.randint(1, 7), rng.choice((13, 14, 15)))
    answer = one + two
    naive = Fraction(one.numerator + two.numerator, one.denominator + two.denominator)
    return Sum(
        f"What is {one} + {two}, in lowest terms?",
        str(answer),
        [
            f"The common denominator is {one.denominator * two.denominator}.",
            f"The sum is {answer}.",
        ],
        [str(naive), str(one - two), str(answer + Fraction(1, 60)), str(one * two)],
    )


KINDS: dict[str, Callable[[random.Random], Sum]] = {
    "arithmetic": arithmetic,
    "percent": percent,
    "calendar": weekday,
    "sequences": sequence,
    "fractions": fraction,
}


def sums_task(
    index: int, category: str, worked: Sum, difficulty: str, flaw: str | None, expected: str
) -> Task:
    return Task(
        index=index,
        category=category,
        difficulty=difficulty,
        messages=[{"role": "user", "content": f"{RULE}\n\n{worked.question}"}],
        tools=[],
        fields={"expected_answer": expected},
        way=worked,
        flaw=flaw,
    )
