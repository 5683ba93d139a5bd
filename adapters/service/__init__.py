"""Services around a run: the Prefect server that is ours."""
