"""The checks, one module a notebook: pure functions from answers to an Outcome. They start no process."""
