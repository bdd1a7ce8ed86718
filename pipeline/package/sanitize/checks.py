"""What only looks private: the last word on what the patterns match."""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache
from itertools import pairwise

from ... import citation
from .policy import KNOWN, Policy
from .secrets import DIGIT, FEWEST_TURNS, TURN, named

Match = re.Match[str]
IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
REGEXES = {
    name: re.compile(regex, re.IGNORECASE | re.DOTALL)
    for name, regex in KNOWN.items()
    if isinstance(regex, str)
}
NETWORKS = [ipaddress.ip_network(each) for each in KNOWN["networks"]]
# A word that says what a secret is, and what may be between the two.
WORD_BEFORE = re.compile(
    rf"""{KNOWN["beside_secret"]}[^\n{{}}"';<>]{{0,28}}["'`]?\Z""", re.IGNORECASE
)
WORD_BEHIND = re.compile(
    rf"""["'`]?[^\n{{}}"';<>]{{0,16}}{KNOWN["beside_secret"]}""", re.IGNORECASE
)
LONGEST, LONGEST_STAND_IN = 250, 64
UPPER, LOWER = re.compile("[A-Z]"), re.compile("[a-z]")
# A token has more different characters, and more of both cases where it has no digit.
MOST_REPEATED = 5
# A token without a digit is at least so long.
LONG = 32
# What comes before an address, and a word that says what a secret is.
BEFORE, BEFORE_WORD = 24, 48


def _is(name: str, text: str) -> bool:
    return REGEXES[name].fullmatch(text[:LONGEST]) is not None


def _is_stand_in(value: str) -> bool:
    return len(set(value)) < 3 or _is("stand_in", value[:LONGEST_STAND_IN])


def _is_mixed(value: str) -> bool:
    """Letters and digits, not in the manner of words and years."""
    has_both = re.search(r"[0-9]", value) and re.search(r"[A-Za-z]", value)
    return bool(has_both) and not _is("words", value) and not _is_stand_in(value)


