"""The families of models, and what a run needs to talk to one: its model, key, address and price.

Two families check each other. Nothing here imports an SDK: the command line asks for a family long before one is used.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import urlsplit

from adapters.models.prices import price_of
from domain.hired import Effort, Family, Hired
from domain.ledger import Caps
from domain.prices import Price, parse_price
from domain.value import Refused
from domain.words import without_credentials

OUTPUT_TOKENS = 32_000
"""Of one answer, with what the model thinks."""


class Facts(NamedTuple):
    """What we know of a family."""

    provider: str
    """Its name in price lists."""
    model: str
    """The default."""
    key: str
    """Environment variables, as the family's own SDK names them."""
    address: str


FAMILIES: dict[Family, Facts] = {
    "claude": Facts("anthropic", "claude-opus-5-5", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
    "gpt": Facts("openai", "gpt-6.1-sol", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
}


@dataclass(frozen=True)
class Connection:
    """Which model is asked, where, with whose key, and what that costs."""

    family: Family
    model: str
    key: str = field(repr=False)
    address: str | None = None
    """None: the provider's own."""
    price: Price | None = None
    """None: nobody knows it, and no cap in dollars was asked for."""
    output_tokens: int = OUTPUT_TOKENS
    effort: Effort = ""
    """How much the model thinks; empty: its own default."""
    attempt_seconds: float = 900.0
    """For one attempt at one call, whatever trickles in meanwhile."""
    silent_seconds: float = 180.0
    """Without a byte from the provider."""


def connect(
    hired: Hired,
    environment: Mapping[str, str],
    caps: Caps | None = None,
    *,
    price_option: str = "--price",
) -> Connection:
    """The connection an operator asked for, or `Refused` before anything is sent or paid."""
    family, price = hired.family, hired.price
    facts = FAMILIES[family]
    key = environment.get(facts.key, "").strip()
    if not key:
        raise Refused(
            f"no key for {family}: {facts.key} is not set. Set it in the environment of this run. "
            f"Families with a key here: {', '.join(with_key(environment)) or 'none'}."
        )
    chosen = hired.model.strip() or facts.model
    known = parse_price(price) if price else price_of(chosen, facts.provider)
    if known is None and caps is not None and caps.any:
        raise Refused(
            f"no price is known for {family}'s model {chosen!r}, so no budget in dollars can be held. "
            f"Check the name, or give the price: {price_option} INPUT/OUTPUT in dollars for a million tokens."
        )
    return Connection(
        family=family,
        model=chosen,
        key=key,
        address=_address(facts.address, environment),
        price=known,
        effort=hired.effort,
    )


def _address(name: str, environment: Mapping[str, str]) -> str | None:
    """Another address than the provider's own, if there is one. What is none would be tried, and waited for, as a network that is down."""
    given = environment.get(name, "").strip()
    if not given:
        return None
    try:
        parts = urlsplit(given)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number
        usable = False
    if not usable:
        raise Refused(
            f"{name} is {without_credentials(given)!r}, which is no address of a provider. Give one with its scheme, as in "
            f"https://gateway.example/v1, or take it out of the environment for the provider's own."
        )
    return given


def with_key(environment: Mapping[str, str]) -> tuple[Family, ...]:
    """The families that the environment has a key for."""
    return tuple(name for name, facts in FAMILIES.items() if environment.get(facts.key, "").strip())
