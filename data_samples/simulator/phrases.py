"""Made-up names, phrases and numbers, drawn from a generator seeded by strings."""

from __future__ import annotations

import json
import random


def words(text: str, *, separator: str = " ") -> list[str]:
    """A list written as a line of text."""
    return text.split(separator)


WEEKDAYS = words("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")
FIRST_NAMES = words(
    "Aiko Alma Amir Anders Asha Beatriz Bram Carlos Chen Daria Diego Elif Emeka Esther Farid "
    "Fatima Goran Greta Hana Hugo Ines Isak Jamal Jonas Kaia Kofi Lars Leila Luca Mara Mateo "
    "Mina Nadia Nils Noor Olga Omar Paola Petra Quentin Rafael Rosa Sana Sven Tariq Tomas Uma "
    "Vera Wei Yara Yusuf Zoe"
)
LAST_NAMES = words(
    "Abara Almeida Baptiste Berg Castillo Chandra Dahl Dubois Eriksen Farah Fischer Garcia "
    "Haddad Hoang Ibrahim Ito Jansen Kaur Kovac Lindqvist Lopez Marchetti Mbeki Moreau Nakamura "
    "Novak Okafor Olsen Park Petrov Quispe Rahman Rossi Sato Schmidt Silva Singh Tanaka Thorne "
    "Ueda Varga Vasquez Wagner Weiss Yilmaz Zamora Zhang"
)
SUBJECTS = words(
    "the quarterly forecast, the onboarding checklist, the vendor contract, the payroll export, "
    "the release plan, the customer survey, the security review, the travel budget, the roadmap "
    "draft, the incident summary, the renewal quote, the staffing request, the data migration, "
    "the training calendar, the office lease, the audit findings",
    separator=", ",
)
VERBS = words(
    "was moved to, is waiting for, needs a word from, has been sent to, was reopened by, "
    "is blocked by, was signed off by, came back from, is on the desk of, was copied to",
    separator=", ",
)
TAILS = words(
    "before the weekly review; after the café meeting; with two open questions; for the second "
    'time this month; marked "urgent"; without an attachment; at the request of finance; and '
    "nobody has answered yet; as agreed on the call; pending a new purchase order; until the "
    "numbers are checked; per the updated policy",
    separator="; ",
)


def generator(*parts: object) -> random.Random:
    """A generator that depends on nothing but these parts: not on the day, nor on the hash seed."""
    return random.Random("/".join(str(part) for part in parts))


def person(rng: random.Random) -> str:
    return f"{rng.choice(FIRST_NAMES)} {rng.choice(LAST_NAMES)}"


def sentence(rng: random.Random) -> str:
    """One plain office sentence; now and then with an accent, a quote or a line break."""
    subject = rng.choice(SUBJECTS).capitalize()
    end = rng.choice((".", ".", ".", "!", ".\n"))
    return f"{subject} {rng.choice(VERBS)} {person(rng)} {rng.choice(TAILS)}{end} "


def dumps(value: object) -> str:
    """JSON as Gym writes it: compact, and not escaped to ASCII."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def inside_string(text: str) -> str:
    """Text escaped to stand between the quotes of a JSON string."""
    return dumps(text)[1:-1]


def hex_id(rng: random.Random, prefix: str, n_digits: int = 24) -> str:
    return f"{prefix}{rng.getrandbits(4 * n_digits):0{n_digits}x}"
