"""What the model may ask for. A tool declares what it would do; it never asks and is never run but by the scheduler."""
