"""A reader of column files (CoNLL and its kin) that keeps documents whole."""

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray
from spacy.language import Language
from spacy.parts_of_speech import IDS as POS_IDS
from spacy.tokens import Doc, Span, Token
from spacy.training import Example
from spacy.util import logger
from spacy.vocab import Vocab
from thinc.types import Ints2d

from .columns import ColumnDocument, ColumnFile
from .errors import Errors, Warnings
from .schemes import MISSING, LabelReader, iob_to_spans

# Where a document came from, in `doc.user_data`: later messages name it.
SOURCE = "spacy_nonlocal.source"

_NAMES = ("orth", "lemma", "tag", "pos", "morph", "head", "dep", "ents", "spans:KEY", "_.name", "_")
_COLUMN = re.compile(r"orth|lemma|tag|pos|morph|head|dep|ents|spans:.+|_\.[^\W\d]\w*|_")
# Lines that never are tokens, also where each sentence is a document of its own.
_BOUNDARIES = ("-DOCSTART-", "###MEDLINE:")


class ColumnCorpus:
    """Read documents from files with one token per line, its columns separated by tabs or spaces.

    Blank lines end sentences. Files named `.conllu`, and files whose documents open with "# ", are
    CoNLL-U: comments, ranges and empty nodes are passed over, and `_` stands for no value.

    path (Union[str, Path]): A file, also .gz or .xz, or a directory, read in sorted order.
    columns (List[str]): What each column holds: "orth", "lemma", "tag", "pos", "morph", "head",
        "dep", "ents", "spans:KEY", "_.name" (a token extension), or "_" to skip it.
    inputs (Sequence[str]): The columns that components are shown. The others are what they learn.
    document (Optional[str]): How a line starts that opens a document. None makes each sentence a
        document of its own.
    skip (int): How many documents to pass over first.
    limit (int): How many documents to read, 0 for all.
    encoding (str): Of the files: any in which ASCII stays as it is.
    """

    def __init__(
        self,
        path: str | Path | None,
        columns: list[str],
        *,
        inputs: Sequence[str] = (),
        document: str | None = "-DOCSTART-",
        skip: int = 0,
        limit: int = 0,
        encoding: str = "utf8",
    ) -> None:
        if path is None:
            raise ValueError(Errors.NL301)
        if document == "":
            raise ValueError(Errors.NL302)
        _check_columns(columns, inputs)
        _check_counts(skip=skip, limit=limit)
        _check_encoding(encoding)
        self.path = Path(path)
        self.columns = list(columns)
        self.inputs = list(inputs)
        self.document = document
        self.skip = skip
        self.limit = limit
        self.encoding = encoding
        # The scheme found in each label column, known once the corpus has been read.
        self.schemes: dict[str, str] = {}
        self._warned: set[Path] = set()

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """Yield an example for each document.

        nlp (Language): The current nlp object.
        YIELDS (Example): The examples, in the order of the files.
        """
        _register_extensions(self.columns)
        builder = _ExampleBuilder(nlp.vocab, self.columns, self.inputs)
        stop = self.skip + self.limit if self.limit else None
        empty = True
        for document in islice(self._read_documents(), self.skip, stop):
            empty = False
            yield builder.build(document)
        if empty:
            raise ValueError(Errors.NL303.format(path=self.path, skip=self.skip))
        self._report_schemes({name: labels.scheme for name, labels in builder.labels.items()})

    def _read_documents(self) -> Iterator[ColumnDocument]:
        opens = _BOUNDARIES if self.document is None else (self.document,)
        for path in _find_files(self.path):
            reader = ColumnFile(path, self.columns, self.document, self.encoding)
            empty = True
            for document in reader.documents(opens, whole=self._has_documents(reader)):
                empty = False
                yield document
            if empty:
                raise ValueError(Errors.NL304.format(path=path))

    def _has_documents(self, reader: ColumnFile) -> bool:
        # Looked up before reading: a file that names no documents must not become one of 200,000
        # tokens. Usually the first line answers.
        if self.document is None:
            return False
        if any(line.startswith(self.document) for _, line in reader.lines()):
            return True
        if reader.path not in self._warned:
            self._warned.add(reader.path)
            text = Warnings.NL351.format(path=reader.path, document=self.document)
            warnings.warn(text, stacklevel=2)
        return False

    def _report_schemes(self, schemes: dict[str, str]) -> None:
        # A development set is read at each evaluation: say only what is new.
        for name, scheme in schemes.items():
            if self.schemes.get(name) != scheme:
                logger.info("%s: labels in column '%s' are %s", self.path, name, scheme)
        self.schemes = schemes


