"""Documents with secrets of every kind planted in them, for the properties of sanitizing."""

from __future__ import annotations

import json
import random
import string
from dataclasses import dataclass
from typing import Any

from pipeline.package.sanitize.policy import Policy

ALNUM = string.ascii_letters + string.digits
WORDS = "the run ended after two calls; see notes, table 3 (n=12) and 11:00 for task:3 more".split()
# None of these can belong to what is beside it.
EDGES = (" ", "  ", "\n", "\t", ", ", "; ", " (", ") ", " | ", '"', "`", "<", ">", ". ", ": ", "! ")
POLICY = Policy(
    names=("zephyr nine", "quillfeather", "ünalçelik"), users=("jdoe7",), hosts=("buildgamma",)
)


@dataclass(frozen=True)
class Plant:
    """A secret, and the words around it without which nobody would know it."""

    secret: str
    before: str = ""
    after: str = ""

    @property
    def text(self) -> str:
        """The secret in its surroundings."""
        return f"{self.before}{self.secret}{self.after}"


def _some(rng: random.Random, letters: str, n: int) -> str:
    return "".join(rng.choice(letters) for _ in range(n))


def _name(rng: random.Random) -> str:
    return rng.choice(string.ascii_lowercase) + _some(rng, string.ascii_lowercase, 5)


def _pem(rng: random.Random) -> str:
    label = rng.choice(("RSA PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY"))
    body = "\n".join(_some(rng, ALNUM + "+/", 64) for _ in range(rng.randint(1, 4)))
    return f"-----BEGIN {label}-----\n{body}\n-----END {label}-----"


def plant(rng: random.Random) -> Plant:
    """A secret of any kind."""
    name, other, digits = _name(rng), _name(rng), _some(rng, "123456789", 2)
    makers = (
        lambda: Plant(f"{name}.{other}@{_name(rng)}.io"),
        lambda: Plant(f"{name}+{digits}@{_name(rng)}.co.uk"),
        lambda: Plant("ghp_" + _some(rng, ALNUM, 36)),
        lambda: Plant("github_pat_" + _some(rng, ALNUM, 30)),
        lambda: Plant("sk-proj-" + _some(rng, ALNUM, 24) + digits + "Zq"),
        lambda: Plant("AKIA" + _some(rng, string.ascii_uppercase + string.digits, 16)),
        lambda: Plant("xoxb-" + _some(rng, string.digits, 11) + "-" + _some(rng, ALNUM, 24)),
        lambda: Plant("eyJ" + ".".join(_some(rng, ALNUM, 20) for _ in range(3))),
        lambda: Plant("hf_" + _some(rng, ALNUM, 34)),
        lambda: Plant("nvapi-" + _some(rng, ALNUM, 40)),
        lambda: Plant(_pem(rng)),
        lambda: Plant(_some(rng, ALNUM, 10) + digits + "xY", before="password="),
        lambda: Plant(_some(rng, ALNUM, 20) + digits + "xY", before='"api_key": "', after='"'),
        lambda: Plant(_some(rng, ALNUM, 20) + digits + "xY", before="Authorization: Bearer "),
        lambda: Plant(f"postgres://{name}:{other}{digits}@db.{_name(rng)}.io/base"),
        lambda: Plant(f"http://{name}.internal/{other}?q={digits}"),
        lambda: Plant(f"https://{name}-node/v2"),
        lambda: Plant(f"https://{name}.io:8443/x_{other}"),
        lambda: Plant(f"https://api.{name}.io/v1/models"),
        lambda: Plant(f"gpu-node-{digits}:29500"),
        lambda: Plant(f"{name}{digits}.corp"),
        lambda: Plant(f"10.{digits}.0.{rng.randint(1, 255)}"),
        lambda: Plant(f"2a02:8070::{digits}:{_some(rng, string.digits, 3)}"),
        lambda: Plant(f"{name}@node{digits}"),
        lambda: Plant(f"/home/{name}/{other}/file_{digits}.py"),
        lambda: Plant(f"/lustre/fsw/{name}/users/{other}"),
        lambda: Plant(f"C:\\Users\\{name}\\{other}\\notes{digits}.txt"),
        lambda: Plant("zephyr nine"),
        lambda: Plant("quillfeather"),
        lambda: Plant("ünalçelik"),
        lambda: Plant("jdoe7"),
        lambda: Plant("buildgamma"),
    )
    return rng.choice(makers)()


def passage(rng: random.Random, plants: list[Plant]) -> str:
    """Prose with secrets in it, parted by anything that parts words."""
    parts: list[str] = []
    for _ in range(rng.randint(0, 4)):
        chosen = rng.choice(plants).text if plants and rng.random() < 0.5 else rng.choice(WORDS)
        parts += (chosen, rng.choice(EDGES))
    if parts and rng.random() < 0.3:
        parts.pop()
    return "".join(parts)


def value(rng: random.Random, plants: list[Plant], depth: int = 0) -> Any:
    """A JSON value: text, numbers, lists, objects, and JSON in its own text."""
    kind = rng.random()
    if depth > 3 or kind < 0.45:
        return passage(rng, plants)
    if kind < 0.6:
        return rng.choice((1, 2.5, -1e-7, True, None, 10**12, "", "2024-05-01T11:00:00"))
    if kind < 0.7 and depth < 2:
        return json.dumps(value(rng, plants, depth + 1), ensure_ascii=rng.random() < 0.5)
    if kind < 0.82:
        return [value(rng, plants, depth + 1) for _ in range(rng.randint(0, 3))]
    return {
        (passage(rng, plants) if rng.random() < 0.2 else f"{rng.choice(WORDS)}_{n}"): value(
            rng, plants, depth + 1
        )
        for n in range(rng.randint(0, 4))
    }


def written(value: Any, rng: random.Random) -> str:
    """The value as JSON, in one of the many ways to write it."""
    if isinstance(value, str):
        return _string(value, rng)
    space = rng.choice(("", " "))
    if isinstance(value, dict):
        items = [f"{_string(k, rng)}{space}:{space}{written(v, rng)}" for k, v in value.items()]
        return "{" + f",{space}".join(items) + "}"
    if isinstance(value, list):
        return "[" + f",{space}".join(written(item, rng) for item in value) + "]"
    return json.dumps(value)


def _string(text: str, rng: random.Random) -> str:
    share = rng.choice((0, 0, 0, 0.2, 1))
    escaped = []
    for character in text:
        if rng.random() < share:
            escaped.append(f"\\u{ord(character):04x}")
        elif character == "/" and share:
            escaped.append("\\/")
        else:
            escaped.append(json.dumps(character, ensure_ascii=bool(share))[1:-1])
    return f'"{"".join(escaped)}"'


def strings(value: Any) -> list[str]:
    """All texts of a JSON value, keys and JSON in texts included."""
    if isinstance(value, str):
        try:
            inner = json.loads(value)
        except ValueError:
            inner = None
        return [value, *(strings(inner) if isinstance(inner, (dict, list, str)) else [])]
    if isinstance(value, dict):
        return [text for pair in value.items() for part in pair for text in strings(part)]
    if isinstance(value, list):
        return [text for part in value for text in strings(part)]
    return []
