"""`python -m spacy nonlocal changes`, in-process."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
import spacy
from spacy.tokens import Doc, DocBin, Span

from spacy_nonlocal.changes import set_changes
from spacy_nonlocal.cli.changes import colour, judge, render, summary
from spacy_nonlocal.corpus import ColumnCorpus

from .test_cli import NEWS, run

TRAIN = NEWS.with_name("news-train.txt")


def train(path, factory, target="ents"):
    nlp = spacy.blank("en")
    nlp.add_pipe(factory, config={"target": target})
    examples = list(ColumnCorpus(TRAIN, ["orth", target], limit=60)(nlp))
    nlp.initialize(lambda: examples)
    for _ in range(4):
        nlp.update(examples)
    nlp.to_disk(path)


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Pipelines "ents", "spans_x" and "local", and 30 documents with annotation for the first two."""
    path = tmp_path_factory.mktemp("changes")
    for target in ("ents", "spans:x"):
        name = target.replace(":", "_")
        train(path / name, "nonlocal_reranker", target)
        corpus = ColumnCorpus(NEWS, ["orth", target], limit=30)
        docs = [eg.reference for eg in corpus(spacy.blank("en"))]
        DocBin(docs=docs, store_user_data=True).to_disk(path / f"{name}.spacy")
    train(path / "local", "local_tagger")
    return path


def parse(text):
    return ElementTree.fromstring(text)


def check_links(tree):
    """Every link leads somewhere, and no id is given twice."""
    ids = [each.get("id") for each in tree.iter() if each.get("id")]
    assert len(ids) == len(set(ids))
    links = [each.get("href") for each in tree.iter("a")]
    assert links
    assert {link.removeprefix("#") for link in links} <= set(ids)
    styled = re.findall(r"#(d\d+-[cm]\d+)", tree.find(".//style").text)
    assert set(styled) <= set(ids)


def fails(*arguments, code):
    result = run("changes", *arguments)
    assert result.exit_code == 1, result.output
    assert code in result.output
    assert "Traceback" not in result.output
    return " ".join(result.output.split())


def make_case(words="Kent met Kent .", before="ORG", after="PER", right="PER", **settings):
    """A document whose first word has changed; the third is a mention that spoke for it."""
    words = words.split()
    doc = Doc(spacy.blank("en").vocab, words=words)
    ents = [(0, after), (2, settings.get("other", "PER"))]
    doc.ents = [Span(doc, i, i + 1, label) for i, label in ents if label]
    change = {
        "start": 0,
        "end": 1,
        "before": [[0, 1, before]] if before else [],
        "after": [[0, 1, after]] if after else [],
        "features": [[settings.get("feature", "phrase(PER, PER)"), 2.0, -0.25]],
        "gain": 1.5,
        "loss": 0.75,
    }
    set_changes(doc, [change], "ents")
    reference = Doc(doc.vocab, words=words)
    if right is not None:
        reference = Doc(doc.vocab, words=words, ents=right_tags(right, len(words)))
    return judge(doc, reference, "ents")


def right_tags(label, n):
    return [f"B-{label}" if label else "O", *["O"] * (n - 1)]


def page(*cases, limit=25, everything=False):
    return render(cases, "model", Path("data.spacy"), limit, everything)


@pytest.mark.parametrize("target", ["ents", "spans_x"])
def test_page_shows_what_the_pipeline_has_changed(root, tmp_path, target):
    out = tmp_path / "new" / "page.html"
    result = run("changes", root / target, root / f"{target}.spacy", out, "--limit", "100")
    assert result.exit_code == 0, result.output
    html = out.read_text(encoding="utf8")
    assert "<script" not in html
    assert "http" not in html
    tree = parse(html)
    check_links(tree)

    nlp = spacy.load(root / target)
    stored = list(DocBin().from_disk(root / f"{target}.spacy").get_docs(nlp.vocab))
    docs = [nlp(Doc(nlp.vocab, words=[t.text for t in doc])) for doc in stored]
    changes = [change for doc in docs for change in doc._.nonlocal_changes]
    assert changes  # else nothing is tested
    assert len(tree.findall(".//ol/li")) == len(changes)
    assert len(tree.findall(".//section")) == sum(bool(doc._.nonlocal_changes) for doc in docs)
    rows = [row for row in tree.findall(".//details//tbody/tr") if row[0].text != "all together"]
    assert len(rows) == sum(len(change["features"]) for change in changes)
    for row in rows[:20]:
        value, weight, product = (float(cell.text) for cell in row[1:])
        assert product == pytest.approx(value * weight, abs=1e-3 * (1 + abs(value)))


def test_totals_agree_with_a_plain_count(root, tmp_path):
    out = tmp_path / "page.html"
    # Totals are those of all documents, however many are shown.
    assert run("changes", root / "ents", root / "ents.spacy", out, "--limit", "2").exit_code == 0
    tree = parse(out.read_text(encoding="utf8"))
    assert len(tree.findall(".//section")) == 2
    nlp = spacy.load(root / "ents")
    counts = {"fixed": 0, "broken": 0}
    total = 0
    for reference in DocBin().from_disk(root / "ents.spacy").get_docs(nlp.vocab):
        doc = nlp(Doc(nlp.vocab, words=[t.text for t in reference]))
        right = {(ent.start, ent.end, ent.label_) for ent in reference.ents}
        for change in doc._.nonlocal_changes:
            total += 1
            here = {r for r in right if r[0] < change["end"] and r[1] > change["start"]}
            counts["fixed"] += {tuple(each) for each in change["after"]} == here
            counts["broken"] += {tuple(each) for each in change["before"]} == here
    text = tree.find(".//*[@id='totals']").text
    assert text.startswith(f"{total} changes in ")
    assert f"{counts['fixed']} fixed, {counts['broken']} broken" in text
    assert counts["fixed"]  # else nothing is tested


