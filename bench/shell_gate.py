"""The cost of a judgement: the first, a typical one, and 100 kB of hostile text; ratios to a bare parse."""

import time
from collections.abc import Callable


def _per_call(call: Callable[[], object], times: int) -> float:
    start = time.process_time()
    for _ in range(times):
        call()
    return (time.process_time() - start) / times * 1000


def main() -> None:
    start = time.process_time()
    from assent.policy.shell import judge, rules
    from assent.policy.shell.command_survey import survey
    from assent.policy.shell.parsed import parse

    imported = time.process_time()
    known = rules(["git log", "head", "ls", "grep", "sort"], deny=["rm"])

    def run(command: str) -> str:
        parse.cache_clear()  # each time as if it were the first
        return judge(command, known, cwd="/w", roots=["/w"]).decision

    typical = "git log --oneline -n 5 2>/dev/null | head -3 && ls -la src"
    run(typical)
    first = time.process_time()
    print(f"import {1000 * (imported - start):.1f} ms, first judgement {1000 * (first - imported):.1f} ms")
    floor = _per_call(lambda: survey(typical), 1000)
    for command in ("ls -la", "git status", typical, "grep -rn 'TODO' src | sort | head -20"):
        cost = _per_call(lambda one=command: run(one), 1000)
        print(f"{cost:.3f} ms  {cost / floor:5.1f} x a bare parse  {run(command):5}  {command}")
    for unit in ("ls;", "$(", "a=(", "cat <<A\n", "bash -c '", "x"):
        text = "ls " + unit * (100_000 // len(unit))
        print(f"{_per_call(lambda one=text: run(one), 3):7.2f} ms  {len(text)} bytes of {unit!r}")
    for unit in ("a=(", "${", "<<a "):
        text = "ls " + unit * (1_950 // len(unit))
        print(f"{_per_call(lambda one=text: run(one), 3):7.2f} ms  {len(text)} of {unit!r} (largest parsed)")


if __name__ == "__main__":
    main()
