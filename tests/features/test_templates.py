import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_nonlocal.features.templates import (
    MAX_OFFSET,
    Reference,
    Template,
    Term,
    expand_names,
    parse_templates,
)

quick = settings(deadline=None, derandomize=True)

# Text, and the templates it stands for as they are written out.
READABLE = {
    "orth[0]": ["orth[0]"],
    "orth[+1]": ["orth[1]"],
    "orth[-0]": ["orth[0]"],
    "orth[007]": ["orth[7]"],
    "orth[-2..2]": ["orth[-2]", "orth[-1]", "orth[0]", "orth[1]", "orth[2]"],
    "orth[-1..+1]": ["orth[-1]", "orth[0]", "orth[1]"],
    "orth[1..1]": ["orth[1]"],
    "lower[-1]|lower[0]": ["lower[-1]|lower[0]"],
    "lower[0]|lower[-1]": ["lower[0]|lower[-1]"],
    "a[0]|b[0]|c[0]|d[0]": ["a[0]|b[0]|c[0]|d[0]"],
    "lower[0..0]|tag[1]": ["lower[0]|tag[1]"],
    "orth[-1]==orth[0]": ["orth[-1]==orth[0]"],
    "orth[0..0]==orth[1..1]": ["orth[0]==orth[1]"],
    "orth[0]==lower[0]": ["orth[0]==lower[0]"],
    "orth[-1]==orth[0]|tag[0]": ["orth[-1]==orth[0]|tag[0]"],
    "tag[0]|orth[-1]==orth[0]|orth[0]==orth[1]": ["tag[0]|orth[-1]==orth[0]|orth[0]==orth[1]"],
    "bias": ["bias"],
    "prefix3[0]": ["prefix3[0]"],
    "_.chunk[-1]": ["_.chunk[-1]"],
    "_._hidden[0]": ["_._hidden[0]"],
    "gazetteer:places[0]": ["gazetteer:places[0]"],
    "gazetteer:big-list.2[0]": ["gazetteer:big-list.2[0]"],
    "cluster:4[-1]|cluster:10[0]": ["cluster:4[-1]|cluster:10[0]"],
    f"orth[{MAX_OFFSET}]": [f"orth[{MAX_OFFSET}]"],
    f"orth[-{MAX_OFFSET}]": [f"orth[-{MAX_OFFSET}]"],
    # Case
    "ORTH[0]": ["orth[0]"],
    "Is_Title[0]": ["is_title[0]"],
    "_.Chunk[0]": ["_.Chunk[0]"],
    "GAZETTEER:Places[0]": ["gazetteer:Places[0]"],
    # White space
    "  orth[0]\n": ["orth[0]"],
    "orth [ -2 .. 0 ]": ["orth[-2]", "orth[-1]", "orth[0]"],
    "lower[-1]\t| lower[0]": ["lower[-1]|lower[0]"],
    "orth[-1] == orth[0]": ["orth[-1]==orth[0]"],
    " bias ": ["bias"],
}

MALFORMED = [
    *(
        "",
        " ",
        "\n\t",
        "orth",
        "[0]",
        "orth[]",
        "orth[x]",
        "orth[0",
        "orth0]",
        "orth(0)",
        "orth[0]]",
    ),
    *("orth[[0]]", "orth[1.5]", "orth[--1]", "orth[+-1]", "orth[0,1]", "orth[0.1]", "orth[0...1]"),
    *("orth[0..]", "orth[..0]", "orth[0..1..2]", "orth[0]orth[1]", "orth[0] orth[1]", "orth[0];"),
    *("|", "|orth[0]", "orth[0]|", "orth[0]||orth[1]", "orth[0]|bias", "bias|orth[0]", "bias[0]|x"),
    *("==", "orth[0]==", "==orth[0]", "orth[0]==orth[1]==orth[2]", "orth[0]=orth[1]", "bias==bias"),
    *("orth[0]===orth[1]", "orth[0]==orth", "orth[0]!=orth[1]", "orth[0]&orth[1]", "bias bias"),
    *("1orth[0]", "-orth[0]", "a b:[0]", "gazetteer:[0]", "gazetteer:a:b[0]", "gazetteer:a b|[0]"),
    *("_.[0]", "_.1[0]", "_._.x[0]", ".x[0]", "a.b[0]", "token._.x[0]", "BIAS", "%x[0,0]", "U00"),
]

JOINED_RANGES = [
    "orth[-1..1]|tag[0]",
    "tag[0]|orth[-1..1]",
    "orth[-1..1]==orth[0]",
    "orth[0]==orth[-1..1]",
    "orth[-1..1]|orth[-1..1]",
]

BAD_OFFSETS = [
    "orth[2..-2]",
    "orth[1..0]",
    "orth[51]",
    "orth[-51]",
    "orth[-51..0]",
    "orth[0..51]",
    "orth[0]|orth[999999999]",
    "orth[0]==orth[-1000]",
    "orth[2..1]|orth[0]",
]


def written(texts):
    return [str(template) for template in parse_templates(texts)]


