from itertools import groupby

import numpy as np
import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc, Token

from spacy_nonlocal.features.clusters import Clusters
from spacy_nonlocal.features.extractor import FeatureExtractor
from spacy_nonlocal.features.feature_templates import FeatureTemplates
from spacy_nonlocal.features.gazetteers import Gazetteer
from spacy_nonlocal.features.words import word_form

nlp = spacy.blank("en")
quick = settings(deadline=None, derandomize=True, max_examples=60)

TEXTS = [
    "Anna Lee moved from New York to York in May 1997 . The York she knew was small .",
    "Shares of Lee & Co. rose 3.5 % in New York on Monday , IBM said .",
    "In May , Lee may see the new York .",
    "York",
    "the the the The",
    "",
]
TAGS = ["NNP", "VBD", "IN", "."]
PLACES = ["New York", "York", "Rome"]
CLUSTERS = {"New": "0110", "York": "0111", "Anna": "1", "the": "00", "The": "00", "in": "010"}

# Feature templates as this file reads them: each a list of (attribute, offset), or of pairs of them that are compared.
TEMPLATES = {
    "bias": [],
    **{f"orth[{i}]": [("orth", i)] for i in (-3, -2, -1, 0, 1, 2, 3)},
    **{f"lower[{i}]": [("lower", i)] for i in (-1, 0, 1)},
    **{f"{attr}[0]": [(attr, 0)] for attr in ("form", "shape_short", "suffix2", "prefix3")},
    **{f"{attr}[1]": [(attr, 1)] for attr in ("tag", "_.chunk", "gazetteer:places", "cluster:3")},
    "is_title[-1]": [("is_title", -1)],
    "lower[0]|lower[1]": [("lower", 0), ("lower", 1)],
    "lower[1]|lower[0]": [("lower", 1), ("lower", 0)],
    "lower[0]|tag[0]": [("lower", 0), ("tag", 0)],
    "tag[-2]|tag[-1]|tag[0]": [("tag", -2), ("tag", -1), ("tag", 0)],
    "orth[-4]|orth[4]": [("orth", -4), ("orth", 4)],
    "suffix2[0]|form[0]": [("suffix2", 0), ("form", 0)],
    "gazetteer:places[0]|cluster:4[0]": [("gazetteer:places", 0), ("cluster:4", 0)],
    "_.chunk[-1]|_.chunk[0]": [("_.chunk", -1), ("_.chunk", 0)],
    "lower[-1]==lower[0]": [(("lower", -1), ("lower", 0))],
    "orth[0]==lower[0]": [(("orth", 0), ("lower", 0))],
    "orth[-2]==orth[-1]|tag[0]": [(("orth", -2), ("orth", -1)), ("tag", 0)],
    "tag[0]==tag[1]": [(("tag", 0), ("tag", 1))],
}

# Of the first token of "Rome is Rome"
GOLDEN = {
    "bias": 0x1160479E20EFBC44,
    "orth[0]": 0x418D4CB83E6F3C5F,
    "form[1]": 0x5E3ADF4F5CF1567C,
    "lower[-1]|lower[0]": 0xB1AC6E742B7A8DC1,
    "orth[0]==orth[1]": 0xE9086D9D4168D6B6,
}
GOLDEN_EDGES = [0x109BB4F4F7FA4B6A]
GOLDEN_BIAS = 0x2058B0DC770227B2


@pytest.fixture(scope="module")
def chunk():
    Token.set_extension("chunk", default=None)
    yield
    Token.remove_extension("chunk")


def make_doc(words):
    doc = Doc(nlp.vocab, words=words)
    for token in doc:
        token.tag_ = TAGS[(token.i + len(token)) % len(TAGS)]
        token._.chunk = (None, "B-NP", "I-NP")[len(token) % 3]
    return doc


@pytest.fixture
def files(tmp_path):
    places, clusters = tmp_path / "places.txt", tmp_path / "clusters.txt"
    places.write_text("\n".join(PLACES), encoding="utf8")
    lines = [f"{path}\t{word}\n" for word, path in CLUSTERS.items()]
    clusters.write_text("".join(lines), encoding="utf8")
    return {"gazetteers": {"places": Gazetteer(places)}, "clusters": Clusters(clusters)}


def make_extractor(nodes, edges=("bias",), *, load=True, **resources):
    features = FeatureTemplates(nodes=list(nodes), edges=list(edges), **resources)
    extractor = FeatureExtractor(features, *features.templates())
    if load:
        extractor.reader.load()
    return extractor


def node_keys(extractor, doc):
    return extractor.keys(extractor.nodes, extractor.encode(doc))


# --- A second implementation, with strings -----------------------------------------------------


