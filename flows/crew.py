"""The crew: several jobs at once, each in a thread of its own, and one thread that hears what they came to.

Their threads end with the process: whoever is interrupted does not wait for a model's answer, and the commands that a
job has under way end with us (`adapters.processes.supervisor`).
"""

import time
from collections.abc import Callable
from contextvars import copy_context
from functools import partial
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Generic, Self, TypeVar

Job = TypeVar("Job")


class Crew(Generic[Job]):
    """Jobs, by what they are told to do. A context manager; what a job raises is raised where it is heard."""

    def __init__(self, hands: int) -> None:
        self.hands = hands
        """How many jobs run at the same time; the others wait for their turn."""
        self.under_way: set[Job] = set()
        self._besides: set[Job] = set()
        self._asked: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._told: SimpleQueue[tuple[Job, Any, BaseException | None]] = SimpleQueue()
        self._threads = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for _n in range(self._threads):
            self._asked.put(None)

    def send(self, job: Job, work: Callable[..., Any], *told: Any, **more: Any) -> None:
        """Let somebody do `work(*told, **more)`, as a step of the flow that calls this."""
        self.under_way.add(job)
        self._asked.put(self._bound(job, partial(work, *told, **more)))
        if self._threads < min(self.hands, len(self.under_way)):
            self._threads += 1
            Thread(target=self._work, daemon=True).start()

    def send_besides(self, job: Job, work: Callable[..., Any], *told: Any, **more: Any) -> None:
        """The same, by somebody who is not one of the hands."""
        self.under_way.add(job)
        self._besides.add(job)
        Thread(target=self._bound(job, partial(work, *told, **more)), daemon=True).start()

    def hear(self, patience: float) -> dict[Job, Any]:
        """Wait for somebody, and then for the other hands, `patience` seconds at the most."""
        heard: dict[Job, Any] = {}
        deadline = None
        while self.under_way - self._besides if heard else self.under_way:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            try:
                job, came, error = self._told.get(timeout=left)
            except Empty:
                break
            self.under_way.discard(job)
            self._besides.discard(job)
            if error is not None:
                raise error
            heard[job] = came
            deadline = deadline or time.monotonic() + patience
        return heard

    def _bound(self, job: Job, work: Callable[[], Any]) -> Callable[[], None]:
        context = copy_context()  # the flow's run, so that Prefect knows whose step it is

        def do() -> None:
            try:
                came, error = context.run(work), None
            except BaseException as trouble:  # noqa: BLE001 -- raised where it is heard
                came, error = None, trouble
            self._told.put((job, came, error))

        return do

    def _work(self) -> None:
        while do := self._asked.get():
            do()
