"""People and machines: e-mail addresses, users of hosts, bare IP addresses."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator

from pipeline.package.sanitize import endpoints
from pipeline.package.sanitize.values import Place, Policy

_LETTER = "A-Za-z0-9\u00c0-\u024f"
# Its last part has letters; where an excerpt was cut off, any part may be the last.
DOMAIN = re.compile(
    rf"@(?P<domain>[{_LETTER}](?:[{_LETTER}-]{{0,62}}\.)+"
    rf"(?P<top>[A-Za-z\u00c0-\u024f][{_LETTER}-]{{1,23}})(?![{_LETTER}])"
    rf"|[{_LETTER}][{_LETTER}.-]{{0,62}}(?=…))"
)
# Read backwards from the @: an address never takes long to find.
LOCAL = re.compile(rf"[{_LETTER}_+-][{_LETTER}._%+-]*")
LONGEST_LOCAL = 64
COMMON_TOPS = frozenset(
    "com org net edu gov io ai dev co uk de fr jp cn eu us example test".split()
)
AT_HOST = re.compile(
    r"@(?P<host>[a-zA-Z][a-zA-Z0-9-]{0,62}|[0-9]{1,3}(?:\.[0-9]{1,3}){3})(?![A-Za-z0-9_-]|[.@][A-Za-z0-9])"
)
LOGIN = re.compile(r"[A-Za-z0-9_.-]*[A-Za-z_]")
LONGEST_LOGIN = 32
NUMBERED = re.compile(r"[a-zA-Z][a-zA-Z-]*-?[0-9]{1,4}")
NO_HOST = re.compile(r"(?i)(?:v|sha|md|rev|r)[0-9]+")
REMOTE = re.compile(
    r"(?<![\w-])(?:ssh|scp|sftp|mosh|ssh-copy-id)(?:\s+-\S+(?:\s+[0-9]+)?){0,4}\s+\Z"
)
USER_SETTING = re.compile(
    r"(?<![A-Za-z0-9_])(?:USER|LOGNAME|USERNAME|SUDO_USER|SLURM_(?:JOB_)?USER|PBS_O_LOGNAME)=[\"']?(?P<user>[A-Za-z][A-Za-z0-9_.-]{1,31})"
)
IPV4 = re.compile(
    r"(?<![0-9A-Za-z_.-])(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?![0-9A-Za-z_]|\.[0-9]|-[A-Za-z0-9])(?P<port>:[0-9]{1,5}(?![0-9]))?"
)
IPV6 = re.compile(
    r"(?<![0-9A-Za-z_:.])(?=[0-9A-Fa-f:]*:[0-9A-Fa-f]*:)[0-9A-Fa-f:]{3,39}(?:(?<=:)(?:[0-9]{1,3}\.){3}[0-9]{1,3})?(?![0-9A-Za-z_:])"
)
VERSION = re.compile(r"(?i)(?:(?<![a-z])(?:versions?|ver|release|v)[\s.:\"']*|[=~<>]=\s*)\Z")
NUMBERED_PART = re.compile(r"(?i)(?<![a-z])(?:section|sec\.|§|figure|table|chapter)\s*\Z")
ADDRESSED = re.compile(
    r"(?i)(?<![a-z])(?:ips?|ipv4|addr(?:ess)?|hosts?|server|peer|ping|from|to|connect(?:ed|ing)?|on|bind|node|nameserver|dns|gateway|subnet)[\s=:(\"']*\Z"
)


def emails(text: str, policy: Policy) -> Iterator[Place]:
    """Addresses with a domain, whoever they belong to."""
    last = 0
    for match in DOMAIN.finditer(text):
        local = LOCAL.match(text[max(last, match.start() - LONGEST_LOCAL) : match.start()][::-1])
        if local is None:
            continue
        start = _begun(text, match.start() - local.end(), match.start())
        is_called = (
            text.startswith("(", match.end()) and (match["top"] or "").lower() not in COMMON_TOPS
        )
        address = text[start : match.end()]
        if start == match.start() or is_called or endpoints.GIT.fullmatch(address):
            continue
        last = match.end()
        if not _is_cleared(address, match["domain"], policy):
            yield start, match.end()


def _begun(text: str, start: int, at: int) -> int:
    """Behind what an escaped line break leaves in front of an address."""
    if start and text[start - 1] == "\\" and text[start] in "nrtb":
        start += 1
    while start < at and text[start] in ".%-":
        start += 1
    return start


def _is_cleared(address: str, domain: str, policy: Policy) -> bool:
    is_domain = endpoints.is_below(domain.lower(), policy.allow.domains)
    return is_domain or address.lower() in policy.allow.emails


def logins(text: str, policy: Policy) -> Iterator[Place]:
    """`alice@node12`, `alice@10.0.0.5`: somebody's account on a machine."""
    for match in AT_HOST.finditer(text):
        local = LOGIN.match(text[max(0, match.start() - LONGEST_LOGIN) : match.start()][::-1])
        start = match.start() - local.end() if local else 0
        if local is None or (start and text[start - 1] in "@/:.+"):
            continue
        host = match["host"]
        if text.startswith("root@", start) and re.fullmatch(r"[0-9a-f]{12}", host):
            continue  # the prompt of a container
        is_shell = re.match(r":[~/]", text[match.end() : match.end() + 2]) is not None
        is_host = bool(NUMBERED.fullmatch(host) or host[0].isdigit()) and not NO_HOST.fullmatch(
            host
        )
        is_remote = REMOTE.search(text[max(0, start - 60) : start]) is not None
        if is_shell or is_host or is_remote or host.lower() in policy.hosts:
            yield start, match.end()
    for match in USER_SETTING.finditer(text):
        if match["user"] not in ("root", "user"):
            yield match.span("user")


