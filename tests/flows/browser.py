"""Both UIs of Prefect in a headless Chromium, as a person sees them: a run's form, its page, its questions."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
UIS = ("v1", "v2")
MILLISECONDS = 60_000
MILLISECONDS_BETWEEN_CLICKS = 5_000


@contextmanager
def opened(url: str, ui: str) -> Iterator["Window"]:
    """A window on the server whose API is at `url`; skipped where there is no Chromium."""
    if not CHROMIUM.exists():
        pytest.skip("needs the system package chromium")
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 -- of the extra `dev`

    with sync_playwright() as player:
        browser = player.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        page = browser.new_page(viewport={"width": 1300, "height": 1600})
        page.set_default_timeout(MILLISECONDS)
        try:
            yield Window(page, url.removesuffix("/api"), ui)
        finally:
            browser.close()


class Window:
    """What a person does there, in the UI of Prefect that is asked for."""

    def __init__(self, page: Any, base: str, ui: str) -> None:
        self.page, self.ui = page, ui
        self.base = base if ui == "v1" else f"{base}/v2"

    def form(self, deployment: UUID) -> None:
        """The form of a run."""
        self.page.goto(f"{self.base}/deployments/deployment/{deployment}/run")
        self.page.get_by_role("button", name="Submit").wait_for()

    def fill(self, field: str, text: str) -> None:
        if self.ui == "v2":
            self.page.get_by_label(re.compile(rf"^{re.escape(field)}( \(Optional\))?$")).fill(text)
        else:
            self._box(field).locator("input, textarea").first.fill(text)

    def _box(self, field: str) -> Any:
        """In V1 a label and its field are told by where they stand."""
        named = re.compile(rf"^\s*{re.escape(field)}( \(Optional\))?\s*$")
        labels = self.page.locator("label", has_text=named)
        return self.page.locator(".p-label").filter(has=labels).last

    def submit(self, begun: Callable[[], bool]) -> None:
        """Until the run has `begun`: on a busy machine the form may not be ready to hear the first click."""
        while not begun():
            button = self.page.get_by_role("button", name="Submit").last
            if button.is_visible():
                button.click()
            self.page.wait_for_timeout(MILLISECONDS_BETWEEN_CLICKS)

    def run(self, run: UUID) -> None:
        """The page of a run."""
        self.page.goto(f"{self.base}/runs/flow-run/{run}")

    def shows(self, text: str) -> None:
        self.page.get_by_text(text).first.wait_for()

    def menu(self, entry: str) -> None:
        """Something that can be done with the run: a button in V1, behind the dots in V2."""
        if self.ui == "v1":
            self.page.get_by_role("button", name=entry, exact=True).first.click()
            return
        self.page.get_by_role("button", name="Open menu").last.click()
        self.page.get_by_role("menuitem", name=entry).click()

    def confirm(self, word: str) -> None:
        """In the window that came up."""
        there = self.page.locator(".p-modal, [role=dialog], [role=alertdialog]").last
        there.get_by_role("button", name=re.compile(word)).last.click()
