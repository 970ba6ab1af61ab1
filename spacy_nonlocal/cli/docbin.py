"""`python -m spacy nonlocal docbin`: from column files to spaCy's own format."""

from pathlib import Path
from typing import Annotated

import spacy
import typer
from spacy.tokens import DocBin
from tqdm import tqdm
from wasabi import msg

from ..corpus import ColumnCorpus
from .app import nonlocal_cli, plain_errors


@nonlocal_cli.command("docbin")
def docbin_cli(
    input_path: Annotated[
        Path, typer.Argument(help="Column file (CoNLL, CoNLL-U, …; also .gz and .xz) or directory")
    ],
    output_path: Annotated[Path, typer.Argument(help="The .spacy file to write")],
    columns: Annotated[str, typer.Option(help='Column names, e.g. "orth,tag,ents"; "_" skips one')],
    document: Annotated[
        str, typer.Option(help="How a line that opens a document starts")
    ] = "-DOCSTART-",
    lang: Annotated[str, typer.Option(help="Language code")] = "en",
) -> None:
    """Turn a column file into a .spacy file, which every spaCy command can read.

    Documents stay whole and tokens stay as they are in the file. Example:

    python -m spacy nonlocal docbin dev.txt dev.spacy --columns orth,ents
    """
    with plain_errors():
        names = columns.split(",")
        n_docs, n_tokens = docbin(input_path, output_path, names, document or None, lang)
    msg.good(f"{n_docs:,} documents, {n_tokens:,} tokens: {output_path}")


def docbin(
    input_path: Path, output_path: Path, columns: list[str], document: str | None, lang: str
) -> tuple[int, int]:
    """Turn a column file into a .spacy file.

    RETURNS (Tuple[int, int]): The number of documents and of tokens.
    """
    corpus = ColumnCorpus(input_path, columns, document=document)
    nlp = spacy.blank(lang)
    docs = [eg.reference for eg in tqdm(corpus(nlp), desc=input_path.name, disable=None)]
    output_path.parent.mkdir(parents=True, exist_ok=True)
    DocBin(docs=docs, store_user_data=True).to_disk(output_path)
    return len(docs), sum(len(doc) for doc in docs)
