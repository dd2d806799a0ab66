"""How fast and how small Assent is, as ratios to a floor measured in the same run: `make bench`, or `python -m bench`.

Seconds change from machine to machine and from minute to minute; a ratio of two medians, with the runs of both
interleaved, says what Assent itself adds. These are not tests: nothing here fails a build.
"""
