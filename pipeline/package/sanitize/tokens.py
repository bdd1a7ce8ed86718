"""Credentials: keys and tokens known by their shape, and values that are assigned to a secret."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from pipeline.package.sanitize.values import Place

# A prefix that providers print so that scanners find it (here in lower case), and the whole.
SHAPES = {
    **dict.fromkeys(
        "akia asia abia acca agpa aida aroa anpa anva a3t".split(),
        r"(?:A3T[A-Z0-9]|A[A-Z]{3})[A-Z0-9]{16}(?![A-Za-z0-9])",
    ),
    **dict.fromkeys("ghp_ gho_ ghu_ ghs_ ghr_".split(), r"gh[pousr]_[A-Za-z0-9]{30,}"),
    "github_pat_": r"github_pat_[A-Za-z0-9_]{22,}",
    **dict.fromkeys(
        "glpat- gldt- glft- glsoat- glrt- glcbt- glimt- glptt- glagent- gloas- glsa_".split(),
        r"gl[a-z]{2,5}[-_][A-Za-z0-9_-]{20,}",
    ),
    "gr1348941": r"GR1348941[A-Za-z0-9_-]{20,}",
    "xox": r"xox[abeoprs]-[A-Za-z0-9-]{10,}",
    "xapp-": r"xapp-[0-9]-[A-Za-z0-9-]{10,}",
    "eyj": r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?",
    **dict.fromkeys("sk_live_ rk_live_ sk_test_ rk_test_".split(), r"[sr]k_\w{4}_[A-Za-z0-9]{16,}"),
    "hf_": r"hf_[A-Za-z0-9]{20,}",
    "nvapi-": r"nvapi-[A-Za-z0-9_-]{20,}",
    "aiza": r"AIza[A-Za-z0-9_-]{30,}",
    "ya29.": r"ya29\.[A-Za-z0-9_-]{20,}",
    "gocspx-": r"GOCSPX-[A-Za-z0-9_-]{20,}",
    "npm_": r"npm_[A-Za-z0-9]{30,}",
    "pypi-": r"pypi-[A-Za-z0-9_-]{30,}",
    "sg.": r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    "dop_v1_": r"dop_v1_[a-f0-9]{40,}",
    "dapi": r"dapi[a-f0-9]{32}(?:-[0-9])?",
    "gsk_": r"gsk_[A-Za-z0-9]{30,}",
    "xai-": r"xai-[A-Za-z0-9]{30,}",
    "r8_": r"r8_[A-Za-z0-9]{30,}",
    "pplx-": r"pplx-[A-Za-z0-9]{30,}",
    "tvly-": r"tvly-[A-Za-z0-9-]{20,}",
    "lsv2_": r"lsv2_[A-Za-z0-9_]{30,}",
    **dict.fromkeys("shpat_ shpca_ shppa_ shpss_".split(), r"shp[a-z]{2}_[a-fA-F0-9]{30,}"),
    **dict.fromkeys("hvs. hvb.".split(), r"hv[sb]\.[A-Za-z0-9_-]{20,}"),
    **dict.fromkeys("sq0csp- sq0atp-".split(), r"sq0[a-z]{3}-[A-Za-z0-9_-]{20,}"),
    "lin_api_": r"lin_api_[A-Za-z0-9]{30,}",
    "age-secret-key-1": r"AGE-SECRET-KEY-1[A-Z0-9]{40,}",
    "hooks.slack.com/": r"hooks\.slack\.com/(?:services|workflows|triggers)/[^\s\"'<>)\]\\]+",
    "discord.com/api/webhooks": r"discord\.com/api/webhooks/[^\s\"'<>)\]\\]+",
    "discordapp.com/api/webhooks": r"discordapp\.com/api/webhooks/[^\s\"'<>)\]\\]+",
    # Public keys tell whose they are.
    "aaaab3nzac1y": r"AAAAB3NzaC1y[A-Za-z0-9+/]{20,}={0,2}",
    "aaaac3nzac1l": r"AAAAC3NzaC1l[A-Za-z0-9+/]{20,}={0,2}",
    "aaaae2vjzhnh": r"AAAAE2VjZHNh[A-Za-z0-9+/]{20,}={0,2}",
    "sk-": r"sk-[A-Za-z0-9_-]{16,}",
}
# Any of them, in bytes; letters beyond ASCII would be an escape.
SHAPED_SCREEN = rf"(?:{'|'.join(map(re.escape, SHAPES))})[a-z0-9_./-]{{10}}"
PATTERNS = {prefix: re.compile(shape) for prefix, shape in SHAPES.items()}
UNENDED = re.compile(r"[A-Za-z0-9_-]+")
KEY_HEAD = re.compile(r"-----BEGIN (?P<label>[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?)-----")
KEY_BODY = re.compile(r"(?:\s|\\[nr]|[A-Za-z0-9+/=:,-])*+")
LONGEST_PRIVATE_KEY = 100_000
AUTHORIZATION = re.compile(
    r"(?i)authorization[\"']?\s*(?:[:=]|=>)\s*[\\\"']*"
    r"(?:(?:bearer|basic|token|digest|apikey|negotiate)\s+)?(?P<value>[^\s\"'\\,;<>{}\[\]]{6,})"
)
BEARER = re.compile(r"(?i)(?<![a-z])(?:bearer|basic)\s+(?P<value>[A-Za-z0-9._~+/=-]{16,})")


def shaped_tokens(text: str) -> Iterator[Place]:
    """Tokens that their provider's prefix gives away."""
    low = lower(text)
    for prefix, pattern in PATTERNS.items():
        # What was looked at holds no other: it ends where this one does, so no text is read twice.
        last = 0
        for at in occurrences(low, prefix):
            # `task-` is not `sk-`.
            is_inside = at > 0 and text[at - 1].isalnum() and text[at - 1].isascii()
            if is_inside or at < last:
                continue
            match = pattern.match(text, at)
            # No dot behind this one is none behind what begins within it.
            seen = match or (UNENDED.match(text, at) if prefix == "eyj" else None)
            last = seen.end() if seen else at
            # Any slug may begin with sk-.
            if match and (prefix != "sk-" or is_mixed(match[0][3:])):
                yield match.span()


