"""sanitize.toml -> a Policy; whatever it holds beyond the contract is refused."""

from __future__ import annotations

import difflib
import ipaddress
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pipeline.package.sanitize import log
from pipeline.package.sanitize.names import SEPARATORS
from pipeline.package.sanitize.rules import ALL_NAMES
from pipeline.package.sanitize.values import Allow, Policy
from pipeline.toml import Contract, Entry, Reader, Source, choice, read_source, shown, table, text

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
        return _cleared(path)
    source = read_source(path, str(path), CONTRACT)
    return Policy(**table(Entry(source, (), source.document), TOP))


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


def _cleared(path: Path) -> Policy:
    """What the policy of a sanitized copy cleared."""
    told = log.read(path).policy
    document = {"allow": told.get("allow", {}), "rules": {"off": told.get("rules_off", [])}}
    source = Source(str(path), CONTRACT, document, {})
    return Policy(**table(Entry(source, (), source.document), TOP))


def _texts(entry: Entry) -> tuple[str, ...]:
    example = EXAMPLES[str(entry.key[-1])]
    if not isinstance(entry.value, list):
        raise entry.wrong("a list of texts", example=example)
    read = [text(Entry(entry.source, entry.key, v), "a text", example=example) for v in entry.value]
    return tuple(dict.fromkeys(read))


def _list(entry: Entry) -> dict[str, Any]:
    return {str(entry.key[-1]): _texts(entry)}


def _lower(entry: Entry) -> dict[str, Any]:
    return {str(entry.key[-1]): tuple(value.strip().lower().lstrip("@") for value in _texts(entry))}


def _names(entry: Entry) -> dict[str, Any]:
    """Names long enough not to be found in every other word."""
    values = _texts(entry)
    for value in values:
        if len(SEPARATORS.sub("", value)) < SHORTEST_NAME:
            told = f"{entry.label} has {shown(value)}, which is too short to tell from other words."
            raise entry.error(told, hint=f"A name has at least {SHORTEST_NAME} letters.")
        if value.lower() in "redacted-name-user-host":
            raise entry.error(f"{entry.label} has {shown(value)}, a word of the placeholders.")
    return {str(entry.key[-1]): values}


def _fields(entry: Entry) -> dict[str, Any]:
    values = _texts(entry)
    for value in values:
        if FIELD.fullmatch(value) is None or set(value) <= set("*."):
            told = f"{entry.label} has {shown(value)}, which is not a field path."
            hint = f"Names with dots between, * for any item: {EXAMPLES[str(entry.key[-1])]}"
            raise entry.error(told, hint=hint)
    return {str(entry.key[-1]): values}


def _checked(check: Callable[[str], object], what: str) -> Reader:
    def read(entry: Entry) -> dict[str, Any]:
        for value in (values := _texts(entry)):
            try:
                check(value)
            except (ValueError, re.error) as error:
                told = f"{entry.label} has {shown(value)}, which is not {what}: {error}."
                hint = f"For example: {EXAMPLES[str(entry.key[-1])]}"
                raise entry.error(told, hint=hint) from error
        return {str(entry.key[-1]): values}

    return read


def _off(entry: Entry) -> dict[str, Any]:
    values = _texts(entry)
    for value in values:
        if value not in ALL_NAMES:
            close = difflib.get_close_matches(value[:40], ALL_NAMES, n=1, cutoff=0.5)
            meant = f" Did you mean {close[0]}?" if close else ""
            hint = f"Rules: {', '.join(ALL_NAMES)}.{meant}"
            raise entry.error(f"{shown(value)} is not a rule.", hint=hint)
    return {"off": tuple(sorted(values))}


def _table(readers: dict[str, Reader], example: str) -> Callable[[Entry], dict[str, Any]]:
    def read(entry: Entry) -> dict[str, Any]:
        if not isinstance(entry.value, dict):
            raise entry.wrong("a table", example=example)
        return table(entry, readers)

    return read


ALLOW: dict[str, Reader] = {
    "emails": lambda entry: {"emails": tuple(v.strip().lower() for v in _texts(entry))},
    "domains": _lower,
    "hosts": _lower,
    "ips": _checked(ipaddress.ip_network, "an address or a network"),
    "paths": _list,
    "patterns": _checked(re.compile, "a pattern"),
    "files": _list,
}
RULES: dict[str, Reader] = {"off": _off}
_allow = _table(ALLOW, 'allow.domains = ["northwind.example"]')
TOP: dict[str, Reader] = {
    "names": _names,
    "users": _names,
    "hosts": lambda entry: {k: tuple(v.lower() for v in vs) for k, vs in _names(entry).items()},
    "source_fields": _fields,
    "withheld_fields": _fields,
    "urls": lambda entry: {"all_urls": choice(entry, ("private", "all")) == "all"},
    "allow": lambda entry: {"allow": Allow(**_allow(entry))},
    "rules": _table(RULES, 'rules.off = ["host-port"]'),
}
CONTRACT = Contract(
    noun="policy",
    file_name=FILE_NAME,
    keys={"": frozenset(TOP), "allow": frozenset(ALLOW), "rules": frozenset(RULES)},
)