class _Keys(dict[str, int]):
    """What spaCy stores for each value of a column, worked out once per distinct value."""

    def __init__(self, convert: Callable[[str], int]) -> None:
        super().__init__()
        self.convert = convert

    def __missing__(self, value: str) -> int:
        self[value] = key = self.convert(value)
        return key


@dataclass
class _Annotation:
    """What one column says about a document, in the form that a Doc takes it."""

    attrs: dict[str, NDArray[np.uint64]] = field(default_factory=dict)  # uint64[T] each
    spans: dict[str, list[tuple[int, int, str]]] = field(default_factory=dict)
    extensions: dict[str, list[str]] = field(default_factory=dict)


class _ExampleBuilder:
    """Turn documents into examples."""

    def __init__(self, vocab: Vocab, columns: list[str], inputs: list[str]) -> None:
        self.vocab = vocab
        self.columns = {name: i for i, name in enumerate(columns) if name not in ("_", "orth")}
        self.inputs = inputs
        self.orth = columns.index("orth")
        self.warned: set[str] = set()
        self.labels = {
            name: LabelReader() for name in columns if name == "ents" or name.startswith("spans:")
        }
        self.keys = {
            "strings": _Keys(vocab.strings.add),
            "pos": _Keys(POS_IDS.__getitem__),
            "morph": _Keys(vocab.morphology.add),
        }

    def build(self, document: ColumnDocument) -> Example:
        """Make an example: all columns go to the reference, the inputs to both docs.

        document (ColumnDocument): The document.
        RETURNS (Example): The example.
        """
        columns = {name: self._read(document, name, i) for name, i in self.columns.items()}
        predicted = self._make_doc(document, [columns[name] for name in self.inputs])
        return Example(predicted, self._make_doc(document, columns.values()))

    def _make_doc(self, document: ColumnDocument, annotations: Iterable[_Annotation]) -> Doc:
        source = f"{document.path.name}:{document.lines[0]}"
        # No spaces given: the Doc says that it does not know them.
        doc = Doc(self.vocab, words=document.column(self.orth), user_data={SOURCE: source})
        attrs: dict[str, NDArray[np.uint64]] = {}
        for annotation in annotations:
            attrs.update(annotation.attrs)
            for key, spans in annotation.spans.items():
                doc.spans[key] = [Span(doc, *span) for span in spans]
            for name, values in annotation.extensions.items():
                _set_extension(doc, name, values)
        if attrs:
            _set_attrs(doc, attrs)
        # Last and alone: given together with heads, spaCy would take sentences from these.
        _set_attrs(doc, {"SENT_START": _sentence_starts(document)})
        return doc

    def _read(self, document: ColumnDocument, name: str, index: int) -> _Annotation:
        if name in self.labels:
            return self._read_labels(document, name, index)
        values = document.values(index)
        if name.startswith("_."):
            return _Annotation(extensions={name[2:]: values})
        if name == "head":
            return _Annotation({"HEAD": _read_heads(document, values)})
        if name == "lemma" and document.conllu:
            # The one `_` that is a value: the lemma of the token `_`.
            words = document.column(self.orth)
            pairs = zip(values, words, strict=True)
            values = ["_" if word == "_" and not value else value for value, word in pairs]
        elif name == "dep":
            # spaCy's own name for it, as `spacy convert` writes.
            values = ["ROOT" if value == "root" else value for value in values]
        return _Annotation({name.upper(): self._to_keys(document, name, values)})

    def _to_keys(
        self, document: ColumnDocument, name: str, values: list[str]
    ) -> NDArray[np.uint64]:
        keys = self.keys.get(name, self.keys["strings"])
        try:
            return np.fromiter(map(keys.__getitem__, values), np.uint64, len(values))
        except (KeyError, ValueError):
            bad = next(i for i, value in enumerate(values) if value not in keys)
            text = Errors.NL309.format(where=document.where(bad), name=name, value=values[bad])
            raise ValueError(text) from None

    def _read_labels(self, document: ColumnDocument, name: str, index: int) -> _Annotation:
        labels = document.column(index)
        if document.conllu:
            labels = ["O" if label == "_" else label for label in labels]
        try:
            iobs, classes = self.labels[name].read(labels, document.starts)
        except KeyError as error:
            where = document.where(labels.index(error.args[0]))
            text = Errors.NL310.format(where=where, name=name, label=error.args[0])
            raise ValueError(text) from None
        if name == "ents":
            types = self._to_keys(document, name, classes)
            return _Annotation({"ENT_IOB": np.array(iobs, np.uint64), "ENT_TYPE": types})
        return self._read_spans(document, name, iobs, classes)

    def _read_spans(
        self, document: ColumnDocument, name: str, iobs: list[int], classes: list[str]
    ) -> _Annotation:
        missing = iobs.count(MISSING)
        if missing == len(iobs):
            return _Annotation()  # no group at all: nothing is known
        if missing and name not in self.warned:
            self.warned.add(name)
            where = document.where(iobs.index(MISSING))
            warnings.warn(Warnings.NL352.format(where=where, name=name), stacklevel=2)
        return _Annotation(spans={name.partition(":")[2]: list(iob_to_spans(iobs, classes))})


