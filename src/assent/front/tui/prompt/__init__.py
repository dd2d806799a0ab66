"""The input of the terminal UI: typing, history, paste, shell mode, completion. Standalone widgets.

They send messages and know nothing about sessions, commands or the app; completions come through the port
`Completions`, earlier prompts through `PromptInput.remember`.
"""
