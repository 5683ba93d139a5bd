"""How many tokens there are, by a sample: unbiased, spread over all, and equal for equal seeds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.chunk import Part
from domain.chunk_sample import PLACES, WINDOW_BYTES, Window, drawn, sampled


def files(*sizes: int) -> list[Part]:
    return [
        Part(f"f{n}.py", f"b{n}", bytes=size, tokens=max(1, size // 4))
        for n, size in enumerate(sizes)
    ]


SIZES = st.lists(st.integers(1, 200_000), min_size=1, max_size=40)


@given(SIZES, st.text(max_size=5), st.integers(1, 50))
def test_every_place_lies_in_its_file(sizes: list[int], seed: str, places: int):
    windows = drawn(files(*sizes), seed, places)

    assert len(windows) in (places, places + 1)  # by rounding
    for window in windows:
        assert 0 < window.bytes <= WINDOW_BYTES
        assert 0 <= window.start <= window.part.bytes - window.bytes


@given(SIZES, st.floats(0.5, 2.0))
def test_an_estimate_that_is_wrong_by_one_factor_is_put_right(sizes: list[int], factor: float):
    parts = files(*sizes)
    counted = [(window, window.estimate * factor) for window in drawn(parts, "x")]

    found = sampled(parts, counted)

    assert found.tokens == pytest.approx(factor * sum(part.tokens for part in parts), abs=1)
    assert found.percent == pytest.approx(0, abs=0.1)


def test_a_large_file_is_looked_at_as_often_as_it_weighs():
    windows = drawn(files(900_000, 100_000), "x", 100)

    assert 88 <= sum(window.part.path == "f0.py" for window in windows) <= 92


def test_equal_seeds_draw_equal_places():
    parts = files(*range(1_000, 200_000, 1_000))

    assert drawn(parts, "a") == drawn(parts, "a") != drawn(parts, "b")


def test_the_error_grows_with_how_much_the_places_differ():
    parts = files(40_000)
    alike, unlike = (
        sampled(parts, [(Window(parts[0], 0, 400), tokens) for tokens in counts])
        for counts in ([100] * PLACES, [50, 150] * (PLACES // 2))
    )

    assert alike.percent == 0
    assert unlike.tokens == alike.tokens == 10_000
    assert 5 < unlike.percent < 7
