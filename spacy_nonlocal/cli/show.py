"""`python -m spacy nonlocal show`: a page with labelled documents."""

from pathlib import Path
from typing import Annotated

import spacy
import typer
from spacy import displacy
from spacy.tokens import Doc
from wasabi import msg

from .app import nonlocal_cli, plain_errors
from .documents import label_documents, read_documents


@nonlocal_cli.command("show")
def show_cli(
    model: Annotated[str, typer.Argument(help="A trained pipeline: name or directory")],
    data_path: Annotated[
        Path, typer.Argument(help="A .spacy file, or a text file with one document per line")
    ],
    output_path: Annotated[Path, typer.Argument(help="The HTML page to write")],
    spans_key: Annotated[str, typer.Option(help="Show doc.spans of this name, not doc.ents")] = "",
    limit: Annotated[int, typer.Option(help="How many documents to show", min=1)] = 25,
) -> None:
    """Draw a page that shows documents with the spans that a pipeline finds in them. Example:

    python -m spacy nonlocal show training/model-best corpus/test.spacy page.html
    """
    with plain_errors():
        nlp = spacy.load(model)
        docs = label_documents(nlp, read_documents(nlp, data_path, limit))
        page = render(docs, spans_key)
        output_path.parent.mkdir(parents=True, exist_ok=True)
        output_path.write_text(page, encoding="utf8")
    msg.good(f"{len(docs)} documents: {output_path}")


def render(docs: list[Doc], spans_key: str) -> str:
    """RETURNS (str): An HTML page."""
    if spans_key:
        return displacy.render(
            docs, style="span", page=True, options={"spans_key": spans_key}, jupyter=False
        )
    return displacy.render(docs, style="ent", page=True, jupyter=False)
