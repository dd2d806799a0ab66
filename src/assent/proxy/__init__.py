"""The only way out of a sandbox: a proxy that connects only to allowed hosts.

A program in the sandbox has no network except this proxy, on its own loopback. Names are resolved here, and only after
the verdict. The package knows nothing about policies, sessions or sandboxes.
"""