def ipv4s(text: str, policy: Policy) -> Iterator[Place]:
    """Addresses of four numbers, with their port; not versions, not this machine."""
    for match in IPV4.finditer(text):
        digits = match[0].partition(":")[0]
        before = text[max(0, match.start() - 24) : match.start()]
        is_address = bool(match["port"]) or ADDRESSED.search(before) is not None
        parts = digits.split(".")
        if any(int(part) > 255 or (len(part) > 1 and part[0] == "0") for part in parts):
            continue
        address = ipaddress.ip_address(digits)
        is_numbering = NUMBERED_PART.search(before) and not address.is_private
        if not is_address and (VERSION.search(before) or is_numbering):
            continue
        if not _is_harmless(address, policy):
            yield match.span()


def ipv6s(text: str, policy: Policy) -> Iterator[Place]:
    """Addresses of up to eight groups; not slices, not namespaces, not times."""
    for match in IPV6.finditer(text):
        # A colon behind it is the sentence's.
        found = match[0][:-1] if match[0].endswith(":") and match[0][-2:] != "::" else match[0]
        try:
            address = ipaddress.IPv6Address(found)
        except ValueError:
            continue
        first = found.partition(":")[0].lower()
        is_whole = "::" not in found
        is_known = re.fullmatch(
            r"[23][0-9a-f]{3}|f[cd][0-9a-f]{2}|fe[89ab][0-9a-f]|ff[0-9a-f]{2}", first
        )
        is_mapped = found.lower().startswith("::ffff:") and "." in found
        if (is_whole or is_known or is_mapped) and not _is_harmless(address, policy):
            yield match.start(), match.start() + len(found)


def _is_harmless(address: endpoints.IPAddress, policy: Policy) -> bool:
    """Nobody's: the own machine, all machines, a mask; or cleared."""
    mapped = getattr(address, "ipv4_mapped", None) or address
    if mapped.is_loopback or mapped.is_unspecified or str(mapped).startswith("255.255."):
        return True
    return endpoints.is_allowed_ip(mapped, policy)
