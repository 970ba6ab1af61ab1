import gzip

import pytest

from spacy_nonlocal.features.crfpp import read_template

# The form of the templates that come with CRF++, after its manual.
TEXT = """\
# Unigram
U00:%x[-2,0]
U01:%x[-1,0]
U02:%x[0,0]
U05:%x[-1,0]/%x[0,0]

U10:%x[-1,1]
U20:%x[-2,1]/%x[-1,1]/%x[0,1]

# Bigram
B
"""


def read(tmp_path, text, columns=("orth", "tag")):
    path = tmp_path / "template"
    path.write_text(text, encoding="utf8")
    return read_template(path, list(columns))


def test_nodes_and_edges(tmp_path):
    nodes, edges = read(tmp_path, TEXT)
    assert nodes == [
        "orth[-2]",
        "orth[-1]",
        "orth[0]",
        "orth[-1]|orth[0]",
        "tag[-1]",
        "tag[-2]|tag[-1]|tag[0]",
    ]
    assert edges == ["bias"]


@pytest.mark.parametrize(
    ("line", "nodes", "edges"),
    [
        ("U01:%x[-1,0]/%x[0,1]", ["orth[-1]|tag[0]"], []),
        ("U", ["bias"], []),
        ("B", [], ["bias"]),
        ("B01:%x[0,0]", [], ["orth[0]"]),
        ("B:%x[-1,1]/%x[0,1]", [], ["tag[-1]|tag[0]"]),
        ("U%x[1,0]", ["orth[1]"], []),
        ("U01:%x[0,0]%x[0,1]", ["orth[0]|tag[0]"], []),
        ("Uword:%x[0,0] and %x[10,1]!", ["orth[0]|tag[10]"], []),
        ("U1:%x[-0,0]", ["orth[0]"], []),
        ("  U1:%x[0,0]\t", ["orth[0]"], []),
    ],
)
def test_one_line(tmp_path, line, nodes, edges):
    assert read(tmp_path, line) == (nodes, edges)


def test_columns_may_be_extensions(tmp_path):
    assert read(tmp_path, "U:%x[0,1]/%x[1,0]", ["orth", "_.chunk"])[0] == ["_.chunk[0]|orth[1]"]


def test_templates_that_differ_only_by_id_are_one(tmp_path):
    text = "U01:%x[0,0]\nU02:%x[1,0]\nU03:%x[0,0]\nB1:%x[0,0]\nB\nB\n"
    assert read(tmp_path, text) == (["orth[0]", "orth[1]"], ["orth[0]", "bias"])


def test_templates_that_share_an_id_stay_apart(tmp_path):
    assert read(tmp_path, "U:%x[0,0]\nU:%x[1,0]")[0] == ["orth[0]", "orth[1]"]


def test_windows_and_compressed_files_are_read(tmp_path):
    path = tmp_path / "template.gz"
    path.write_bytes(gzip.compress(TEXT.replace("\n", "\r\n").encode("utf-8-sig")))
    assert read_template(str(path), ["orth", "tag"]) == read(tmp_path, TEXT)


@pytest.mark.parametrize("line", ["X01:%x[0,0]", "u01:%x[0,0]", "%x[0,0]", "*", "01:%x[0,0]"])
def test_unknown_kind_of_line_is_named(tmp_path, line):
    with pytest.raises(ValueError, match=r"\[NL136\] .*template:3: "):
        read(tmp_path, f"# Unigram\nU\n{line}\n")


@pytest.mark.parametrize(
    "macro",
    [
        "%",
        "%x",
        "%y[0,0]",
        "%X[0,0]",
        "%x[0]",
        "%x[0,0",
        "%x[0, 0]",
        "%x[+1,0]",
        "%x[0,-1]",
        "%x[a,0]",
        "%x[,0]",
        "%x[٠,0]",
        "%x[99999,0]",
        "%%x[0,0]",
        '%t[0,0,"^."]',
    ],
)
def test_malformed_macro_is_named(tmp_path, macro):
    with pytest.raises(ValueError, match=r"\[NL137\] .*template:2: '%"):
        read(tmp_path, f"U\nU01:%x[0,0]/{macro}/%x[0,1]\n")


def test_column_that_is_not_named_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"\[NL138\] .*template:1: .*%x\[0,2\].* only 2 columns"):
        read(tmp_path, "U01:%x[0,1]/%x[0,2]")


def test_column_that_may_not_be_used_is_refused(tmp_path):
    assert read(tmp_path, "U01:%x[0,1]", ["_", "orth"])[0] == ["orth[0]"]
    with pytest.raises(ValueError, match=r"\[NL130\] .*template:2: .*%x\[-1,0\].* column 0"):
        read(tmp_path, "U01:%x[0,1]\nU02:%x[-1,0]", ["_", "orth"])


@pytest.mark.parametrize("line", ["U01", "U01:", "B01", "U # bias", "Bigram"])
def test_text_without_macro_is_refused(tmp_path, line):
    with pytest.raises(ValueError, match=rf"\[NL139\] .*template:2: .*Write {line[0]} alone"):
        read(tmp_path, f"U:%x[0,0]\n{line}\n")


@pytest.mark.parametrize("text", ["", "# nothing\n\n"])
def test_file_without_templates_is_refused(tmp_path, text):
    with pytest.raises(ValueError, match=r"\[NL124\] .*template: the file has no templates"):
        read(tmp_path, text)


def test_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"\[NL121\] .*template"):
        read_template(tmp_path / "template", ["orth"])


def test_line_that_is_not_utf8_is_named(tmp_path):
    path = tmp_path / "template"
    path.write_bytes(b"U\n# \xff\n")
    with pytest.raises(ValueError, match=r"\[NL122\] .*template:2: "):
        read_template(path, ["orth"])
