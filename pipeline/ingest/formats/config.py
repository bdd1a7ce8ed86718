"""Plain settings of config files: model, sampling, repeats, limits, checkpoint."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from . import SECRET, as_json, fields, get, items

# Only these are read: configs also contain endpoints and keys, which must not be copied.
SETTING_NAMES = frozenset(
    "policy_model_name model_name model model_id checkpoint checkpoint_path ckpt ckpt_path step "
    "global_step temperature top_p top_k max_output_tokens max_tokens num_repeats n_repeats "
    "max_turns max_steps max_tool_calls max_model_calls timeout timeout_s time_limit "
    "time_limit_s limit task_limit".split()
)

# `key: value`, `key = value` and `"key": value`: the scalars of YAML and TOML.
SCALAR = re.compile(
    r"""(?:^|[\s,{\["'-])(?P<key>[A-Za-z_]\w*)["']?[ \t]*[:=][ \t]*
        (?P<value>"[^"\n]*"|'[^'\n]*'|[^\s"'\[\]{},|>&*!$\#][^,\n\#}\]]*)""",
    re.VERBOSE,
)
# In JSON a quote that is part of a string is escaped.
SCALAR_OF_JSON = re.compile(
    r"""(?<!\\)"(?P<key>[A-Za-z_]\w*)"\s*:\s*(?P<value>"[^"\n]*"|[^\s"'\[\]{},][^,\n}\]]*)"""
)
NOTHING = frozenset({"", "null", "none", "~"})
LONGEST_VALUE = 300


def settings(text: str) -> dict[str, str]:
    """Known settings by name; a setting with two values is left out."""
    seen: dict[str, set[str]] = defaultdict(set)
    is_json = text.lstrip("\ufeff \t\r\n").startswith(("{", "["))
    for name, value in _of_document(text) if is_json else _of_lines(text, SCALAR):
        _note(seen, name, value)
    return _plain(seen)


def _of_lines(text: str, scalar: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    for match in scalar.finditer(text):
        yield match["key"], match["value"].strip().strip("\"'")


def _of_document(text: str) -> Iterator[tuple[str, str]]:
    """The scalars of a JSON document by their names, also of one with comments.

    Its strings may hold code or prose, in which nothing is a setting; nor is anything in a page of
    rows that a service has sent, whose limit is that of the page.
    """
    try:
        waiting = [json.loads(text.lstrip("\ufeff"))]
    except RecursionError:
        return
    except json.JSONDecodeError as error:
        if error.msg.startswith("Unterminated") or error.pos >= len(text.rstrip()):
            raise ValueError("not JSON: it ends before it is whole") from error
        yield from _of_lines(text, SCALAR_OF_JSON)
        return
    if "page" in fields(waiting[0]) and any(
        isinstance(one, list) and fields(get(one, 0)) for one in fields(waiting[0]).values()
    ):
        return
    while waiting:
        node = waiting.pop()
        waiting += [one for one in items(node) if isinstance(one, dict | list)]
        for name, value in fields(node).items():
            if isinstance(value, dict | list):
                waiting.append(value)
            elif value is not None:
                yield name, value if isinstance(value, str) else as_json(value)


def _note(seen: dict[str, set[str]], name: str, value: str) -> None:
    is_plain = value.lower() not in NOTHING and len(value) <= LONGEST_VALUE and "${" not in value
    if name.lower() in SETTING_NAMES and is_plain:
        seen[name.lower()].add(value)


def _plain(seen: dict[str, set[str]]) -> dict[str, str]:
    return {name: values.pop() for name, values in sorted(seen.items()) if len(values) == 1}


def resolved(text: str) -> dict[str, str]:
    """Known settings of `S_resolved_config.yaml`, the full configuration of a Gym run.

    Other values are ignored: they include endpoints and keys. Aliases may be nested, so every node
    is visited only once.
    """
    import yaml  # rarely needed

    seen: dict[str, set[str]] = defaultdict(set)
    known: set[int] = set()
    try:
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        root = yaml.compose(text, Loader=loader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ValueError(f"not YAML: {' '.join(str(error).split())[:LONGEST_VALUE]}") from error
    waiting = [root] if root is not None else []
    while waiting:
        node = waiting.pop()
        if id(node) in known:
            continue
        known.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            waiting += node.value
        for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
            waiting.append(value)
            if isinstance(key, yaml.ScalarNode) and isinstance(value, yaml.ScalarNode):
                _note(seen, key.value, value.value)
    return _plain(seen)


def checkpoint(text: str) -> dict[str, str]:
    """A checkpoint file: its settings, else its first line, unless it is a JSON document."""
    known = settings(text)
    first = text.strip()[:LONGEST_VALUE].splitlines()
    is_name = bool(first) and not first[0].startswith(("{", "["))
    return known or ({"checkpoint": first[0].strip()} if is_name else {})


def task_args(arguments: Any) -> dict[str, str]:
    """The arguments of a task or an environment as settings, without possible secrets."""
    return {
        f"task_args.{name}": (value if isinstance(value, str) else as_json(value))[:LONGEST_VALUE]
        for name, value in sorted(fields(arguments).items())
        if value is not None and not SECRET.search(name)
    }
