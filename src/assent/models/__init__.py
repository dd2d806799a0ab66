"""Models: one small protocol, and one adapter per provider. They do not know tools, policy or sessions."""
