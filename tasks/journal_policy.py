"""How steps are kept: under the run's own key, by everything that goes into them (facts/prefect.md §2).

Prefect's own policies would share results between tasks with equal inputs, and would answer a
second look at the world with the first.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from prefect.context import TaskRunContext
from pydantic import BaseModel

from adapters.home import disk


def journal_key(context: TaskRunContext, parameters: Mapping[str, Any]) -> str:
    """`<flow run>/<task>-<digest of the inputs, and of the disk>`."""
    plain = {name: _plain(value) for name, value in parameters.items()}
    # What a step left lies on the disk it worked on, too: on another one it is done again.
    plain["disk"] = disk()
    digest = hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:20]
    return f"{context.task_run.flow_run_id}/{context.task.name}-{digest}"


def _plain(value: object) -> object:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    return value


KEPT: dict[str, Any] = {
    "cache_key_fn": journal_key,
    "persist_result": True,
    "result_serializer": "json",
    "cache_result_in_memory": False,
}
"""For a step that is not done again when the run is tried again."""
