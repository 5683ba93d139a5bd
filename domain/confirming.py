"""Confirming: which green commits of a batch wait for a reader, and what its word does to them."""

from domain.batch import Batch
from domain.reading import Readings


def unread(batch: Batch) -> tuple[str, ...]:
    """Green commits that are to be read and are not, in their order."""
    return tuple(c for c in batch.good if c in batch.to_read and c not in batch.read)


def heard(batch: Batch, readings: Readings) -> Batch:
    """Fold in what was said. What breaks is parked; where every commit has to be read, what nobody read is, too.

    The gate saw the commits of its last answer together, and never without the one that is parked: they go before
    it again. What was green before them stays.
    """
    read = batch.read | {reading.commit: reading for reading in readings.read}
    parking = ("breaks", "unreviewed") if batch.confirm == "each" else ("breaks",)
    out = {
        reading.commit: reading.reason for reading in readings.read if reading.verdict in parking
    }
    must = batch.confirm == "each"
    told = batch.model_copy(
        update={
            "read": read,
            "reading_seconds": batch.reading_seconds + readings.seconds,
            "halt": readings.halt if must else batch.halt,
            "halted": readings.why if must else batch.halted,
        }
    )
    if not out:
        return told
    kept = batch.good[: batch.before]
    again = tuple(c for c in batch.good[batch.before :] if c not in out)
    return told.model_copy(
        update={
            "good": kept,
            "pinned": tuple(c for c in batch.pinned if c in kept),
            "refused": batch.refused | out,
            "pending": again + batch.pending,
            "group": (),  # what made it red may have been one of those that are out
            "reds": tuple(
                red
                for red in batch.reds
                if red.on <= batch.before and not out.keys() & set(red.commits)
            ),
        }
    )
