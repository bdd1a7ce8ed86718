"""sanitize.toml -> a Policy, and patterns.toml; a policy beyond its contract is refused."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from ... import toml
from ...errors import did_you_mean
from ...toml import Contract, Entry, Table, shown

DATA = tomllib.loads(Path(__file__).with_name("patterns.toml").read_text(encoding="utf-8"))
PATTERNS: list[dict[str, Any]] = DATA["pattern"]
KNOWN: dict[str, Any] = DATA["known"]
FILE_NAME = "sanitize.toml"
LOG_NAME = "redactions.json"
# A folder's policy may be in it, or this many folders above.
MOST_ABOVE = 3
SEPARATORS = re.compile(r"[\s_.-]+")
FIELD = re.compile(r"(?![*.]+\Z)[^.\s][^.]*(?:\.[^.]+)*")
# What a policy lists, with the kind of placeholder that it leaves and the name of its rule.
LISTED = {"names": "name", "users": "user", "hosts": "host"}
FIELDS = {
    "source_fields": ("source", "source-field"),
    "withheld_fields": ("data", "withheld-field"),
}
RULES = (
    *(each["id"] for each in PATTERNS),
    *(f"listed-{kind}" for kind in LISTED.values()),
    *(rule for _, rule in FIELDS.values()),
)


@dataclass(frozen=True)
class Allow:
    domains: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class Policy:
    """What is private beyond the patterns, and what is not."""

    names: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    source_fields: tuple[str, ...] = ()
    withheld_fields: tuple[str, ...] = ()
    allow: Allow = Allow()
    off: tuple[str, ...] = ()

    def summary(self) -> dict[str, Any]:
        """Without what it keeps private: counts of that, and all that it clears."""
        return {
            **{f"n_{key}": len(getattr(self, key)) for key in (*LISTED, *FIELDS)},
            "rules_off": list(self.off),
            "allow": {key: list(values) for key, values in vars(self.allow).items()},
        }


def read(path: Path) -> Policy:
    return _policy(toml.read(path, str(path), CONTRACT))


def of_log(summary: Mapping[str, Any], path: Path) -> Policy:
    """What the policy of a log clears; what is private it leaves out."""
    cleared = {"allow": summary.get("allow", {}), "rules": {"off": summary.get("rules_off", [])}}
    return _policy(toml.checked(cleared, str(path), CONTRACT))


def nearest(paths: list[Path]) -> Path | None:
    """The policy of the first path that has one: in its folder, or a little above.

    A copy that is shared has none; there the log says what was cleared.
    """
    folders = [path.absolute() if path.is_dir() else path.absolute().parent for path in paths]
    places = [place for each in folders for place in (each, *each.parents[:MOST_ABOVE])]
    files = [place / name for name in (FILE_NAME, LOG_NAME) for place in places]
    return next((file for file in files if file.is_file()), None)


def _policy(values: dict[str, Any]) -> Policy:
    allow = {key: value or () for key, value in values["allow"].items()}
    allow["domains"] = tuple(value.strip().lower().removeprefix("@") for value in allow["domains"])
    settings = {each.name: values[each.name] for each in fields(Policy) if values.get(each.name)}
    settings["hosts"] = tuple(name.lower() for name in values["hosts"] or ())
    return Policy(**{**settings, "allow": Allow(**allow), "off": values["rules"]["off"] or ()})


def _texts(entry: Entry, example: str, check: Callable[[str], object] = str, what: str = "") -> Any:
    """A list of texts, each once, that the check takes."""
    if not isinstance(entry.value, list):
        raise entry.wrong("a list of texts", example=example)
    values = dict.fromkeys(toml.text(item, "a text", example) for item in entry.items())
    for value in values:
        try:
            check(value)
        except (ValueError, re.error) as error:
            why = f"has {shown(value)}, which is not {what}: {error}."
            raise entry.refused(why, hint=f"For example: {example}") from error
    return tuple(values)


def _name(value: str) -> None:
    if len(SEPARATORS.sub("", value)) < 3:
        raise ValueError("too short to tell from other words")
    if value.lower() in "redacted-name-user-host":
        raise ValueError("a word of the placeholders")


def _field(value: str) -> None:
    if FIELD.fullmatch(value) is None:
        raise ValueError("names with dots between, * for any item")


def _rule(value: str) -> None:
    if value not in RULES:
        raise ValueError(did_you_mean(value, RULES, cutoff=0.5) or f"one of {', '.join(RULES)}")


CONTRACT = Contract(
    noun="policy",
    file_name=FILE_NAME,
    keys={
        **{key: (_texts, f'{key} = ["{kind}-7"]', _name, "a name") for key, kind in LISTED.items()},
        **{key: (_texts, f'{key} = ["metadata.*.x"]', _field, "a field path") for key in FIELDS},
        "allow.domains": (_texts, 'domains = ["northwind.io"]'),
        "allow.paths": (_texts, 'paths = ["/home/build"]'),
        "allow.patterns": (_texts, 'patterns = ["sk-demo-.*"]', re.compile, "a pattern"),
        "allow.files": (_texts, 'files = ["*.png"]'),
        "rules.off": (_texts, 'off = ["host-port"]', _rule, "a rule"),
    },
    tables={
        key: Table(example=f'{key}.{each} = ["x"]')
        for key, each in (("allow", "domains"), ("rules", "off"))
    },
)
