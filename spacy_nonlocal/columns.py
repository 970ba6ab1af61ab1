"""Column files: one token per line, cut into documents and fields."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from .errors import Errors
from .text_files import OPENERS, read_lines

_CONLLU = (".conllu", ".conll-u", ".conllup")
# In CoNLL-U `1-2` is a surface token whose words follow, `1.1` a word that was not written.
_NOT_A_WORD = re.compile(r"\d+[-.]\d+")


@dataclass
class ColumnDocument:
    """The lines of one document, split into fields."""

    path: Path
    conllu: bool
    rows: list[list[str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)  # line number of each row
    starts: list[int] = field(default_factory=list)  # rows that start a sentence

    def __len__(self) -> int:
        return len(self.rows)

    def where(self, row: int) -> str:
        return f"{self.path}:{self.lines[row]}"

    def column(self, index: int) -> list[str]:
        return [row[index] for row in self.rows]

    def values(self, index: int) -> list[str]:
        """Like `column`, with "" for no value."""
        if not self.conllu:
            return self.column(index)
        return ["" if row[index] == "_" else row[index] for row in self.rows]


class ColumnFile:
    """Cut one file into documents."""

    def __init__(self, path: Path, columns: list[str], document: str | None, encoding: str) -> None:
        self.path = path
        self.encoding = encoding
        self.conllu = _is_conllu(path, document)
        self.orth = columns.index("orth")
        self.width = max(i for i, name in enumerate(columns) if name != "_") + 1
        # CoNLL-U has an ID in front, so nothing that starts with # can be a token there. Without
        # the ID it can ("#\tO"), and a comment needs the space after it.
        self.has_ids = self.conllu and columns[0] != "orth"
        self.comment = "#" if self.has_ids else "# "

    def documents(self, opens: tuple[str, ...], *, whole: bool) -> Iterator[ColumnDocument]:
        """Yield the documents that have tokens.

        opens (Tuple[str, ...]): What lines between documents start with.
        whole (bool): Whether a document goes on after a blank line.
        YIELDS (ColumnDocument): The documents.
        """
        document = ColumnDocument(self.path, self.conllu)
        fresh = True  # whether the next token starts a sentence
        for number, line in self.lines():
            boundary = line.startswith(opens)
            if boundary or not line.strip(" \t"):
                if document.rows and (boundary or not whole):
                    yield document
                    document = ColumnDocument(self.path, self.conllu)
                fresh = True
                continue
            fields = self._split(number, line)
            if fields is None:
                continue
            if fresh:
                document.starts.append(len(document))
                fresh = False
            document.rows.append(fields)
            document.lines.append(number)
        if document.rows:
            yield document

    def lines(self) -> Iterator[tuple[int, str]]:
        """YIELDS (Tuple[int, str]): Line number, counted from 1, and text without the line end."""
        return read_lines(self.path, self.encoding)

    def _split(self, number: int, line: str) -> list[str] | None:
        if self.conllu and (line.startswith(self.comment) or line == "#"):
            return None
        # Not `split()`: a no-break space is part of a token.
        fields = line.split("\t") if "\t" in line else [f for f in line.split(" ") if f]
        if self.has_ids and not fields[0].isdigit() and _NOT_A_WORD.fullmatch(fields[0]):
            return None
        if len(fields) < self.width:
            where = f"{self.path}:{number}"
            text = Errors.NL307.format(where=where, line=line, n=len(fields), needed=self.width)
            raise ValueError(text)
        if not fields[self.orth]:
            raise ValueError(Errors.NL308.format(where=f"{self.path}:{number}", line=line))
        return fields


def _is_conllu(path: Path, document: str | None) -> bool:
    name = path.with_suffix("") if path.suffix.lower() in OPENERS else path
    return name.suffix.lower() in _CONLLU or (document or "").startswith("# ")
