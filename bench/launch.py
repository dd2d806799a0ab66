"""Runs one program and reports its time, CPU and peak memory. A separate program, run by `measure` with `-I -S`.

It stays smaller than anything it measures: on Linux a new process inherits the peak memory of its parent, so the
benchmark itself, with all its imports, must not be that parent.

    python -I -S launch.py REPORT_FD PROGRAM ARGUMENT …
"""

import os
import sys
import time

report, argv = int(sys.argv[1]), sys.argv[2:]
os.set_inheritable(report, False)
started = time.monotonic_ns()
pid = os.posix_spawn(argv[0], argv, os.environ)
_, status, usage = os.wait4(pid, 0)
took = time.monotonic_ns() - started
line = f"{started} {took} {usage.ru_utime + usage.ru_stime} {usage.ru_maxrss} {os.waitstatus_to_exitcode(status)}"
os.write(report, line.encode())
