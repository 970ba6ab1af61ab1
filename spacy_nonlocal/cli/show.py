"""`python -m spacy nonlocal show`: a page with labelled documents."""

from pathlib import Path
from typing import Annotated

import spacy
import typer
from spacy import displacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from tqdm import tqdm
from wasabi import msg

from ..errors import Errors
from .app import nonlocal_cli, plain_errors


@nonlocal_cli.command("show")
def show_cli(
    model: Annotated[str, typer.Argument(help="A trained pipeline: name or directory")],
    data_path: Annotated[
        Path, typer.Argument(help="A .spacy file, or a text file with one document per line")
    ],
    output_path: Annotated[Path, typer.Argument(help="The HTML page to write")],
    spans_key: Annotated[str, typer.Option(help="Show doc.spans of this name, not doc.ents")] = "",
    limit: Annotated[int, typer.Option(help="How many documents to show")] = 25,
) -> None:
    """Draw a page that shows documents with the spans that a pipeline finds in them. Example:

    python -m spacy nonlocal show training/model-best corpus/test.spacy page.html
    """
    with plain_errors():
        docs = label_documents(spacy.load(model), data_path, limit)
        page = render(docs, spans_key)
        output_path.parent.mkdir(parents=True, exist_ok=True)
        output_path.write_text(page, encoding="utf8")
    msg.good(f"{len(docs)} documents: {output_path}")


def label_documents(nlp: Language, data_path: Path, limit: int) -> list[Doc]:
    """Run a pipeline over the first documents of a file.

    RETURNS (List[Doc]): The documents, with what the pipeline predicts.
    """
    if not data_path.is_file():
        raise FileNotFoundError(Errors.NL314.format(path=data_path))
    if data_path.suffix == ".spacy":
        stored = list(DocBin().from_disk(data_path).get_docs(nlp.vocab))[:limit]
        # Only the tokens: what is shown is what the pipeline predicts.
        docs = [
            Doc(nlp.vocab, [t.text for t in doc], [bool(t.whitespace_) for t in doc])
            for doc in stored
        ]
    else:
        lines = [line for line in data_path.read_text(encoding="utf8").splitlines() if line.strip()]
        docs = [nlp.make_doc(line) for line in lines[:limit]]
    return list(tqdm(nlp.pipe(docs), total=len(docs), desc="labelling", disable=None))


def render(docs: list[Doc], spans_key: str) -> str:
    """RETURNS (str): An HTML page."""
    if spans_key:
        return displacy.render(
            docs, style="span", page=True, options={"spans_key": spans_key}, jupyter=False
        )
    return displacy.render(docs, style="ent", page=True, jupyter=False)
