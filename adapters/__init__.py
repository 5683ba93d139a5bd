"""The world: one door per module; values in, values out; no Prefect."""
