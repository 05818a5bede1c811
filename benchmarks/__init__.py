"""Measurements to read, with a peer on the same work in the same run; nothing here asserts. `make bench` runs them all."""
