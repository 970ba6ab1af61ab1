"""`python -m spacy nonlocal calibration`, in-process."""

from pathlib import Path
from xml.etree import ElementTree

import pytest
import spacy
from spacy.tokens import Doc, DocBin
from spacy.training import Corpus

from spacy_nonlocal.calibration import curve, reliability
from spacy_nonlocal.cli.calibration import Mistake, Report, draw_bins, draw_curve, render
from spacy_nonlocal.corpus import ColumnCorpus

from .test_cli import NEWS, run

SVG = "{http://www.w3.org/2000/svg}"
MADF = {"learner": {"@misc": "spacy-nonlocal.MADF.v1"}}
PERCEPTRON = {"learner": {"@misc": "spacy-nonlocal.AveragedPerceptron.v1"}}


def train(path, target="ents", **config):
    nlp = spacy.blank("en")
    nlp.add_pipe("local_tagger", config={"target": target, **config})
    examples = list(ColumnCorpus(NEWS, ["orth", target], limit=10)(nlp))
    nlp.initialize(lambda: examples)
    for _ in range(3):
        nlp.update(examples)
    nlp.to_disk(path)
    return path


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Pipelines "ents", "tag", "spans:x" and "perceptron", and data for each target."""
    path = tmp_path_factory.mktemp("calibration")
    for target in ("ents", "tag", "spans:x"):
        name = target.replace(":", "_")
        train(path / name, target, **MADF)
        corpus = ColumnCorpus(NEWS, ["orth", target], skip=10, limit=15)
        docs = [eg.reference for eg in corpus(spacy.blank("en"))]
        DocBin(docs=docs).to_disk(path / f"{name}.spacy")
    train(path / "perceptron", **PERCEPTRON)
    return path


def parse(page):
    return ElementTree.fromstring(page.read_text(encoding="utf8"))


def numbers(text):
    return [float(part) for part in text.replace("L", " ").replace("M", " ").split()]


def fails(*arguments, code):
    result = run("calibration", *arguments)
    assert result.exit_code == 1, result.output
    assert code in result.output
    assert "Traceback" not in result.output
    return result.output


@pytest.mark.parametrize("target", ["ents", "tag", "spans_x"])
def test_page_and_tables(root, tmp_path, target):
    page = tmp_path / "new" / "page.html"
    result = run("calibration", root / target, root / f"{target}.spacy", "-o", page)
    assert result.exit_code == 0, result.output
    assert "ECE" in result.output
    assert "0.90 - 1.00" in result.output
    assert "threshold" in result.output
    html = page.read_text(encoding="utf8")
    assert "ECE" in html
    assert "http" not in html.replace("http://www.w3.org/2000/svg", "")
    tree = parse(page)
    assert len(tree.findall(f".//{SVG}svg")) == 2
    assert len(tree.findall(".//table")) == 3
    assert tree.findall(".//mark")


def test_without_a_page(root):
    result = run("calibration", root / "ents", root / "ents.spacy", "--bins", "4")
    assert result.exit_code == 0, result.output
    assert "0.75 - 1.00" in result.output


def test_directory_of_files(root, tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.spacy").write_bytes((root / "ents.spacy").read_bytes())
    one = run("calibration", root / "ents", root / "ents.spacy").output
    assert run("calibration", root / "ents", tmp_path).output != one


def test_thresholds_in_the_pipeline_are_not_applied(root, tmp_path):
    careful = {"components": {"local_tagger": {"threshold": 0.9, "confidence": False}}}
    spacy.load(root / "ents", config=careful).to_disk(tmp_path / "careful")
    assert spacy.load(tmp_path / "careful").get_pipe("local_tagger").threshold == 0.9
    outputs = [
        run("calibration", model, root / "ents.spacy").output
        for model in (root / "ents", tmp_path / "careful")
    ]
    assert outputs[0] == outputs[1]


def test_curve_agrees_with_the_score_of_a_threshold(root):
    nlp = spacy.load(root / "ents")
    nlp.get_pipe("local_tagger").threshold = 0.7
    scores = nlp.evaluate(list(Corpus(root / "ents.spacy")(nlp)))
    lines = run("calibration", root / "ents", root / "ents.spacy").output.splitlines()
    (row,) = [line.split() for line in lines if line.split()[:1] == ["0.70"] and "-" not in line]
    assert row[2:] == [f"{100 * scores[f'ents_{key}']:.2f}" for key in "prf"]


def test_one_component_of_several(root, tmp_path):
    nlp = spacy.load(root / "ents")
    nlp.add_pipe("local_tagger", name="tags", source=spacy.load(root / "tag"))
    nlp.to_disk(tmp_path / "both")
    data = tmp_path / "both.spacy"
    corpus = ColumnCorpus(NEWS, ["orth", "tag"], skip=10, limit=5)
    DocBin(docs=[eg.reference for eg in corpus(nlp)]).to_disk(data)
    # There are tags, but no entities.
    assert run("calibration", tmp_path / "both", data, "--component", "tags").exit_code == 0
    fails(tmp_path / "both", data, code="NL423")
    output = fails(tmp_path / "both", data, "--component", "parser", code="NL422")
    assert "tags" in output


def test_perceptrons_have_no_confidences(root, tmp_path):
    page = tmp_path / "page.html"
    output = fails(root / "perceptron", root / "ents.spacy", "-o", page, code="NL421")
    assert "MADF" in output
    named = (root / "perceptron", root / "ents.spacy", "--component", "local_tagger")
    assert "AveragedPerceptron" in fails(*named, code="NL417")
    assert not page.exists()


def test_missing_model_and_data(root, tmp_path):
    fails(tmp_path / "missing", root / "ents.spacy", code="E050")
    fails(root / "ents", tmp_path / "missing.spacy", code="NL314")
    fails(root / "ents", tmp_path, code="NL315")


def test_data_that_cannot_be_compared_with(root, tmp_path):
    text, broken, bare = (tmp_path / name for name in ("a.txt", "b.spacy", "c.spacy"))
    text.write_text("Anna lives in Rome .", encoding="utf8")
    broken.write_bytes(b"not a DocBin")
    vocab = spacy.blank("en").vocab
    DocBin(docs=[Doc(vocab, words=["Anna", "lives"])]).to_disk(bare)
    fails(root / "ents", text, code="NL424")
    fails(root / "ents", broken, code="NL424")
    fails(root / "ents", bare, code="NL423")


def test_nothing_predicted(root, tmp_path):
    vocab = spacy.blank("en").vocab
    words = ["it", "was"]
    docs = [Doc(vocab, words=words, ents=["O", "O"]), Doc(vocab, words=words, ents=["B-PER", "O"])]
    DocBin(docs=docs).to_disk(tmp_path / "dull.spacy")
    page = tmp_path / "page.html"
    result = run("calibration", root / "ents", tmp_path / "dull.spacy", "-o", page)
    assert result.exit_code == 0, result.output
    assert "Nothing was predicted" in result.output
    parse(page)


def test_page_escapes_what_documents_say(root, tmp_path):
    nlp = spacy.load(root / "ents")
    seen = next(iter(ColumnCorpus(NEWS, ["orth", "ents"], limit=1)(nlp))).reference
    words = [part for token in seen for part in (token.text, "<script>", "&", "\x01")]
    found = nlp(Doc(nlp.vocab, words=words))
    assert found.ents  # else nothing is tested
    reference = Doc(nlp.vocab, words=words, ents=["O"] * len(words))
    DocBin(docs=[reference]).to_disk(tmp_path / "odd&.spacy")
    page = tmp_path / "page.html"
    result = run("calibration", root / "ents", tmp_path / "odd&.spacy", "-o", page)
    assert result.exit_code == 0, result.output
    html = page.read_text(encoding="utf8")
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "\x01" not in html
    assert len(parse(page).findall(".//mark")) == min(len(found.ents), 25)


def test_page_escapes_mistakes_and_labels():
    mistake = Mistake(0.9, "<i>", "a & b ", "<b>", " \x0c c", "</td>")
    report = Report("<u> (ents)", reliability([], []), None, curve([], [], 0), [mistake], 0, 0)
    tree = ElementTree.fromstring(render([report], "<model>", Path("a & b")))
    assert [cell.text for cell in tree.findall(".//table[@class='mistakes']//td")] == [
        "0.9000",
        "<i>",
        "a & b ",
        "</td>",
    ]
    assert tree.find(".//mark").text == "<b>"


@pytest.mark.parametrize("values", [[], [1.0], [0.0, 0.2, 0.55, 1.0]])
def test_drawings_stay_inside(values):
    right = [i % 2 == 0 for i in range(len(values))]
    for drawing in (draw_bins(reliability(values, right)), draw_curve(curve(values, right, 3))):
        svg = ElementTree.fromstring(drawing)
        *_, width, height = map(float, svg.get("viewBox").split())
        for rect in svg.iter(f"{SVG}rect"):
            x, y, w, h = (float(rect.get(key)) for key in ("x", "y", "width", "height"))
            assert 0 <= x <= x + w <= width
            assert 0 <= y <= y + h <= height
        for dot in svg.iter(f"{SVG}circle"):
            assert 0 <= float(dot.get("cx")) <= width
        for text in svg.iter(f"{SVG}text"):
            assert 0 <= float(text.get("y")) <= height
        for line in svg.iter(f"{SVG}path"):
            if "line" in line.get("class"):
                points = numbers(line.get("d"))
                assert all(0 <= x <= width for x in points[::2])
                assert all(0 <= y <= height for y in points[1::2])
