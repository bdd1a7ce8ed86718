"""Each rule by example: what it finds, and what only looks like it."""

from __future__ import annotations

import re
import time

import pytest

from pipeline.package.sanitize import Allow, Policy
from pipeline.package.sanitize.ledger import Ledger
from pipeline.package.sanitize.rewrite import Block, sanitized
from pipeline.package.sanitize.screen import suspects
from tests.conftest import CORPUS, needs_corpus

LISTS = Policy(names=("Heron", "José Niño"), users=("jdoe",), hosts=("build-7",))


def clean(text: str, policy: Policy = LISTS) -> str:
    """A text without what must go; what is found must also pass the first look over all lines."""
    content = text.encode("utf-8", "surrogateescape")
    output = sanitized(Block(1, content, True, ()), "file", policy, Ledger())
    assert output == content or suspects([content], policy) == [True], text
    return output.decode("utf-8", "surrogateescape")


FOUND = [
    # credentials and tokens
    ("AKIAABCDEFGHIJKLMNOP", "[redacted-token-1]"),
    ("ghp_abcdefghijklmnopqrstuvwxyz0123456789", "[redacted-token-1]"),
    ("github_pat_11ABCDEFG0abcdefghijkl_mnop", "[redacted-token-1]"),
    ("glpat-abcdefghijklmnopqrst", "[redacted-token-1]"),
    ("xoxb-123456789012-abcdefABCDEF", "[redacted-token-1]"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2ln", "[redacted-token-1]"),
    ("sk-proj-abcDEF123456ghiJKL7890", "[redacted-token-1]"),
    ("hf_abcdefghijklmnopqrstuvwx", "[redacted-token-1]"),
    ("AIzaSyA1234567890abcdefghijklmnopqrstuv", "[redacted-token-1]"),
    ("https://hooks.slack.com/services/T0/B0/x1y2", "https://[redacted-token-1]"),
    ("Authorization: Bearer abc.def-123456", "Authorization: Bearer [redacted-credential-1]"),
    ("Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic [redacted-credential-1]"),
    ("bearer 0123456789abcdefXYZ.", "bearer [redacted-credential-1]"),
    ("password=hunter2x", "password=[redacted-credential-1]"),
    ("DB_PASSWORD=swordfish", "DB_PASSWORD=[redacted-credential-1]"),
    ("passwd: 'hunter2'", "passwd: '[redacted-credential-1]'"),
    ('"api_key": "9f8e7d6c5b4a"', '"api_key": "[redacted-credential-1]"'),
    ("X-Api-Key: 9f8e7d6c5b4a", "X-Api-Key: [redacted-credential-1]"),
    ("client_secret := s3cr3tvalue", "client_secret := [redacted-credential-1]"),
    ("?sig=abc%2Bdef1234567890", "?sig=[redacted-credential-1]"),
    ("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIabc+/0123", "ssh-ed25519 [redacted-token-1]"),
    ("mysql --password S3cr3tPw99 x", "mysql --password [redacted-credential-1] x"),
    ("login user password 9f8e7d6c5b4a", "login user password [redacted-credential-1]"),
    ("The password is Gx7qqPw02z.", "The password is [redacted-credential-1]."),
    ("wandb login 0a1b2c3d4e5f6a7b8c9d", "wandb login [redacted-credential-1]"),
    (
        "Set-Cookie: session=ab12cd34ef56; Path=/",
        "Set-Cookie: session=[redacted-credential-1]; Path=/",
    ),
    ('{"a":"--token\\tab12cd34ef56"}', '{"a":"--token\\t[redacted-credential-1]"}'),
    ("SLURM_JOB_USER=alice", "SLURM_JOB_USER=[redacted-user-1]"),
    # endpoints, hosts, addresses
    ("https://acme.s3.us-west-2.amazonaws.com/x", "[redacted-endpoint-1]"),
    ("https://acme.blob.core.windows.net/c", "[redacted-endpoint-1]"),
    ("postgres://u:p@db.example.com/x", "[redacted-endpoint-1]"),
    ("(https://svc.corp/a).", "([redacted-endpoint-1])."),
    ("https://api.example.com/v1/chat", "[redacted-endpoint-1]"),
    ("http://10.0.0.7/x", "[redacted-endpoint-1]"),
    ("http://[2001:db8::5]:80/x", "[redacted-endpoint-1]"),
    ("http://gateway/x", "[redacted-endpoint-1]"),
    ("https://example.com:8443", "[redacted-endpoint-1]"),
    ("s3://bucket/key", "[redacted-endpoint-1]"),
    ("connect to agent-server:8000.", "connect to [redacted-endpoint-1]."),
    ("redis:6379, db.example.com:5432", "[redacted-endpoint-1], [redacted-endpoint-2]"),
    ("node3.cluster.local", "[redacted-host-1]"),
    ("ip-10-0-0-12 is up", "[redacted-host-1] is up"),
    ("build-7 and BUILD-7", "[redacted-host-1] and [redacted-host-1]"),
    ("on rack2.build-7 now", "on [redacted-host-1] now"),
    ("from 192.168.1.5:22", "from [redacted-ip-1]"),
    ("203.0.113.9", "[redacted-ip-1]"),
    ("fe80::1ff:fe23:4567:890a: down", "[redacted-ip-1]: down"),
    # people and paths
    ("alice@example.com, bob@b.org", "[redacted-email-1], [redacted-email-2]"),
    ("to hana.c&#64;north…", "to [redacted-email-1]…"),
    # the path is seen only when the address before it is gone
    ("a@x.example/home/bob/y", "[redacted-email-1][redacted-path-1]"),
    ("mailto:a.b+c@x.co.uk", "mailto:[redacted-email-1]"),
    ("ssh -p 22 alice@login", "ssh -p 22 [redacted-user-1]"),
    ("alice@gpu-07:~$ ls", "[redacted-user-1]:~$ ls"),
    ("USER=alice", "USER=[redacted-user-1]"),
    ("jdoe's run", "[redacted-user-1]'s run"),
    ("/home/alice/x.py:12", "[redacted-path-1]:12"),
    ("-I/home/alice/include", "-I[redacted-path-1]"),
    ("file:///Users/alice/x", "file://[redacted-path-1]"),
    ("/lustre/fsw/team/users/x", "[redacted-path-1]"),
    ("C:\\Users\\Jane Doe\\My Files\\x.txt", "[redacted-path-1]"),
    ("C:\\\\Users\\\\jane\\\\x", "[redacted-path-1]"),
    ("\\\\nas01\\share\\team", "[redacted-path-1]"),
    ("~alice/bin", "[redacted-path-1]/bin"),
    # names, in prose and in identifiers
    ("the Heron benchmark", "the [redacted-name-1] benchmark"),
    ("heron_aster-8b/3:0#5", "redacted-name-1_aster-8b/3:0#5"),
    ("HeronBench and heron2", "redacted-name-1Bench and redacted-name-1_2"),
    ("Jose\u0301 Nin\u0303o, José-Niño", "[redacted-name-1], [redacted-name-1]"),
    ("JOSÉ NIÑO", "redacted-name-1"),
    ('{"a":"x JOS\\u00c9 NI\\u00d1O y"}', '{"a":"x [redacted-name-1] y"}'),
    # hidden by escapes and odd characters
    ("omar\\_s&#64;x.example", "[redacted-email-1]"),
    ("alice%40example.com", "[redacted-email-1]"),
    ("alice%2540example.com", "[redacted-email-1]"),
    ("https%3A%2F%2Fu%3Ap%40h.example%2Fx", "[redacted-endpoint-1]"),
    ("alice\uff20example.com", "[redacted-email-1]"),
    (
        "He\u200bron \U0001d407\U0001d41e\U0001d42b\U0001d428\U0001d427",
        "[redacted-name-1] [redacted-name-1]",
    ),
    ('{"a":"\\u0061lice\\u0040x.example"}', '{"a":"[redacted-email-1]"}'),
    ('{"a":"\\/home\\/alice"}', '{"a":"[redacted-path-1]"}'),
    ("8.8.8.8 answered", "[redacted-ip-1] answered"),
    # the shapes of JSON
    ('{"password" : "hunter2x","n":1.50}', '{"password" : "[redacted-credential-1]","n":1.50}'),
    ('{"password": 12345678}', '{"password": "[redacted-credential-1]"}'),
    (
        '{"arguments": "{\\"to\\": \\"a@b.example\\", \\"n\\": 1e3}"}',
        '{"arguments": "{\\"to\\": \\"[redacted-email-1]\\", \\"n\\": 1e3}"}',
    ),
    ('\ufeff{"a": "JOS\\u00c9 NI\\u00d1O"}', '\ufeff{"a": "redacted-name-1"}'),
    ('{"a@b.example": 1}', '{"[redacted-email-1]": 1}'),
    ('{"a": "a@b.example", broken', '{"a": "[redacted-email-1]", broken'),
    ('{"a": "x\udcff a@b.example"}', '{"a": "x\udcff [redacted-email-1]"}'),
    (
        '{"k":"-----BEGIN EC PRIVATE KEY-----\\nMHcC\\nAQ==\\n-----END EC PRIVATE KEY-----\\n."}',
        '{"k":"[redacted-key-1]\\n."}',
    ),
]
LEFT = [
    "office_desk_aster-8b/12:3#5 and run/12:10 or task:3, at 11:00 or 10:35:20",
    "<!--blade:report.modes?run_id=a_b-8b&signature=x%20y%20timed%20out%20long#n_tasks-->",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "runner.py:281, values.yaml:1100, DOI:10.1000/182, gpt-4:1000, node:1200",
    "version 1.2.3.4, v10.0.1.2, torch==2.1.0.1, section 3.10.2.1",
    "127.0.0.1:9000 localhost:8000 http://localhost:8000/v1 0.0.0.0 ::1 255.255.255.0",
    "std::vector a[1::2] x::y 12:30:45 01:02:03:04:05:06",
    "https://github.com/a/b#L3 https://en.wikipedia.org/wiki/Home git@github.com:a/b.git",
    "password: Optional[str] = None, password=password, token = parts[0].strip('x')",
    "Forgot password? A password of 8 characters; --max-token 4096 --token-file x login required",
    "The password is correct-horse, password reset, --password $PASSWORD1 docker login registry",
    "api_key=os.environ['KEY'], DB_PASSWORD=${DB_PASSWORD}, secret: <your secret>",
    '{"api_key": "EMPTY", "openai_api_key": "***", "max_tokens": 4096, "pwd": "/workspace"}',
    '{"token": " the", "logprob": -0.1, "input_tokens": 1234567890123456}',
    "pkg@1.2.3 image@sha256:abc pass@k @app.route A@B.T X@W.transpose(0) \\n@cocotb.test",
    "threading.local() config.local torch.internal sk-learn-contrib-package-name-long",
    "/home /homes/x app/home/x https://x.com/home/news /usr/lib /workspace/a /tmp/x",
    "a heroine, Heronsgate, jdoes, build-77x, [redacted-email-1], redacted-name-1_x",
    "The quick brown fox: 50% of 1,000 & more; see https://www.example.org/a?b=c.",
]


@pytest.mark.parametrize(("text", "expected"), FOUND)
def test_rules_find(text: str, expected: str) -> None:
    """What is private is replaced, whole, and nothing around it."""
    assert clean(text) == expected


@pytest.mark.parametrize("text", LEFT)
def test_rules_leave(text: str) -> None:
    """What only looks private stays."""
    assert clean(text) == text


def test_keys_keep_their_lines() -> None:
    """Of a key over several lines one placeholder is left, and as many lines."""
    key = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc=\n-----END RSA PRIVATE KEY-----"
    assert clean(f"a\n{key}\nb") == "a\n[redacted-key-1]\n\n\n\nb"
    assert clean("a\n-----BEGIN PRIVATE KEY-----\nMIIE\nabc=") == "a\n[redacted-key-1]\n\n"


ALLOWED = [
    (Allow(domains=("northwind.example",)), "a@northwind.example b@mail.northwind.example"),
    (Allow(emails=("a@b.example",)), "A@b.example"),
    (Allow(domains=("b.example",)), "https://api.b.example/v1/x c.b.example:80"),
    (Allow(hosts=("agent-server",)), "agent-server:8000 http://agent-server:8000/x"),
    (Allow(ips=("203.0.113.0/24",)), "203.0.113.9 http://203.0.113.9/x"),
    (Allow(paths=("/home/user",)), "/home/user /home/user/x.txt"),
    (Allow(patterns=(r"sk-demo-\w+",)), "sk-demo-abc123DEF456ghi789"),
]


@pytest.mark.parametrize(("allow", "text"), ALLOWED)
def test_what_a_policy_clears_stays(allow: Allow, text: str) -> None:
    """Each list of the policy clears what it names, which is found without it."""
    assert clean(text, Policy(allow=allow)) == text
    assert clean(text, Policy()) != text


def test_policy_is_exact() -> None:
    """A path that only begins like a cleared one, or a domain that only ends like one, is found."""
    policy = Policy(allow=Allow(paths=("/home/user",), domains=("b.example",)))
    assert clean("/home/user2/x a@bb.example", policy) == "[redacted-path-1] [redacted-email-1]"


def test_rules_can_be_put_off() -> None:
    """A rule that is off finds nothing; all addresses are found where the policy says so."""
    assert clean("a@b.example", Policy(off=("email",))) == "a@b.example"
    assert clean("a@b.example", Policy(off=("login",))) == "[redacted-email-1]"
    url = "https://github.com/a/b"
    assert clean(url, Policy(all_urls=True)) == "[redacted-endpoint-1]"


FIELDS = [
    (("a.b",), (), '{"a":{"b":"code()"},"b":"x"}', '{"a":{"b":"[redacted-source-1]"},"b":"x"}'),
    (
        ("a.*.b",),
        (),
        '{"a":[{"b":1},{"b":2}]}',
        '{"a":[{"b":"[redacted-source-1]"},{"b":"[redacted-source-2]"}]}',
    ),
    ((), ("r",), '{"r": {"x": [1, 2]}, "s": 1.0}', '{"r": "[redacted-data-1]", "s": 1.0}'),
    (
        (),
        ("**.r",),
        '[{"q":{"r":"x"}},{"r":"x"}]',
        '[{"q":{"r":"[redacted-data-1]"}},{"r":"[redacted-data-1]"}]',
    ),
    ((), ('q"r',), '{"q\\"r": 1}', '{"q\\"r": "[redacted-data-1]"}'),
    ((), ("é",), '{"\\u00e9": 1}', '{"\\u00e9": "[redacted-data-1]"}'),
    ((), ("r",), '{"r": null, "s": {"r": "x"}}', '{"r": null, "s": {"r": "x"}}'),
    (
        ("args.code",),
        (),
        '{"args":"{\\"code\\":[1],\\"n\\":2}"}',
        '{"args":"{\\"code\\":\\"[redacted-source-1]\\",\\"n\\":2}"}',
    ),
]


@pytest.mark.parametrize(("source", "withheld", "text", "expected"), FIELDS)
def test_listed_fields_go_whole(
    source: tuple[str, ...], withheld: tuple[str, ...], text: str, expected: str
) -> None:
    """The value of a listed field is one placeholder, also in JSON within a string."""
    policy = Policy(source_fields=source, withheld_fields=withheld)
    output = clean(text, policy)
    assert output == expected
    assert clean(output, policy) == output


def test_one_secret_one_placeholder() -> None:
    """A token is the same whether a key names it or its own shape does, escaped or not."""
    token = "sk-proj-abcDEF123456ghiJKL7890"
    line = f'{{"api_key": "{token}", "b": "x {token} y", "c": "{token[:5]}\\u006f{token[6:]}"}}'
    assert set(re.findall(r"\[.*?\]", clean(line))) == {"[redacted-token-1]"}


@pytest.mark.parametrize(
    "unit",
    [
        "a@",
        "password=x",
        "/home/",
        "a@a.",
        "1.1.1.",
        "eyJ",
        "[",
        "~a/",
        "s3.",
        "--pass-",
        "cookie: a=b;",
    ],
)
def test_time_is_linear(unit: str) -> None:
    """A line of one piece over and over takes no longer than its length asks for."""
    text = unit * (60_000 // len(unit))
    begun = time.process_time()
    clean(text)
    assert time.process_time() - begun < 3


@needs_corpus
def test_corpus_has_few_findings() -> None:
    """Of real rollouts only addresses, homes and cluster paths are taken, and no hash or number."""
    from pipeline.package import sanitize

    kinds = {f.kind for f in sanitize.findings([CORPUS / "gym" / "swebench"], Policy())}
    assert kinds <= {"email", "path", "endpoint"}
