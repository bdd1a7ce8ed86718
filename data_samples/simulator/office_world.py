"""The made-up company that the office tasks play in: people, records, tools, error texts."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import date, timedelta

from simulator.episode import Item
from simulator.phrases import FIRST_NAMES, LAST_NAMES, words

TOPICS = words(
    "pricing refresh; payment timeout on checkout; onboarding pack; error report from the pilot; "
    "Q3 hiring plan; supplier audit; password reset policy; warehouse move; brand guidelines; "
    "failed deliveries in March; holiday rota; data retention; expense limits; press briefing; "
    "refund backlog; office plants; API rate limits; travel insurance; sales kickoff; server room",
    separator="; ",
)
PRODUCTS = ("Hardware", "Consulting", "Training", "Services", "Software", "Support")
STATUSES = ("Lead", "Qualified", "Proposal", "Won", "Lost")
QUEUES = ("billing", "access", "network", "facilities", "payroll")
PRIORITIES = ("low", "medium", "high")
DURATIONS = (15, 30, 45, 60, 90)
# What a model that does not know this company's own words would write instead.
FOREIGN_WORDS = {
    "Lead": "New", "Qualified": "Active", "Proposal": "Quoted", "Won": "Closed Won",
    "Lost": "Closed Lost", "low": "P4", "medium": "normal", "high": "urgent",
}  # fmt: skip


@dataclass(frozen=True)
class Person:
    name: str
    first: str
    email: str
    # The address one would guess; it is never the right one, so that a lookup is needed.
    guess: str


@dataclass(frozen=True)
class World:
    domain: str
    today: date
    people: list[Person]
    rng: random.Random

    def person(self) -> Person:
        return self.rng.choice(self.people)

    def pair(self) -> tuple[Person, Person]:
        first, second = self.rng.sample(self.people, k=2)
        return first, second

    def number(self) -> str:
        return f"{self.rng.randrange(10_000, 99_999):08d}"

    def day(self, first: int, last: int) -> str:
        return (self.today + timedelta(days=self.rng.randint(first, last))).isoformat()


def make_world(rng: random.Random) -> World:
    domain = rng.choice(
        ("northwind", "halden", "bluefern", "corvia", "tessera", "lumen")
    ) + rng.choice((".com", ".io", ".example", ".co"))
    firsts = rng.sample(FIRST_NAMES, k=24)
    lasts = rng.sample(LAST_NAMES, k=24)
    people = [_person(rng, first, last, domain) for first, last in zip(firsts, lasts, strict=True)]
    today = date(2024, 1, 8) + timedelta(days=rng.randrange(500))
    return World(domain=domain, today=today, people=people, rng=rng)


def _person(rng: random.Random, first: str, last: str, domain: str) -> Person:
    short, long = first.lower(), last.lower()
    local = rng.choice(
        (f"{short[0]}{long}", f"{short}.{long[0]}", f"{long}.{short}", f"{short}_{long}2")
    )
    return Person(
        name=f"{first} {last}",
        first=first,
        email=f"{local}@{domain}",
        guess=f"{short}.{long}@{domain}",
    )


def _tool(name: str, description: str, /, **parameters: str) -> Item:
    types = {"integer": "integer"}
    return {
        "type": "function",
        "name": name,
        "description": description,
        "parameters": {
            "type": "object",
            "properties": {
                key: {"type": types.get(kind, "string")} for key, kind in parameters.items()
            },
        },
    }


DIRECTORY = _tool("directory_find_email", "Find a colleague's email address.", name="string")
TOOLS: dict[str, list[Item]] = {
    "email": [
        DIRECTORY,
        _tool("mail_search", "Search mail; dates are inclusive.", query="string", sender="string",
              sent_from="string", sent_to="string"),
        _tool("mail_send", "Send an email.", recipient="string", subject="string", body="string"),
        _tool("mail_forward", "Forward an email.", email_id="string", recipient="string"),
        _tool("mail_delete", "Delete an email.", email_id="string"),
    ],
    "calendar": [
        DIRECTORY,
        _tool("calendar_search", "Search events; dates are inclusive.", query="string",
              participant_email="string", start_from="string", start_to="string"),
        _tool("calendar_create", "Create an event.", name="string", participant_email="string",
              start="string", duration="integer"),
        _tool("calendar_update", "Change one field of an event.", event_id="string", field="string",
              new_value="string"),
        _tool("calendar_delete", "Delete an event.", event_id="string"),
    ],
    "crm": [
        DIRECTORY,
        _tool("crm_search", "Search customers; dates are inclusive.", assigned_to_email="string",
              product="string", status="string", last_contact_from="string",
              last_contact_to="string"),
        _tool("crm_update", "Change one field of a customer.", customer_id="string", field="string",
              new_value="string"),
        _tool("crm_add", "Add a customer.", name="string", assigned_to_email="string",
              product="string", status="string"),
    ],
    "tickets": [
        DIRECTORY,
        _tool("tickets_search", "Search tickets; dates are inclusive.", queue="string",
              status="string", opened_from="string", opened_to="string"),
        _tool("tickets_update", "Change one field of a ticket.", ticket_id="string", field="string",
              new_value="string"),
        _tool("tickets_comment", "Comment on a ticket.", ticket_id="string", text="string"),
    ],
}  # fmt: skip
WRITES = words(
    "mail_send mail_forward mail_delete calendar_create calendar_update calendar_delete crm_update "
    "crm_add tickets_update tickets_comment"
)
IMAGINED_TOOLS = words(
    "{area}_bulk_update {area}_execute {area}_run_query update_{area}_records get_all_{area} "
    "{area}.modify user_profile_lookup"
)
COMMON_ERRORS = (
    "{area} backend returned 503",
    "upstream connection reset",
    "internal server error",
    "quota exceeded for this account",
    "request timed out after 30 s",
)
READ_ERRORS = (
    "search index for {area} is rebuilding",
    "query could not be parsed",
    "session expired",
)
WRITE_ERRORS = (
    "record is locked by another session",
    "permission denied for this field",
    "could not commit the change to {area}",
    "write rejected: version conflict",
    "value failed validation",
)


def tool_error(rng: random.Random, tool: str) -> object:
    """A failing result; the wording, and even the shape, differs from call to call."""
    area = tool.split("_")[0]
    texts = COMMON_ERRORS + (WRITE_ERRORS if tool in WRITES else READ_ERRORS)
    text = rng.choice(texts).format(area=area)
    shapes: tuple[object, ...] = (
        {"error": text},
        {"status": "error", "message": text},
        {"output": None, "error": {"code": rng.choice((409, 422, 500, 503)), "detail": text}},
        f"Error executing {tool}: {text}",
        f"Traceback (most recent call last):\n  ...\nRuntimeError: {text}",
        f"Error: {text}",
    )
    return rng.choice(shapes)
