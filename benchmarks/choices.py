"""What a person chose on the command line."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Choices:
    """The same for every benchmark; each takes what concerns it."""

    tree: Path | None = None
    sdists: Path | None = None
    full: bool = False
    rounds: int = 3
    seed: int = 0
