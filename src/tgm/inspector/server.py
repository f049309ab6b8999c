"""The inspector's server: it reads runs, for the user that started it.

docs/inspector.md has the threat model. The server listens on loopback, accepts only its own names
in the Host header (against DNS rebinding), gives data only for the token of this start, and takes
ids of runs, never paths.
"""

from __future__ import annotations

import ipaddress
import re
import secrets
import socket
from collections import OrderedDict
from collections.abc import Callable, Iterator
from threading import Lock
from typing import TYPE_CHECKING, Any

from tgm.errors import ConfigError, RunError, TGMError
from tgm.inspector import payload
from tgm.inspector.assets import MEDIA_TYPES, PLOTLY, page_files, plotly_script
from tgm.inspector.catalogue import Catalogue, begun, check_files
from tgm.inspector.entries import BROKEN, entry
from tgm.inspector.plain import text, to_bytes
from tgm.runs import Run
from tgm.runs.folder import HISTORY_FOLDER

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Receive, Scope, Send

TOKEN_HEADER = "x-tgm-token"
MOST_LISTED = 500
KEPT_BYTES = 64 * 2**20  # of chunks that are cached as JSON
PIECE = 65_536  # bytes of an answer per message
LONGEST_STEP = 18  # digits
HTTP_PORT = 80
WAITING = 64  # connections that the system queues

