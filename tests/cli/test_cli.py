"""`python -m spacy nonlocal …`, in-process."""

from pathlib import Path

import pytest
import spacy
from spacy.tokens import DocBin
from typer.testing import CliRunner

from spacy_nonlocal.cli import nonlocal_cli
from spacy_nonlocal.corpus import ColumnCorpus

NEWS = Path(__file__).parents[2] / "assets" / "news-dev.txt"


def run(*arguments):
    return CliRunner().invoke(nonlocal_cli, [*map(str, arguments)])


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    nlp = spacy.blank("en")
    nlp.add_pipe("local_tagger")
    examples = list(ColumnCorpus(NEWS, ["orth", "ents"], limit=10)(nlp))
    nlp.initialize(lambda: examples)
    for _ in range(5):
        nlp.update(examples)
    path = tmp_path_factory.mktemp("model")
    nlp.to_disk(path)
    return path


def test_docbin_keeps_documents_tokens_and_entities(tmp_path):
    path = tmp_path / "new" / "dev.spacy"
    result = run("docbin", NEWS, path, "--columns", "orth,ents")
    assert result.exit_code == 0, result.output
    nlp = spacy.blank("en")
    want = [eg.reference for eg in ColumnCorpus(NEWS, ["orth", "ents"])(nlp)]
    got = list(DocBin().from_disk(path).get_docs(nlp.vocab))
    assert [[t.text for t in doc] for doc in got] == [[t.text for t in doc] for doc in want]
    assert [[str(e) for e in doc.ents] for doc in got] == [
        [str(e) for e in doc.ents] for doc in want
    ]


def test_show_draws_what_the_pipeline_finds(tmp_path, model):
    data, page = tmp_path / "dev.spacy", tmp_path / "page.html"
    assert run("docbin", NEWS, data, "--columns", "orth,ents").exit_code == 0
    result = run("show", model, data, page, "--limit", "3")
    assert result.exit_code == 0, result.output
    html = page.read_text(encoding="utf8")
    assert html.count('class="entities"') == 3
    assert "PER" in html


def test_show_reads_text_line_by_line(tmp_path, model):
    data, page = tmp_path / "text.txt", tmp_path / "page.html"
    docs = [eg.reference for eg in ColumnCorpus(NEWS, ["orth", "ents"], limit=2)(spacy.blank("en"))]
    data.write_text("\n\n".join(" ".join(t.text for t in doc) for doc in docs), encoding="utf8")
    result = run("show", model, data, page)
    assert result.exit_code == 0, result.output
    assert page.read_text(encoding="utf8").count('class="entities"') == 2


@pytest.mark.parametrize("verb", ["docbin", "show"])
def test_missing_files_are_named_without_a_traceback(tmp_path, model, verb):
    missing, out = tmp_path / "missing.txt", tmp_path / "out"
    arguments = (missing, out, "--columns", "orth") if verb == "docbin" else (model, missing, out)
    result = run(verb, *arguments)
    assert result.exit_code == 1
    assert "NL314" in result.output
    assert "Traceback" not in result.output
    assert not out.exists()