def match_places(words):
    tags = ["O"] * len(words)
    start = 0
    while start < len(words):
        ends = [e for e in range(start, len(words) + 1) if " ".join(words[start:e]) in PLACES]
        if ends:
            tags[start : ends[-1]] = ["B", *["I"] * (ends[-1] - start - 1)]
        start = ends[-1] if ends else start + 1
    return tags


def kind(char):
    if char.isalpha():
        return "A" if char.isupper() else "a"
    return "0" if char.isdigit() else char


FUNCTIONS = {
    "orth": lambda word: word,
    "lower": str.lower,
    "form": word_form,
    "shape_short": lambda word: "".join(letter for letter, _ in groupby(word, kind)),
    "suffix2": lambda word: word[-2:] if len(word) > 1 else "",
    "prefix3": lambda word: word[:3] if len(word) > 2 else "",
    "is_title": lambda word: word.istitle(),
    "cluster:3": lambda word: CLUSTERS.get(word, "none")[:3],
    "cluster:4": lambda word: CLUSTERS.get(word, "none"),
}


def values_of(doc, attr):
    words = [token.text for token in doc]
    if attr == "gazetteer:places":
        return match_places(words)
    if attr == "tag":
        return [token.tag_ for token in doc]
    if attr == "_.chunk":
        return [token._.chunk for token in doc]
    return [FUNCTIONS[attr](word) for word in words]


def feature_string(doc, t, template):
    def value(attr, offset):
        at = t + offset
        if at < 0:
            return f"<{at}"
        return f">{at - len(doc)}" if at >= len(doc) else f"={values_of(doc, attr)[at]}"

    parts = [
        str(value(*term[0]) == value(*term[1])) if isinstance(term[0], tuple) else value(*term)
        for term in TEMPLATES[template]
    ]
    return (template, *parts)


@pytest.mark.usefixtures("chunk")
def test_different_features_have_different_keys_and_the_same_the_same(files):
    extractor = make_extractor(TEMPLATES, TEMPLATES, **files)
    assert sorted(map(str, extractor.node_templates)) == sorted(TEMPLATES)
    pairs = set()
    for text in TEXTS:
        doc = make_doc(text.split())
        encoded = extractor.encode(doc)
        for space, templates, compiled in (
            ("node", extractor.node_templates, extractor.nodes),
            ("edge", extractor.edge_templates, extractor.edges),
        ):
            keys = extractor.keys(compiled, encoded)
            assert keys.shape == (len(doc), len(templates))
            assert keys.all()
            for t in range(len(doc)):
                for template, key in zip(templates, keys[t].tolist(), strict=True):
                    pairs.add(((space, *feature_string(doc, t, str(template))), key))
    strings, keys = {string for string, _ in pairs}, {key for _, key in pairs}
    assert len(strings) == len(keys) == len(pairs) > 1000


@pytest.mark.usefixtures("chunk")
def test_each_template_alone_has_the_same_keys(files):
    doc = make_doc(TEXTS[0].split())
    together = make_extractor(TEMPLATES, **files)
    keys = node_keys(together, doc)
    for k, template in enumerate(together.node_templates):
        alone = node_keys(make_extractor([str(template)], **files), doc)
        assert alone[:, 0].tolist() == keys[:, k].tolist(), template


def test_keys_never_change():
    """Saved models hold keys: other keys would make them all useless, without a word."""
    extractor = make_extractor(
        ["bias", "orth[0]", "lower[-1]|lower[0]", "form[1]", "orth[0]==orth[1]"], ["orth[0]"]
    )
    encoded = extractor.encode(nlp.make_doc("Rome is Rome"))
    names = list(map(str, extractor.node_templates))
    keys = extractor.keys(extractor.nodes, encoded)[0].tolist()
    assert dict(zip(names, keys, strict=True)) == GOLDEN
    assert extractor.keys(extractor.edges, encoded)[0].tolist() == GOLDEN_EDGES
    assert extractor.bias_key == GOLDEN_BIAS


# --- Outside of the sequence -------------------------------------------------------------------


@pytest.mark.parametrize("attr", ["orth", "form", "tag", "is_title", "gazetteer:places"])
def test_outside_has_one_value_for_each_distance(attr, files):
    reach = 5
    extractor = make_extractor([f"{attr}[-{reach}]", f"{attr}[{reach}]"], **files)
    before, after = (
        next(k for k, t in enumerate(extractor.node_templates) if str(t) == f"{attr}[{offset}]")
        for offset in (-reach, reach)
    )
    short, long = nlp.make_doc("York is"), nlp.make_doc("a b C D e f g h i j")
    keys = node_keys(extractor, long)
    # Token t looks at t - 5 and t + 5: five tokens look before, five after the sequence.
    outside_before, outside_after = keys[:reach, before], keys[-reach:, after]
    inside_before, inside_after = keys[reach:, before], keys[:-reach, after]
    assert len({*outside_before.tolist()}) == len({*outside_after.tolist()}) == reach
    assert not {*outside_before.tolist()} & {*inside_before.tolist()}
    assert not {*outside_after.tolist()} & {*inside_after.tolist()}
    # The distance alone counts, not how long the sequence is.
    keys = node_keys(extractor, short)
    assert keys[:, before].tolist() == outside_before[:2].tolist()
    assert keys[:, after].tolist() == outside_after[-2:].tolist()


