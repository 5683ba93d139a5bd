# One entry for every habit; each recipe is the command itself.

# format, lint, rooms, types, quick tests
check:
    ruff format --check .
    ruff check .
    lint-imports
    pyright
    pytest -q -n 4 --dist loadfile -m "not flow and not real"

fix:
    ruff check --fix .
    ruff format .

# every test that costs no money
test:
    pytest -n 4 --dist loadfile

# tests that wait for minutes or for a browser, which the others leave out
long:
    SWATHE_LONG_TESTS=1 pytest -q tests/flows/test_duty.py tests/flows/test_postgres.py tests/flows/test_questions.py tests/flows/test_approving.py tests/flows/test_browser.py

# kill runs of the engine in every way, and check what is left; `just crash --help`
crash *words:
    python tests/crash {{ words }}

# side-by-side ratios, printed as tables; without a name, the list
bench *names:
    python -m benchmarks {{ names }}

# write the pins anew
pin:
    uv pip compile pyproject.toml --extra dev --extra claude-code --extra codex --extra workers --universal --python-version 3.11 --no-header --no-annotate -q -o constraints.txt
