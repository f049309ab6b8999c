"""Runs the inspector's server so that it stays up for its owner.

Whoever can reach the port can open connections and say nothing. So a request has to come within
some seconds, only so many connections are kept, and when there are more, those that have said
nothing for longest are closed: the newest ones, among them the owner's, are served.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 10.0  # for a request to come, on a connection that was opened or kept
ANSWER_SECONDS = 120.0  # for an answer to be made and taken
MOST_CONNECTIONS = 64
LEAST_CONNECTIONS = 4
OTHER_FILES = 64  # descriptors for everything else: runs that are read, connections that are closed
MOST_HEAD = 16_384  # bytes of a request
AT_ONCE = 8  # connections that are accepted before the first of them is looked at
WAITING = 1024  # connections that the system keeps until then


class Connection(H11Protocol):
    """A connection that does not wait for ever."""

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
        """Somebody connected; if there are too many, the one that is silent for longest goes."""
        super().connection_made(transport)
        self._wait()
        others = [one for one in self.connections if isinstance(one, Connection)]
        while len(others) > self.most:
            oldest = min(others, key=lambda one: (one.is_busy, one.since))
            others.remove(oldest)
            oldest.give_up()

    def data_received(self, data: bytes) -> None:
        """Bytes came; only a whole request stops the clock."""
        was_busy = self.is_busy
        super().data_received(data)
        if self.is_busy and not was_busy:
            self._wait()

    def on_response_complete(self) -> None:
        """An answer is sent; the next request has its time."""
        super().on_response_complete()
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is over."""
        super().connection_lost(exc)
        self._stop_clock()

    def give_up(self) -> None:
        """Close the connection, whatever is in its buffers."""
        self._stop_clock()
        self.connections.discard(self)
        self.transport.abort()

    def _wait(self) -> None:
        self._stop_clock()
        self.since = time.monotonic()
        if not self.transport.is_closing():
            seconds = ANSWER_SECONDS if self.is_busy else HEAD_SECONDS
            self._deadline = self.loop.call_later(seconds, self.give_up)

    def _stop_clock(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


class Server(uvicorn.Server):
    """A server that takes connections in small handfuls, and does not complain of each."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        asyncio.get_running_loop().set_exception_handler(_without_flood)
        await super().startup(sockets)
        for listening in sockets or ():
            # asyncio accepts as many at once as may wait; here more may wait.
            listening.listen(WAITING)


def make_server(app: Any) -> Server:
    """A server for `app`, to be run with the sockets it shall listen on."""
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
    """As many as the process has descriptors for, and no more than a person needs."""
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


def _without_flood(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Pass over a lack of descriptors: asyncio tries again in a second, and complains each time."""
    if "out of system resource" not in str(context.get("message")):
        loop.default_exception_handler(context)
