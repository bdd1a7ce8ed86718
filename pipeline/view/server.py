"""The pages over HTTP: on loopback only, and only with the token."""

from __future__ import annotations

import secrets
import socket
import threading
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, ClassVar
from urllib.parse import parse_qsl

import anyio.to_thread
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn import Config, Server

from ..answers.label_file import NAME, add
from ..errors import BladeError, UsageError
from ..files import stamp
from ..query_worker import MOST_WORKERS, end_queries
from . import labels, pages, rollouts, tasks
from .opened import AbsentError, Followed, Opened

HOST = "127.0.0.1"
# The number of requests handled at the same time.
THREADS = 8
MOST_CONNECTIONS = 512
LARGEST_FORM = 100_000
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; "
    "media-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# A report contains its own policy, with the hashes of its style and script.
REPORT_POLICY = "frame-ancestors 'none'; base-uri 'none'; form-action 'none'; connect-src 'none'"
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


@dataclass
class Explorer:
    """What every page reads: the current warehouse, the labels, and the token."""

    is_bundle: ClassVar[bool] = False
    followed: Followed
    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    rendering: threading.Lock = field(default_factory=threading.Lock)
    # The last report, by its inputs.
    reports: dict[tuple[Any, ...], str] = field(default_factory=dict)

    @property
    def labels(self) -> labels.LabelFile:
        return self.followed.labels

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}/?token={self.token}"

    def is_token(self, text: str) -> bool:
        """Compare in constant time, so that the time does not reveal the token."""
        return secrets.compare_digest(text.encode("utf-8", "replace"), self.token.encode())

    @property
    def cookie(self) -> str:
        """The name of the cookie; ports share cookies, so it contains the port."""
        return f"blade_view_{self.port}"


def prepared(
    warehouse: Path, *, port: int, label_file: Path | None = None, memory_limit: str | None = None
) -> tuple[Explorer, Server, socket.socket]:
    """A server that is ready to run, and its socket, which already accepts connections."""
    file = labels.LabelFile(label_file or warehouse.parent / NAME)
    explorer = Explorer(Followed(warehouse, file, memory_limit=memory_limit), port)
    # Render a page now: the first one is slow, and fails if the warehouse is of another version.
    with explorer.followed.opened() as opened:
        rendered(explorer, *pages.content("/", opened, {}))
    listening = socket.socket()
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((HOST, port))
        listening.listen(MOST_CONNECTIONS)
    except OSError as error:
        listening.close()
        message = f"port {port}: is not available ({error.strerror})."
        raise UsageError(message, hint="Use any free port with: --port 0") from error
    explorer.port = listening.getsockname()[1]
    config = Config(
        Guard(app(explorer), explorer),
        log_level="warning",
        access_log=False,
        server_header=False,
        ws="none",
        lifespan="off",
        timeout_keep_alive=15,
        timeout_graceful_shutdown=2,
        limit_concurrency=MOST_CONNECTIONS,
    )
    return explorer, _Server(config), listening


