"""Whether a labelling says the same of the same phrase everywhere in a document.

No postponed annotations here: spaCy hands the signature to pydantic.
"""

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import LOWER, NORM, ORTH
from spacy.strings import get_string_id
from spacy.tokens import Doc

from ..candidates import Candidates
from ..codecs import Codec
from ..doc_arrays import read_columns
from ..errors import Errors
from ..kernels.consistency import FAMILIES, KEYS, consistency
from .nonlocal_features import Differences, NonlocalFeatures

MATCH = {"exact": ORTH, "lower": LOWER, "norm": NORM}
COUNT = ("mentions", "pairs")
# How families are switched on, and what their features are called.
SWITCHES = {
    "phrase": ("same", "none"),
    "subphrase": ("part",),
    "majority": ("majority", "super"),
    "token_majority": ("token",),
    "first_mention": ("first",),
    "conjunction": ("list",),
}
NAMES = {
    "same": "phrase",
    "none": "phrase",
    "part": "subphrase",
    "majority": "majority",
    "token": "token_majority",
    "super": "super_majority",
    "first": "first_mention",
    "list": "conjunction",
}


class ConsistencyFeatures(NonlocalFeatures):
    """Compare how the mentions of a phrase are labelled, all over a document.

    Each feature is about two classes. For tags, a mention is a token with its tag.

    phrase (bool): Mentions of the same words: how many agree, disagree, or are no entity at all.
    subphrase (bool): Mentions whose words are a part of a longer one's.
    majority (bool): Each mention against the class that most mentions of the same words have, and against that of most
        longer ones.
    token_majority (bool): Each word of a mention against the class (or none) that the word mostly has.
    first_mention (bool): Each mention against the first one in the document.
    conjunction (bool): Neighbours in a list ("A, B and C").
    match (str): Which words are the same: "exact", "lower" (whatever their case) or "norm" (spaCy's norm).
    count (str): What is counted: "mentions" that go together, or "pairs" of them, as the paper has it.
    by_length (bool): Whether phrases of one, two, and more words have features of their own.
    connectives (List[str]): What stands between neighbours in a list, in lower case; at most seven.
    """

    def __init__(
        self,
        phrase: bool = True,
        subphrase: bool = True,
        majority: bool = True,
        token_majority: bool = False,
        first_mention: bool = True,
        conjunction: bool = True,
        match: str = "exact",
        count: str = "mentions",
        by_length: bool = False,
        connectives: list[str] = [",", "and", "or", "&", "/", ";"],  # noqa: B006 (never changed)
    ) -> None:
        if match not in MATCH:
            raise ValueError(Errors.NL141.format(setting="match", value=match, known=list(MATCH)))
        if count not in COUNT:
            raise ValueError(Errors.NL141.format(setting="count", value=count, known=list(COUNT)))
        if len(connectives) >= KEYS:
            raise ValueError(Errors.NL142.format(n=len(connectives), limit=KEYS - 1))
        on = {
            "phrase": phrase,
            "subphrase": subphrase,
            "majority": majority,
            "token_majority": token_majority,
            "first_mention": first_mention,
            "conjunction": conjunction,
        }
        families = [family for name, each in SWITCHES.items() if on[name] for family in each]
        self._families = sum(1 << FAMILIES.index(family) for family in families)
        self._match = MATCH[match]
        self._pairs = count == "pairs"
        self._by_length = by_length
        self.connectives = tuple(connectives)
        hashes = np.array([get_string_id(word) for word in connectives], dtype=np.uint64)
        self._order = np.argsort(hashes)
        self._sorted = hashes[self._order]
        self._keys = np.zeros(0, dtype=np.uint64)  # by code, 0 for those that never came up
        self._names: dict[int, str] = {}
        self._classes: tuple[str, ...] = ()

    def compare(self, doc: Doc, candidates: Candidates, codec: Codec) -> Differences:
        words, lower = np.ascontiguousarray(read_columns(doc, [self._match, LOWER]).T)
        first, codes, values = consistency(
            words,
            self.connectives_in(lower),
            candidates.reference,
            candidates.first,
            candidates.positions,
            candidates.labels,
            codec.kinds,
            codec.begins,
            len(codec.classes),
            families=self._families,
            pairs=self._pairs,
            by_length=self._by_length,
        )
        return Differences(first, self._keys_of(codes, codec.classes), values)

    def names(self, keys: NDArray[np.uint64]) -> list[str | None]:
        return [self._names.get(key) for key in keys.tolist()]

    def connectives_in(self, lower: NDArray[np.uint64]) -> NDArray[np.uint8]:
        """RETURNS (ndarray): uint8[T], which connective each token is, from 1; 0: none."""
        out = np.zeros(len(lower), dtype=np.uint8)
        if len(self._sorted):
            at = self._sorted.searchsorted(lower)
            (found,) = (self._sorted.take(at, mode="clip") == lower).nonzero()
            out[found] = self._order[at[found]] + 1
        return out

    def _keys_of(self, codes: NDArray[np.int32], classes: tuple[str, ...]) -> NDArray[np.uint64]:
        """Feature keys for the kernel's codes: hashes of names, so that they mean the same in every model."""
        if classes != self._classes:
            self._classes, self._names = classes, {}
            n_codes = len(FAMILIES) * KEYS * (len(classes) + 2) ** 2
            self._keys = np.zeros(n_codes, dtype=np.uint64)
        keys = self._keys[codes]
        if not keys.all():
            for code in set(codes[keys == 0].tolist()):
                name = self._name(code)
                key = get_string_id(name)
                self._keys[code], self._names[key] = key, name
            keys = self._keys[codes]
        return keys

    def _name(self, code: int) -> str:
        classes = (*self._classes, "none", "tie")
        rest, b = divmod(code, len(classes))
        rest, a = divmod(rest, len(classes))
        number, key = divmod(rest, KEYS)
        family = FAMILIES[number]
        detail = ""
        if family == "list":
            detail = f"[{self.connectives[key - 1]}]"
        elif key:
            detail = f"[{key}{'+' if key == 3 else ''}]"
        return f"{NAMES[family]}{detail}({classes[a]}, {classes[b]})"
