"""The vendors' own agents, kept in the sandbox: what they are told, what they may reach, what that costs."""
