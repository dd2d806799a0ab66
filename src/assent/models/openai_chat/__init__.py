"""Chat completions, the wire format that OpenAI began and most other servers speak, each with an accent of its own."""