class _Server(Server):
    """A server that stops running queries when it shuts down."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        end_queries()
        super().handle_exit(sig, frame)


class Guard:
    """Refuses requests without the token, for other hosts or from other pages; adds headers."""

    def __init__(self, inner: ASGIApp, explorer: Explorer) -> None:
        self.inner, self.explorer = inner, explorer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        anyio.to_thread.current_default_thread_limiter().total_tokens = THREADS
        request = Request(scope)
        has_token = self.explorer.is_token(request.query_params.get("token", ""))
        headers = HEADERS
        if has_token:
            # No redirect: after a link from elsewhere, browsers would not send the strict cookie.
            cookie = f"{self.explorer.cookie}={self.explorer.token}"
            headers = {**HEADERS, "set-cookie": f"{cookie}; Path=/; HttpOnly; SameSite=Strict"}

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                sent = message["headers"]
                present = {name for name, _ in sent}
                wanted = [(name.encode(), value.encode()) for name, value in headers.items()]
                message["headers"] = [*sent, *(each for each in wanted if each[0] not in present)]
            await send(message)

        refusal = self._refusal(request, has_token=has_token)
        answer = PlainTextResponse(f"{refusal[1]}\n", refusal[0]) if refusal else self.inner
        await answer(scope, receive, with_headers)

    def _refusal(self, request: Request, *, has_token: bool) -> tuple[int, str] | None:
        hosts = [f"{name}:{self.explorer.port}" for name in (HOST, "localhost")]
        if request.headers.getlist("host") not in [[host] for host in hosts]:
            return 421, "This host is not served here."
        headers = request.headers
        is_reading = request.method in ("GET", "HEAD")
        # Forms always have an origin; an address typed into the browser has none.
        origins = [*([None] if is_reading else []), *(f"http://{host}" for host in hosts)]
        is_cross_site = headers.get("sec-fetch-site", "none") not in ("same-origin", "none")
        if headers.get("origin") not in origins or (is_cross_site and not has_token):
            return 403, "Only pages of this explorer may ask that."
        cookie = request.cookies.get(self.explorer.cookie, "")
        if not has_token and not self.explorer.is_token(cookie):
            return 401, "Open the address that blade view printed: it contains the key."
        return None


def parameters(request: Request) -> dict[str, str]:
    """The parameters of an address; what boxes of a form repeat is one text of lines."""
    lines: dict[str, str] = {}
    for name, value in request.query_params.multi_items():
        lines[name] = f"{lines[name]}\n{value}" if name in lines else value
    return lines


def app(explorer: Explorer) -> Starlette:
    query_limiter = anyio.CapacityLimiter(MOST_WORKERS)

    def page(path: str) -> Callable[[Request], Response]:
        def answer(request: Request) -> Response:
            with explorer.followed.opened() as opened:
                template, content = pages.content(path, opened, parameters(request))
            is_wrong = path == "/sql" and content["error"]
            return rendered(explorer, template, content, status=400 if is_wrong else 200)

        return answer

    def slow(
        answer: Callable[[Request], Response], parameter: str
    ) -> Callable[[Request], Awaitable[Response]]:
        """In separate threads, so that queries and searches of transcripts never delay pages."""

        async def answered(request: Request) -> Response:
            limiter = query_limiter if request.query_params.get(parameter) else None
            return await anyio.to_thread.run_sync(answer, request, limiter=limiter)

        return answered

    def download(
        make: Callable[[Opened, Mapping[str, str]], str], name: str
    ) -> Callable[[Request], Response]:
        def answer(request: Request) -> Response:
            with explorer.followed.opened() as opened:
                text = make(opened, parameters(request))
            headers = {"content-disposition": f'attachment; filename="{name}"'}
            return Response(text.encode("utf-8", "replace"), media_type="text/csv", headers=headers)

        return answer

    async def label(request: Request) -> Response:
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > LARGEST_FORM:
                return PlainTextResponse("The label is too long.\n", 413)
        return await anyio.to_thread.run_sync(write_label, body)

    def write_label(body: bytes) -> Response:
        form = dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))
        if not explorer.is_token(form.get("token", "")):
            return PlainTextResponse("The form lacks the key of this explorer.\n", 403)
        with explorer.followed.opened() as opened:
            add(explorer.labels.path, opened.warehouse, labels.fields(form))
        back = form.get("back", "")
        is_ours = back.startswith(("/rollout?", "/task?"))
        return RedirectResponse(f"{back}#label" if is_ours else "/labels", 303)

    def report(request: Request) -> Response:
        benchmark = request.query_params.get("benchmark", "")
        is_page = request.query_params.get("format") != "md"
        text = _report(explorer, benchmark, is_page=is_page)
        if is_page:
            headers = {"content-security-policy": REPORT_POLICY}
            return Response(text, media_type="text/html", headers=headers)
        headers = {"content-disposition": 'attachment; filename="report.md"'}
        return Response(text, media_type="text/markdown", headers=headers)

    def static(names: tuple[str, ...], kind: str) -> Callable[[Request], Response]:
        return lambda _request: Response(pages.file(names), media_type=kind)

    def failed(_request: Request, error: Exception) -> Response:
        assert isinstance(error, BladeError)
        status = 404 if isinstance(error, AbsentError) else 400
        return rendered(explorer, "message", pages.message(error, error.hint), status=status)

    return Starlette(
        routes=[
            *(Route(path, page(path)) for path in pages.PAGES if path not in ("/rollouts", "/sql")),
            Route("/rollouts", slow(page("/rollouts"), "q")),
            Route("/sql", slow(page("/sql"), "query")),
            Route("/tasks.csv", download(tasks.table, "tasks.csv")),
            Route("/rollouts.csv", slow(download(rollouts.table, "rollouts.csv"), "q")),
            Route("/label", label, methods=["POST"]),
            Route("/report", report),
            Route("/view.css", static(pages.STYLES, "text/css")),
            Route("/view.js", static(pages.SCRIPTS, "text/javascript")),
        ],
        exception_handlers={BladeError: failed},
    )


def _report(explorer: Explorer, benchmark: str, *, is_page: bool) -> str:
    """The report with the labels of the file."""
    from ..answers.rerender import render

    with explorer.rendering:
        with explorer.followed.opened() as opened:
            rows = opened.rows("run_ids", benchmark=benchmark) if benchmark else []
        runs = [row["run_id"] for row in rows]
        if benchmark and not runs:
            raise AbsentError(f"{benchmark}: no such benchmark.")
        path = explorer.labels.path
        key = (explorer.followed.stamp, stamp(path), benchmark, is_page)
        if key not in explorer.reports:
            labels_file = path if path.is_file() else None
            rendering = render(
                explorer.followed.path, runs=runs, as_html=is_page, labels=labels_file
            )
            # Only the last report is cached.
            explorer.reports = {key: rendering.text}
        return explorer.reports[key]


def rendered(explorer: Explorer, template: str, page: Any, *, status: int = 200) -> Response:
    text = pages.text(template, page, explorer, explorer.followed)
    return Response(text.encode("utf-8", "replace"), status, media_type="text/html")