def _read_heads(document: ColumnDocument, values: list[str]) -> NDArray[np.uint64]:
    """Turn head numbers, counted from 1 in each sentence, into distances from the token."""
    distances = np.zeros(len(values), np.int64)
    for start, end in pairwise([*document.starts, len(values)]):
        heads = [_read_head(document, start + i, values, end - start) for i in range(end - start)]
        looping = _find_loop(heads)
        if looping is not None:
            raise ValueError(Errors.NL312.format(where=document.where(start + looping)))
        distances[start:end] = [head - i if head else 0 for i, head in enumerate(heads, 1)]
    return distances.astype(np.uint64)


def _read_head(document: ColumnDocument, row: int, values: list[str], length: int) -> int:
    value = values[row] or "0"
    head = int(value) if value.isdecimal() else -1
    if not 0 <= head <= length:
        text = Errors.NL311.format(where=document.where(row), head=value, length=length)
        raise ValueError(text)
    return head


def _find_loop(heads: list[int]) -> int | None:
    """Position of a token from which no root (head 0) is reached, None if there is none."""
    rooted = [True] + [False] * len(heads)
    for token in range(1, len(heads) + 1):
        path: list[int] = []
        node = token
        while not rooted[node]:
            if len(path) > len(heads):
                return token - 1
            path.append(node)
            node = heads[node - 1]
        for node in path:
            rooted[node] = True
    return None


def _set_attrs(doc: Doc, attrs: dict[str, NDArray[np.uint64]]) -> None:
    doc.from_array(list(attrs), cast(Ints2d, np.stack(list(attrs.values())).T))


def _sentence_starts(document: ColumnDocument) -> NDArray[np.uint64]:
    starts = np.full(len(document), -1, np.int64)
    starts[document.starts] = 1
    return starts.astype(np.uint64)


def _set_extension(doc: Doc, name: str, values: list[str]) -> None:
    for token, value in zip(doc, values, strict=True):
        if value:
            token._.set(name, value)


def _register_extensions(columns: list[str]) -> None:
    for name in columns:
        if not name.startswith("_."):
            continue
        if not Token.has_extension(name[2:]):
            Token.set_extension(name[2:], default=None)
        _, method, getter, setter = Token.get_extension(name[2:])
        if setter is None and (method is not None or getter is not None):
            raise ValueError(Errors.NL313.format(name=name))


def _find_files(path: Path) -> list[Path]:
    if not path.exists():
        raise FileNotFoundError(Errors.NL314.format(path=path))
    if not path.is_dir():
        return [path]
    files = [
        file_
        for file_ in sorted(path.rglob("*"))
        if file_.is_file() and not any(p.startswith(".") for p in file_.relative_to(path).parts)
    ]
    if not files:
        raise ValueError(Errors.NL315.format(path=path))
    return files


def _check_columns(columns: Sequence[str], inputs: Sequence[str]) -> None:
    for name in columns:
        if not _COLUMN.fullmatch(name):
            raise ValueError(Errors.NL316.format(name=name, names=", ".join(_NAMES)))
        if name != "_" and columns.count(name) > 1:
            raise ValueError(Errors.NL317.format(name=name))
    if "orth" not in columns:
        raise ValueError(Errors.NL318.format(columns=columns))
    for name in inputs:
        if name in ("orth", "_") or name not in columns:
            raise ValueError(Errors.NL319.format(name=name, columns=columns))
    for names in (columns, inputs):
        if "head" in names and "dep" not in names:
            raise ValueError(Errors.NL320.format(names=names))


def _check_counts(**counts: int) -> None:
    for name, count in counts.items():
        if count < 0:
            raise ValueError(Errors.NL321.format(name=name, count=count))


def _check_encoding(encoding: str) -> None:
    try:
        usable = b"\n".decode(encoding) == "\n"
    except (LookupError, UnicodeDecodeError):
        usable = False
    if not usable:
        raise ValueError(Errors.NL322.format(encoding=encoding))
