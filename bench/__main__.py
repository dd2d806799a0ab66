"""`python -m bench [NAME …] [--quick]`: run all benchmarks or the named ones, print one table."""

import argparse
import os
import sys

from bench import (
    batch,
    chunks,
    first_request,
    memory,
    output,
    proxy,
    rounds,
    sandbox,
    scheduler,
    server,
    startup,
    terminal,
    trial,
    turns,
)
from bench.report import print_rows, print_title

BENCHMARKS = {
    "scheduler": scheduler,
    "batch": batch,
    "startup": startup,
    "first-request": first_request,
    "rounds": rounds,
    "chunks": chunks,
    "turns": turns,
    "memory": memory,
    "output": output,
    "sandbox": sandbox,
    "trial": trial,
    "proxy": proxy,
    "terminal": terminal,
    "server": server,
}


def main() -> int:
    parser = argparse.ArgumentParser("python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one or more of: {', '.join(BENCHMARKS)}")
    parser.add_argument("--quick", action="store_true", help="few runs: shows that it works, not what it costs")
    options = parser.parse_args()
    if unknown := [name for name in options.names if name not in BENCHMARKS]:
        parser.error(f"no benchmark {', '.join(unknown)}; there are: {', '.join(BENCHMARKS)}")
    missed = 0
    for name in options.names or BENCHMARKS:
        print_title(name, BENCHMARKS[name].__doc__ or "")
        missed += print_rows(BENCHMARKS[name].measure(options.quick))
    print(f"\n{missed or 'No'} goal{'' if missed == 1 else 's'} missed. {_machine()}")
    return 1 if missed and not options.quick else 0


def _machine() -> str:
    busy, cores = os.getloadavg()[0], os.cpu_count() or 1
    warning = (
        ""
        if busy < cores
        else " The machine is busy: only the ratios count; repeat results that are close to their goal."
    )
    return f"Load {busy:.1f} on {cores} cores.{warning}"


if __name__ == "__main__":
    sys.exit(main())
