# One entry for every habit; each recipe is the command itself.

# the quick check: format, lint, rooms, types, fast tests
check:
    ruff format --check .
    ruff check .
    lint-imports
    pyright
    pytest -m "not flow and not real"

fix:
    ruff check --fix .
    ruff format .

# every test that costs no money
test:
    pytest

# side-by-side ratios, printed as tables
bench *names:
    python -m benchmarks {{names}}
