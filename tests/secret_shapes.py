"""Secrets in the shapes that transcripts hold, drawn from `tests/cases/secret_shapes.toml`.

Run as a script it prints how many shapes the detector misses, and which.
"""

from __future__ import annotations

import json
import random
import re
import string
import sys

from pipeline.package.sanitize.placeholders import Placeholders
from pipeline.package.sanitize.policy import Policy
from pipeline.package.sanitize.share import _sanitized
from tests.case_files import cases

ALPHABETS = {
    "alpha": string.ascii_letters,
    "alnum": string.ascii_letters + string.digits,
    "lower": string.ascii_lowercase + string.digits,
    "upper": string.ascii_uppercase + string.digits,
    "digits": string.digits,
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "b32": string.ascii_uppercase + "234567",
    "b64": string.ascii_letters + string.digits + "+/",
    "url": string.ascii_letters + string.digits + "_-",
    "pw": string.ascii_letters + string.digits + "!#%^*-_+",
}
FIELD = re.compile(
    r"\{(alpha|alnum|lower|upper|digits|hex|HEX|b32|b64|url|pw|uuid)(?::([0-9]+))?\}"
)
MARK = re.compile(r"\[\[(.*?)\]\]", re.DOTALL)
# So much of a secret, left in a row, is a leak.
WINDOW = 8
SEEDS = range(3)


def _characters(rng: random.Random, name: str, length: int) -> str:
    """Characters of an alphabet; where it has letters and digits, one of each."""
    letters = ALPHABETS[name]
    drawn = [rng.choice(letters) for _ in range(length)]
    if name not in ("alpha", "digits") and length > 2:
        drawn[0] = rng.choice([each for each in letters if each.isalpha()])
        drawn[-1] = rng.choice([each for each in letters if each.isdigit()])
    return "".join(drawn)


def drawn(shape: str, seed: int) -> tuple[str, list[str]]:
    """A shape with its secrets written out, and those secrets."""
    rng = random.Random(f"{shape} {seed}")

    def fill(match: re.Match[str]) -> str:
        if match[1] == "uuid":
            return "-".join(_characters(rng, "hex", n) for n in (8, 4, 4, 4, 12))
        return _characters(rng, match[1], int(match[2]))

    text = FIELD.sub(fill, shape.replace("⏎", "\n"))
    return MARK.sub(lambda match: match[1], text), MARK.findall(text)


def clean(text: str) -> str:
    """A text without what must go, by the default policy."""
    return _sanitized(text.encode(), 1, "file", Policy(), Placeholders()).decode()


def _leaks(text: str, secret: str) -> bool:
    pieces = [secret[at : at + WINDOW] for at in range(max(1, len(secret) - WINDOW + 1))]
    return any(piece in text for piece in pieces)


def is_missed(shape: str) -> bool:
    """Whether any of its secrets stays, in a text or in a row of JSON."""
    for seed in SEEDS:
        text, secrets = drawn(shape, seed)
        row = json.dumps({"role": "user", "content": f"first\n{text}\nlast"})
        outputs = (clean(text), json.loads(clean(row))["content"])
        if any(_leaks(output, secret) for output in outputs for secret in secrets):
            return True
    return False


if __name__ == "__main__":
    for table in sys.argv[1:]:
        shapes = cases("secret_shapes", table)
        missed = [shape for shape in shapes if is_missed(shape)]
        print(*missed, f"{table}: {len(missed)} of {len(shapes)} missed", sep="\n")
