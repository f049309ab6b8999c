"""A client that sends what it is told, also what no well-behaved client would send."""

import asyncio
import json
import threading
from dataclasses import dataclass
from functools import cache
from urllib.parse import unquote


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """A loop in a thread of its own: playwright keeps one in that of the tests."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    return loop


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    content: bytes

    @property
    def text(self) -> str:
        """The content as text."""
        return self.content.decode("utf-8")

    def json(self):
        """The content as JSON."""
        return json.loads(self.content)


class Client:
    """Calls an ASGI application as uvicorn would; what it raises is raised here."""

    def __init__(self, app, headers: list[tuple[str, str]]) -> None:
        self._app = app
        self._headers = headers

    def get(self, target: str, headers=None, method: str = "GET") -> Answer:
        """Ask for a target; `headers` replace those of the same name."""
        given = list(headers or [])
        names = {name for name, _ in given}
        kept = [pair for pair in self._headers if pair[0] not in names]
        raw, _, query = target.partition("?")
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": unquote(raw),
            "raw_path": raw.encode("utf-8"),
            "query_string": query.encode("utf-8"),
            "root_path": "",
            "headers": [
                (name.encode("latin-1"), value.encode("latin-1")) for name, value in kept + given
            ],
            "server": ("127.0.0.1", 80),
            "client": ("127.0.0.1", 5),
        }
        return asyncio.run_coroutine_threadsafe(self._call(scope), _loop()).result(timeout=60)

    async def _call(self, scope) -> Answer:
        sent: list[dict] = []

        async def receive():
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message):
            sent.append(message)

        await self._app(scope, receive, send)
        headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        content = b"".join(message.get("body", b"") for message in sent[1:])
        return Answer(sent[0]["status"], headers, content)
