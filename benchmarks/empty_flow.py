"""A flow that does nothing but say when: what Prefect and its worker take by themselves."""

import time
from pathlib import Path

from prefect import flow


@flow
def nothing(mark: str) -> None:
    Path(mark).write_text(f"{time.time()}\n")
