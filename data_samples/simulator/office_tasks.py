"""Office tasks, each with the plan of calls that solves it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta

from simulator.episode import Item, Task
from simulator.office_world import (
    DURATIONS,
    PRIORITIES,
    PRODUCTS,
    QUEUES,
    STATUSES,
    TOOLS,
    TOPICS,
    Person,
    World,
)
from simulator.phrases import WEEKDAYS


@dataclass(frozen=True)
class Step:
    """One call of the plan and what the tool answers."""

    tool: str
    arguments: Item
    result: object


@dataclass(frozen=True)
class Bulk:
    """A search bounded by dates, whose every match is then written to."""

    search: Step
    bound: str
    matches: list[Item]
    # Records outside the bound: what the search returns as well when the bound is left out.
    others: list[Item]
    # The match that lies on the bound itself.
    borderline: str


@dataclass(frozen=True)
class Plan:
    """How an office task is solved, in order: lookups, a search, writes."""

    lookups: list[Step]
    people: list[Person]
    searches: list[Step]
    writes: list[Step]
    done: str
    bulk: Bulk | None = None


@dataclass(frozen=True)
class Draft:
    """A task before it has its number."""

    category: str
    request: str
    plan: Plan


def _lookup(person: Person) -> Step:
    return Step("directory_find_email", {"name": person.first}, {"output": [person.email]})


def _bulk(
    world: World, tool: str, listing: str, arguments: Item, dated: str, record: Callable[[], Item]
) -> Bulk:
    """Records before a bound, one of them on it, and some beyond it."""
    bound = world.day(-40, -10)
    cut = date.fromisoformat(bound)
    matches, others = [], []
    for number in range(world.rng.randint(2, 4)):
        back = 0 if number == 0 else world.rng.randint(2, 30)
        matches.append(record() | {dated: (cut - timedelta(days=back)).isoformat()})
    for _ in range(world.rng.randint(1, 3)):
        others.append(
            record() | {dated: (cut + timedelta(days=world.rng.randint(1, 9))).isoformat()}
        )
    borderline = str(next(iter(matches[0].values())))
    world.rng.shuffle(matches)
    search = Step(tool, arguments | {f"{dated}_to": bound}, {listing: matches})
    return Bulk(search, bound, matches, others, borderline)


def _id_of(record: Item) -> Item:
    """The record's own id as an argument: by convention its first field."""
    key = next(iter(record))
    return {key: record[key]}


def _bulk_plan(bulk: Bulk, people: list[Person], tool: str, change: Item, done: str) -> Plan:
    return Plan(
        lookups=[_lookup(person) for person in people],
        people=people,
        searches=[bulk.search],
        writes=[Step(tool, _id_of(r) | change, {"output": "ok"}) for r in bulk.matches],
        done=done,
        bulk=bulk,
    )


def delete_mail(world: World) -> Draft:
    person = world.person()
    bulk = _bulk(
        world, "mail_search", "emails", {"sender": person.email}, "sent",
        lambda: {"email_id": world.number(), "sender": person.email,
                 "subject": world.rng.choice(TOPICS)},
    )  # fmt: skip
    request = world.rng.choice(
        (
            f"Delete every email {person.first} sent me up to and including {bulk.bound}.",
            f"Please clear out {person.first}'s emails from {bulk.bound} or earlier.",
        )
    )
    return Draft(
        "email", request, _bulk_plan(bulk, [person], "mail_delete", {}, "the old emails are gone")
    )


def forward_mail(world: World) -> Draft:
    sender, target = world.pair()
    topic = world.rng.choice(TOPICS)
    found = [
        {
            "email_id": world.number(),
            "sender": sender.email,
            "subject": topic,
            "sent": world.day(-30, -2),
        }
        for _ in range(2)
    ]
    found.sort(key=lambda email: str(email["sent"]), reverse=True)
    request = world.rng.choice(
        (
            f"Forward the latest email about '{topic}' to {target.first}.",
            f"{target.first} needs to see the most recent message on '{topic}', pass it on please.",
        )
    )
    write = Step(
        "mail_forward", _id_of(found[0]) | {"recipient": target.email}, {"output": "forwarded"}
    )
    search = Step("mail_search", {"query": topic}, {"emails": found})
    return Draft(
        "email", request,
        Plan([_lookup(target)], [target], [search], [write], f"the email went to {target.first}"),
    )  # fmt: skip


