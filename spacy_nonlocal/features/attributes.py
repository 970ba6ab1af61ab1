"""From a Doc to numbers: a word number for every token, and what changes from token to token.

Attributes that belong to the word (its form, affixes, shape, cluster) are computed once per word and kept in
a table; attributes that belong to the token (tags, gazetteer matches, extensions) are read each time.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import IDS, ORTH
from spacy.lexeme import Lexeme
from spacy.strings import get_string_id
from spacy.tokens import Doc, Token

from ..doc_arrays import read_column, read_columns
from ..errors import Errors
from ..kernels.table import KeyTable
from .clusters import Clusters, lexeme_code
from .gazetteers import Gazetteer, word_values
from .lower_lexicon import LowerLexicon
from .words import affix, short_shape, word_form

SPACY_WORD_ATTRS = (
    *("orth", "lower", "shape", "prefix", "suffix", "length"),
    *(
        "is_alpha",
        "is_ascii",
        "is_digit",
        "is_lower",
        "is_punct",
        "is_space",
        "is_title",
        "is_upper",
    ),
    *("is_stop", "is_bracket", "is_quote", "is_left_punct", "is_right_punct", "is_currency"),
    *("like_url", "like_num", "like_email"),
)
SPACY_TOKEN_ATTRS = (
    *("norm", "tag", "pos", "dep", "lemma", "morph", "head", "spacy", "sent_start"),
    *("ent_type", "ent_iob", "ent_id", "ent_kb_id"),
)
OUR_ATTRS = ("form", "shape_short", "lower_lexicon")

_AFFIX = re.compile(r"(prefix|suffix)([1-9]|1\d|20)")
_CLUSTER = re.compile(r"cluster:([1-9]\d?)")
_MASK = (1 << 64) - 1

# Once so many words are known, the table is emptied before the next document: memory stays bounded.
MAX_WORDS = 200_000


@dataclass(frozen=True, slots=True)
class Encoded:
    """A document, or a part of it, in numbers."""

    orths: NDArray[np.uint64]  # [T] spaCy's hashes of the words
    ids: NDArray[np.int32]  # [T] rows of the word table
    tokens: NDArray[np.uint64]  # [T, token attributes]

    def __len__(self) -> int:
        return len(self.ids)

    def part(self, start: int, end: int) -> Encoded:
        return Encoded(self.orths[start:end], self.ids[start:end], self.tokens[start:end])


class AttributeReader:
    """Read the attributes that templates ask for.

    names (Sequence[str]): The attributes.
    gazetteers (Dict[str, Gazetteer]): By the name after "gazetteer:".
    clusters (Optional[Clusters]): A cluster file; without one, `lexeme.cluster` is used.
    """

    def __init__(
        self,
        names: Sequence[str],
        *,
        gazetteers: dict[str, Gazetteer],
        clusters: Clusters | None = None,
    ) -> None:
        self.gazetteers = gazetteers
        self.clusters = clusters
        self.lower_lexicon = LowerLexicon()
        self.word_attrs: list[str] = []
        self.token_attrs: list[str] = []
        for name in names:
            (self.word_attrs if self._is_word_attr(name) else self.token_attrs).append(name)
        self._spacy_token_attrs = [
            IDS[n.upper()] for n in self.token_attrs if n in SPACY_TOKEN_ATTRS
        ]
        self._extensions = [n[2:] for n in self.token_attrs if n.startswith("_.")]
        self._gazetteer_names = [
            n.partition(":")[2] for n in self.token_attrs if n.startswith("gazetteer:")
        ]
        # In the order in which `read` puts the columns side by side.
        self.token_attrs = [
            *(n for n in self.token_attrs if n in SPACY_TOKEN_ATTRS),
            *(f"_.{n}" for n in self._extensions),
            *(f"gazetteer:{n}" for n in self._gazetteer_names),
        ]
        self.words = WordTable(self)

    @property
    def columns(self) -> dict[str, int]:
        """RETURNS (Dict[str, int]): The column of each attribute: the word's first, then the token's."""
        first = self.words.n_columns
        return {
            **{name: column for column, name in enumerate(self.word_attrs)},
            **{name: first + column for column, name in enumerate(self.token_attrs)},
        }

    def is_word_attr(self, name: str) -> bool:
        return name in self.word_attrs

    def read(self, doc: Doc) -> Encoded:
        """Read one document.

        doc (Doc): The document.
        RETURNS (Encoded): Its word numbers and token values.
        """
        orths = read_column(doc, ORTH)
        ids = self.words.ids(doc, orths)
        columns: list[NDArray[np.uint64]] = []
        if self._spacy_token_attrs:
            columns.append(read_columns(doc, self._spacy_token_attrs))
        columns += [_extension_values(doc, name)[:, None] for name in self._extensions]
        for name in self._gazetteer_names:
            gazetteer = self.gazetteers[name]
            columns.append(
                gazetteer.tags(*self.words.gazetteer_values(ids, gazetteer.lower))[:, None]
            )
        if not columns:
            return Encoded(orths, ids, np.zeros((len(doc), 0), dtype=np.uint64))
        return Encoded(orths, ids, np.ascontiguousarray(np.hstack(columns), dtype=np.uint64))

    def text(self, token: Token, name: str) -> str:
        """RETURNS (str): An attribute's value for people to read, for explanations."""
        doc = token.doc
        if name.startswith("_."):
            return str(token._.get(name[2:]))
        if name.startswith("gazetteer:"):
            encoded = self.read(doc)
            tag = int(encoded.tokens[token.i, self.token_attrs.index(name)])
            return ("O", "B", "I")[tag]
        if name in SPACY_WORD_ATTRS or name in SPACY_TOKEN_ATTRS:
            if name == "morph":
                return str(token.morph)
            value = getattr(token, f"{name}_", None)
            if value is None:
                # As signed numbers: heads and sentence starts may be negative.
                value = int(read_column(doc, IDS[name.upper()]).astype(np.int64)[token.i])
            return str(value)
        if _is_text(name):
            return _text_function(name)(token.text)
        return str(_word_function(name, self)(token.lex))

    def _is_word_attr(self, name: str) -> bool:
        """Tell word attributes from token attributes; raise for a name that is neither."""
        if name in SPACY_WORD_ATTRS or name in OUR_ATTRS or _AFFIX.fullmatch(name):
            return True
        if _CLUSTER.fullmatch(name):
            return True
        if name in SPACY_TOKEN_ATTRS or name.startswith("_."):
            return False
        kind, _, which = name.partition(":")
        if kind == "gazetteer":
            if which not in self.gazetteers:
                known = ", ".join(sorted(self.gazetteers)) or "none"
                raise ValueError(Errors.NL105.format(name=which, known=known))
            return False
        known_names = [*SPACY_WORD_ATTRS, *SPACY_TOKEN_ATTRS, *OUR_ATTRS]
        close = difflib.get_close_matches(name, known_names, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise ValueError(Errors.NL104.format(name=name, hint=hint, known=", ".join(known_names)))

    def state(self) -> dict[str, NDArray[Any]]:
        """RETURNS (Dict[str, ndarray]): What was read from files or learned from the training documents."""
        out = {f"lower_lexicon.{k}": v for k, v in self.lower_lexicon.state().items()}
        for name in sorted(self.gazetteers):
            out.update(
                {f"gazetteer:{name}.{k}": v for k, v in self.gazetteers[name].state().items()}
            )
        if self.clusters is not None:
            out.update({f"clusters.{k}": v for k, v in self.clusters.state().items()})
        return out

    def set_state(self, state: dict[str, NDArray[Any]]) -> None:
        self.lower_lexicon.set_state(_below(state, "lower_lexicon"))
        for name in self.gazetteers:
            self.gazetteers[name].set_state(_below(state, f"gazetteer:{name}"))
        if self.clusters is not None:
            self.clusters.set_state(_below(state, "clusters"))
        self.words.clear()

    def load(self) -> None:
        """Read gazetteers and clusters from their files."""
        for gazetteer in self.gazetteers.values():
            gazetteer.load()
        if self.clusters is not None:
            self.clusters.load()
        self.words.clear()


class WordTable:
    """Numbers words in order of arrival and keeps their attributes.

    Words are known by spaCy's 64-bit string hash, which is the same in every vocabulary and survives a memory zone.
    """

    def __init__(self, reader: AttributeReader) -> None:
        names = reader.word_attrs
        self._spacy = [(i, IDS[n.upper()]) for i, n in enumerate(names) if n in SPACY_WORD_ATTRS]
        ours = [(i, n) for i, n in enumerate(names) if n not in SPACY_WORD_ATTRS]
        self._of_words = [(i, _word_function(n, reader)) for i, n in ours if not _is_text(n)]
        self._of_texts = [(i, _text_function(n)) for i, n in ours if _is_text(n)]
        # Gazetteer matching needs two numbers per word, for each way of reading it (as written, in lower case).
        cases = sorted({gazetteer.lower for gazetteer in reader.gazetteers.values()})
        self._cases = {lower: len(names) + 2 * i for i, lower in enumerate(cases)}
        self.n_columns = len(names) + 2 * len(cases)
        self.clear()

    def clear(self) -> None:
        """Forget all words; numbers given out before lose their meaning."""
        self._table = KeyTable()
        self._values = np.zeros((0, self.n_columns), dtype=np.uint64)
        self.generation = getattr(self, "generation", 0) + 1

    def __len__(self) -> int:
        return len(self._table)

    @property
    def values(self) -> NDArray[np.uint64]:
        """RETURNS (ndarray): uint64[words, columns]."""
        return self._values[: len(self._table)]

    def ids(self, doc: Doc, orths: NDArray[np.uint64]) -> NDArray[np.int32]:
        """RETURNS (ndarray): int32[T], the number of each token's word."""
        if len(self._table) > MAX_WORDS:
            self.clear()
        ids = self._table.find(orths)
        if len(ids) and ids.min() < 0:
            self._add(doc, orths, np.flatnonzero(ids < 0))
            ids = self._table.find(orths)
        return ids

    def gazetteer_values(
        self, ids: NDArray[np.int32], lower: bool
    ) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """RETURNS (Tuple[ndarray, ndarray]): Rolling hash and power of each token's word."""
        column = self._cases[lower]
        pair = self._values[ids, column : column + 2]
        return np.ascontiguousarray(pair[:, 0]), np.ascontiguousarray(pair[:, 1])

    def _add(self, doc: Doc, orths: NDArray[np.uint64], positions: NDArray[np.intp]) -> None:
        _, first = np.unique(orths[positions], return_index=True)
        positions = positions[np.sort(first)]
        rows = self._table.add(orths[positions])
        self._grow(len(self._table))
        if self._spacy:
            array = read_columns(doc, [attr for _, attr in self._spacy])
            self._values[rows[:, None], [column for column, _ in self._spacy]] = array[positions]
        words = [doc[position].lex for position in positions.tolist()]
        texts = [lex.text for lex in words]
        for column, function in self._of_texts:
            self._set(rows, column, [get_string_id(function(text)) for text in texts])
        for column, number in self._of_words:
            self._set(rows, column, [number(lex) for lex in words])
        for lower, column in self._cases.items():
            pairs = [word_values(text, lower) for text in texts]
            self._set(rows, column, [pair[0] for pair in pairs])
            self._set(rows, column + 1, [pair[1] for pair in pairs])

    def _set(self, rows: NDArray[np.int32], column: int, values: list[int]) -> None:
        self._values[rows, column] = np.array(values, dtype=np.uint64)

    def _grow(self, n: int) -> None:
        if n > len(self._values):
            values = np.zeros(
                (max(2 * len(self._values), n, 1024), self.n_columns), dtype=np.uint64
            )
            values[: len(self._values)] = self._values
            self._values = values


def _is_text(name: str) -> bool:
    """Whether one of our word attributes is a text, made from the word's own."""
    return name in ("form", "shape_short") or _AFFIX.fullmatch(name) is not None


def _text_function(name: str) -> Callable[[str], str]:
    """The function that makes a word attribute from the word."""
    match = _AFFIX.fullmatch(name)
    if match:
        return partial(affix, side=match[1], length=int(match[2]))
    return {"form": word_form, "shape_short": short_shape}[name]


def _word_function(name: str, reader: AttributeReader) -> Callable[[Lexeme], int]:
    """The function that looks a word attribute up."""
    if name == "lower_lexicon":
        return lambda lex: int(lex.lower in reader.lower_lexicon)
    bits = int(name.partition(":")[2])
    clusters = reader.clusters
    if clusters is None:
        return lambda lex: lexeme_code(lex.cluster, bits)
    return lambda lex: clusters.code(lex.text, bits)


def _extension_values(doc: Doc, name: str) -> NDArray[np.uint64]:
    if not Token.has_extension(name):
        raise ValueError(Errors.NL106.format(name=name))
    values = [_number(token._.get(name), name, token) for token in doc]
    return np.array(values, dtype=np.uint64)


def _number(value: Any, name: str, token: Token) -> int:
    """A user's value as a 64-bit number."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None:
        return 0
    if isinstance(value, str):
        return get_string_id(value)
    if isinstance(value, int):
        return int(value) & _MASK
    if isinstance(value, float):
        return get_string_id(repr(value))
    raise ValueError(
        Errors.NL107.format(
            name=name, value=value, type=type(value).__name__, token=token.text, i=token.i
        )
    )


def _below(state: dict[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    return {k[len(prefix) + 1 :]: v for k, v in state.items() if k.startswith(f"{prefix}.")}
