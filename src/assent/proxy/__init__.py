"""The way out of a sandbox: a proxy that connects only to where somebody decided that it may.

A program in the sandbox has no network but this proxy, at an address of its own loopback. Names are resolved here, and
only after the verdict. It knows no policy, no session and no sandbox.
"""
