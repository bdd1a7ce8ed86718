"""Settings that stand plainly in a config file: model, sampling, repeats, limits, checkpoint."""

from __future__ import annotations

import re
from collections import defaultdict

# Only these are read: configs also hold endpoints and keys, which are nobody's business.
SETTING_NAMES = frozenset(
    "policy_model_name model_name model model_id checkpoint checkpoint_path ckpt ckpt_path step "
    "global_step temperature top_p top_k max_output_tokens max_tokens num_repeats n_repeats "
    "max_turns max_steps max_tool_calls max_model_calls timeout timeout_s time_limit "
    "time_limit_s limit task_limit".split()
)

# `key: value`, `key = value` and `"key": value`: the scalars of YAML, TOML and JSON alike.
SCALAR = re.compile(
    r"""(?:^|[\s,{\["'-])(?P<key>[A-Za-z_]\w*)["']?[ \t]*[:=][ \t]*
        (?P<value>"[^"\n]*"|'[^'\n]*'|[^\s"'\[\]{},|>&*!$\#][^,\n\#}\]]*)""",
    re.VERBOSE,
)
NOTHING = frozenset({"", "null", "none", "~"})
LONGEST_VALUE = 300


def settings(text: str) -> dict[str, str]:
    """Known settings by name; one that a file gives two values for is not plain, and left out."""
    seen: dict[str, set[str]] = defaultdict(set)
    for match in SCALAR.finditer(text):
        value = match["value"].strip().strip("\"'")
        is_plain = (
            value.lower() not in NOTHING and len(value) <= LONGEST_VALUE and "${" not in value
        )
        if match["key"].lower() in SETTING_NAMES and is_plain:
            seen[match["key"].lower()].add(value)
    return {name: values.pop() for name, values in sorted(seen.items()) if len(values) == 1}


def checkpoint(text: str) -> dict[str, str]:
    """A checkpoint reference: settings where it has some, else its first line."""
    found = settings(text)
    first = text.strip()[:LONGEST_VALUE].splitlines()
    return found or ({"checkpoint": first[0].strip()} if first else {})
