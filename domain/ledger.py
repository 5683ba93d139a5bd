"""The ledger: every model call is reserved before it is sent, and settled after. It never counts too little.

A call is charged what its answer cost; at its reservation while it is under way, or when it was lost: a
provider may have made, and billed, the answer that never arrived. It costs nothing only when the provider
said that it made none.
"""

from collections.abc import Callable, Iterable
from typing import Annotated, Literal

from pydantic import Field

from domain.prices import Tokens
from domain.value import Value

BANK_SHARE = 0.1
"""Of a cap: with less left, the agent is told to bring home what it has."""
BANK_CALLS = 3
"""And with less left than this many calls at the price of the dearest one so far."""


class Reserved(Value):
    """Written before the call is sent."""

    kind: Literal["reserved"] = "reserved"
    call: str
    usd: float = Field(ge=0, allow_inf_nan=False)
    """The most it can cost."""
    number: int = 0
    """Of the pass."""
    site: str = ""
    """What the money is spent on: a site, or what stands for it while the agent chooses its own."""
    role: str = ""


class Settled(Value):
    """An answer arrived whole, with its count of tokens."""

    kind: Literal["settled"] = "settled"
    call: str
    usd: float = Field(ge=0, allow_inf_nan=False)
    tokens: Tokens = Tokens()


class Lost(Value):
    """The call was sent and came to nothing that can be priced: it stays charged at its reservation."""

    kind: Literal["lost"] = "lost"
    call: str
    why: str = ""


class Released(Value):
    """The provider said that it made no answer, or the call never reached it."""

    kind: Literal["released"] = "released"
    call: str
    why: str = ""


Entry = Annotated[Reserved | Settled | Lost | Released, Field(discriminator="kind")]


class Account(Value):
    """One call."""

    reserved: Reserved
    charged: float
    state: Literal["open", "settled", "lost", "released"] = "open"
    tokens: Tokens = Tokens()


class Caps(Value):
    """What may be spent, in US dollars. None: no cap."""

    max_usd: float | None = Field(default=None, gt=0)
    max_usd_per_pass: float | None = Field(default=None, gt=0)
    max_usd_per_site: float | None = Field(default=None, gt=0)

    @property
    def any(self) -> bool:
        return any(cap is not None for cap in self.model_dump().values())


class Cap(Value):
    """A cap, and what was spent under it."""

    of: Literal["run", "pass", "site"]
    usd: float
    spent: float
    dearest: float = 0.0
    """The dearest call under it."""

    @property
    def left(self) -> float:
        return max(0.0, self.usd - self.spent)

    @property
    def reached(self) -> bool:
        return self.spent >= self.usd

    @property
    def near(self) -> bool:
        """Time to bring home what there is."""
        return self.left < max(BANK_SHARE * self.usd, BANK_CALLS * self.dearest)

    @property
    def words(self) -> str:
        return f"${self.spent:.2f} of ${self.usd:.2f} for this {self.of} are spent"


class Ledger(Value):
    """The calls of a run, by id. `before`: what earlier runs of the campaign spent under the same cap."""

    accounts: dict[str, Account] = {}
    before: float = Field(default=0.0, ge=0)

    def record(self, entry: Entry) -> "Ledger":
        """Fold in one entry. A call is settled once: what comes later, or twice, changes nothing."""
        known = self.accounts.get(entry.call)
        if isinstance(entry, Reserved):
            account = known or Account(reserved=entry, charged=entry.usd)
        else:
            account = _closed(known, entry)
        return self.model_copy(update={"accounts": {**self.accounts, entry.call: account}})

    @classmethod
    def of(cls, entries: Iterable[Entry], before: float = 0.0) -> "Ledger":
        accounts: dict[str, Account] = {}
        for entry in entries:
            known = accounts.get(entry.call)
            if isinstance(entry, Reserved):
                accounts[entry.call] = known or Account(reserved=entry, charged=entry.usd)
            else:
                accounts[entry.call] = _closed(known, entry)
        return cls(accounts=accounts, before=before)

    @property
    def spent_usd(self) -> float:
        """With what is under way, at its reservation."""
        return self.before + self._sum(lambda _: True)

    @property
    def tokens(self) -> Tokens:
        total = Tokens()
        for account in self.accounts.values():
            total += account.tokens
        return total

    @property
    def open(self) -> tuple[str, ...]:
        """Calls that are under way, or were when the process died."""
        return tuple(call for call, account in self.accounts.items() if account.state == "open")

    @property
    def lost(self) -> tuple[str, ...]:
        return tuple(call for call, account in self.accounts.items() if account.state == "lost")

    def spent_on(self, number: int, site: str | None = None) -> float:
        """Of one pass; of one site within it."""
        return self._sum(lambda made: made.number == number and (site is None or made.site == site))

    def caps(self, caps: Caps, number: int, site: str) -> tuple[Cap, ...]:
        """Every cap that a call of this pass on this site is under, the widest first."""
        found: list[Cap] = []
        if caps.max_usd is not None:
            found.append(
                Cap(of="run", usd=caps.max_usd, spent=self.spent_usd, dearest=self._dearest(None))
            )
        if caps.max_usd_per_pass is not None:
            spent = self.spent_on(number)
            found.append(
                Cap(
                    of="pass",
                    usd=caps.max_usd_per_pass,
                    spent=spent,
                    dearest=self._dearest(number),
                )
            )
        if caps.max_usd_per_site is not None:
            spent = self.spent_on(number, site)
            found.append(
                Cap(
                    of="site",
                    usd=caps.max_usd_per_site,
                    spent=spent,
                    dearest=self._dearest(number, site),
                )
            )
        return tuple(found)

    def _sum(self, wanted: Callable[[Reserved], bool]) -> float:
        return sum(
            account.charged for account in self.accounts.values() if wanted(account.reserved)
        )

    def _dearest(self, number: int | None, site: str | None = None) -> float:
        charged = (
            account.charged
            for account in self.accounts.values()
            if number is None or account.reserved.number == number
            if site is None or account.reserved.site == site
        )
        return max(charged, default=0.0)


def _closed(known: Account | None, entry: Settled | Lost | Released) -> Account:
    if known is None:
        # Its reservation is missing (a torn file): an answer is charged all the same.
        usd = entry.usd if isinstance(entry, Settled) else 0.0
        known = Account(reserved=Reserved(call=entry.call, usd=usd), charged=usd)
    if known.state in {"settled", "released"}:
        return known
    match entry:
        case Settled(usd=usd, tokens=tokens):
            # Also after `lost`: the answer was found after all, and says what it cost.
            return known.model_copy(update={"charged": usd, "tokens": tokens, "state": "settled"})
        case Released():
            if known.state == "lost":
                return known
            return known.model_copy(update={"charged": 0.0, "state": "released"})
        case Lost():
            return known.model_copy(update={"state": "lost"})
