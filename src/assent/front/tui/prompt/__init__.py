"""The input of the terminal UI: typing, history, paste, shell mode, completion. Stand-alone widgets.

They send messages and know nothing of sessions, commands or the app around them; what can be completed comes through
the port `Completions`, what was asked before through `PromptInput.remember`.
"""
