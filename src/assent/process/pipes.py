"""Who is at the other end of one of our pipes. Unknown without /proc."""

import os
import stat

from assent.process import process_table


def has_producer(descriptor: int) -> bool:
    """Whether a process other than this one and its parent can still write into this pipe.

    In `pytest | assent` that is pytest. A parent that keeps our input open without using it does not count.
    """
    found = os.fstat(descriptor)
    if not stat.S_ISFIFO(found.st_mode):
        return False
    name, family = f"pipe:[{found.st_ino}]", set(process_table.ancestors(os.getpid()))
    return any(process_table.writes_to(pid, name) for pid in process_table.all_pids() if pid not in family)
