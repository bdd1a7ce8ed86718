"""redactions.json: which placeholder stands where, by which rule; never what it stands for."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline import files
from pipeline.errors import InputError
from pipeline.package.sanitize.ledger import Ledger
from pipeline.package.sanitize.values import KINDS, PLACEHOLDER, Policy, Unchecked
from pipeline.text import json_text

LOG_NAME = "redactions.json"
SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Redaction:
    """A placeholder: its kind, the rule that asked for it, how often it stands, and where first."""

    placeholder: str
    kind: str
    rule: str
    count: int
    places: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class RedactionLog:
    """What was taken out of which files."""

    policy: Mapping[str, Any]
    redactions: tuple[Redaction, ...]
    files: Mapping[str, Mapping[str, int]]
    unchecked: tuple[Unchecked, ...] = ()

    @property
    def by_kind(self) -> dict[str, int]:
        """How many places of each kind, over all files."""
        total: Counter[str] = Counter()
        for redaction in self.redactions:
            total[redaction.kind] += redaction.count
        return {kind: total[kind] for kind in KINDS if total[kind]}


def read(path: Path) -> RedactionLog:
    """The log in a file; anything else is refused."""
    try:
        content = json.loads(files.content(path).decode("utf-8"))
        if content["schema_version"] != SCHEMA_VERSION or content["made_by"] != "blade sanitize":
            raise ValueError
        return RedactionLog(
            policy=dict(content["policy"]),
            redactions=tuple(_redaction(item) for item in content["redactions"]),
            files={
                str(item["file"]): {str(k): int(n) for k, n in item["counts"].items()}
                for item in content["files"]
            },
            unchecked=tuple(
                Unchecked(str(item["file"]), str(item["reason"])) for item in content["unchecked"]
            ),
        )
    except files.UnreadableError as error:
        raise InputError(f"{path}: {error}.") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        hint = "If it is a file of yours, rename it: sanitize keeps its log under this name."
        raise InputError(f"{path}: is not a redaction log.", hint=hint) from error


def _redaction(item: Any) -> Redaction:
    placeholder, kind = str(item["placeholder"]), str(item["kind"])
    if PLACEHOLDER.fullmatch(placeholder) is None or kind not in KINDS:
        raise ValueError
    places = tuple((str(place["file"]), int(place["line"])) for place in item["places"])
    return Redaction(placeholder, kind, str(item["rule"]), int(item["count"]), places)


def made(
    ledger: Ledger,
    policy: Policy,
    names: Sequence[str],
    unchecked: Sequence[Unchecked],
    earlier: RedactionLog | None,
) -> RedactionLog:
    """The log of a call, with what the log of an earlier one knew of the same files."""
    put = [entry for entry in ledger.by_secret.values() if entry.count]
    entries = sorted(put, key=lambda e: (KINDS.index(e.kind), e.number))
    new = [Redaction(f"[{e.bare}]", e.kind, e.rule, e.count, tuple(e.places)) for e in entries]
    old = earlier.redactions if earlier else ()
    counts = {name: Counter(ledger.files.get(name, {})) for name in names}
    for name, known in (earlier.files if earlier else {}).items():
        if name in counts:
            counts[name].update(known)
    merged = sorted([*old, *new], key=_order)
    return RedactionLog(summary(policy), tuple(merged), counts, tuple(unchecked))


def _order(redaction: Redaction) -> tuple[int, int]:
    return KINDS.index(redaction.kind), int(redaction.placeholder.rstrip("]").rpartition("-")[2])


def summary(policy: Policy) -> dict[str, Any]:
    """A policy without what it keeps private: counts of that, and all that it clears."""
    allow = policy.allow
    return {
        "n_names": len(policy.names),
        "n_users": len(policy.users),
        "n_hosts": len(policy.hosts),
        "n_source_fields": len(policy.source_fields),
        "n_withheld_fields": len(policy.withheld_fields),
        "urls": "all" if policy.all_urls else "private",
        "rules_off": list(policy.off),
        "allow": {name: list(getattr(allow, name)) for name in allow.__dataclass_fields__},
    }


def text(log: RedactionLog) -> str:
    """The log as its file holds it."""
    content = {
        "made_by": "blade sanitize",
        "schema_version": SCHEMA_VERSION,
        "policy": log.policy,
        "by_kind": log.by_kind,
        "redactions": [
            {**vars(item), "places": [{"file": file, "line": line} for file, line in item.places]}
            for item in log.redactions
        ],
        "files": [
            {"file": name, "counts": {kind: counts[kind] for kind in KINDS if counts.get(kind)}}
            for name, counts in sorted(log.files.items())
        ],
        "unchecked": [vars(item) for item in log.unchecked],
    }
    return json_text(content, indent=2) + "\n"
