"""The environment that the target's commands run in: prepared once, named by what it was made from."""

import hashlib
from collections.abc import Mapping

from pydantic import Field

from domain.gate import GatePlan
from domain.value import Value

RECIPE = "2"
"""Raised when an environment would be made in another way, so that those made before are not used."""


class Environment(Value):
    """A prepared environment."""

    digest: str
    path: str = ""
    bin: str = ""
    """The folder to put first on PATH; empty when there is none."""
    variables: dict[str, str] = Field(default_factory=dict[str, str])
    warm: str = ""
    """A folder whose content each command finds in its HOME: a compiler's cache, of its own in every run."""
    notes: tuple[str, ...] = ()
    """What the operator should know: what was installed, and what was not found."""


class SetupFailed(Value):
    """The environment could not be made. Nobody's commit is to blame."""

    why: str
    """What was tried and how it ended, and what to do next."""
    command: str = ""
    exit_code: int | None = None
    tail: str = ""
    log: str = ""


def digest_of(plan: GatePlan, folder: str, python: str, manifests: Mapping[str, bytes]) -> str:
    """Names the environment by everything that it is made from.

    `folder` is a part of it, since an editable installation points there.
    """
    parts = [
        RECIPE,
        plan.language,
        plan.environment,
        folder,
        python,
        *plan.setup,
        "verify",
        *plan.verify,
    ]
    whole = hashlib.sha256()
    for part in [text.encode() for text in parts] + [
        piece for name in sorted(manifests) for piece in (name.encode(), manifests[name])
    ]:
        whole.update(len(part).to_bytes(8, "big") + part)
    return whole.hexdigest()[:20]