def occurrences(low: str, word: str) -> Iterator[int]:
    """Where a word stands, each place once."""
    at = low.find(word)
    while at >= 0:
        yield at
        at = low.find(word, at + len(word))


def lower(text: str) -> str:
    """Lower case, every character in its place."""
    return text.replace("\u0130", "i").lower()


def private_keys(text: str) -> Iterator[Place]:
    """A whole PEM block; of one that is cut off, all that could still belong to it."""
    end = 0
    # Up to where each foot was looked for and is not.
    absent: dict[str, int] = {}
    while match := KEY_HEAD.search(text, end):
        foot = f"-----END {match['label']}-----"
        last = match.end() + LONGEST_PRIVATE_KEY
        at = text.find(foot, max(match.end(), absent.get(foot, 0) - len(foot)), last)
        absent[foot] = last if at < 0 else 0
        body = KEY_BODY.match(text, match.end())
        end = at + len(foot) if at >= 0 else body.end() if body else match.end()
        yield match.start(), match.start() + len(text[match.start() : end].rstrip())


def authorizations(text: str) -> Iterator[Place]:
    """What an authorization header, or the word bearer, hands over."""
    for match in AUTHORIZATION.finditer(text):
        is_scheme = match["value"].lower() in ("bearer", "negotiate", "digest", "apikey")
        if not is_scheme and not _is_stand_in(match["value"]):
            end = match.start("value") + len(match["value"].rstrip(".:!?)"))
            yield match.start("value"), end
    for match in BEARER.finditer(text):
        if is_mixed(match["value"]):
            yield match.span("value")


def is_mixed(value: str) -> bool:
    """Letters and digits, not in the manner of words and years."""
    return bool(DIGIT.search(value) and LETTER.search(value) and not WORDS.fullmatch(value))


DIGIT, LETTER = re.compile(r"\d"), re.compile(r"[^\W\d_]")
# `scikit-3-of-a-kind`, `2024-report`: parts that are words or short numbers.
WORDS = re.compile(
    r"(?:[A-Za-z]?[a-z]{1,14}|[0-9]{1,4}|v[0-9]{1,2})(?:[-_./](?:[A-Za-z]?[a-z]{1,14}|[0-9]{1,4}|v[0-9]{1,2}))*"
)

_PASSWORD = r"(?:pass(?:word|wd|phrase|code)|pwd)"
_SECRET = (
    r"(?:secret|(?:api|access|private|account|secret|signing|encryption|client|auth|master)[_-]?key"
    r"|client[_-]?secret|credentials?|(?:auth|access|refresh|api|bot|id|session|bearer|hf|github"
    r"|gitlab|slack|npm|pypi|personal[_-]access|security)[_-]?token|sessionid|x-amz-signature)"
)
# A word of secrets at the end of a key's name, whatever stands before it.
_MORE = r"(?:[_-]?(?:id|value|hash|salt|[0-9]{1,3}))?"
PASSWORD_KEY = re.compile(rf"(?i)(?:.*[^a-z])?{_PASSWORD}{_MORE}|.*[a-z](?:Pass(?:word|wd))")
SECRET_NAME = re.compile(rf"(?i)(?:.*[^a-z])?{_SECRET}{_MORE}|.*(?-i:[a-z](?:ApiKey|Secret|Token))")
TOKEN_NAME = re.compile(r"(?i)(?:.*[^a-z])?(?:token|authorization|sig)")
KEY_WORDS = (
    *("passw", "passphrase", "passcode", "pwd", "secret", "token", "credential", "sessionid"),
    *("_key", "-key", "apikey", "accesskey", "privatekey", "accountkey", "authkey", "sig="),
    *("masterkey", "signingkey", "encryptionkey", "clientkey", "x-amz-signature", "authorization"),
)
# From a word on: the rest of the key, the sign, the value.
_VALUE = r"(?:[^\s\"'`<>;,&|\\]++|\\(?![\"'`nrt\\]))"
VALUE_REST = re.compile(f"{_VALUE}*+")
ASSIGNMENT = re.compile(
    r"(?P<rest>[A-Za-z0-9_-]{0,24})\\*[\"'`]?\]?[ \t]{0,8}(?::=|=>|==?|:)[ \t]{0,8}"
    rf"(?P<open>\\*[\"'`]?)(?P<value>(?![\\]){_VALUE}++)"
)
# A key, its sign and as much of a value as it takes to know whether it is a secret.
LONGEST_ASSIGNMENT = 250
# The same for bytes, where a space may be escaped too; counts of tokens are no secrets.
_SIGN = r"[a-z0-9_-]*[\\\"'`]*\]?(?:\s|\\+t)*[:=][>=]?(?:\s|\\+t)*[\\\"'`]*"
ASSIGNED_SCREEN = (
    rf"(?:{'|'.join(word for word in KEY_WORDS if word != 'token')}){_SIGN}[^\s\"'`<>;,&|]{{4}}"
    rf"|token{_SIGN}[^\s\"'`<>;,&|]{{7}}"
)
KEY_BEGIN = re.compile(r"[A-Za-z0-9_.-]*")
LONGEST_KEY = 60

