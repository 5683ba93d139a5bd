"""The numbers, as a table."""

from collections import Counter

from campaigns import Tally


def table(tallies: dict[str, Tally], seconds: float) -> str:
    rows = [f"{'mode':<10} {'kills':>6} {'campaigns':>9} {'violations':>10}"]
    total = Tally()
    for mode, tally in tallies.items():
        rows.append(f"{mode:<10} {tally.kills:>6} {tally.campaigns:>9} {len(tally.wrong):>10}")
        total.add(tally)
    rows.append(f"{'all':<10} {total.kills:>6} {total.campaigns:>9} {len(total.wrong):>10}")
    rows.append("")
    rows.append(f"recovery    {quantiles(total.recoveries)}")
    rows.append(f"silence     {quantiles(total.silences)}")
    rows.append(f"half-written packs left to git gc: {total.garbage}")
    if "failpoint" in tallies:
        points: Counter[str] = tallies["failpoint"].points
        rows.append("kills by failpoint: " + ", ".join(f"{p} {n}" for p, n in points.most_common()))
    rows.append(f"{seconds:.0f} s")
    return "\n".join(rows)


def quantiles(seconds: list[float]) -> str:
    """p50, p95 and the longest, in milliseconds."""
    if not seconds:
        return "never"
    ordered = sorted(seconds)
    at = [ordered[min(len(ordered) - 1, int(len(ordered) * share))] for share in (0.5, 0.95, 1)]
    return (
        "p50 {:.0f} ms, p95 {:.0f} ms, longest {:.0f} ms".format(*(1000 * s for s in at))
        + f" ({len(ordered)})"
    )
