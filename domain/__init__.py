"""The rules: frozen values and arithmetic; no I/O, no Prefect, no SDK."""
