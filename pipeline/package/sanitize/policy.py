"""sanitize.toml -> a Policy; whatever it holds beyond the contract is refused."""

from __future__ import annotations

import difflib
import ipaddress
import re
from collections.abc import Callable
from pathlib import Path

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
EXAMPLES = {
    "names": 'names = ["Project Heron"]',
    "users": 'users = ["jdoe"]',
    "hosts": 'hosts = ["build-7"]',
    "source_fields": 'source_fields = ["verifier_metadata.reference_solution"]',
    "withheld_fields": 'withheld_fields = ["response.output.*.arguments"]',
    "emails": 'emails = ["support@northwind.example"]',
    "domains": 'domains = ["northwind.example"]',
    "ips": 'ips = ["192.0.2.0/24"]',
    "paths": 'paths = ["/home/user"]',
    "patterns": 'patterns = ["sk-example-.*"]',
    "files": 'files = ["*.png"]',
    "off": 'off = ["host-port"]',
}


def read(path: Path) -> Policy:
    """The policy in a file; that of a log is what it clears, for what is private it leaves out."""
    if path.name == LOG_NAME:
        return _policy(_cleared(path))
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


def _cleared(path: Path) -> Entry:
    """What the policy of a sanitized copy cleared."""
    logged = log.read(path).policy
    document = {"allow": logged.get("allow", {}), "rules": {"off": logged.get("rules_off", [])}}
    return toml.checked(Entry(str(path), document), CONTRACT)


def _policy(top: Entry) -> Policy:
    return Policy(
        names=_names(top.at("names")),
        users=_names(top.at("users")),
        hosts=tuple(name.lower() for name in _names(top.at("hosts"))),
        source_fields=_fields(top.at("source_fields")),
        withheld_fields=_fields(top.at("withheld_fields")),
        all_urls=top.at("urls").choice(("private", "all")) == "all",
        allow=_allow(top.at("allow")),
        off=_off(top.at("rules").at("off")),
    )


def _allow(entry: Entry) -> Allow:
    networks, patterns = entry.at("ips"), entry.at("patterns")
    return Allow(
        emails=tuple(value.strip().lower() for value in _texts(entry.at("emails"))),
        domains=_lower(entry.at("domains")),
        hosts=_lower(entry.at("hosts")),
        ips=_checked(networks, ipaddress.ip_network, "an address or a network"),
        paths=_texts(entry.at("paths")),
        patterns=_checked(patterns, re.compile, "a pattern"),
        files=_texts(entry.at("files")),
    )


def _texts(entry: Entry) -> tuple[str, ...]:
    example = EXAMPLES[str(entry.key[-1])]
    return tuple(dict.fromkeys(entry.texts("a list of texts", "a text", example=example) or ()))


def _lower(entry: Entry) -> tuple[str, ...]:
    return tuple(value.strip().lower().lstrip("@") for value in _texts(entry))


def _names(entry: Entry) -> tuple[str, ...]:
    """Names long enough not to be found in every other word."""
    values = _texts(entry)
    for value in values:
        if len(SEPARATORS.sub("", value)) < SHORTEST_NAME:
            why = f"has {shown(value)}, which is too short to tell from other words."
            raise entry.refused(why, hint=f"A name has at least {SHORTEST_NAME} letters.")
        if value.lower() in "redacted-name-user-host":
            raise entry.refused(f"has {shown(value)}, a word of the placeholders.")
    return values


def _fields(entry: Entry) -> tuple[str, ...]:
    values = _texts(entry)
    for value in values:
        if FIELD.fullmatch(value) is None or set(value) <= set("*."):
            hint = f"Names with dots between, * for any item: {EXAMPLES[str(entry.key[-1])]}"
            raise entry.refused(f"has {shown(value)}, which is not a field path.", hint=hint)
    return values


def _checked(entry: Entry, check: Callable[[str], object], what: str) -> tuple[str, ...]:
    values = _texts(entry)
    for value in values:
        try:
            check(value)
        except (ValueError, re.error) as error:
            hint = f"For example: {EXAMPLES[str(entry.key[-1])]}"
            why = f"has {shown(value)}, which is not {what}: {error}."
            raise entry.refused(why, hint=hint) from error
    return values


def _off(entry: Entry) -> tuple[str, ...]:
    values = _texts(entry)
    for value in values:
        if value not in ALL_NAMES:
            close = difflib.get_close_matches(value[:40], ALL_NAMES, n=1, cutoff=0.5)
            meant = f" Did you mean {close[0]}?" if close else ""
            hint = f"Rules: {', '.join(ALL_NAMES)}.{meant}"
            raise entry.error(f"{shown(value)} is not a rule.", hint=hint)
    return tuple(sorted(values))


CONTRACT = Contract(
    noun="policy",
    file_name=FILE_NAME,
    tables={
        "": Table("names users hosts source_fields withheld_fields urls allow rules"),
        "allow": Table(
            "emails domains hosts ips paths patterns files",
            example='allow.domains = ["northwind.example"]',
        ),
        "rules": Table("off", example='rules.off = ["host-port"]'),
    },
)
