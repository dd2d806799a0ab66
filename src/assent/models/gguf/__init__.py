"""A model file on this machine (`gguf:PATH`), run by llama.cpp in a child process: no key, no network."""
