import gzip
import logging
import lzma
import os
import warnings
from pathlib import Path

import pytest
import spacy
from spacy.tokens import Token
from spacy.util import registry

from spacy_nonlocal.corpus import SOURCE, ColumnCorpus
from spacy_nonlocal.schemes import LabelReader

# As in CoNLL-2003, IOB1: "B-" only between two entities of one class.
CONLL2003 = """-DOCSTART- -X- -X- O

U.N. NNP I-NP I-ORG
official NN I-NP O
Ekeus NNP I-NP I-PER
heads VBZ I-VP O
. . O O

Fine JJ I-ADJP O

-DOCSTART- -X- -X- O

Oslo NNP I-NP I-LOC
Bergen NNP I-NP B-LOC
"""
COLUMNS = ["orth", "tag", "_.chunk", "ents"]
CONLLU = """# newdoc id = a
# sent_id = 1
# text = I don't know
1\tI\tI\tPRON\tPRP\tCase=Nom|Number=Sing\t4\tnsubj\t_\t_
2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
2\tdo\tdo\tAUX\tVBP\t_\t4\taux\t_\t_
3\tn't\tnot\tPART\tRB\t_\t4\tadvmod\t_\t_
4\tknow\tknow\tVERB\tVB\tVerbForm=Inf\t0\troot\t_\t_
4.1\twhy\twhy\tADV\tWRB\t_\t_\t_\t_\t_

# text = New York _
1\tNew York\tNew York\tPROPN\t_\t_\t0\troot\t_\t_
2\t_\t_\tPUNCT\tNFP\t_\t1\tpunct\t_\t_

# newdoc id = b
1\tFine\t_\tADJ\tJJ\tDegree=Pos\t0\troot\t_\tSpaceAfter=No
"""
CONLLU_COLUMNS = ["_", "orth", "lemma", "pos", "tag", "morph", "head", "dep", "_", "_"]


@pytest.fixture
def nlp():
    return spacy.blank("en")


@pytest.fixture(autouse=True)
def _forget_extensions():
    yield
    for name in ("chunk", "computed", "doubled"):
        if Token.has_extension(name):
            Token.remove_extension(name)


