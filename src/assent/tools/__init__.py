"""What the model may ask for. A tool declares what it would do; it never asks, and only the scheduler runs it."""
