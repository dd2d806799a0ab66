"""The scripted model: plays a scenario file instead of asking a provider."""
