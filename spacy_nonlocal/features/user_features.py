"""Features that a user has written, about a whole labelled document.

No postponed annotations here: spaCy hands the signature to pydantic.
"""

import importlib
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.strings import get_string_id
from spacy.tokens import Doc, Span
from spacy.util import registry

from ..candidates import Candidates
from ..codecs import Codec
from ..errors import Errors
from ..targets import describe
from .nonlocal_features import Differences, NonlocalFeatures

# More strings than this from one labelling are taken for a loop without end.
MAX_STRINGS = 1_000_000
# Longer than a day, nobody waits.
MAX_TIMEOUT = 86_400.0
# Names of features are kept for explanations, up to so many.
MAX_NAMES = 100_000


class UserFeatures(NonlocalFeatures):
    """Ask a Python function for features: `(doc, spans) -> strings`, for each candidate.

    The function is handed the document, which it must not change, and the spans of one labelling (for tags, a span for
    each token), from left to right. Each string is a feature; one that comes twice counts twice.

    function (str): Its name in spaCy's registry `misc`, or its dotted name ("package.module.function").
    timeout (float): How many seconds it may take for one labelling.
    """

    def __init__(self, function: str, timeout: float = 10.0) -> None:
        if not 0.001 <= timeout <= MAX_TIMEOUT:
            raise ValueError(Errors.NL143.format(function=function, timeout=timeout))
        self.function = function
        self.timeout = timeout
        self._call = find_function(function)
        self._names: dict[int, str] = {}

    def compare(self, doc: Doc, candidates: Candidates, codec: Codec) -> Differences:
        first = np.zeros(len(candidates) + 1, dtype=np.int64)
        keys: list[int] = []
        values: list[int] = []
        for i in range(len(candidates)):
            spans = [
                Span(doc, start, end, label=label)
                for start, end, label in codec.mentions(candidates.labelling(i))
            ]
            for text, count in self._strings(doc, spans, i).items():
                key = get_string_id(text)
                if key not in self._names and len(self._names) < MAX_NAMES:
                    self._names[key] = text
                keys.append(key)
                values.append(count)
            first[i + 1] = len(keys)
        return Differences(
            first, np.array(keys, dtype=np.uint64), np.array(values, dtype=np.float64)
        )

    def names(self, keys: NDArray[np.uint64]) -> list[str | None]:
        return [self._names.get(key) for key in keys.tolist()]

    def _strings(self, doc: Doc, spans: list[Span], candidate: int) -> Counter[str]:
        """What the function gives for one candidate, checked."""

        def problem(what: str) -> ValueError:
            shown = ", ".join(f"{span.text!r} as {span.label_}" for span in spans[:4])
            return ValueError(
                Errors.NL144.format(
                    function=self.function,
                    candidate=candidate,
                    spans=f"{shown}{', …' if len(spans) > 4 else ''}" if spans else "no spans",
                    where=describe(doc),
                    what=what,
                )
            )

        found: Counter[str] = Counter()
        n = 0
        try:
            with time_limit(self.timeout):
                strings = self._call(doc, spans)
                if isinstance(strings, str):
                    # A string is iterable too, but its letters are hardly meant.
                    raise problem(f"gave {strings!r}, which is one string")
                for each in strings:
                    if not isinstance(each, str) or not each:
                        raise problem(f"gave {each!r}, which is no string or an empty one")
                    found[each] += 1
                    n += 1
                    if n > MAX_STRINGS:
                        raise problem(f"gave more than {MAX_STRINGS:,} strings")
        except TimeoutError as error:
            if not isinstance(error, _OutOfTime):
                raise problem(f"failed with {error!r}") from error
            message = f"took longer than {self.timeout:g} seconds (`timeout`)"
            raise problem(message) from None
        except Exception as error:
            if isinstance(error, ValueError) and str(error).startswith("[NL144]"):
                raise
            raise problem(f"failed with {error!r}") from error
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return (UserFeatures, (self.function, self.timeout))


def find_function(name: str) -> Callable[[Doc, list[Span]], Iterable[str]]:
    """RETURNS (Callable): The function of this name, registered or dotted; raises if there is none."""
    if registry.has("misc", name):
        found = registry.get("misc", name)
    else:
        module, _, attribute = name.rpartition(".")
        try:
            found = getattr(importlib.import_module(module), attribute)
        except (ImportError, AttributeError, ValueError, TypeError) as error:
            raise ValueError(Errors.NL145.format(function=name, error=error)) from None
    if not callable(found):
        raise ValueError(Errors.NL145.format(function=name, error=f"it is {found!r}"))
    return found


class _OutOfTime(TimeoutError):
    pass


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise when time is up: at once in the main thread of a Unix process, elsewhere when the block ends."""
    start = time.monotonic()
    alarm = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if not alarm:
        yield
        if time.monotonic() - start > seconds:
            raise _OutOfTime
        return

    def ring(number: int, frame: FrameType | None) -> None:
        raise _OutOfTime

    before = signal.getsignal(signal.SIGALRM)
    rest = interval = 0.0
    try:
        signal.signal(signal.SIGALRM, ring)
        rest, interval = signal.setitimer(signal.ITIMER_REAL, seconds)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if rest:
            # Somebody else's alarm rings when it would have.
            left = max(rest - (time.monotonic() - start), 1e-6)
            signal.setitimer(signal.ITIMER_REAL, left, interval)
