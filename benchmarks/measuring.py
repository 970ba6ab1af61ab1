"""Time and memory, for the benchmarks."""

from __future__ import annotations

import ctypes
import gc
import multiprocessing
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import mean, stdev
from typing import Any, NamedTuple


class Timer:
    """Add up the time spent in `with` blocks, in seconds: `wall` by the clock, `cpu` of this process."""

    def __init__(self, wall: float = 0.0, cpu: float = 0.0) -> None:
        self.wall, self.cpu = wall, cpu

    def __enter__(self) -> Timer:
        self._start = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *args: object) -> None:
        self.wall += time.perf_counter() - self._start[0]
        self.cpu += time.process_time() - self._start[1]

    def __add__(self, other: Timer) -> Timer:
        return Timer(self.wall + other.wall, self.cpu + other.cpu)

    def seconds(self, clock: str) -> float:
        return self.wall if clock == "wall" else self.cpu


class Speed(NamedTuple):
    """Tokens per second: the first time, and the best of the times after it."""

    first: float
    warm: float


def measure_speed(
    work: Callable[[Any], Any], make_input: Callable[[], Any], tokens: int, repeats: int, clock: str
) -> Speed:
    """Time a function on the same input several times.

    work (Callable): What is timed; it is given what make_input returns.
    make_input (Callable): Makes the input anew each time. Its time does not count.
    tokens (int): How many tokens the input has.
    repeats (int): How often to run after the first time.
    clock (str): "wall" or "cpu".
    RETURNS (Speed): Tokens per second.
    """
    seconds = []
    for _ in range(repeats + 1):
        given = make_input()
        with Timer() as timer:
            work(given)
        seconds.append(timer.seconds(clock))
    return Speed(tokens / seconds[0], tokens / min(seconds[1:] or seconds))


def best_run(runs: list[dict[str, Any]], clock: str) -> dict[str, Any]:
    """RETURNS (Dict[str, Any]): The run that took the shortest time, with the quality of all: mean and spread."""
    best = min(runs, key=lambda run: run["training"].seconds(clock))
    quality = [run["quality"] for run in runs]
    spread = stdev(quality) if len(quality) > 1 else None
    return {**best, "quality": mean(quality), "spread": spread}


class PeakMemory:
    """Watch how far the memory of this process grows, in bytes, from the moment that this is made."""

    def __init__(self) -> None:
        _give_back()
        try:
            Path("/proc/self/clear_refs").write_text("5")  # Linux: the peak starts anew
            self._read: Callable[[], int] = lambda: _status("VmHWM")
            self._start = _status("VmRSS")
        except (OSError, KeyError):
            # What there was before may have been higher: this is a lower bound.
            self._read = _max_rss
            self._start = _max_rss()

    def growth(self) -> int:
        return self._read() - self._start


def _give_back() -> None:
    """Return free memory to the system: what is used again would not count."""
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError, TypeError):  # not glibc
        return


def _status(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    fields = dict(line.split(":", 1) for line in lines)
    return int(fields[field].split()[0]) * 1024


def _max_rss() -> int:
    try:
        import resource
    except ImportError:  # Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def memory_note() -> str:
    """RETURNS (str): How memory is measured on this system."""
    if not can_fork():
        return "memory is not measured: this system cannot fork"
    if os.access("/proc/self/clear_refs", os.W_OK):
        return (
            "memory: peak resident size of a forked process of its own, less what it had at first"
        )
    return "memory: lower bounds (the peak cannot be reset on this system)"


def can_fork() -> bool:
    return "fork" in multiprocessing.get_all_start_methods()


def in_child(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function in a forked process, so that its memory can be told from everybody else's.

    RETURNS (Any): What the function returns. Without fork, it is called here.
    """
    if not can_fork():
        return function(*args)
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=lambda: sender.send(function(*args)))
    process.start()
    sender.close()
    try:
        return receiver.recv()
    except EOFError:
        process.join()
        raise SystemExit(f"{function.__name__} failed (exit code {process.exitcode}).") from None
    finally:
        process.join()
