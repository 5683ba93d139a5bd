"""The gateway: what a vendor's agent takes for its provider.

It listens on a socket that only the agent's sandbox is given. The agent knows a token of this pass and no key; the
gateway lets a request pass if it is one that can be priced, puts the key on it, and takes the money. One request at a
time, so that a budget holds to one call.
"""

import asyncio
import json
import os
import secrets
import socket
import threading
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

import anyio
import httpx2
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from adapters.models.families import Connection
from adapters.vendors import upstream
from adapters.vendors.inside import SOCKET, STOP
from adapters.vendors.till import Till
from adapters.whole import write_whole
from domain.metering import metered
from domain.model_faults import ModelFault
from domain.passage import BACK, Way, objection, way
from domain.redaction import Redactor

MOST_BYTES = 64_000_000
START_SECONDS = 30.0
LOOK_SECONDS = 2.0
GRACE_SECONDS = 15.0
"""For an agent that was told that nothing passes any more; it ends by itself, as a rule."""
METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]


class Unwelcome(Exception):
    """A request that does not pass, whatever is left of the budget."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(status, why)
        self.status, self.why = status, why


@dataclass
class Gateway:
    """Open for one pass. A context manager; it works in a thread of its own, with an event loop of its own."""

    connection: Connection
    till: Till
    redactor: Redactor
    """Takes the operator's own secrets out of all that is sent."""
    folder: Path
    """Is shown to the sandbox: holds the socket, and the word to stop."""
    token: str = field(repr=False)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    server: uvicorn.Server = field(init=False)
    thread: threading.Thread = field(init=False)
    client: httpx2.AsyncClient = field(init=False)

    def __enter__(self) -> Self:
        listener = socket.socket(socket.AF_UNIX)
        above = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
        # The name of a socket has 108 bytes at the most, and the folder may be deep.
        listener.bind(f"/proc/self/fd/{above}/{SOCKET}")
        os.close(above)
        listener.listen(64)
        app = Starlette(routes=[Route("/{path:path}", self._take, methods=METHODS)])
        self.server = uvicorn.Server(
            uvicorn.Config(app, log_config=None, access_log=False, lifespan="off", ws="none")
        )
        self.thread = threading.Thread(
            target=lambda: asyncio.run(self._serve(listener)), name="gateway", daemon=True
        )
        self.thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.server.should_exit = self.server.force_exit = True
        self.thread.join(START_SECONDS)

    async def _serve(self, listener: socket.socket) -> None:
        async with upstream.client(self.connection) as self.client:
            watch = asyncio.create_task(self._watch())
            await self.server.serve(sockets=[listener])
            watch.cancel()

    async def _watch(self) -> None:
        while not self.till.late():  # noqa: ASYNC110 -- nobody tells us: it is looked up in a file
            await asyncio.sleep(LOOK_SECONDS)
        self._stop()

    def _stop(self) -> None:
        """Whole or not at all: it is read as soon as it is there."""
        write_whole(self.folder / STOP, f"{GRACE_SECONDS}\n")

    async def _take(self, request: Request) -> Response:
        """One request and its answer. It keeps its turn until the last byte of the answer went by."""
        try:
            open_way, body = await self._judged(request)
        except Unwelcome as unwelcome:
            return _refusal(unwelcome.status, unwelcome.why)
        # Written anew: of a name that is given twice, the provider must not read the other one.
        content = json.dumps(body, separators=(",", ":"), allow_nan=False).encode()
        sent = self.client.build_request(
            "POST",
            upstream.address_of(self.connection, request.url.path, request.url.query),
            headers=upstream.headers_of(self.connection, request.headers),
            content=content,
        )
        await self.turn.acquire()
        handed_on = False
        try:
            answer = await self._pass(sent, body, len(content), open_way)
            handed_on = isinstance(answer, StreamingResponse)
            return answer
        finally:
            if not handed_on:
                self.turn.release()

    async def _judged(self, request: Request) -> tuple[Way, dict[str, Any]]:
        """The way it takes and what it asks, before any money is spoken of."""
        if not self._known(request):
            raise Unwelcome(401, "this is not the token of this pass")
        open_way = way(self.connection.family, request.url.path, request.url.query)
        if open_way is None or request.method != "POST":
            raise Unwelcome(404, f"{request.method} {request.url.path} is not open to this agent")
        raw = bytearray()
        async for piece in request.stream():
            raw += piece
            if len(raw) > MOST_BYTES:
                raise Unwelcome(413, f"a request has at most {MOST_BYTES:,} bytes")
        try:
            body: object = json.loads(
                self.redactor.clean(bytes(raw).decode()), parse_constant=_no_number
            )
        except (ValueError, RecursionError):
            body = None
        if not isinstance(body, dict):
            raise Unwelcome(400, "a request is a JSON object, as it is")
        asked = cast("dict[str, Any]", body)
        if why := objection(self.connection.family, asked, self.connection.model):
            raise Unwelcome(400, f"not open to this agent: {why}")
        return open_way, asked

    async def _pass(
        self, sent: httpx2.Request, body: dict[str, Any], size: int, open_way: Way
    ) -> Response:
        """Take the money, send it, and hand the answer on as it comes."""
        call = self.till.open(body, size) if open_way.priced else ""
        if call is None:
            return self._closed()
        try:
            async with asyncio.timeout(self.connection.attempt_seconds):
                answer = await self.client.send(sent, stream=True)
        except (httpx2.HTTPError, TimeoutError) as error:
            unsent = isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout)
            fault = ModelFault(kind="connection", said=f"{error!r}", billable=not unsent)
            return self._failed(call, fault, 502, b"", {})
        except BaseException:
            self._settle(call, b"", streamed=True)
            raise
        back = {name: value for name, value in answer.headers.items() if name in BACK}
        if answer.is_error:
            said = b""
            with suppress(httpx2.HTTPError):
                said = await answer.aread()
            fault = upstream.fault_of(answer.status_code, answer.headers, said)
            return self._failed(call, fault, answer.status_code, said, back)
        return StreamingResponse(
            self._relayed(answer, call, streamed=bool(body.get("stream"))),
            status_code=answer.status_code,
            headers=back,
        )

    async def _relayed(
        self, answer: httpx2.Response, call: str, *, streamed: bool
    ) -> AsyncIterator[bytes]:
        """The bytes as they come. Whatever ends it, what went by is settled, and the next one's turn comes."""
        seen = bytearray()
        try:
            async with asyncio.timeout(self.connection.attempt_seconds):
                async for piece in answer.aiter_raw():
                    seen += piece
                    yield piece
        finally:
            self._settle(call, bytes(seen), streamed=streamed)
            self.turn.release()
            with anyio.CancelScope(shield=True), suppress(Exception):
                await answer.aclose()

    def _settle(self, call: str, seen: bytes, *, streamed: bool) -> None:
        if call:
            self.till.settle(call, metered(self.connection.family, seen, streamed=streamed))

    def _failed(
        self, call: str, fault: ModelFault, status: int, said: bytes, back: dict[str, str]
    ) -> Response:
        if call:
            self.till.fail(call, fault)
            if self.till.over:
                return self._closed()
        if said:
            return Response(said, status, back)
        return _refusal(status, fault.said)

    def _closed(self) -> Response:
        """Nothing passes any more: the agent is told so, and ended if it goes on all the same."""
        self._stop()
        why = self.till.over.why if self.till.over else ""
        return _refusal(400, f"Swathe ends this pass: {why}")

    def _known(self, request: Request) -> bool:
        given = request.headers.get("x-api-key") or request.headers.get(
            "authorization", ""
        ).removeprefix("Bearer ")
        return secrets.compare_digest(given.encode(), self.token.encode())


def _refusal(status: int, why: str) -> Response:
    """In the form that both providers give an error."""
    error = {"type": "invalid_request_error", "code": "swathe", "message": why}
    return JSONResponse({"type": "error", "error": error}, status, {"x-should-retry": "false"})


def _no_number(word: str) -> float:
    raise ValueError(word)