CODE = re.compile(r"[A-Za-z_][A-Za-z_.]*\(?")
LONGEST_STAND_IN = 250
# What stands for a secret where there is none, or names where it is kept.
STAND_IN = re.compile(
    r"(?i)(?:\*+|\.+|x{3,}|-+|_+|none|null|nil|true|false|empty|dummy|test|fake|example|placeholder"
    r"|redacted|secret|password|passwd|token|string|str|int|bool|bytes|optional.*|unknown|required"
    r"|changeme|change[-_]me|not[-_]?set|unset|todo|n/?a|your[-_ ].*"
    r"|my[-_](?:secret|token|key|password|api[-_]?key)|<.*|\{.*|\$.*|%.*|\(.*|\[.*|@.*|os\.(?:environ|getenv).*|env\..*|process\.env.*|config\..*|self\..*|args\..*"
    r"|settings\..*|getpass.*|input\(.*|.*\(.*\).*|.*\[.*)"
)


def assigned(text: str) -> Iterator[Place]:
    """Values after `password=`, `"api_key": ` and the like."""
    low = lower(text)
    for word in KEY_WORDS:
        last = 0
        for at in occurrences(low, word):
            end = at + LONGEST_ASSIGNMENT
            # A secret has a digit, unless it is a password or its key is in capitals; some words
            # begin with a sign.
            is_plain = not word.startswith("p") and not text[at + 2].isupper()
            if at < last or (is_plain and not DIGIT.search(text, at, end)):
                continue
            match = ASSIGNMENT.match(text, at, end)
            if match is None:
                continue
            key = _before(text, at) + match["rest"]
            is_quoted = bool(match["open"])
            value = match["value"] if is_quoted else match["value"].rstrip(".:!?)]}")
            if value and is_secret(key, value, is_quoted=is_quoted):
                start, last = match.start("value"), match.end("value")
                # The longest are not looked at whole before it is sure that they are secrets.
                if rest := VALUE_REST.match(text, last):
                    last = rest.end()
                yield start, last if last > match.end("value") else start + len(value)


def _before(text: str, at: int) -> str:
    """What a key begins with, before the word that gives it away."""
    backwards = text[max(0, at - LONGEST_KEY) : at][::-1]
    match = KEY_BEGIN.match(backwards)
    return match[0][::-1] if match else ""


def is_secret(key: str, value: str, *, is_quoted: bool) -> bool:
    """Whether what is assigned to this key is a secret, and not a word, a type or a variable."""
    kind = _kind_of_key(key)
    is_token = kind == "token"
    if kind is None or len(value) < 4 or (is_token and not (len(value) >= 16 and is_mixed(value))):
        return False
    if any(c.isspace() for c in value) or _is_stand_in(value):
        return False
    is_code = bool(CODE.fullmatch(value))
    if kind == "password":
        if key.lower().endswith("pwd") and value[0] in "/~.":
            return False  # the working directory
        return is_quoted or not is_code or key.isupper()
    if kind == "secret":
        is_long = len(value) >= 8 and any(c.isdigit() for c in value)
        return is_long or (key.isupper() and not is_code)
    return True


@lru_cache(maxsize=4096)
def _kind_of_key(key: str) -> str | None:
    if PASSWORD_KEY.fullmatch(key):
        return "password"
    if SECRET_NAME.fullmatch(key):
        return "secret"
    # Rows of log-probabilities have a token a word: it must be long.
    return "token" if TOKEN_NAME.fullmatch(key) else None


def _is_stand_in(value: str) -> bool:
    is_word = len(value) <= LONGEST_STAND_IN and STAND_IN.fullmatch(value) is not None
    return is_word or len(set(value)) < 3
