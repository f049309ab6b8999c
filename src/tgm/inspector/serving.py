"""Runs the inspector's server with limits on idle and open connections.

Any program that reaches the port can open connections and send nothing. So a request must arrive
within HEAD_SECONDS, and at most MOST_CONNECTIONS are open: with more, those that have been idle
longest are closed. The newest connections, among them the user's, are served.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 10.0  # until a whole request has arrived on an open connection
ANSWER_SECONDS = 120.0  # until an answer has been made and received
MOST_CONNECTIONS = 64
LEAST_CONNECTIONS = 4
OTHER_FILES = 64  # descriptors for other uses: files of runs, closing connections
MOST_HEAD = 16_384  # bytes of a request
AT_ONCE = 8  # connections that are accepted in one turn of the event loop
WAITING = 1024  # connections that the system queues


class Connection(H11Protocol):
    """A connection with a time limit for requests and answers."""

    most = MOST_CONNECTIONS

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._deadline: asyncio.TimerHandle | None = None
        self.since = time.monotonic()

    @property
    def is_busy(self) -> bool:
        """Whether a request is being answered."""
        return self.cycle is not None and not self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A new connection; if there are too many, close the one that has been idle longest."""
        super().connection_made(transport)
        self._restart_timer()
        others = [one for one in self.connections if isinstance(one, Connection)]
        while len(others) > self.most:
            oldest = min(others, key=lambda one: (one.is_busy, one.since))
            others.remove(oldest)
            oldest.abort()

    def data_received(self, data: bytes) -> None:
        """Bytes arrived; only a whole request restarts the timer."""
        was_busy = self.is_busy
        super().data_received(data)
        if self.is_busy and not was_busy:
            self._restart_timer()

    def on_response_complete(self) -> None:
        """The answer is sent; the timer starts for the next request."""
        super().on_response_complete()
        self._restart_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is closed."""
        super().connection_lost(exc)
        self._stop_timer()

    def abort(self) -> None:
        """Close the connection and discard its buffers."""
        self._stop_timer()
        self.connections.discard(self)
        self.transport.abort()

    def _restart_timer(self) -> None:
        self._stop_timer()
        self.since = time.monotonic()
        if not self.transport.is_closing():
            seconds = ANSWER_SECONDS if self.is_busy else HEAD_SECONDS
            self._deadline = self.loop.call_later(seconds, self.abort)

    def _stop_timer(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


class Server(uvicorn.Server):
    """A server that accepts few connections per turn, and logs no lack of descriptors."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to listen."""
        asyncio.get_running_loop().set_exception_handler(_ignore_lack_of_descriptors)
        await super().startup(sockets)
        for listening in sockets or ():
            # asyncio accepts up to `backlog` connections per turn; the queue may be longer.
            listening.listen(WAITING)


def make_server(app: Any) -> Server:
    """A server for `app`; its `run` takes the sockets to listen on."""
    Connection.most = _most_connections()
    config = uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        log_level="error",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        lifespan="off",
        h11_max_incomplete_event_size=MOST_HEAD,
        backlog=AT_ONCE,
    )
    return Server(config)


def serve(app: Any, listening: socket.socket) -> None:
    """Serve `app` until Ctrl-C."""
    with contextlib.suppress(KeyboardInterrupt):
        make_server(app).run(sockets=[listening])


def _most_connections() -> int:
    """The limit of open connections: MOST_CONNECTIONS, or fewer if descriptors are scarce."""
    try:
        import resource
    except ImportError:  # Windows, where sockets are not counted with files
        return MOST_CONNECTIONS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_CONNECTIONS + OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(ValueError, OSError):
            most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
            soft = most
        return max(LEAST_CONNECTIONS, min(MOST_CONNECTIONS, soft - OTHER_FILES))
    return MOST_CONNECTIONS


def _ignore_lack_of_descriptors(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log nothing where descriptors are lacking: asyncio retries after a second."""
    if "out of system resource" not in str(context.get("message")):
        loop.default_exception_handler(context)