@pytest.fixture
def write(tmp_path):
    def write_file(text, name="train.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode("utf8"))
        return path

    return write_file


def read(nlp, path, columns, **settings):
    return list(ColumnCorpus(path, columns, **settings)(nlp))


def words(examples):
    return [[token.text for token in example.reference] for example in examples]


def ents(doc):
    return [(ent.start, ent.end, ent.label_) for ent in doc.ents]


def read_ents(nlp, write, labels):
    """Entities of one sentence that has these labels."""
    text = "".join(f"w{i}\t{label}\n" for i, label in enumerate(labels))
    (example,) = read(nlp, write(text), ["orth", "ents"], document=None)
    return ents(example.reference)


# --- documents and sentences -------------------------------------------------------------------


def test_documents_are_kept_whole(nlp, write):
    examples = read(nlp, write(CONLL2003), COLUMNS)
    assert words(examples) == [
        ["U.N.", "official", "Ekeus", "heads", ".", "Fine"],
        ["Oslo", "Bergen"],
    ]


def test_sentence_starts_are_known_to_both_docs(nlp, write):
    first, second = read(nlp, write(CONLL2003), COLUMNS)
    for doc in (first.predicted, first.reference):
        assert [sent.start for sent in doc.sents] == [0, 5]
        assert [token.is_sent_start for token in doc] == [True, False, False, False, False, True]
    for doc in (second.predicted, second.reference):
        assert [token.is_sent_start for token in doc] == [True, False]


def test_document_line_without_blank_line(nlp, write):
    path = write(
        "-DOCSTART- -DOCSTART- O\nDat Pron O\nis V O\n-DOCSTART- -DOCSTART- O\nJan N B-PER\n"
    )
    assert words(read(nlp, path, ["orth", "tag", "ents"])) == [["Dat", "is"], ["Jan"]]


def test_tokens_before_the_first_document_line(nlp, write):
    path = write("a\tO\n\n###MEDLINE:1\n\nb\tO\n\n\n\nc\tO\n")
    examples = read(nlp, path, ["orth", "ents"], document="###MEDLINE:")
    assert words(examples) == [["a"], ["b", "c"]]


def test_documents_without_tokens_are_no_examples(nlp, write):
    path = write("-DOCSTART-\n\n-DOCSTART-\n\na\n\n-DOCSTART-\n")
    assert words(read(nlp, path, ["orth"])) == [["a"]]


def test_no_document_prefix_makes_each_sentence_a_document(nlp, write):
    examples = read(nlp, write(CONLL2003), COLUMNS, document=None)
    assert words(examples) == [
        ["U.N.", "official", "Ekeus", "heads", "."],
        ["Fine"],
        ["Oslo", "Bergen"],
    ]


def test_file_without_document_lines_warns_once(nlp, write):
    path = write("a\tO\n\nb\tO\n")
    corpus = ColumnCorpus(path, ["orth", "ents"])
    with pytest.warns(UserWarning, match=r"\[NL351\].*train.txt.*-DOCSTART-"):
        assert words(corpus(nlp)) == [["a"], ["b"]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert words(corpus(nlp)) == [["a"], ["b"]]


def test_skip_and_limit_count_documents(nlp, write):
    path = write("".join(f"-DOCSTART-\n\n{word}\n\n" for word in "abcde"))
    assert words(read(nlp, path, ["orth"], skip=3)) == [["d"], ["e"]]
    assert words(read(nlp, path, ["orth"], limit=2)) == [["a"], ["b"]]
    assert words(read(nlp, path, ["orth"], skip=1, limit=2)) == [["b"], ["c"]]


def test_docs_say_where_they_came_from(nlp, write):
    first, second = read(nlp, write(CONLL2003), COLUMNS)
    for doc in (first.predicted, first.reference):
        assert doc.user_data[SOURCE] == "train.txt:3"
    assert second.predicted.user_data[SOURCE] == "train.txt:13"


def test_second_pass_yields_fresh_equal_docs(nlp, write):
    corpus = ColumnCorpus(write(CONLL2003), COLUMNS, inputs=["tag"])
    first, second = list(corpus(nlp)), list(corpus(nlp))
    assert words(first) == words(second)
    for one, other in zip(first, second, strict=True):
        assert one.reference is not other.reference
        assert ents(one.reference) == ents(other.reference)


# --- columns -----------------------------------------------------------------------------------


def test_inputs_are_set_on_both_docs_targets_on_one(nlp, write):
    example, _ = read(nlp, write(CONLL2003), COLUMNS, inputs=["tag", "_.chunk"])
    for doc in (example.predicted, example.reference):
        assert [token.tag_ for token in doc] == ["NNP", "NN", "NNP", "VBZ", ".", "JJ"]
        assert [token._.chunk for token in doc][:2] == ["I-NP", "I-NP"]
    assert ents(example.reference) == [(0, 1, "ORG"), (2, 3, "PER")]
    assert not example.predicted.has_annotation("ENT_IOB")


def test_targets_are_not_shown(nlp, write):
    example, _ = read(nlp, write(CONLL2003), COLUMNS)
    assert not example.predicted.has_annotation("TAG")
    assert [token._.chunk for token in example.predicted] == [None] * 6
    assert example.reference[0]._.chunk == "I-NP"


def test_docs_have_unknown_spaces_and_align(nlp, write):
    example, _ = read(nlp, write(CONLL2003), COLUMNS)
    assert example.predicted.has_unknown_spaces
    assert example.reference.has_unknown_spaces
    assert list(example.alignment.x2y.data) == list(range(6))


def test_span_groups(nlp, write):
    path = write("He\tB-NP\nreckons\tB-VP\nthe\tB-NP\ndeficit\tI-NP\n.\tO\n")
    columns = ["orth", "spans:chunks"]
    (target,) = read(nlp, path, columns, document=None)
    (shown,) = read(nlp, path, columns, document=None, inputs=["spans:chunks"])
    expected = [(0, 1, "NP"), (1, 2, "VP"), (2, 4, "NP")]
    for doc in (target.reference, shown.reference, shown.predicted):
        assert [(s.start, s.end, s.label_) for s in doc.spans["chunks"]] == expected
    assert "chunks" not in target.predicted.spans


def test_columns_beyond_the_named_ones_are_ignored(nlp, write):
    path = write("a\tX\tO\t17\nb\tY\tO\n")
    (example,) = read(nlp, path, ["orth", "_", "ents"], document=None)
    assert words([example]) == [["a", "b"]]


def test_trailing_skipped_columns_may_be_missing(nlp, write):
    path = write("a\tO\tx\tx\nb\tO\n")
    (example,) = read(nlp, path, ["orth", "ents", "_", "_"], document=None)
    assert words([example]) == [["a", "b"]]


def test_no_break_space_is_part_of_a_token(nlp, write):
    path = write("10\u00a0000  CD   O\n")
    (example,) = read(nlp, path, ["orth", "tag", "ents"], document=None)
    assert words([example]) == [["10\u00a0000"]]


def test_tabs_keep_spaces_in_tokens(nlp, write):
    (example,) = read(nlp, write("New York\tB-LOC\n"), ["orth", "ents"], document=None)
    assert words([example]) == [["New York"]]


def test_hash_is_a_token(nlp, write):
    path = write("###MEDLINE:1\n\n#\tO\n##\tO\n# 1\tO\n")
    examples = read(nlp, path, ["orth", "ents"], document="###MEDLINE:")
    assert words(examples) == [["#", "##", "# 1"]]
    path = write("# newdoc\n# a comment\n#\tO\n#tag\tO\n3.14\tO\n1-2\tO\n")
    examples = read(nlp, path, ["orth", "ents"], document="# newdoc")
    assert words(examples) == [["#", "#tag", "3.14", "1-2"]]


def test_unknown_column(write):
    for name in ("entity", "spans:", "_.", "ORTH", ""):
        with pytest.raises(ValueError, match=rf"\[NL316\] '{name}'.*orth, lemma.*spans:KEY"):
            ColumnCorpus("x", ["orth", name])


def test_column_twice():
    with pytest.raises(ValueError, match=r"\[NL317\] Column 'tag'"):
        ColumnCorpus("x", ["orth", "tag", "tag"])


def test_no_orth_column():
    with pytest.raises(ValueError, match=r"\[NL318\]"):
        ColumnCorpus("x", ["_", "ents"])


@pytest.mark.parametrize("name", ["pos", "orth", "_"])
def test_inputs_must_be_columns(name):
    with pytest.raises(ValueError, match=rf"\[NL319\] Input '{name}'"):
        ColumnCorpus("x", ["orth", "_", "tag"], inputs=[name])


def test_head_needs_dep():
    with pytest.raises(ValueError, match=r"\[NL320\]"):
        ColumnCorpus("x", ["orth", "head"])
    with pytest.raises(ValueError, match=r"\[NL320\]"):
        ColumnCorpus("x", ["orth", "head", "dep"], inputs=["head"])


def test_negative_counts():
    with pytest.raises(ValueError, match=r"\[NL321\].*skip = -1"):
        ColumnCorpus("x", ["orth"], skip=-1)
    with pytest.raises(ValueError, match=r"\[NL321\].*limit = -2"):
        ColumnCorpus("x", ["orth"], limit=-2)


def test_no_path():
    with pytest.raises(ValueError, match=r"\[NL301\]"):
        ColumnCorpus(None, ["orth"])


def test_empty_document_prefix():
    with pytest.raises(ValueError, match=r"\[NL302\]"):
        ColumnCorpus("x", ["orth"], document="")


def test_computed_extension(nlp, write):
    Token.set_extension("computed", getter=lambda token: token.i)
    with pytest.raises(ValueError, match=r"\[NL313\] Column '_.computed'"):
        read(nlp, write("a\tb\n"), ["orth", "_.computed"], document=None)


def test_extension_with_a_setter(nlp, write):
    def store(token, value):
        token.doc.user_data["stored"] = value

    Token.set_extension("doubled", getter=lambda token: 2, setter=store)
    (example,) = read(nlp, write("a\tb\n"), ["orth", "_.doubled"], document=None)
    assert example.reference.user_data["stored"] == "b"


# --- labels ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scheme", "labels", "expected"),
    [
        ("IOB1", "I-A I-A O I-A B-A I-B", [(0, 2, "A"), (3, 4, "A"), (4, 5, "A"), (5, 6, "B")]),
        ("IOB2", "B-A I-A O B-A B-A B-B", [(0, 2, "A"), (3, 4, "A"), (4, 5, "A"), (5, 6, "B")]),
        ("BILUO", "B-A I-A L-A U-A O U-B", [(0, 3, "A"), (3, 4, "A"), (5, 6, "B")]),
        ("BIOES", "B-A I-A E-A S-A O S-B", [(0, 3, "A"), (3, 4, "A"), (5, 6, "B")]),
        ("BMES", "B-A M-A E-A S-A O B-B E-B", [(0, 3, "A"), (3, 4, "A"), (5, 7, "B")]),
        ("mixed", "I-A O B-A I-A O U-B", [(0, 1, "A"), (2, 4, "A"), (5, 6, "B")]),
        ("mixed", "I-A O B-A", [(0, 1, "A"), (2, 3, "A")]),
        ("mixed", "U-A S-A", [(0, 1, "A"), (1, 2, "A")]),
        ("IOB1", "I-A O O", [(0, 1, "A")]),
        ("no entities", "O O", []),
    ],
)
def test_schemes(nlp, write, scheme, labels, expected):
    path = write("".join(f"w {label}\n" for label in labels.split()))
    corpus = ColumnCorpus(path, ["orth", "ents"], document=None)
    (example,) = corpus(nlp)
    assert ents(example.reference) == expected
    assert corpus.schemes == {"ents": scheme}


def test_ends_without_a_beginning_begin_an_entity(nlp, write):
    assert read_ents(nlp, write, ["O", "L-A", "I-A"]) == [(1, 2, "A"), (2, 3, "A")]
    assert read_ents(nlp, write, ["B-A", "L-B", "E-A"]) == [(0, 1, "A"), (1, 2, "B"), (2, 3, "A")]
    assert read_ents(nlp, write, ["U-A", "I-A"]) == [(0, 1, "A"), (1, 2, "A")]


def test_class_may_contain_a_dash(nlp, write):
    assert read_ents(nlp, write, ["B-cell-line", "I-cell-line"]) == [(0, 2, "cell-line")]


def test_sentences_end_entities(nlp, write):
    path = write("-DOCSTART-\n\na\tB-X\n\nb\tI-X\nc\tI-X\n")
    (example,) = read(nlp, path, ["orth", "ents"])
    assert ents(example.reference) == [(0, 1, "X"), (1, 3, "X")]


def test_unknown_labels_are_missing(nlp, write):
    path = write("a\tB-X\nb\t-\nc\t?\nd\tI-X\ne\tO\n")
    (example,) = read(nlp, path, ["orth", "ents"], document=None)
    assert [token.ent_iob for token in example.reference] == [3, 0, 0, 3, 2]
    assert example.get_aligned_ner() == ["U-X", None, None, "U-X", "O"]


def test_unknown_labels_in_span_groups(nlp, write):
    path = write("-DOCSTART-\na\t-\n-DOCSTART-\nb\tB-X\nc\t-\n-DOCSTART-\nd\t-\ne\tO\n")
    with pytest.warns(UserWarning, match=r"\[NL352\].*train.txt:5: column 'spans:x'") as caught:
        unknown, partly, _ = read(nlp, path, ["orth", "spans:x"])
    assert len(caught) == 1
    assert "x" not in unknown.reference.spans
    assert [span.text for span in partly.reference.spans["x"]] == ["b"]


@pytest.mark.parametrize("label", ["PER", "X-PER", "B-", "B", "O-PER", "b-PER", "_", ""])
@pytest.mark.parametrize("column", ["ents", "spans:x"])
def test_bad_label(nlp, write, label, column):
    path = write(f"-DOCSTART-\n\na\tO\n\nb\t{label}\n")
    with pytest.raises(
        ValueError, match=rf"\[NL310\] .*train.txt:5: '{label}' in column '{column}'"
    ):
        read(nlp, path, ["orth", column])


def test_scheme_is_logged_once(nlp, write, caplog):
    corpus = ColumnCorpus(write(CONLL2003), COLUMNS)
    logger = logging.getLogger("spacy")
    logger.addHandler(caplog.handler)
    try:
        with caplog.at_level(logging.INFO, logger="spacy"):
            list(corpus(nlp))
            list(corpus(nlp))
    finally:
        logger.removeHandler(caplog.handler)
    messages = {record.getMessage() for record in caplog.records}
    assert messages == {f"{corpus.path}: labels in column 'ents' are IOB1"}
    assert corpus.schemes == {"ents": "IOB1"}


def test_label_reader_reads_nothing():
    reader = LabelReader()
    assert reader.read([], []) == ([], [])
    assert reader.scheme == "no entities"


# --- CoNLL-U -----------------------------------------------------------------------------------


def test_conllu(nlp, write):
    first, second = read(nlp, write(CONLLU), CONLLU_COLUMNS, document="# newdoc")
    doc = first.reference
    assert words([first, second]) == [["I", "do", "n't", "know", "New York", "_"], ["Fine"]]
    assert [token.lemma_ for token in doc] == ["I", "do", "not", "know", "New York", "_"]
    assert [token.pos_ for token in doc] == ["PRON", "AUX", "PART", "VERB", "PROPN", "PUNCT"]
    assert [token.tag_ for token in doc] == ["PRP", "VBP", "RB", "VB", "", "NFP"]
    assert [str(token.morph) for token in doc][:2] == ["Case=Nom|Number=Sing", ""]
    assert [token.head.i for token in doc] == [3, 3, 3, 3, 4, 4]
    assert [token.dep_ for token in doc] == ["nsubj", "aux", "advmod", "ROOT", "ROOT", "punct"]
    assert [sent.start for sent in doc.sents] == [0, 4]
    assert [sent.root.i for sent in doc.sents] == [3, 4]
    assert second.reference[0].lemma_ == ""
    assert not first.predicted.has_annotation("DEP")
    assert [sent.start for sent in first.predicted.sents] == [0, 4]


def test_conllu_is_known_by_its_name(nlp, write):
    for name in ("a.conllu", "a.conllu.gz", "a.CoNLL-U"):
        data = CONLLU.encode("utf8")
        path = write(gzip.compress(data) if name.endswith(".gz") else data, name)
        assert len(read(nlp, path, CONLLU_COLUMNS, document=None)) == 3


def test_conllu_comments_need_no_space(nlp, write):
    path = write("#\n#text=a\n1\ta\n2\t#\n", "a.conllu")
    assert words(read(nlp, path, ["_", "orth"], document=None)) == [["a", "#"]]


def test_conllu_labels_without_value_are_outside(nlp, write):
    path = write("1\ta\t_\n2\tb\tB-X\n", "a.conllu")
    (example,) = read(nlp, path, ["_", "orth", "ents"], document=None)
    assert [token.ent_iob_ for token in example.reference] == ["O", "B"]


def test_heads_keep_the_sentences_of_the_file(nlp, write):
    # Two roots in one sentence, and arcs that cross: from heads, spaCy would make other sentences.
    rows = ["1\ta\t0\troot", "2\tb\t0\troot", "3\tc\t1\tx", "4\td\t2\tx"]
    path = write("\n".join(rows) + "\n\n1\te\t_\t_\n2\tf\t0\troot\n", "a.conllu")
    with pytest.warns(UserWarning, match="NL351"):
        examples = read(nlp, path, ["_", "orth", "head", "dep"], inputs=["head", "dep"])
    for doc in (examples[0].predicted, examples[0].reference):
        assert [token.is_sent_start for token in doc] == [True, False, False, False]
        assert [token.head.i for token in doc] == [0, 1, 0, 1]
    assert [token.dep_ for token in examples[1].reference] == ["", "ROOT"]


@pytest.mark.parametrize("head", ["3", "-1", "x", "1.5"])
def test_head_out_of_sentence(nlp, write, head):
    path = write(f"# newdoc\n1\ta\t0\troot\n\n1\tb\t0\troot\n2\tc\t{head}\tx\n\n1\td\t0\troot\n")
    with pytest.raises(ValueError, match=rf"\[NL311\] .*train.txt:5: head '{head}'.*1 to 2"):
        read(nlp, path, ["_", "orth", "head", "dep"], document="# newdoc")


@pytest.mark.parametrize("heads", [(0, 3, 2), (0, 2, 1), (2, 1, 0)])
def test_heads_in_a_circle(nlp, write, heads):
    path = write("".join(f"{i}\tw\t{head}\tx\n" for i, head in enumerate(heads, 1)), "a.conllu")
    with pytest.raises(ValueError, match=r"\[NL312\] .*a.conllu:[123]: "):
        read(nlp, path, ["_", "orth", "head", "dep"], document=None)


def test_bad_pos(nlp, write):
    with pytest.raises(ValueError, match=r"\[NL309\] .*train.txt:2: 'NN' .*'pos'"):
        read(nlp, write("a\tNOUN\nb\tNN\n"), ["orth", "pos"], document=None)


@pytest.mark.parametrize("morph", ["Sing", "Number=Sing=Plur", "Number=Sing|"])
def test_bad_morph(nlp, write, morph):
    with pytest.raises(ValueError, match=r"\[NL309\] .*train.txt:2: .*'morph'"):
        read(nlp, write(f"a\tCase=Nom\nb\t{morph}\n"), ["orth", "morph"], document=None)


# --- files -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("suffix", "compress"), [(".gz", gzip.compress), (".xz", lzma.compress)])
def test_compressed_files(nlp, write, suffix, compress):
    data = compress(CONLL2003.encode("utf8"))
    path = write(data, f"train.txt{suffix}")
    assert len(read(nlp, path, COLUMNS)) == 2
    for damaged in (data[:-12], b"no archive", data[:20] + bytes(8) + data[28:]):
        path = write(damaged, f"bad.txt{suffix}")
        with pytest.raises(ValueError, match=rf"\[NL123\] .*bad.txt{suffix}"):
            read(nlp, path, COLUMNS)


def test_directory_is_read_in_sorted_order(nlp, write, tmp_path):
    for name in ("b.txt", "a.txt", "c/d.txt", ".hidden", ".git/e.txt"):
        write(f"-DOCSTART-\n\n{name}\n", f"data/{name}")
    examples = read(nlp, tmp_path / "data", ["orth"])
    assert words(examples) == [["a.txt"], ["b.txt"], ["c/d.txt"]]


def test_directory_without_files(nlp, write, tmp_path):
    write("a\n", "data/.hidden")
    with pytest.raises(ValueError, match=r"\[NL315\] .*data"):
        read(nlp, tmp_path / "data", ["orth"])


def test_missing_path(nlp, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"\[NL314\] .*nowhere.txt"):
        read(nlp, tmp_path / "nowhere.txt", ["orth"])


@pytest.mark.parametrize("text", ["", "\n\n", "-DOCSTART-\n\n"])
def test_file_without_tokens(nlp, write, text):
    with pytest.raises(ValueError, match=r"\[NL304\] .*train.txt"):
        read(nlp, write(text), ["orth"], document=None)


def test_skip_beyond_the_end(nlp, write):
    with pytest.raises(ValueError, match=r"\[NL303\] .*train.txt.* 2"):
        read(nlp, write(CONLL2003), COLUMNS, skip=2)


def test_byte_order_mark_and_carriage_returns(nlp, write):
    text = "\ufeff" + CONLL2003.replace("\n", "\r\n")
    examples = read(nlp, write(text), COLUMNS)
    assert words(examples)[1] == ["Oslo", "Bergen"]
    assert ents(examples[1].reference) == [(0, 1, "LOC"), (1, 2, "LOC")]


def test_lines_of_spaces_are_blank(nlp, write):
    assert words(read(nlp, write("a\n \t \nb\n"), ["orth"], document=None)) == [["a"], ["b"]]


def test_no_newline_at_the_end(nlp, write):
    assert words(read(nlp, write("a O\nb O"), ["orth", "ents"], document=None)) == [["a", "b"]]


def test_bad_utf8(nlp, write):
    path = write(b"a O\n" + "né O\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"\[NL122\] .*train.txt:2: .*utf8"):
        read(nlp, path, ["orth", "ents"], document=None)
    examples = read(nlp, path, ["orth", "ents"], document=None, encoding="latin-1")
    assert words(examples) == [["a", "né"]]


@pytest.mark.parametrize("encoding", ["utf-16", "hex", "no-such-encoding"])
def test_bad_encoding(encoding):
    with pytest.raises(ValueError, match=rf"\[NL322\].*{encoding}"):
        ColumnCorpus("x", ["orth"], encoding=encoding)


def test_short_line(nlp, write):
    path = write("-DOCSTART-\n\na NN O\nb\n")
    with pytest.raises(ValueError, match=r"\[NL307\] .*train.txt:4: 'b' has 1 columns.* 3\."):
        read(nlp, path, ["orth", "tag", "ents"])


def test_empty_token(nlp, write):
    with pytest.raises(ValueError, match=r"\[NL308\] .*train.txt:2: "):
        read(nlp, write("a\tO\n\tO\n"), ["orth", "ents"], document=None)


def test_bad_input_shows_no_inner_traceback(nlp, write):
    with pytest.raises(ValueError, match="NL309") as caught:
        read(nlp, write("a\tNN\n"), ["orth", "pos"], document=None)
    assert caught.value.__suppress_context__


# --- from a config -----------------------------------------------------------------------------


def test_reader_is_registered(nlp, write):
    config = {
        "corpus": {
            "@readers": "spacy-nonlocal.ColumnCorpus.v1",
            "path": str(write(CONLL2003)),
            "columns": COLUMNS,
            "inputs": ["tag"],
            "document": "-DOCSTART-",
            "limit": 1,
        }
    }
    corpus = registry.resolve(config)["corpus"]
    assert isinstance(corpus, ColumnCorpus)
    assert len(list(corpus(nlp))) == 1


def test_config_types(nlp, write):
    # As the entry point does it, for trees where the package is not installed.
    registry.readers.register("test.ColumnCorpus.v1", func=ColumnCorpus)
    config = {"@readers": "test.ColumnCorpus.v1", "path": "x", "columns": ["orth"]}
    corpus = registry.resolve({"corpus": config | {"document": None}})["corpus"]
    assert (corpus.path, corpus.inputs, corpus.document) == (Path("x"), [], None)
    for wrong in ({"columns": "orth"}, {"limit": "many"}, {"inputs": 3}, {"colour": 1}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            registry.resolve({"corpus": config | wrong})


# --- real corpora ------------------------------------------------------------------------------

NER = ["orth", "ents"]
EWT = ["orth", "tag", "pos", "ents"]


@pytest.mark.parametrize(
    ("name", "columns", "document", "sentences", "tokens", "documents"),
    [
        ("ewt-ner/train.txt.xz", EWT, "-DOCSTART-", 12543, 204579, 540),
        ("ewt-ner/dev.txt.xz", EWT, "-DOCSTART-", 2001, 25149, 318),
        ("bc5cdr/train.txt.xz", NER, "-DOCSTART-", 4560, 118170, 500),
        ("bc5cdr/dev.txt.xz", NER, "-DOCSTART-", 4581, 117453, 500),
        ("jnlpba/train.txt.xz", NER, "###MEDLINE:", 18546, 492551, 2000),
        ("ud-ewt/train.conllu.xz", CONLLU_COLUMNS, "# newdoc", 12543, 204579, 540),
        ("ud-ewt/dev.conllu.xz", CONLLU_COLUMNS, "# newdoc", 2001, 25149, 318),
        ("ud-zh-gsd/train.conllu.xz", CONLLU_COLUMNS, None, 3997, 98608, 3997),
        ("ud-zh-gsd/dev.conllu.xz", CONLLU_COLUMNS, None, 500, 12663, 500),
    ],
)
def test_real_corpus(nlp, name, columns, document, sentences, tokens, documents):
    root = os.environ.get("SPACY_NONLOCAL_DATA")
    if root is None or not Path(root, name).exists():
        pytest.skip(f"set SPACY_NONLOCAL_DATA to a directory that has {name}")
    corpus = ColumnCorpus(Path(root, name), columns, document=document)
    counts = [0, 0, 0]
    for example in corpus(nlp):
        doc = example.reference
        sents = list(doc.sents)
        counts = [n + m for n, m in zip(counts, (len(sents), len(doc), 1), strict=True)]
        if "dep" in columns:
            assert all(sent.start <= token.head.i < sent.end for sent in sents for token in sent)
            assert all(token.dep for token in doc)
            assert [token.head.i for token in doc if token.dep_ == "ROOT"] == [
                sent.root.i for sent in sents
            ]
    assert counts == [sentences, tokens, documents]
    assert corpus.schemes in ({}, {"ents": "IOB2"})
