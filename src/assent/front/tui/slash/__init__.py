"""Slash commands: what a person types that is not for the model. `/help` lists them, the registry finds and runs them.

Commands see the app only as a `Desk`; they send commands to the session and push screens, and hold no state.
"""
