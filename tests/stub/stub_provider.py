"""A provider of models for tests: a real HTTP server that speaks two families' protocols from a script.

It keeps a bill and a prompt cache of its own, so that what a client believes to have spent can be checked.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any, Self

from stub_bill import Bill, Rates
from stub_cache import Count, PromptCache
from stub_http import DIALECTS, Answer, Server
from stub_script import Family, Said, Script, Seen, Turn


@dataclass(frozen=True)
class Request:
    """What arrived."""

    family: Family
    raw: bytes
    body: Mapping[str, Any]
    headers: Mapping[str, str]
    count: Count
    said: Said
    seen: Seen


@dataclass
class Provider:
    """Answers from `script` until it is closed. A context manager."""

    script: Script
    folder: Path
    rates: Rates | None = None
    requests: list[Request] = field(default_factory=list)
    asked: Counter[tuple[str, int]] = field(default_factory=Counter)
    cache: PromptCache = field(default_factory=PromptCache)
    closing: Event = field(default_factory=Event)
    lock: Lock = field(default_factory=Lock)

    def __enter__(self) -> Self:
        self.bill = Bill(self.folder / "bill.jsonl", self.rates)
        self.server = Server(self.take, self.closing)
        self.thread = Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"

    def environment(self) -> dict[str, str]:
        """What a client is told of us by the SDKs' own variables."""
        return {
            "ANTHROPIC_BASE_URL": self.url,
            "ANTHROPIC_API_KEY": "stub-key-of-claude",
            "OPENAI_BASE_URL": f"{self.url}/v1",
            "OPENAI_API_KEY": "stub-key-of-gpt",
        }

    def take(self, family: Family, raw: bytes, headers: Mapping[str, str]) -> Answer:
        """Look at a request, and say what it is answered with."""
        dialect, body = DIALECTS[family], json.loads(raw)
        user, results = dialect.said_by_user(body)
        opening = hashlib.sha256(dialect.opening(body).encode()).hexdigest()[:12]
        state = (opening, dialect.answers(body))
        with self.lock:
            attempt = self.asked[state]
            self.asked[state] += 1
            number = sum(self.asked.values())
        seen = Seen(
            family=family,
            body=body,
            answers=state[1],
            attempt=attempt,
            conversation=opening,
            user=user,
            results=results,
            tools=dialect.tool_names(body),
        )
        said = self.script(seen)
        billed = isinstance(said, Turn) or said.billed
        count = self._count(family, body) if billed else Count(0, 0, 0)
        if billed:
            output = dialect.output_tokens(said) if isinstance(said, Turn) else 1
            self.bill.charge(
                family, count, output, conversation=opening, answers=state[1], attempt=attempt
            )
        with self.lock:
            self.requests.append(Request(family, raw, body, headers, count, said, seen))
        return Answer(dialect, said, body, count, number)

    def _count(self, family: Family, body: Mapping[str, Any]) -> Count:
        blocks = DIALECTS[family].blocks(body)
        if family == "claude":
            return self.cache.at_breakpoints(blocks)
        return self.cache.by_prefix(blocks, body.get("prompt_cache_key", ""))
