"""A verb that asks what another one asks, and some things besides. typer reads signatures."""

from collections.abc import Callable, Collection, Mapping
from inspect import Parameter, signature
from typing import Any


def asks_like(
    other: Callable[..., Any], *, less: Collection[str], more: Mapping[str, tuple[Any, Any]]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give the verb the options of `other`, without those in `less`, and with `more`: by name, annotation and default."""
    kept = [one for one in signature(other).parameters.values() if one.name not in less]
    added = [
        Parameter(name, Parameter.KEYWORD_ONLY, annotation=kind, default=default)
        for name, (kind, default) in more.items()
    ]
    asked = signature(other).replace(parameters=[*kept, *added])

    def given(verb: Callable[..., None]) -> Callable[..., None]:
        verb.__signature__ = asked  # pyright: ignore[reportFunctionMemberAccess] -- as inspect knows it
        verb.__annotations__ = {name: one.annotation for name, one in asked.parameters.items()}
        return verb

    return given
