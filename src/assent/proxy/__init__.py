"""The way out of a sandbox: a proxy that connects only where it is allowed to.

A program in the sandbox has no network except this proxy, on its own loopback. Names are resolved here, and only after
the verdict. The package knows nothing about policies, sessions or sandboxes.
"""