def _is_opaque(value: str) -> bool:
    """Letters and digits by turns, as no word, number, version or path has them."""
    n_turns = len(TURN.findall(value))
    return (
        n_turns >= max(FEWEST_TURNS, len(value) // 10) and len(set(value)) >= 8 and _is_mixed(value)
    )


def _is_cased(value: str) -> bool:
    """Large and small letters and digits by turns, oftener than in names of several words."""
    n_turns = sum(_sort(a) != _sort(b) for a, b in pairwise(value))
    has_both = UPPER.search(value) and LOWER.search(value)
    is_long = len(value) >= LONG and value.isalnum()
    return is_long and bool(has_both) and 3 * n_turns > len(value) and not _is_stand_in(value)


def _sort(sign: str) -> int:
    return sign.isdigit() + 2 * sign.isupper()


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
        is_own = address.is_loopback or address.is_unspecified
        return is_own or any(address in network for network in NETWORKS)
    return _is_below(host, policy.allow.domains) or _is("example", host)


def _is_below(host: str, domains: tuple[str, ...]) -> bool:
    return any(host == domain or host.endswith(f".{domain}") for domain in domains)


def _is_inner(host: str, policy: Policy) -> bool:
    return _is("inner", host) or _is_below(host, policy.hosts)


def token(match: Match, _: Policy) -> bool:
    """A token of a published kind: no words, no stand-in, and letters that are not of one case."""
    secret = match[0]
    if len(set(secret)) < MOST_REPEATED or _is_stand_in(secret) or _is("words", secret):
        return False
    n_upper, n_lower = len(UPPER.findall(secret)), len(LOWER.findall(secret))
    return any(letter.isdigit() for letter in secret) or min(n_upper, n_lower) >= MOST_REPEATED


def mixed(match: Match, _: Policy) -> bool:
    """A token, or what is handed over as one: words are none."""
    return _is_mixed((match.groupdict().get("secret") or match[0]).rstrip(".:!?)]}"))


def value(match: Match, _: Policy) -> bool:
    """What follows the name of a scheme: anything but a word."""
    return not (_is_stand_in(match["secret"]) or _is("words", match["secret"]))


def password(match: Match, _: Policy) -> bool:
    """A password where nothing else can be: a word too, unless it is a stand-in."""
    return not _is_stand_in(match["secret"])


def near_word(match: Match, _: Policy) -> bool:
    """Opaque, and a word close by says that it is a secret."""
    secret, text = match["secret"], match.string
    is_token = _is_opaque(secret) or _is_cased(secret)
    if len(secret) > LONGEST or not is_token or (_is("path", secret) and not _is_cased(secret)):
        return False
    before = text[max(0, match.start() - BEFORE_WORD) : match.start()]
    if _is("digest", before):
        return False
    behind = text[match.end() : match.end() + BEFORE_WORD]
    return bool(WORD_BEFORE.search(before) or WORD_BEHIND.match(behind))


def assigned(match: Match, _: Policy) -> bool:
    """By the key's name: passwords may be words where it is plain that they are values."""
    # A number of JSON, or a variable.
    if match["quote"] and not match["open"]:
        return False
    # A card of a report: pass: `RUN/TASK:ROLLOUT`.
    if (match["name"], match["open"]) == ("pass", "`") and citation.parse(match["secret"]):
        return False
    return _is_value_of(match["name"], match["secret"], is_plain=_is_plain(match))


def element(match: Match, _: Policy) -> bool:
    return _is_value_of(match["name"], match["secret"], is_plain=True)


def beside(match: Match, _: Policy) -> bool:
    before = match.string[max(0, match.start() - LONGEST) : match.start()]
    name = REGEXES["beside"].search(before)
    return name is not None and _is_value_of(name["name"], match["secret"], is_plain=True)


def _is_plain(match: Match) -> bool:
    """Whether what is assigned must be a value: in quotes, or of a variable in capitals."""
    return bool(match["quote"] or (match["name"].isupper() and "=" in match[0]))


def _is_value_of(name: str, secret: str, *, is_plain: bool) -> bool:
    """Whether a value is a secret of the kind that a name says."""
    meaning = named(name)
    if not meaning or not (is_plain or DIGIT.search(secret)) or _is_stand_in(secret):
        return False
    if meaning == "password":
        is_folder = name.lower().endswith("pwd") and secret[0] in "/~."
        return not is_folder and ((is_plain and len(secret) >= 6) or _is_mixed(secret))
    if meaning == "vague":
        return len(secret) >= 16 and _is_opaque(secret)
    if meaning == "key":
        has_all = all(re.search(letters, secret) for letters in ("[a-z]", "[A-Z]", "[0-9]"))
        return has_all and len(secret) >= 32 and secret.isalnum()
    return len(secret) >= 8 and _is_mixed(secret)


def url_credentials(match: Match, _: Policy) -> bool:
    """Unless the password is a stand-in; a token may be alone."""
    parts = re.split("[:/]", match["secret"], maxsplit=1)
    return not _is_stand_in(parts[1]) if len(parts) > 1 else _is_opaque(parts[0])


def url(match: Match, policy: Policy) -> bool:
    """Where something is reached that is not a public page."""
    scheme, host = match["scheme"], match["host"].strip("[].").lower()
    if not host or _is_harmless(host, policy):
        return False
    if _is("storage", scheme):
        return not _is("any_bucket", host)
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
    """Somebody's; not a decorator, a product of matrices, a picture, or an address of git."""
    host, name = match["host"].lower(), match[0].partition("@")[0].lower()
    if match["top"] is None:  # cut off
        return not any(each.startswith(host) for each in ("example.com", *policy.allow.domains))
    top = match["top"].lower()
    is_called = match.string.startswith("(", match.end()) and not _is("top", top)
    is_nobodys = name in ("git", "noreply", "no-reply") or _is("no_top", top)
    return not (is_called or is_nobodys or _is("any_domain", host) or _is_harmless(host, policy))


def account(match: Match, policy: Policy) -> bool:
    """Whose it is, unless it is anybody's; on a machine, that is one."""
    groups = match.groupdict()
    name, host = groups.get("account") or groups.get("tilde"), groups.get("host")
    if host and (_is("no_host", host) or _is_harmless(host.lower(), policy)):
        return False
    return name is None or not _is("any_account", name.rstrip("."))
