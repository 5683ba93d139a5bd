"""What tokens cost. A model whose price nobody knows cannot be held to a budget in dollars."""

import re

from pydantic import Field

from domain.value import Refused, Value

MILLION = 1_000_000


class Tokens(Value):
    """What one answer was made of, as the provider counted it."""

    plain: int = Field(default=0, ge=0)
    """Input that no cache had or took."""
    read: int = Field(default=0, ge=0)
    """Input found in the cache."""
    written: int = Field(default=0, ge=0)
    """Input that the cache took."""
    output: int = Field(default=0, ge=0)

    @property
    def input(self) -> int:
        return self.plain + self.read + self.written

    def __add__(self, other: "Tokens") -> "Tokens":
        return Tokens(
            plain=self.plain + other.plain,
            read=self.read + other.read,
            written=self.written + other.written,
            output=self.output + other.output,
        )


class Rates(Value):
    """US dollars for a million tokens."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cache_read: float = Field(ge=0)
    cache_write: float = Field(ge=0)

    def usd(self, tokens: Tokens) -> float:
        return (
            tokens.plain * self.input
            + tokens.read * self.cache_read
            + tokens.written * self.cache_write
            + tokens.output * self.output
        ) / MILLION

    def most_usd(self, input_tokens: int, output_tokens: int) -> float:
        """What a call can cost at the most, whatever its cache does."""
        dearest = max(self.input, self.cache_read, self.cache_write)
        return (input_tokens * dearest + output_tokens * self.output) / MILLION


class Tier(Value):
    """Rates of every token of a request with more than `above` tokens of input."""

    above: int
    rates: Rates


class Price(Value):
    """The price of a model's calls."""

    rates: Rates
    tiers: tuple[Tier, ...] = ()
    """Ascending."""

    def usd(self, tokens: Tokens) -> float:
        return self._rates(tokens.input).usd(tokens)

    def most_usd(self, input_tokens: int, output_tokens: int) -> float:
        """Not less than `usd` of any call within these numbers."""
        reached = [self.rates, *(t.rates for t in self.tiers if input_tokens > t.above)]
        return max(rates.most_usd(input_tokens, output_tokens) for rates in reached)

    def _rates(self, input_tokens: int) -> Rates:
        reached = [self.rates, *(t.rates for t in self.tiers if input_tokens > t.above)]
        return reached[-1]


def parse_price(text: str) -> Price:
    """The price that an operator typed: `INPUT/OUTPUT`, or with `/CACHE-READ/CACHE-WRITE`, for a million tokens.

    Left out, both cost what input costs: never less than they may.
    """
    parts = [part.strip() for part in text.split("/")]
    if len(parts) not in {2, 4} or not all(re.fullmatch(r"\d+(\.\d+)?", part) for part in parts):
        raise Refused(
            f"{text!r} is no price. Give US dollars for a million tokens of input and of output, as in "
            f"'4/20', or with those read from and written to the cache, as in '4/20/0.2/8'."
        )
    numbers = [float(part) for part in parts]
    cached = numbers[2:] or [numbers[0], numbers[0]]
    return Price(
        rates=Rates(
            input=numbers[0], output=numbers[1], cache_read=cached[0], cache_write=cached[1]
        )
    )
