"""Slash commands: typed input that is not for the model. `/help` lists them, the registry finds and runs them.

Commands see the app only as a `SlashContext`; they send commands to the session and push screens, and hold no state.
"""