def send_mail(world: World) -> Draft:
    person = world.person()
    topic = world.rng.choice(TOPICS)
    body = world.rng.choice(
        ("Can we talk about it tomorrow?", "The new numbers are in.", "All clear.")
    )
    request = f"Send {person.first} an email titled '{topic}' that says: {body}"
    arguments = {"recipient": person.email, "subject": topic, "body": body}
    write = Step("mail_send", arguments, {"output": "sent"})
    return Draft(
        "email", request, Plan([_lookup(person)], [person], [], [write], f"{person.first} has mail")
    )


def book_meeting(world: World) -> Draft:
    person = world.person()
    topic, day = world.rng.choice(TOPICS), world.day(2, 20)
    hour, length = world.rng.randint(9, 16), world.rng.choice(DURATIONS)
    request = world.rng.choice(
        (
            f"Book {length} minutes with {person.first} on {day} at {hour}:00, title '{topic}'.",
            f"Set up '{topic}' with {person.first}: {day}, {hour}:00, {length} minutes.",
        )
    )
    search = Step("calendar_search", {"start_from": day, "start_to": day}, {"events": []})
    arguments = {
        "name": topic, "participant_email": person.email, "start": f"{day} {hour:02d}:00:00",
        "duration": length,
    }  # fmt: skip
    write = Step("calendar_create", arguments, {"output": world.number()})
    done = f"'{topic}' is in the calendar for {day} at {hour}:00"
    return Draft("calendar", request, Plan([_lookup(person)], [person], [search], [write], done))


def cancel_meetings(world: World) -> Draft:
    person = world.person()
    bulk = _bulk(
        world, "calendar_search", "events", {"participant_email": person.email}, "start",
        lambda: {"event_id": world.number(), "name": world.rng.choice(TOPICS),
                 "participant_email": person.email},
    )  # fmt: skip
    request = world.rng.choice(
        (
            f"Remove all meetings with {person.first} up to and including {bulk.bound}.",
            f"Clean up: drop every meeting with {person.first} dated {bulk.bound} or before.",
        )
    )
    plan = _bulk_plan(
        bulk, [person], "calendar_delete", {}, f"the meetings with {person.first} are gone"
    )
    return Draft("calendar", request, plan)


def stale_to_lost(world: World) -> Draft:
    product, status = world.rng.choice(PRODUCTS), world.rng.choice(STATUSES[:3])
    bulk = _bulk(
        world, "crm_search", "customers", {"product": product, "status": status}, "last_contact",
        lambda: {"customer_id": world.number(), "name": _name(world), "product": product,
                 "status": status},
    )  # fmt: skip
    request = world.rng.choice(
        (
            f"Move every {status} customer for {product} last contacted on or before {bulk.bound} "
            "to Lost.",
            f"Nobody has talked to our {product} customers in {status} since {bulk.bound} (that "
            "day counts too). Mark them as Lost.",
        )
    )
    change = {"field": "status", "new_value": "Lost"}
    return Draft(
        "crm", request, _bulk_plan(bulk, [], "crm_update", change, "they are marked as Lost")
    )


def reassign(world: World) -> Draft:
    owner, target = world.pair()
    product = world.rng.choice(PRODUCTS)
    found = [
        {"customer_id": world.number(), "name": _name(world), "assigned_to_email": owner.email,
         "product": product}
        for _ in range(world.rng.randint(2, 3))
    ]  # fmt: skip
    request = world.rng.choice(
        (
            f"Reassign all of {owner.first}'s {product} customers to {target.first} in the CRM.",
            f"{owner.first} is away. Give {owner.first}'s {product} customers to {target.first}.",
        )
    )
    search = Step(
        "crm_search", {"assigned_to_email": owner.email, "product": product}, {"customers": found}
    )
    change = {"field": "assigned_to_email", "new_value": target.email}
    writes = [Step("crm_update", _id_of(r) | change, {"output": "ok"}) for r in found]
    lookups = [_lookup(owner), _lookup(target)]
    done = f"{target.first} now owns them"
    return Draft("crm", request, Plan(lookups, [owner, target], [search], writes, done))


