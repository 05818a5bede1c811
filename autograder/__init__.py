"""Grading: what an instructor's machine needs beside the course itself."""
