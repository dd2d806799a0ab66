"""The user's files: where they may be, which are special, and the only code that reads or writes them."""