def test_before_is_not_after():
    # In a sequence of one token, the first term is out on either side by the same distance.
    extractor = make_extractor(["orth[-1]==orth[1]", "orth[-1]==lower[-1]", "orth[-1]==orth[-2]"])
    keys = node_keys(extractor, nlp.make_doc("Rome"))[0]
    same = node_keys(extractor, nlp.make_doc("a a x a"))[1:3].tolist()
    names = list(map(str, extractor.node_templates))
    # "a a x a": token 2 has a on both sides, token 1 has not.
    at = names.index("orth[-1]==orth[1]")
    assert (keys[at] == same[0][at], keys[at] == same[1][at]) == (True, False)
    # Two attributes are out by the same distance: the same; one attribute by two distances: not.
    at = names.index("orth[-1]==lower[-1]")
    assert keys[at] == same[0][at]
    at = names.index("orth[-1]==orth[-2]")
    assert keys[at] == same[0][at] != same[1][at]


@pytest.mark.parametrize("name", ["sent_start", "head", "_.chunk"])
@pytest.mark.usefixtures("chunk")
def test_outside_is_no_value_that_a_token_can_have(name):
    doc = Doc(nlp.vocab, words=list("abcd"), heads=[0, 0, 1, 2], deps=["x"] * 4)
    for token in doc[1:]:
        token._.chunk = -1
    keys = node_keys(make_extractor([f"{name}[-2]"]), doc)[:, 0].tolist()
    # Token 1 looks at the place before the first token; token 3 looks at token 1.
    assert keys[1] != keys[3]


# --- Groups ------------------------------------------------------------------------------------


def test_groups_are_templates_of_one_word_by_offset():
    nodes = ["tag[0]", "orth[1]", "bias", "orth[-1]|lower[-1]", "orth[0]|orth[1]", "form[1]"]
    nodes += ["orth[0]==lower[0]", "orth[0]|tag[0]", "lower[-1]"]
    extractor = make_extractor(nodes)
    assert extractor.offsets.tolist() == [-1, 0, 1]
    names = list(map(str, extractor.node_templates))
    groups = extractor.groups.tolist()
    assert [names[a:b] for a, b in zip(groups, groups[1:], strict=False)] == [
        ["orth[-1]|lower[-1]", "lower[-1]"],
        ["bias", "orth[0]==lower[0]"],
        ["orth[1]", "form[1]"],
        ["tag[0]", "orth[0]|orth[1]", "orth[0]|tag[0]"],
    ]
    assert extractor.word_groups.tolist() == groups[:-1]
    assert extractor.groups.dtype == extractor.word_groups.dtype == np.int32


@pytest.mark.usefixtures("chunk")
def test_rest_is_the_last_group(files):
    extractor = make_extractor(TEMPLATES, **files)
    encoded = extractor.encode(make_doc(TEXTS[0].split()))
    nodes, rest = (extractor.keys(each, encoded) for each in (extractor.nodes, extractor.rest))
    assert 0 < rest.shape[1] < nodes.shape[1]
    assert np.array_equal(nodes[:, extractor.word_groups[-1] :], rest)


@pytest.mark.parametrize("nodes", [[], ["bias"], ["tag[0]"], ["orth[0]"]])
@pytest.mark.parametrize("edges", [[], ["bias"], ["tag[0]"], ["bias", "orth[0]"]])
@pytest.mark.parametrize("text", ["", "Rome", "Rome is far"])
def test_few_templates(nodes, edges, text):
    # Not through FeatureTemplates: the extractor takes no features at all for an answer.
    extractor = FeatureExtractor(FeatureTemplates(), nodes, edges)
    encoded = extractor.encode(nlp.make_doc(text))
    assert extractor.keys(extractor.nodes, encoded).shape == (len(encoded), len(nodes))
    n_edges = len([edge for edge in edges if edge != "bias"])
    assert extractor.keys(extractor.edges, encoded).shape == (len(encoded), n_edges)
    assert extractor.edge_bias == ("bias" in edges)