@pytest.mark.parametrize("text", READABLE)
def test_readable(text):
    assert written([text]) == READABLE[text]


@pytest.mark.parametrize("text", READABLE)
def test_written_templates_mean_the_same(text):
    templates = parse_templates([text])
    assert parse_templates([str(template) for template in templates]) == templates


def test_structure():
    single, joined, same, bias = parse_templates(
        ["orth[0]", "tag[-1]|lower[1]", "orth[-1]==orth[0]", "bias"]
    )
    assert single == Template((Term(Reference("orth", 0)),))
    assert joined == Template((Term(Reference("tag", -1)), Term(Reference("lower", 1))))
    assert same == Template((Term(Reference("orth", -1), Reference("orth", 0)),))
    assert bias == Template(())
    assert joined.references == [Reference("tag", -1), Reference("lower", 1)]
    assert same.references == [Reference("orth", -1), Reference("orth", 0)]
    assert bias.references == []


def test_a_joined_template_is_not_a_comparison():
    joined, same = parse_templates(["orth[-1]|orth[0]", "orth[-1]==orth[0]"])
    assert joined.references == same.references
    assert joined != same


def test_nothing_to_parse():
    assert parse_templates([]) == []


def test_order_is_kept_and_repeats_are_merged():
    texts = ["tag[0]", "orth[0]", "bias", "orth[-1..1]", "ORTH[ 1 ]", "bias", "tag[0]|orth[0]"]
    assert written(texts) == ["tag[0]", "orth[0]", "bias", "orth[-1]", "orth[1]", "tag[0]|orth[0]"]


def test_order_within_a_template_matters():
    assert len(parse_templates(["a[0]|b[0]", "b[0]|a[0]"])) == 2


@quick
@given(st.integers(-MAX_OFFSET, MAX_OFFSET), st.integers(-MAX_OFFSET, MAX_OFFSET))
def test_a_range_is_its_offsets(first, last):
    if last < first:
        with pytest.raises(ValueError, match="NL103"):
            parse_templates([f"orth[{first}..{last}]"])
    else:
        want = [f"orth[{offset}]" for offset in range(first, last + 1)]
        assert parse_templates([f"orth[{first}..{last}]"]) == parse_templates(want)


@pytest.mark.parametrize("text", MALFORMED)
def test_malformed(text):
    with pytest.raises(ValueError, match="NL101"):
        parse_templates(["orth[0]", text])


@pytest.mark.parametrize("thing", [None, 0, 1.5, b"orth[0]", ["orth[0]"]])
def test_not_even_a_string(thing):
    with pytest.raises(ValueError, match="NL101"):
        parse_templates([thing])


@pytest.mark.parametrize("text", JOINED_RANGES)
def test_ranges_are_not_joined(text):
    with pytest.raises(ValueError, match="NL102"):
        parse_templates([text])


@pytest.mark.parametrize("text", BAD_OFFSETS)
def test_bad_offsets(text):
    with pytest.raises(ValueError, match=f"NL103.* beyond {MAX_OFFSET}"):
        parse_templates([text])


@pytest.mark.parametrize("text", [" or th(0)", "orth[-1..1] | tag[0]", "orth [5..1]"])
def test_messages_quote_the_template_as_it_was_written(text):
    with pytest.raises(ValueError, match="NL10") as error:
        parse_templates([text])
    assert repr(text) in str(error.value)


@quick
@given(st.text(alphabet="abo_.:*-|=[]0123 \n", max_size=16))
def test_any_text_is_read_or_refused(text):
    try:
        templates = parse_templates([text])
    except ValueError as error:
        assert str(error).startswith(("[NL101]", "[NL102]", "[NL103]"))  # noqa: PT017
    else:
        assert parse_templates(map(str, templates)) == templates


@pytest.mark.parametrize("digits", [10, 20, 5000])
def test_an_offset_of_many_digits(digits):
    with pytest.raises(ValueError, match="NL10[13]"):
        parse_templates([f"orth[{'9' * digits}]"])


def test_star_stands_for_every_name():
    texts = ["orth[0]", "gazetteer:*[-1..1]", "gazetteer:*[0]|gazetteer:*[1]|tag[0]"]
    assert expand_names(texts, "gazetteer", ["b", "a"]) == [
        "orth[0]",
        "gazetteer:b[-1..1]",
        "gazetteer:a[-1..1]",
        "gazetteer:b[0]|gazetteer:b[1]|tag[0]",
        "gazetteer:a[0]|gazetteer:a[1]|tag[0]",
    ]


def test_star_without_names_leaves_nothing():
    assert expand_names(["orth[0]", "gazetteer:*[0]"], "gazetteer", []) == ["orth[0]"]


def test_names_without_star_stay():
    assert expand_names(["gazetteer:x[0]"], "gazetteer", ["a", "b"]) == ["gazetteer:x[0]"]


@pytest.mark.parametrize("text", ["GAZETTEER:*[0]", "gazetteer : * [0]"])
def test_star_is_found_however_it_is_written(text):
    assert written(expand_names([text], "gazetteer", ["a"])) == ["gazetteer:a[0]"]
