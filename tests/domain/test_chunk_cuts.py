from hypothesis import given
from hypothesis import strategies as st

from domain.chunk_cuts import cut, text_of

BUDGET = 20


def words(text: str) -> int:
    return len(text.split())


CONTENTS = st.binary(max_size=400) | st.text(alphabet="ab \n\r", max_size=400).map(str.encode)


@given(CONTENTS)
def test_the_stretches_are_the_whole_content_in_order(content):
    parts = cut("b", content, BUDGET, words)

    lines = content.split(b"\n")
    lines = [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    shown = b"".join(b"".join(lines[part.first_line - 1 : part.last_line]) for part in parts)
    assert shown == content
    assert sum(part.bytes for part in parts) == len(content)


@given(CONTENTS)
def test_only_a_single_line_is_ever_over_the_budget(content):
    for part in cut("b", content, BUDGET, words):
        assert part.tokens <= BUDGET or part.first_line == part.last_line


@given(CONTENTS)
def test_a_stretch_is_counted_as_it_is_shown(content):
    at = 0
    for part in cut("b", content, BUDGET, words):
        assert part.tokens == words(text_of(content[at : at + part.bytes]))
        at += part.bytes


def test_stretches_are_as_long_as_they_can_be():
    parts = cut("b", b"one two three\n" * 14, BUDGET, words)

    assert [(part.first_line, part.last_line, part.tokens) for part in parts] == [
        (1, 6, 18),
        (7, 12, 18),
        (13, 14, 6),
    ]


def test_lines_that_count_more_together_than_one_by_one_are_cut_sooner():
    def dearer(text: str) -> int:
        return words(text) + (5 if text.count("\n") > 2 else 0)

    parts = cut("b", b"one two three\n" * 12, BUDGET, dearer)

    assert all(part.tokens <= BUDGET for part in parts)
    assert sum(part.bytes for part in parts) == 12 * 14