def add_lead(world: World) -> Draft:
    person = world.person()
    name, product = _name(world), world.rng.choice(PRODUCTS)
    request = f"Add {name} to the CRM as a new lead for {product}, assigned to {person.first}."
    arguments = {
        "name": name, "assigned_to_email": person.email, "product": product, "status": "Lead",
    }  # fmt: skip
    write = Step("crm_add", arguments, {"output": world.number()})
    done = f"{name} is in the CRM"
    return Draft("crm", request, Plan([_lookup(person)], [person], [], [write], done))


def raise_tickets(world: World) -> Draft:
    queue, priority = world.rng.choice(QUEUES), world.rng.choice(PRIORITIES)
    bulk = _bulk(
        world, "tickets_search", "tickets", {"queue": queue, "status": "open"}, "opened",
        lambda: {"ticket_id": world.number(), "title": world.rng.choice(TOPICS), "queue": queue},
    )  # fmt: skip
    request = world.rng.choice(
        (
            f"Set open {queue} tickets opened on or before {bulk.bound} to {priority} priority.",
            f"Open tickets in {queue} from {bulk.bound} or earlier should be {priority} priority.",
        )
    )
    change = {"field": "priority", "new_value": priority}
    done = f"their priority is {priority}"
    return Draft("tickets", request, _bulk_plan(bulk, [], "tickets_update", change, done))


def assign_ticket(world: World) -> Draft:
    person = world.person()
    queue = world.rng.choice(QUEUES)
    found = [
        {"ticket_id": world.number(), "title": topic, "queue": queue}
        for topic in world.rng.sample(TOPICS, k=3)
    ]
    request = f"Assign the open {queue} ticket about '{found[1]['title']}' to {person.first}."
    search = Step("tickets_search", {"queue": queue, "status": "open"}, {"tickets": found})
    change = {"field": "assigned_to_email", "new_value": person.email}
    write = Step("tickets_update", _id_of(found[1]) | change, {"output": "ok"})
    done = f"the ticket is with {person.first}"
    return Draft("tickets", request, Plan([_lookup(person)], [person], [search], [write], done))


def write_digest(world: World) -> Draft:
    """Asks for more text than the token limit lets through."""
    queue, topic = world.rng.choice(QUEUES), world.rng.choice(TOPICS)
    found = [
        {"ticket_id": world.number(), "title": title, "opened": world.day(-90, -1)}
        for title in (topic, *world.rng.sample(TOPICS, k=5))
    ]
    request = (
        f"Copy the complete {queue} ticket log of the past five years, entry by entry and in full, "
        f"into one comment on the ticket about '{topic}'."
    )
    search = Step("tickets_search", {"queue": queue}, {"tickets": found, "total": 1840})
    arguments = {"ticket_id": found[0]["ticket_id"], "text": f"Full log of {queue}"}
    write = Step("tickets_comment", arguments, {"output": "ok"})
    return Draft("tickets", request, Plan([], [], [search], [write], "the log is complete"))


def _name(world: World) -> str:
    return f"{world.person().first} {world.person().name.split()[1]}"


KINDS: tuple[Callable[[World], Draft], ...] = (
    delete_mail, book_meeting, stale_to_lost, raise_tickets, forward_mail, cancel_meetings,
    reassign, assign_ticket, send_mail, add_lead,
)  # fmt: skip
# What kind of task a flaw, or one of the two told stories, needs.
SPECIAL_KINDS: dict[str, Callable[[World], Draft]] = {
    "skipped_lookup": reassign,
    "dropped_filter": stale_to_lost,
    "limit_too_low": write_digest,
}


def office_task(
    world: World, index: int, kind: Callable[[World], Draft], difficulty: str, flaw: str | None
) -> Task:
    draft = kind(world)
    system = (
        f"Today is {WEEKDAYS[world.today.weekday()]}, {world.today.isoformat()}. "
        "Look people up before you act."
    )
    messages = [
        {"role": "system", "content": system},
        {"role": "user", "content": draft.request},
    ]
    expected = [{"name": step.tool, "kwargs": step.arguments} for step in draft.plan.writes]
    return Task(
        index=index,
        category=draft.category,
        difficulty=difficulty,
        messages=messages,
        tools=TOOLS[draft.category],
        fields={"expected_actions": expected},
        way=draft.plan,
        flaw=flaw,
    )
