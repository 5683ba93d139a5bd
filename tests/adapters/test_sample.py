import os
import sys
from pathlib import Path

import pytest

from adapters import sample
from adapters.processes import shell
from domain.value import Refused


@pytest.fixture(name="copied")
def _copied(tmp_path: Path) -> Path:
    sample.create(tmp_path / "tally")
    return tmp_path / "tally"


def python(folder: Path, *arguments: str) -> shell.Finished:
    return shell.run(
        [sys.executable, "-m", *arguments],
        cwd=folder,
        env=dict(os.environ) | {"PYTHONDONTWRITEBYTECODE": "1"},
        timeout_seconds=120,
        contain=False,
    )


def fixed(folder: Path, axis: str) -> shell.Finished:
    selectors = axis.removeprefix("ruff:")
    return python(
        folder, "ruff", "check", "--no-cache", "--fix", "--exit-zero", "--select", selectors, "."
    )


def suite(folder: Path) -> shell.Finished:
    # A folder of its own: pytest clears up after the sessions before, and those of our own tests are large.
    base = f"--basetemp={folder.with_name('temporary')}"
    return python(folder, "pytest", "-q", "-p", "no:cacheprovider", base, ".")


def test_only_what_was_written_is_copied(copied: Path):
    assert (copied / "pyproject.toml").is_file()
    assert (copied / ".gitignore").is_file()
    assert not list(copied.rglob("__pycache__"))


def test_the_sample_is_green_and_so_it_is_after_the_axis_of_the_demo(copied: Path):
    assert suite(copied).ok
    assert fixed(copied, sample.AXIS).ok
    assert suite(copied).ok


def test_the_other_axis_breaks_the_tests_that_it_should(copied: Path):
    fixed(copied, sample.PARKING_AXIS)

    broken = suite(copied)

    assert broken.exit_code == 1
    assert "test_scripts_of_version_1_0_still_find_parse_money_here" in broken.output
    assert "test_the_formats_there_are" in broken.output


def test_a_folder_that_exists_is_refused(tmp_path: Path):
    with pytest.raises(Refused, match=r"exists already\. Name a folder that does not exist yet"):
        sample.create(tmp_path)


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path):
    (tmp_path / "file").write_text("")

    with pytest.raises(Refused, match="cannot write the sample"):
        sample.create(tmp_path / "file" / "tally")
