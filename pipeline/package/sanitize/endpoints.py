"""Where services are reached: addresses with a scheme, hosts with a port, internal hosts."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator

from pipeline.package.sanitize import names
from pipeline.package.sanitize.values import Place, Policy

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
MAY_BE_IP = re.compile(r"\[*[0-9A-Fa-f:.]{2,45}(?:%[^\s\[\]]{1,40})?\]*")
# Read from the `://` on, and backwards for the scheme.
REST = re.compile(r"://(?P<rest>[^\s<>\"'`|^{}\\]+)")
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,30}\Z")
AUTHORITY = re.compile(
    r"(?:(?P<user>[^/?#@\s]*)@)?(?P<host>\[[0-9A-Fa-f:.%]+\]|[^/?#:@\s,;)\]]*)(?::(?P<port>[0-9]{1,5}))?"
)
# Nobody's account: how git is spoken to.
GIT = re.compile(r"(?i)git@(?:ssh\.)?(?:github|gitlab|bitbucket)\.(?:com|org)")
CLOSING = {")": "(", "]": "["}
TRAILING = ".,;:!?*_~)]"
NETWORK = re.compile(
    r"(?i)(?:https?|wss?|s?ftps?|ssh|git|grpcs?|tcp|udp|rediss?|postgres(?:ql)?|mysql|mariadb|mongodb"
    r"|amqps?|kafka|nats|ldaps?|smb|nfs|etcd|ray|rtsp|clickhouse|memcached|elasticsearch|zookeeper|mqtt)"
    r"(?:\+[a-z0-9]+)?"
)
STORAGE = re.compile(r"(?i)(?:s3[an]?|gs|gcs|hdfs|abfss?|wasbs?|adl|az|oss|swift|dbfs|viewfs)")
LOOPBACK = re.compile(
    r"(?i)(?:localhost(?:\.localdomain)?|127(?:\.[0-9]{1,3}){3}|\[?::1\]?|0\.0\.0\.0)"
)
SUFFIXES = (
    *("internal", "local", "corp", "svc", "lan", "intranet", "intra", "localdomain", "consul"),
    *("private", "home.arpa"),
)
INTERNAL = re.compile(rf"(?i)(?:.*\.)(?:{'|'.join(map(re.escape, SUFFIXES))})\.?")
API_HOST = re.compile(
    r"(?i)(?:api|apis|inference|llm|endpoint|gateway|integrate)[a-z0-9-]*\..*|.*\.openai\.azure\.com"
)
# Buckets that are reached as web pages are.
BUCKETS = (".blob.core.windows.net", "storage.googleapis.com", "storage.cloud.google.com")
API_PATH = re.compile(r"(?i)/v[1-9]/|/v[1-9]/?\Z|/(?:chat/)?completions\b")

PORT = re.compile(r":(?P<port>[1-9][0-9]{1,4})(?![\w-]|[.:]\w|,[0-9]{3})")
# Read backwards from the colon.
HOST = re.compile(r"[A-Za-z0-9.-]+")
LONGEST_HOST = 200
BELOW = re.compile(r"(?:\.[A-Za-z0-9-]+)+")
HOST_NAME = re.compile(
    r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*"
)
SERVERS = frozenset(
    "server host node db database redis postgres mysql mongo mongodb kafka rabbitmq proxy "
    "gateway api vllm sglang triton router worker master head ray etcd nginx service svc "
    "backend frontend cluster gpu login compute cache queue broker registry vault judge model "
    "llm inference endpoint sandbox grafana prometheus elasticsearch minio storage web app "
    "srv vm".split()
)
# Names that stand for nothing but a service.
SERVICES = frozenset(
    "redis postgres mysql mongo mongodb kafka rabbitmq etcd nginx vllm sglang elasticsearch "
    "minio".split()
)
TOPS = frozenset(
    "com org net edu gov mil int io ai dev app cloud co info biz us uk de fr jp cn eu ch nl "
    "se in ru br kr au ca tech site online xyz example test invalid".split()
)
KNOWN_PORTS = frozenset((22, 80, 443, 389, 636, 587, 993))
BARE_HOST = re.compile(
    r"(?i)(?<![\w./@%-])(?:[a-z0-9][a-z0-9-]{0,62}\.){1,8}"
    rf"(?:{'|'.join(map(re.escape, SUFFIXES))})"
    r"(?![\w(-]|\.[\w])|(?<![\w./-])ip(?:-[0-9]{1,3}){4}(?![\w-])"
)
GATES = (*(f".{suffix}" for suffix in SUFFIXES), "ip-")
# Words of programs too: `threading.local`, `torch.internal`.
COMMON_SUFFIXES = re.compile(r"(?i)[a-z_]+\.(?:local|internal|private|intra|svc|consul|lan)")


def urls(text: str, policy: Policy) -> Iterator[Place]:
    """Addresses with a scheme that tell where something private is reached."""
    last = 0
    for match in REST.finditer(text):
        scheme = SCHEME.search(text, max(last, match.start() - 31), match.start())
        if scheme is None:
            continue
        rest = _trimmed(match["rest"])
        end = match.start("rest") + len(rest)
        last = end
        if _is_private(scheme[0], rest, policy):
            yield scheme.start(), end


def _trimmed(rest: str) -> str:
    """Without the punctuation of the sentence around it."""
    if rest[-1] not in TRAILING:
        return rest
    counts = {mark: rest.count(mark) for mark in "()[]"}
    end = len(rest)
    while end:
        last = rest[end - 1]
        is_unmatched = last in CLOSING and counts[last] > counts[CLOSING[last]]
        if not is_unmatched and (last in CLOSING or last not in TRAILING):
            break
        if is_unmatched:
            counts[last] -= 1
        end -= 1
    return rest[:end]


def _is_private(scheme: str, rest: str, policy: Policy) -> bool:
    match = AUTHORITY.match(rest)
    assert match is not None
    host = match["host"].rstrip(".").lower()
    if match["user"]:
        return not GIT.fullmatch(f"{match['user']}@{host}")
    if not host or LOOPBACK.fullmatch(host) or is_cleared(host, policy):
        return False
    path = rest[match.end() :]
    is_network = NETWORK.fullmatch(scheme) is not None
    is_api = API_HOST.fullmatch(host) or (is_network and API_PATH.search(path.partition("?")[0]))
    is_bucket = STORAGE.fullmatch(scheme) or _is_bucket(host)
    is_named = match["port"] or INTERNAL.fullmatch(host) or is_listed(host, policy) or _ip(host)
    is_single = is_network and "." not in host
    return bool(policy.all_urls or is_named or is_single or is_api or is_bucket)


def _is_bucket(host: str) -> bool:
    is_s3 = any(part == "s3" or part.startswith("s3-") for part in host.split("."))
    return host.endswith(BUCKETS) or (is_s3 and host.endswith(".amazonaws.com"))


def hosts_with_port(text: str, policy: Policy) -> Iterator[Place]:
    """`agent-server:8000`, `db.example.com:5432`; no times, no citations, no line of a file."""
    for match in PORT.finditer(text):
        host = _host_before(text, match.start())
        is_host = HOST_NAME.fullmatch(host) is not None
        if (
            is_host
            and _is_served(host, int(match["port"]), policy)
            and not is_cleared(host, policy)
        ):
            yield match.start() - len(host), match.end()


def _host_before(text: str, at: int) -> str:
    backwards = text[max(0, at - LONGEST_HOST) : at][::-1]
    match = HOST.match(backwards)
    if match is None or backwards[match.end() : match.end() + 1] in tuple("_/:@%"):
        return ""
    return match[0][::-1]


def _is_served(host: str, port: int, policy: Policy) -> bool:
    if port > 65535 or LOOPBACK.fullmatch(host):
        return False
    if is_listed(host, policy) or INTERNAL.fullmatch(host):
        return True
    *above, last = host.lower().split(".")
    if above:
        return last in TOPS
    words = [word for word in re.split(r"[-0-9]+", last) if word]
    is_compound = last not in SERVERS and any(word in SERVERS for word in words)
    return (port >= 1000 or port in KNOWN_PORTS) and (is_compound or last in SERVICES)


def internal_hosts(text: str, policy: Policy) -> Iterator[Place]:
    """Names that only an inner network resolves."""
    for match in BARE_HOST.finditer(text):
        if not COMMON_SUFFIXES.fullmatch(match[0]) and not is_cleared(match[0], policy):
            yield match.span()


def listed_hosts(text: str, policy: Policy) -> Iterator[Place]:
    """Hosts that the policy calls private, with the names of machines below them."""
    for start, end in names.listed(text, policy.hosts):
        below = BELOW.match(text[max(0, start - LONGEST_HOST) : start][::-1])
        yield start - (below.end() if below else 0), end


def is_listed(host: str, policy: Policy) -> bool:
    """A host that the policy calls private, or one below it."""
    return is_below(host.lower(), policy.hosts)


def is_cleared(host: str, policy: Policy) -> bool:
    """A host or domain that the policy clears."""
    low, address = host.lower(), _ip(host)
    is_ip = address is not None and is_allowed_ip(address, policy)
    return is_ip or low in policy.allow.hosts or is_below(low, policy.allow.domains)


def is_below(host: str, domains: tuple[str, ...]) -> bool:
    """Whether a host, in lower case, is one of the domains or below one."""
    return any(host == domain or host.endswith(f".{domain}") for domain in domains)


def is_allowed_ip(address: IPAddress, policy: Policy) -> bool:
    """Whether the policy clears an address, or a network that it is in."""
    return any(address in ipaddress.ip_network(allowed) for allowed in policy.allow.ips)


def _ip(host: str) -> IPAddress | None:
    # Most hosts are names: an error for each would take longer than all else.
    if not MAY_BE_IP.fullmatch(host):
        return None
    try:
        return ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None
