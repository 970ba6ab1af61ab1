"""`python -m spacy nonlocal compare`: pipelines on the same data, as the tables 2 and 3 of Kazama & Torisawa (2007)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import spacy
import srsly
import typer
from spacy.language import Language
from spacy.training import Example
from tqdm import tqdm
from wasabi import msg

from ..errors import Errors
from ..pipeline.nonlocal_reranker import NonlocalReranker
from .app import nonlocal_cli, plain_errors
from .documents import read_examples

N_BEST = "20,100,400,800,1600,6400"
# What a row holds: the column's name and the key of spaCy's scores.
SCORES = (
    ("P", "ents_p"),
    ("R", "ents_r"),
    ("F1", "ents_f"),
    ("consistency", "ents_consistency"),
    ("F1, local alone", "ents_f_local"),
    ("consistency, local alone", "ents_consistency_local"),
)
HEADER = ("pipeline", "n'", *(name for name, _ in SCORES))
Row = dict[str, Any]


@nonlocal_cli.command("compare")
def compare_cli(
    data_path: Annotated[
        Path, typer.Argument(help="A .spacy file with the right entities, or a directory of them")
    ],
    output_path: Annotated[Path, typer.Argument(help="The table to write: .md or .json")],
    models: Annotated[list[str], typer.Argument(help="Trained pipelines: names or directories")],
    n_best: Annotated[
        str, typer.Option(help="Numbers of candidates (n') to try; an empty string: none")
    ] = N_BEST,
    names: Annotated[
        str, typer.Option(help="What to call the pipelines, with commas; else as their directories")
    ] = "",
) -> None:
    """Compare pipelines: precision, recall, F1 of entities, and whether the same name gets the same label.

    Pipelines that choose among the n' best labellings of a document are also evaluated with other n'. Example:

    python -m spacy nonlocal compare corpus/dev.spacy table.md training/a training/b
    """
    with plain_errors():
        if output_path.suffix not in (".md", ".json"):
            raise ValueError(Errors.NL433.format(path=output_path))
        sizes = parse_sizes(n_best)
        pipelines: list[Row] = []
        by_size: list[Row] = []
        for model, name in zip(models, pipeline_names(models, names), strict=True):
            own, others = evaluate(model, name, data_path, sizes)
            pipelines.append(own)
            by_size += others
        table = {"data": str(data_path), "pipelines": pipelines, "n_best": by_size}
        output_path.parent.mkdir(parents=True, exist_ok=True)
        output_path.write_text(render(table, output_path.suffix), encoding="utf8")
        msg.table(
            cells([*pipelines, *by_size]), header=HEADER, aligns=("l", *"rrrrrrr"), divider=True
        )
    msg.good(f"{len(models)} pipelines: {output_path}")


def parse_sizes(text: str) -> list[int]:
    """RETURNS (List[int]): The numbers of candidates to try."""
    parts = [part.strip() for part in text.split(",")] if text.strip() else []
    if not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise ValueError(Errors.NL431.format(value=text))
    return [int(part) for part in parts]


def pipeline_names(models: Sequence[str], names: str) -> list[str]:
    """RETURNS (List[str]): What the pipelines are called in the table."""
    if names:
        given = [name.strip() for name in names.split(",")]
        if len(given) != len(models):
            raise ValueError(Errors.NL432.format(models=len(models), names=len(given)))
        return given
    short = [Path(model).resolve().name for model in models]
    # `spacy train` calls all of them model-best.
    return short if len(set(short)) == len(short) else list(models)


# --- scores --------------------------------------------------------------------------------------


def evaluate(model: str, name: str, data_path: Path, sizes: Sequence[int]) -> tuple[Row, list[Row]]:
    """Evaluate a pipeline as it is, and, if it chooses among candidates, with other numbers of them.

    RETURNS (Tuple[Dict[str, Any], List[Dict[str, Any]]]): A row, and a row for each number.
    """
    nlp = spacy.load(model)
    examples = read_examples(nlp, data_path)
    rerankers = [pipe for _, pipe in nlp.pipeline if isinstance(pipe, NonlocalReranker)]
    if not rerankers:
        progress = tqdm([None], desc=name, disable=None)
        return [_row(nlp, examples, model, name, n, data_path) for n in progress][0], []
    own = rerankers[-1].learner.n_best_predict
    rows: dict[int, Row] = {}
    for n in tqdm(dict.fromkeys([own, *sizes]), desc=name, disable=None):
        # The first is how the pipeline comes; several components may have settings of their own.
        if n != own:
            for reranker in rerankers:
                reranker.learner.n_best_predict = n
        rows[n] = _row(nlp, examples, model, name, n, data_path)
    return rows[own], [rows[n] for n in dict.fromkeys(sizes)]


def _row(
    nlp: Language, examples: list[Example], model: str, name: str, n: int | None, data_path: Path
) -> Row:
    scores = nlp.evaluate(examples)
    if "ents_f" not in scores:
        names = ", ".join(nlp.pipe_names) or "none"
        raise ValueError(Errors.NL430.format(model=model, names=names))
    if scores["ents_f"] is None:
        raise ValueError(Errors.NL423.format(path=data_path, target="ents"))
    return {"name": name, "n_best_predict": n, **{key: scores.get(key) for _, key in SCORES}}


# --- tables --------------------------------------------------------------------------------------


def cells(rows: Iterable[Row]) -> list[list[str]]:
    """RETURNS (List[List[str]]): Text for tables: percentages, and nothing where nothing is known."""
    return [
        [row["name"], f"{row['n_best_predict'] or ''}"]
        + ["" if row[key] is None else f"{100 * row[key]:.2f}" for _, key in SCORES]
        for row in rows
    ]


def render(table: dict[str, Any], suffix: str) -> str:
    """RETURNS (str): The table as Markdown or as JSON."""
    if suffix == ".json":
        return srsly.json_dumps(table, indent=2) + "\n"
    parts = [f"Entities of {_escape(table['data'])}, in per cent.\n", _markdown(table["pipelines"])]
    if table["n_best"]:
        parts += ["With the n' best labellings of each document:\n", _markdown(table["n_best"])]
    return "\n".join(parts)


def _markdown(rows: Iterable[Row]) -> str:
    lines = [HEADER, ["---", *["---:"] * (len(HEADER) - 1)]]
    lines += [[_escape(cell) for cell in row] for row in cells(rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|")