@pytest.mark.usefixtures("chunk")
def test_which_templates_look_at_words_only(files):
    extractor = make_extractor(TEMPLATES, [*TEMPLATES, "bias"], **files)
    for templates, flags in (
        (extractor.node_templates, extractor.node_of_words),
        (extractor.edge_templates, extractor.edge_of_words),
    ):
        assert flags.dtype == bool
        assert flags.shape == (len(templates),)
        annotated = ("tag", "_.chunk", "gazetteer")
        want = [not any(name in str(template) for name in annotated) for template in templates]
        assert flags.tolist() == want
        assert {*want} == {True, False}


@pytest.mark.usefixtures("chunk")
def test_annotations_change_only_what_does_not_look_at_words_only(files):
    extractor = make_extractor(TEMPLATES, [*TEMPLATES, "bias"], **files)
    words = TEXTS[0].split()
    a, b = (extractor.encode(doc) for doc in (make_doc(words), Doc(nlp.vocab, words=words)))
    for compiled, flags in (
        (extractor.nodes, extractor.node_of_words),
        (extractor.edges, extractor.edge_of_words),
    ):
        one, other = extractor.keys(compiled, a), extractor.keys(compiled, b)
        assert np.array_equal(one[:, flags], other[:, flags])
        assert not np.array_equal(one[:, ~flags], other[:, ~flags])


def test_no_edge_templates_look_at_words():
    extractor = make_extractor(["orth[0]"], ["bias"])
    assert extractor.edge_of_words.shape == (0,)
    assert extractor.edge_of_words.dtype == bool


def test_repeated_templates_are_one():
    extractor = make_extractor(["orth[-1..1]", "orth[0]", "ORTH[1]"], ["tag[0]", "tag[0]", "bias"])
    assert len(extractor.nodes) == 3
    assert len(extractor.edges) == 1


def test_node_and_edge_features_share_no_key():
    extractor = make_extractor(["orth[0]", "bias"], ["orth[0]", "bias"])
    encoded = extractor.encode(nlp.make_doc("Rome is Rome"))
    nodes = {*extractor.keys(extractor.nodes, encoded).ravel().tolist()}
    edges = {*extractor.keys(extractor.edges, encoded).ravel().tolist(), extractor.bias_key}
    assert not nodes & edges


# --- Sequences ---------------------------------------------------------------------------------


@quick
@given(st.lists(st.sampled_from(["York", "the", "New", "May"]), max_size=7), st.data())
def test_a_part_is_like_a_document_of_its_own(words, data):
    start = data.draw(st.integers(0, len(words)))
    end = data.draw(st.integers(start, len(words)))
    extractor = make_extractor(["orth[-2..2]", "form[0]", "lower[-1]|tag[0]", "orth[0]==orth[1]"])
    tags = [TAGS[len(word) % 4] for word in words]
    whole = extractor.encode(Doc(nlp.vocab, words=words, tags=tags))
    alone = extractor.encode(Doc(nlp.vocab, words=words[start:end], tags=tags[start:end]))
    part = extractor.keys(extractor.nodes, whole.part(start, end))
    assert np.array_equal(part, extractor.keys(extractor.nodes, alone))


def test_keys_do_not_depend_on_what_was_read_before(files):
    nodes = ["orth[-1..1]", "form[0]", "gazetteer:places[0]", "cluster:4[0]"]
    fresh, used = make_extractor(nodes, **files), make_extractor(nodes, **files)
    for text in TEXTS:
        used.encode(nlp.make_doc(text))
    doc = nlp.make_doc("York is not New York")
    assert np.array_equal(node_keys(fresh, doc), node_keys(used, doc))


# --- State -------------------------------------------------------------------------------------


def test_state_replaces_the_files(files, tmp_path):
    nodes = ["gazetteer:places[0]", "cluster:3[0]", "lower_lexicon[0]"]
    extractor = make_extractor(nodes, **files)
    docs = [nlp.make_doc(text) for text in TEXTS]
    extractor.reader.lower_lexicon.learn(docs)
    state = extractor.reader.state()
    nowhere = {
        "gazetteers": {"places": Gazetteer(tmp_path / "none")},
        "clusters": Clusters(tmp_path / "none"),
    }
    other = make_extractor(nodes, load=False, **nowhere)
    with pytest.raises(ValueError, match="NL125"):
        node_keys(other, docs[0])
    other.reader.set_state(state)
    for doc in docs:
        assert np.array_equal(node_keys(other, doc), node_keys(extractor, doc))
    # None of the three is there for nothing.
    assert all(len({*column.tolist()}) > 1 for column in node_keys(other, docs[0]).T)


def test_a_state_that_lacks_a_gazetteer(files):
    state = make_extractor(["orth[0]"]).reader.state()
    other = make_extractor(["gazetteer:places[0]"], load=False, **files)
    with pytest.raises(ValueError, match="NL126"):
        other.reader.set_state(state)
