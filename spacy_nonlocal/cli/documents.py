"""Where the verbs get documents from: what `show`, `changes` and `compare` share."""

from __future__ import annotations

import zlib
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Corpus, Example
from spacy.vocab import Vocab
from tqdm import tqdm

from ..errors import Errors
from ..text_files import read_lines

SUFFIX = ".spacy"


def read_documents(nlp: Language, path: Path, limit: int | None = None) -> list[Doc]:
    """Read the first documents of a .spacy file, with their annotation, or of a text file with one document per line.

    limit (Optional[int]): How many; None: all.
    RETURNS (List[Doc]): At least one document.
    """
    if not path.is_file():
        raise FileNotFoundError(Errors.NL314.format(path=path))
    if path.suffix == SUFFIX:
        docs = _read_docbin(nlp.vocab, path)[:limit]
    else:
        lines = [line for _, line in read_lines(path) if line.strip()]
        docs = [nlp.make_doc(line) for line in lines[:limit]]
    if not docs:
        raise ValueError(Errors.NL124.format(path=path, what="documents"))
    return docs


def _read_docbin(vocab: Vocab, path: Path) -> list[Doc]:
    try:
        return list(DocBin().from_disk(path).get_docs(vocab))
    except (zlib.error, ValueError) as error:
        raise ValueError(Errors.NL429.format(path=path, error=error)) from None


def label_documents(nlp: Language, docs: list[Doc]) -> list[Doc]:
    """Run a pipeline over the tokens of documents: what it finds is its own.

    docs (List[Doc]): The documents; they are not changed.
    RETURNS (List[Doc]): New documents, with what the pipeline predicts.
    """
    bare = [
        Doc(nlp.vocab, [t.text for t in doc], [bool(t.whitespace_) for t in doc]) for doc in docs
    ]
    return list(tqdm(nlp.pipe(bare), total=len(bare), desc="labelling", disable=None))


def read_examples(nlp: Language, path: Path) -> list[Example]:
    """Read documents as `spacy evaluate` does.

    path (Path): A .spacy file, or a directory of them.
    RETURNS (List[Example]): At least one example; nothing is predicted yet.
    """
    if not path.exists():
        raise FileNotFoundError(Errors.NL314.format(path=path))
    if path.is_file() and path.suffix != SUFFIX:
        error = f"its name does not end in {SUFFIX}"
        raise ValueError(Errors.NL424.format(path=path, error=error))
    if path.is_dir() and not any(path.rglob(f"*{SUFFIX}")):
        raise ValueError(Errors.NL315.format(path=path))
    try:
        examples = list(Corpus(path)(nlp))
    except (zlib.error, ValueError) as error:
        raise ValueError(Errors.NL424.format(path=path, error=error)) from None
    if not examples:
        raise ValueError(Errors.NL124.format(path=path, what="documents"))
    return examples
