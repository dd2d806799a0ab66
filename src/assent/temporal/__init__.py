"""The engine for several machines: Temporal keeps sessions running, on whichever worker is there."""
