"""The HTTP of the stub: answers whole, streamed, and broken off in every way."""

import json
import socket
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event
from types import ModuleType
from typing import Any

import stub_claude
import stub_gpt
from stub_cache import Count
from stub_script import Family, Fault, Said, Turn

HTML = b"<!doctype html><title>Sign in</title><p>Please sign in to the proxy."
DIALECTS: dict[Family, ModuleType] = {"claude": stub_claude, "gpt": stub_gpt}


@dataclass(frozen=True)
class Answer:
    dialect: ModuleType
    said: Said
    body: Mapping[str, Any]
    count: Count
    number: int

    @property
    def streamed(self) -> bool:
        return bool(self.body.get("stream"))

    def whole(self) -> bytes:
        return json.dumps(
            self.dialect.whole(self.said, self.body, self.count, self.number)
        ).encode()

    def events(self) -> Iterator[bytes]:
        for kind, event in self.dialect.events(self.said, self.body, self.count, self.number):
            yield self.event(kind, event)

    @staticmethod
    def event(kind: str, event: Mapping[str, Any]) -> bytes:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **event})}\n\n".encode()


class Server(ThreadingHTTPServer):
    """`take` says how a request is answered; `closing` ends what hangs."""

    daemon_threads = True

    def __init__(
        self, take: Callable[[Family, bytes, Mapping[str, str]], Answer], closing: Event
    ) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.take = take
        self.closing = closing


class Handler(BaseHTTPRequestHandler):
    """Puts what the provider chose on the wire."""

    server: "Server"
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    """Else every small event waits 40 ms for the acknowledgment of the one before."""

    def log_message(self, *_: object) -> None:
        """Say nothing on standard error."""

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["content-length"]))
        path = self.path.partition("?")[0]
        family = next((f for f, d in DIALECTS.items() if path == d.PATH), None)
        if family is None:
            self.put(404, b'{"error": {"message": "no such path"}}')
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = self.server.take(family, raw, headers)
        try:
            if isinstance(answer.said, Fault):
                self.fail(answer, answer.said)
            elif answer.streamed:
                self.stream(answer, answer.said)
            else:
                self.give(answer, answer.said)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def put(self, status: int, body: bytes, kind: str = "application/json", **more: str) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        for name, value in more.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def fail(self, answer: Answer, fault: Fault) -> None:
        match fault.kind:
            case "drop":
                self.leave(reset=False)
            case "hang":
                self.server.closing.wait()
                self.leave(reset=False)
            case "html":
                self.put(200, HTML, "text/html")
            case "bad-gateway":
                self.put(502, HTML, "text/html")
            case _:
                status, body = answer.dialect.error(fault)
                after = (
                    {} if fault.retry_after is None else {"retry_after": f"{fault.retry_after:g}"}
                )
                self.put(status, json.dumps(body).encode(), **after)

    def give(self, answer: Answer, turn: Turn) -> None:
        body = answer.whole()
        if turn.ending == "whole":
            self.put(200, body)
            return
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2])
        if turn.ending == "stall":
            self.server.closing.wait()
        self.leave(reset=turn.ending == "reset")

    def stream(self, answer: Answer, turn: Turn) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for number, event in enumerate(answer.events()):
            if turn.ending != "whole" and number == turn.after:
                self.break_off(answer, turn, event)
                return
            self.chunk(event)
            if turn.pause:
                self.server.closing.wait(turn.pause)
        self.chunk(b"")

    def break_off(self, answer: Answer, turn: Turn, event: bytes) -> None:
        turn.meanwhile()
        match turn.ending:
            case "early":
                self.chunk(b"")
            case "garbage":
                self.chunk(event[: len(event) // 2] + b"\n\n")
                self.chunk(b"")
            case "error":
                self.chunk(answer.event(*answer.dialect.error_event()))
                self.chunk(b"")
            case "stall":
                self.server.closing.wait()
                self.leave(reset=False)
            case _:
                self.leave(reset=turn.ending == "reset")

    def chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def leave(self, *, reset: bool) -> None:
        """Close the connection in mid-air."""
        if reset:
            linger = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        else:
            self.connection.shutdown(socket.SHUT_RDWR)
        self.connection.close()
        self.close_connection = True