SECURITY_HEADERS = {
    "content-security-policy": "default-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


def listen(host: str, port: int) -> socket.socket:
    """A socket at an address of this machine; a wildcard address is refused.

    The Host header is compared with the address, and a wildcard address cannot be compared.
    """
    try:
        address = ipaddress.ip_address("127.0.0.1" if host == "localhost" else host)
    except ValueError:
        raise ConfigError(f"--host is '{host}'; it must be an IP address") from None
    if address.is_unspecified:
        raise ConfigError(f"--host is {host}, which means every address; give one address")
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((str(address), port))
        listening.listen(WAITING)
    except (OSError, OverflowError) as error:
        listening.close()
        raise ConfigError(f"cannot listen on {host}, port {port} ({error})") from None
    return listening


def allowed_hosts(listening: socket.socket) -> frozenset[str]:
    """The Host headers that this server accepts."""
    address, port = listening.getsockname()[:2]
    names = {f"[{address}]" if ":" in address else address}
    if ipaddress.ip_address(address).is_loopback:
        names.add("localhost")
    hosts = {f"{name}:{port}" for name in names}
    return frozenset(hosts | names if port == HTTP_PORT else hosts)  # browsers leave port 80 out


def new_token() -> str:
    """A secret token for one start of the server."""
    return secrets.token_urlsafe(32)


def make_app(catalogue: Catalogue, hosts: frozenset[str], token: str) -> ASGIApp:
    """The application, protected by a Guard."""
    return Guard(_routes(catalogue), hosts, token)


class Guard:
    """Refuses requests without the right host and token; adds the security headers."""

    def __init__(self, app: ASGIApp, hosts: frozenset[str], token: str) -> None:
        """Guard `app`; data is given to requests with one of `hosts` and the `token`."""
        self._app = app
        self._hosts = {host.encode("ascii") for host in hosts}
        self._token = token.encode("ascii")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return

        async def send_guarded(message: Any) -> None:
            if message["type"] == "http.response.start":
                mine = [(key.encode(), value.encode()) for key, value in SECURITY_HEADERS.items()]
                message["headers"] = [*message.get("headers", []), *mine]
            for piece in _pieces(message):
                await send(piece)

        refusal = self._refusal(scope)
        answer = self._app if refusal is None else refusal
        await answer(scope, receive, send_guarded)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = scope["headers"]
        named = [value for key, value in headers if key == b"host"]
        if len(named) != 1 or named[0].lower() not in self._hosts:
            return _error(403, "this server does not accept that Host header")
        if scope["method"] not in ("GET", "HEAD"):
            refusal = _error(405, "this server accepts GET and HEAD only")
            refusal.headers["allow"] = "GET, HEAD"
            return refusal
        if scope["path"].startswith("/api"):
            given = [value for key, value in headers if key == TOKEN_HEADER.encode()]
            if len(given) != 1 or not secrets.compare_digest(given[0], self._token):
                return _error(
                    403,
                    "the token is missing or wrong; open the address that `tgm inspect` printed",
                )
        return None


def _pieces(message: Any) -> Iterator[Any]:
    """A long body in pieces: the next one is copied after the client has taken the last."""
    body = message.get("body", b"")
    if len(body) <= PIECE:
        yield message
        return
    for start in range(0, len(body), PIECE):
        more = start + PIECE < len(body) or message.get("more_body", False)
        yield message | {"body": body[start : start + PIECE], "more_body": more}


def _routes(catalogue: Catalogue) -> Starlette:
    from starlette.applications import Starlette
    from starlette.routing import Route

    # Read them now: later, a request would wait for the threads that read runs.
    page_files(), plotly_script()
    chunks = _Chunks()
    routes = [
        Route("/", _index),
        Route("/static/{name:path}", _static),
        Route("/api/runs", lambda request: _answer(lambda: _listed(catalogue))),
    ]
    for path, make in (
        ("", lambda run, request: payload.summary(run)),
        ("/outline", lambda run, request: payload.outline(run)),
        ("/field", lambda run, request: payload.field(run)),
        ("/pulse", lambda run, request: payload.pulse(run)),
        ("/chunks/{step}", lambda run, request: chunks.get(run, _step(request))),
    ):
        routes.append(Route("/api/runs/{id}" + path, _of_run(catalogue, make)))
    handlers: dict[Any, Any] = {404: lambda request, error: _error(404, "no such page")}
    app = Starlette(routes=routes, exception_handlers=handlers)
    app.router.redirect_slashes = False  # a redirect would repeat the path of the request
    return app


async def _index(request: Request) -> Response:
    return _file("index.html")


async def _static(request: Request) -> Response:
    return _file(request.path_params["name"])


def _file(name: str) -> Response:
    """A file of the page, looked up by name; no path is built from the name."""
    from starlette.responses import Response

    content = plotly_script() if name == PLOTLY else page_files().get(name)
    if content is None:
        return _error(404, "no such file")
    return Response(content, media_type=MEDIA_TYPES["." + name.rpartition(".")[2]])


def _of_run(
    catalogue: Catalogue, make: Callable[[Run, Request], Any]
) -> Callable[[Request], Response]:
    def endpoint(request: Request) -> Response:
        try:
            run = catalogue.open(request.path_params["id"])
        except KeyError:
            return _error(404, "no run has this id")
        except BROKEN as error:
            return _broken(error)
        return _answer(lambda: make(run, request))

    return endpoint


def _step(request: Request) -> int:
    """The first step of the chunk that the address names."""
    from starlette.exceptions import HTTPException

    words = request.path_params["step"]
    if not re.fullmatch(r"[0-9]+", words):
        raise HTTPException(404)
    if len(words) > LONGEST_STEP:
        raise RunError(f"no history begins at step {words}")
    return int(words)


def _answer(make: Callable[[], Any]) -> Response:
    """What `make` returns, as JSON; a broken run gives status 422 with the reason."""
    from starlette.responses import Response

    try:
        made = make()
        content = made if isinstance(made, bytes) else to_bytes(made)
    except BROKEN as error:
        return _broken(error)
    return Response(content, media_type="application/json")


def _broken(error: BaseException) -> Response:
    what = str(error) if isinstance(error, TGMError) else f"{type(error).__name__}: {error}"
    return _error(422, f"the run cannot be read: {text(what)}")


def _error(status: int, message: str) -> Response:
    from starlette.responses import Response

    return Response(to_bytes({"error": message}), status, media_type="application/json")


def _listed(catalogue: Catalogue) -> dict[str, Any]:
    folders = catalogue.folders()
    listed = []
    for id_, folder in sorted(folders.items(), key=lambda item: begun(item[1]))[-MOST_LISTED:]:
        try:
            check_files(folder)
            listed.append({"id": id_, **entry(Run.open(folder))})
        except BROKEN as error:
            what = text(str(error))
            listed.append({"id": id_, "name": text(folder.name), "state": "broken", "error": what})
    return {"runs": listed, "left_out": max(0, len(folders) - MOST_LISTED)}


class _Chunks:
    """A cache of the chunks that were requested last, as JSON."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[Any, ...], bytes] = OrderedDict()
        self._n_bytes = 0
        self._lock = Lock()

    def get(self, run: Run, first_step: int) -> bytes:
        """The chunk that begins at `first_step`; read again when the directory has changed.

        One chunk is made at a time, to bound the memory.
        """
        status = (run.folder / HISTORY_FOLDER).stat()
        key = (run.folder, first_step, status.st_mtime_ns)
        with self._lock:
            if key not in self._kept:
                self._kept[key] = payload.chunk_bytes(run, first_step)
                self._n_bytes += len(self._kept[key])
            self._kept.move_to_end(key)
            while self._n_bytes > KEPT_BYTES and len(self._kept) > 1:
                self._n_bytes -= len(self._kept.popitem(last=False)[1])
            return self._kept[key]
