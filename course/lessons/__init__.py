"""What single notebooks show beside their exercises: tables and comparisons, one module a notebook."""
