"""How many gate runs a batch needs, without running any."""

from collections.abc import Collection

from domain.batch import Batch
from domain.gate import Failure, Verdict

RED = Verdict(kind="red", failures=(Failure(test="the gate"),))


def gates_needed(sites: int, bad: Collection[int], says: str) -> int:
    """Until every site is decided. An answer on the same tree is kept, as the engine keeps it."""
    culprits = {str(number) for number in bad}
    batch = Batch(pending=tuple(map(str, range(sites))))
    asked: set[tuple[frozenset[str], int]] = set()
    while probe := batch.probe:
        asked.add((frozenset((*batch.good, *probe)), batch.nth))
        red = [commit for commit in probe if commit in culprits]
        batch = batch.learn(RED if red else Verdict(kind="green"), *_pointed(red, says))
    assert {blame.commit for blame in batch.bad} == culprits, "the wrong ones are blamed"
    assert len(batch.good) == sites - len(culprits)
    return len(asked)


def _pointed(red: list[str], says: str) -> tuple[dict[str, tuple[Failure, ...]], None, list[str]]:
    named = {"all": red, "first": red[:1], "nothing": []}[says]
    return {commit: (Failure(test=commit),) for commit in named}, None, named


def halvings(sites: int, bad: Collection[int]) -> int:
    """Gate runs of plain halving: verify all; on red, each half in turn, down to the single commit."""
    culprits = frozenset(bad)

    def runs(low: int, high: int) -> int:
        if not any(low <= one < high for one in culprits) or high - low == 1:
            return 1
        middle = (low + high) // 2
        return 1 + runs(low, middle) + runs(middle, high)

    return runs(0, sites)