def test_all_shows_documents_without_changes(root, tmp_path):
    out = tmp_path / "page.html"
    arguments = (root / "ents", root / "ents.spacy", out, "--all", "--limit", "100")
    assert run("changes", *arguments).exit_code == 0
    tree = parse(out.read_text(encoding="utf8"))
    assert len(tree.findall(".//section")) == 30


def test_text_line_by_line_has_no_verdicts(root, tmp_path):
    data, out = tmp_path / "text.txt", tmp_path / "page.html"
    docs = DocBin().from_disk(root / "ents.spacy").get_docs(spacy.blank("en").vocab)
    data.write_text("\n\n".join(" ".join(t.text for t in d) for d in docs), encoding="utf8")
    result = run("changes", root / "ents", data, out)
    assert result.exit_code == 0, result.output
    html = out.read_text(encoding="utf8")
    assert "of 30 documents.<" in html
    assert "fixed," not in html
    assert "made right" not in html
    check_links(parse(html))


@pytest.mark.parametrize(
    ("right", "verdict"),
    [("PER", "made right"), ("ORG", "made wrong"), ("LOC", "wrong before and after")],
)
def test_verdicts(right, verdict):
    case = make_case(right=right)
    item = parse(page(case)).find(".//ol/li")
    assert item.find("span").text == verdict
    right_is = [mark.find("b").text for mark in item.findall("mark")]
    assert right_is == ["ORG", "PER", *([] if verdict == "made right" else [right])]


def test_verdicts_where_nothing_is_known():
    assert make_case(right=None).verdicts == []
    assert summary([make_case(right=None)]) == "1 change in 1 of 1 document"
    # Only the last token is annotated.
    case = make_case(right=None)
    half = Doc(case.doc.vocab, words=[t.text for t in case.doc], ents=["", "", "", "O"])
    assert judge(case.doc, half, "ents").verdicts == ["unknown"]
    both = summary([make_case(), make_case(right=None)])
    assert both.endswith("1 fixed, 0 broken, 1 without annotation to compare with")


def test_mentions_that_come_and_go():
    for settings in ({"before": None}, {"after": None, "right": ""}):
        case = make_case(**settings)
        assert case.verdicts == ["fixed"]
        tree = parse(page(case))
        check_links(tree)
        before, after = tree.findall(".//div[@class='text']")
        marks = (before if "before" in settings else after).findall("mark")
        assert marks[0].get("class") == "none changed"
        assert marks[0].text == "Kent"
        for side in (before, after):
            text = re.sub(r"ORG|PER|\d", "", "".join(side.itertext()))
            assert text == case.doc.text


def test_words_that_are_no_mention_can_be_pointed_at():
    tree = parse(page(make_case(other=None)))
    check_links(tree)
    link = tree.find(".//ol/li/div/a")
    assert link.text == "Kent (no mention)"
    (mark,) = [m for m in tree.iter("mark") if m.get("id") == link.get("href")[1:]]
    assert mark.get("class") == "none"


def test_entities_that_somebody_else_has_set_since():
    case = make_case()
    case.doc.ents = [Span(case.doc, 0, 3, "ORG")]
    tree = parse(page(judge(case.doc, case.doc, "ents")))
    assert not list(tree.iter("a"))  # nothing is left to point at
    after = tree.findall(".//div[@class='text']")[1]
    assert [mark.text for mark in after] == ["Kent met Kent"]


def test_everything_from_outside_is_escaped():
    odd = "<b>&\x01 met <b>&\x01 <script>"
    case = make_case(odd, after="<i>", other="<i>", right='"><u>', feature="</table>&")
    case = case._replace(title="<img src=x>")
    html = render([case], "<model>", Path("a & b"), 25)
    for bad in ("<script>", "<i>", "<u>", "<img", "</table>&", "<model>", "\x01"):
        assert bad not in html
    tree = parse(html)
    check_links(tree)
    assert tree.find(".//div[@class='text']/mark").text == "<b>&\ufffd"
    assert tree.find(".//tbody/tr/td").text == "</table>&"


def test_nothing_changed():
    doc = Doc(spacy.blank("en").vocab, words=["Kent"])
    case = judge(doc, doc, "ents")
    assert "Nothing has changed." in page(case)
    assert "No changes." in page(case, everything=True)


def test_colours_are_stable():
    assert colour("ORG") == "#7aecec"  # as displaCy has it
    assert colour("Chemical") == colour("Chemical") != colour("Disease")


def test_errors(root, tmp_path):
    out = tmp_path / "page.html"
    message = fails(root / "local", root / "ents.spacy", out, code="NL428")
    assert "local_tagger" in message
    fails(root / "ents", tmp_path / "missing.spacy", out, code="NL314")
    fails(tmp_path / "missing", root / "ents.spacy", out, code="E050")
    blank, empty, broken = (tmp_path / name for name in ("a.txt", "b.spacy", "c.spacy"))
    blank.write_text("\n \n", encoding="utf8")
    DocBin().to_disk(empty)
    broken.write_bytes(b"not a DocBin")
    fails(root / "ents", blank, out, code="NL124")
    fails(root / "ents", empty, out, code="NL124")
    fails(root / "ents", broken, out, code="NL429")
    assert not out.exists()
