"""What only looks private: the last word on what the patterns match."""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache

from pipeline.package.sanitize.policy import KNOWN, Policy

Match = re.Match[str]
IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
REGEXES = {
    name: re.compile(regex, re.IGNORECASE | re.DOTALL)
    for name, regex in KNOWN.items()
    if isinstance(regex, str)
}
NETWORKS = [ipaddress.ip_network(each) for each in KNOWN["networks"]]
LONGEST = 250
# What stands before an address.
BEFORE = 24


def _is(name: str, text: str) -> bool:
    return REGEXES[name].fullmatch(text[:LONGEST]) is not None


def _is_stand_in(value: str) -> bool:
    return len(set(value)) < 3 or _is("stand_in", value)


def _is_mixed(value: str) -> bool:
    """Letters and digits, not in the manner of words and years."""
    has_both = re.search(r"[0-9]", value) and re.search(r"[A-Za-z]", value)
    return bool(has_both) and not _is("words", value) and not _is_stand_in(value)


def _ip(host: str) -> IPAddress | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


@lru_cache(maxsize=4096)
def _is_harmless(host: str, policy: Policy) -> bool:
    """Nobody's: this machine, all machines, an example; or cleared."""
    if address := _ip(host):
        address = getattr(address, "ipv4_mapped", None) or address
        networks = [*NETWORKS, *map(ipaddress.ip_network, policy.allow.ips)]
        is_own = address.is_loopback or address.is_unspecified
        return is_own or any(address in network for network in networks)
    return (
        host in policy.allow.hosts or _is_below(host, policy.allow.domains) or _is("example", host)
    )


def _is_below(host: str, domains: tuple[str, ...]) -> bool:
    return any(host == domain or host.endswith(f".{domain}") for domain in domains)


def _is_inner(host: str, policy: Policy) -> bool:
    return _is("inner", host) or _is_below(host, policy.hosts)


def mixed(match: Match, _: Policy) -> bool:
    """A token, or what is handed over as one: words are none."""
    return _is_mixed((match.groupdict().get("secret") or match[0]).rstrip(".:!?)]}"))


def value(match: Match, _: Policy) -> bool:
    """What follows the name of a scheme: anything but a word."""
    return not (_is_stand_in(match["secret"]) or _is("words", match["secret"]))


def assigned(match: Match, _: Policy) -> bool:
    """By the key's word: passwords may be words where it is plain that they are values."""
    word, secret = match["word"].lower(), match["secret"]
    # A number of JSON, or a variable.
    if _is_stand_in(secret) or (match["quote"] and not match["open"]):
        return False
    if word.startswith(("pass", "pwd")):
        is_folder = word == "pwd" and secret[0] in "/~."
        is_value = match["quote"] or (match["word"].isupper() and "=" in match[0])
        return not is_folder and ((bool(is_value) and len(secret) >= 6) or _is_mixed(secret))
    before = match.string[max(0, match.start() - 1) : match.start()]
    is_vague = word in ("sig", "token") and before not in ("_", "-", ".")
    return len(secret) >= (16 if is_vague else 8) and _is_mixed(secret)


def url_credentials(match: Match, _: Policy) -> bool:
    """Unless the password is a word that stands for one."""
    return not _is_stand_in(match["secret"].partition(":")[2])


def url(match: Match, policy: Policy) -> bool:
    """Where something is reached that is not a public page."""
    scheme, host = match["scheme"], match["host"].strip("[].").lower()
    if not host or _is_harmless(host, policy):
        return False
    if policy.urls == "all" or _is("storage", scheme):
        return policy.urls == "all" or not _is("any_bucket", host)
    if not _is("network", scheme):
        return False
    if "." not in host and ":" not in host:
        return bool(match["port"] or match["path"]) and not _is("any_host", host)
    path = (match["path"] or "").partition("?")[0]
    is_served = _is("inference", path) and not _is("provider", host)
    is_open = match["port"] not in (None, ":80", ":443")
    is_named = _is_inner(host, policy) or _is("bucket", host)
    return is_open or is_served or is_named or _ip(host) is not None


def host_port(match: Match, policy: Policy) -> bool:
    """No times, no citations, no line of a file: a domain, or a name such as agent-server."""
    host, port = match["host"].lower(), int(match["port"][1:])
    if port > 65535 or _is_harmless(host, policy):
        return False
    if "." in host:
        is_public = port in (80, 443) or not _is("top", host.rpartition(".")[2])
        return _is_inner(host, policy) or not is_public
    return _is_inner(host, policy) or (port >= 1000 and _is("server", host))


def internal_host(match: Match, policy: Policy) -> bool:
    """Words of programs end so too: `threading.local`, `google.protobuf.internal`."""
    host = match[0].lower()
    return _is("surely_inner", host) and not _is_harmless(host, policy)


def ipv4(match: Match, policy: Policy) -> bool:
    """Four numbers are a version more often than an address, unless of a private network."""
    address = _ip(match["secret"])
    if address is None or _is_harmless(match["secret"], policy):
        return False
    before = match.string[max(0, match.start() - BEFORE) : match.start()]
    if match["port"] or _is("addressed", before):
        return True
    n_large = sum(int(part) > 99 for part in match["secret"].split("."))
    return not _is("version", before) and (address.is_private or n_large > 1)


def ipv6(match: Match, policy: Policy) -> bool:
    """Whole, or of a net that is given to somebody: no slices, no namespaces."""
    secret = match["secret"].rstrip(":").lower()
    is_given = "::" not in secret or _is("given_net", secret.partition(":")[0])
    return _ip(secret) is not None and is_given and not _is_harmless(secret, policy)


def email(match: Match, policy: Policy) -> bool:
    """Somebody's; not a decorator, a product of matrices, a picture, or how git is spoken to."""
    host, name = match["host"].lower(), match[0].partition("@")[0].lower()
    if match["top"] is None:  # cut off
        return not any(each.startswith(host) for each in ("example.com", *policy.allow.domains))
    top = match["top"].lower()
    is_called = match.string.startswith("(", match.end()) and not _is("top", top)
    is_nobodys = name in ("git", "noreply", "no-reply") or _is("no_top", top)
    is_any = _is("any_domain", host) or match[0].lower() in policy.allow.emails
    return not (is_called or is_nobodys or is_any or _is_harmless(host, policy))


def account(match: Match, policy: Policy) -> bool:
    """Whose it is, unless it is anybody's; on a machine, that is one."""
    groups = match.groupdict()
    name, host = groups.get("account") or groups.get("tilde"), groups.get("host")
    if host and (_is("no_host", host) or _is_harmless(host.lower(), policy)):
        return False
    return name is None or not _is("any_account", name.rstrip("."))
