"""How hard to try: one step per file; retries, kept results, a name in the UI."""
