"""The base job templates of the workers, as the installed Prefect has them."""

import json
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from domain.deployment import PoolType
from domain.value import Refused

WORKERS = Path("server/api/collections_data/views/aggregate-worker-metadata.json")
"""What Prefect's own server answers with when it is asked for the workers there are, without a network."""


def base_template(kind: PoolType) -> dict[str, Any]:
    """What a worker of this kind takes. Prefect is not imported for it (2 s)."""
    return _templates()[kind]


@cache
def _templates() -> dict[str, dict[str, Any]]:
    spec = find_spec("prefect")
    place = Path(spec.origin).parent / WORKERS if spec and spec.origin else WORKERS
    try:
        families: dict[str, dict[str, Any]] = json.loads(place.read_text("utf-8"))
    except OSError as error:
        raise Refused(
            f"this Prefect has no description of its workers at {str(place)!r} ({error.strerror}). "
            f"Install Swathe again, with its constraints.txt."
        ) from None
    return {
        kind: worker["default_base_job_configuration"]
        for family in families.values()
        for kind, worker in family.items()
    }
