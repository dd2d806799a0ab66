"""Models: one small protocol, one adapter a provider. They know no tools, no policy and no session."""
