"""What builds and sets up the course; nothing here is installed."""
