from collections.abc import Sequence
from pathlib import Path

from adapters.executors.reading import Reader
from adapters.executors.rounds import Rounds
from adapters.executors.scan import Scan
from domain.site import Edit


def looking(reader: Reader, words: dict[str, str]):
    """An engine that replaces words; a file with `BAD` in it does not parse."""

    def look(paths: Sequence[str] | None) -> Scan:
        scan = Scan()
        for path in paths or ["a.txt"]:
            source = reader.read(path)
            assert source is not None
            scan.errors[path] = source.text.count("BAD")
            for row, line in enumerate(source.text.splitlines(), start=1):
                if line in words:
                    start = source.lines.offset(row, 1)
                    edit = Edit(start=start, end=start + len(line), text=words[line])
                    scan.add(source, rule="R", message="", rows=(row, row), edits=[edit])
        return scan.settle()

    return look


def rounds_over(tree: Path, text: str, words: dict[str, str]) -> tuple[Rounds, int]:
    (tree / "a.txt").write_text(text)
    reader = Reader(tree)
    look = looking(reader, words)
    rounds = Rounds(reader, look, look(None), set())
    steps = 0
    while done := rounds.run():
        steps += sum(len(edited.steps) for edited in done)
    return rounds, steps


def test_a_fix_that_breaks_its_file_is_left_out_and_the_others_are_made(tmp_path: Path):
    rounds, steps = rounds_over(
        tmp_path, "a\nx\nb\nc\nd\n", {"x": "BAD", "a": "A", "b": "B", "c": "C", "d": "D"}
    )

    assert (tmp_path / "a.txt").read_text() == "A\nx\nB\nC\nD\n"
    assert steps == 4
    assert [site.line for site in rounds.scan.sites] == [2]
    assert rounds.remarks == ()


def test_a_file_that_three_fixes_break_is_given_up(tmp_path: Path):
    text = "".join(f"x{n}\n" for n in range(9))

    rounds, steps = rounds_over(tmp_path, text, {f"x{n}": "BAD" for n in range(9)})

    assert (tmp_path / "a.txt").read_text() == text
    assert steps == 0
    assert rounds.remarks == ("a.txt left alone: its fixes break it",)
