"""sanitize.toml -> a Policy; whatever it holds beyond the contract is refused."""

from __future__ import annotations

import difflib
import ipaddress
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pipeline import toml
from pipeline.package.sanitize import log
from pipeline.package.sanitize.names import SEPARATORS
from pipeline.package.sanitize.rules import ALL_NAMES
from pipeline.package.sanitize.values import Allow, Policy
from pipeline.toml import Contract, Entry, Table, shown

FILE_NAME = "sanitize.toml"
LOG_NAME = "redactions.json"
# A folder's policy may stand in it, or this many folders above.
MOST_ABOVE = 3
SHORTEST_NAME = 3
FIELD = re.compile(r"[^.\s][^.]*(?:\.[^.]+)*")


def read(path: Path | None) -> Policy:
    """The policy in a file, if there is one.

    That of a log is what it clears, for what is private it leaves out.
    """
    if path is None:
        return Policy()
    if path.name == LOG_NAME:
        logged = log.read(path).policy
        cleared = {"allow": logged.get("allow", {}), "rules": {"off": logged.get("rules_off", [])}}
        return _policy(toml.checked(cleared, str(path), CONTRACT))
    return _policy(toml.read(path, str(path), CONTRACT))


def found(paths: list[Path]) -> Path | None:
    """The policy of the first path that has one: in its folder, or a little above.

    A copy that is shared has none; there the log says what was cleared.
    """
    for name in (FILE_NAME, LOG_NAME):
        for path in paths:
            folder = path.absolute() if path.is_dir() else path.absolute().parent
            for place in (folder, *folder.parents[:MOST_ABOVE]):
                if (place / name).is_file():
                    return place / name
    return None


def _policy(values: dict[str, Any]) -> Policy:
    allow = {name: value or () for name, value in values["allow"].items()}
    for name in ("emails", "domains", "hosts"):
        mark = "" if name == "emails" else "@"
        allow[name] = tuple(value.strip().lower().lstrip(mark) for value in allow[name])
    return Policy(
        names=values["names"] or (),
        users=values["users"] or (),
        hosts=tuple(name.lower() for name in values["hosts"] or ()),
        source_fields=values["source_fields"] or (),
        withheld_fields=values["withheld_fields"] or (),
        all_urls=values["urls"] == "all",
        allow=Allow(**allow),
        off=tuple(sorted(values["rules"]["off"] or ())),
    )


def _texts(entry: Entry, example: str) -> tuple[str, ...]:
    """A list of texts, each once."""
    if not isinstance(entry.value, list):
        raise entry.wrong("a list of texts", example=example)
    return tuple(dict.fromkeys(toml.text(item, "a text", example) for item in entry.items()))


def _names(entry: Entry, example: str) -> tuple[str, ...]:
    """Names long enough not to be found in every other word."""
    values = _texts(entry, example)
    for value in values:
        if len(SEPARATORS.sub("", value)) < SHORTEST_NAME:
            why = f"has {shown(value)}, which is too short to tell from other words."
            raise entry.refused(why, hint=f"A name has at least {SHORTEST_NAME} letters.")
        if value.lower() in "redacted-name-user-host":
            raise entry.refused(f"has {shown(value)}, a word of the placeholders.")
    return values


def _fields(entry: Entry, example: str) -> tuple[str, ...]:
    values = _texts(entry, example)
    for value in values:
        if FIELD.fullmatch(value) is None or set(value) <= set("*."):
            hint = f"Names with dots between, * for any item: {example}"
            raise entry.refused(f"has {shown(value)}, which is not a field path.", hint=hint)
    return values


def _checked(
    entry: Entry, check: Callable[[str], object], what: str, example: str
) -> tuple[str, ...]:
    values = _texts(entry, example)
    for value in values:
        try:
            check(value)
        except (ValueError, re.error) as error:
            why = f"has {shown(value)}, which is not {what}: {error}."
            raise entry.refused(why, hint=f"For example: {example}") from error
    return values


def _off(entry: Entry, example: str) -> tuple[str, ...]:
    values = _texts(entry, example)
    for value in values:
        if value not in ALL_NAMES:
            close = difflib.get_close_matches(value[:40], ALL_NAMES, n=1, cutoff=0.5)
            meant = f" Did you mean {close[0]}?" if close else ""
            hint = f"Rules: {', '.join(ALL_NAMES)}.{meant}"
            raise entry.error(f"{shown(value)} is not a rule.", hint=hint)
    return values


NETWORK = (_checked, ipaddress.ip_network, "an address or a network")
PATTERN = (_checked, re.compile, "a pattern")
CONTRACT = Contract(
    noun="policy",
    file_name=FILE_NAME,
    keys={
        "names": (_names, 'names = ["Project Heron"]'),
        "users": (_names, 'users = ["jdoe"]'),
        "hosts": (_names, 'hosts = ["build-7"]'),
        "source_fields": (_fields, 'source_fields = ["verifier_metadata.reference_solution"]'),
        "withheld_fields": (_fields, 'withheld_fields = ["response.output.*.arguments"]'),
        "urls": (toml.choice, "private", "all"),
        "allow.emails": (_texts, 'emails = ["support@northwind.example"]'),
        "allow.domains": (_texts, 'domains = ["northwind.example"]'),
        "allow.hosts": (_texts, 'hosts = ["build-7"]'),
        "allow.ips": (*NETWORK, 'ips = ["192.0.2.0/24"]'),
        "allow.paths": (_texts, 'paths = ["/home/user"]'),
        "allow.patterns": (*PATTERN, 'patterns = ["sk-example-.*"]'),
        "allow.files": (_texts, 'files = ["*.png"]'),
        "rules.off": (_off, 'off = ["host-port"]'),
    },
    tables={
        "allow": Table(example='allow.domains = ["northwind.example"]'),
        "rules": Table(example='rules.off = ["host-port"]'),
    },
)
