import pytest
import spacy
from spacy.tokens import Token

from spacy_nonlocal.features.clusters import Clusters
from spacy_nonlocal.features.crfpp import read_template
from spacy_nonlocal.features.extractor import FeatureExtractor
from spacy_nonlocal.features.feature_templates import FeatureTemplates
from spacy_nonlocal.features.gazetteers import Gazetteer
from spacy_nonlocal.features.presets import PRESETS
from spacy_nonlocal.features.templates import expand_names, parse_templates

nlp = spacy.blank("en")

NAMES = ["ner", "chunk", "tag", "segment", "kazama"]
TEXT = "Mr. Smith went to New York on 12 May 1997 ."

# example/chunking/template of CRF++
CRFPP = """# Unigram
U00:%x[-2,0]
U01:%x[-1,0]
U02:%x[0,0]
U03:%x[1,0]
U04:%x[2,0]
U05:%x[-1,0]/%x[0,0]
U06:%x[0,0]/%x[1,0]

U10:%x[-2,1]
U11:%x[-1,1]
U12:%x[0,1]
U13:%x[1,1]
U14:%x[2,1]
U15:%x[-2,1]/%x[-1,1]
U16:%x[-1,1]/%x[0,1]
U17:%x[0,1]/%x[1,1]
U18:%x[1,1]/%x[2,1]

U20:%x[-2,1]/%x[-1,1]/%x[0,1]
U21:%x[-1,1]/%x[0,1]/%x[1,1]
U22:%x[0,1]/%x[1,1]/%x[2,1]

# Bigram
B
"""


def window(attr, n, first=-2, last=2):
    """All n-grams of an attribute between two offsets."""
    return [
        "|".join(f"{attr}[{start + i}]" for i in range(n)) for start in range(first, last - n + 2)
    ]


def unigrams_and_bigrams(attr, first=-2, last=2):
    return window(attr, 1, first, last) + window(attr, 2, first, last)


def affixes(length):
    return [f"{side}{n}" for side in ("prefix", "suffix") for n in range(1, length + 1)]


POS_WINDOW = [*window("tag", 1), *window("tag", 2), *window("tag", 3)]
SEGMENTATION = [
    *unigrams_and_bigrams("orth"),
    *(f"orth[{i}]==orth[{i + 1}]" for i in (-2, -1, 0, 1)),
    *(f"orth[{i}]==orth[{i + 2}]" for i in (-2, -1, 0)),
]
CHUNKING = [*window("orth", 1), *window("orth", 2, -1, 1), *POS_WINDOW]

# He & Wang (2012), table 2; dictionaries are gazetteers, what comes from tools of their own is an extension.
HE_WANG = {
    "segmentation": [*SEGMENTATION, "gazetteer:dictionary[0]", *window("gazetteer:dictionary", 2)],
    "segmentation, extended": [*SEGMENTATION, "_.accessor_variety[0]", "_.mutual_information[0]"],
    "Chinese NER": [
        *unigrams_and_bigrams("orth"),
        "orth[-1]|orth[1]",
        *window("form", 1, -1, 1),
        *window("is_punct", 1, -1, 1),
        *window("_.cilin", 1),
        *window("gazetteer:baike", 1),
        "_.forward_matching[0]",
        "_.backward_matching[0]",
    ],
    "chunking": CHUNKING,
    "English NER": [*CHUNKING, *unigrams_and_bigrams("shape_short")],
    "English NER, extended": [
        *CHUNKING,
        *unigrams_and_bigrams("shape_short"),
        *(text for n in (4, 10, 16, 20) for text in unigrams_and_bigrams(f"cluster:{n}")),
        "gazetteer:*[0]",
    ],
    "POS tagging": [*unigrams_and_bigrams("orth"), *(f"{affix}[0]" for affix in affixes(3))],
}

# Kazama & Torisawa (2007), table 1: the word form is one attribute here, each of its classes a value.
KAZAMA_ATTRS = ["orth", "lower", "tag", "_.chunk", *affixes(4), "form"]
KAZAMA_LISTS = ["org", "per", "misc"]


def kazama(attrs, bigram_attrs):
    return [
        "bias",
        *(text for attr in attrs for text in window(attr, 1)),
        *(text for attr in bigram_attrs for text in window(attr, 2, -2, 1)),
    ]


def parsed(texts):
    return set(parse_templates(texts))


@pytest.fixture
def gazetteers(tmp_path):
    path = tmp_path / "names.txt"
    path.write_text("New York\n", encoding="utf8")
    return {
        name: Gazetteer(path) for name in ("places", "dictionary", "baike", "org", "per", "misc")
    }


@pytest.fixture
def extensions():
    names = ["chunk", "cilin", "accessor_variety", "mutual_information"]
    names += ["forward_matching", "backward_matching"]
    for name in names:
        Token.set_extension(name, default=None)
    yield
    for name in names:
        Token.remove_extension(name)


def shapes(features, text=TEXT):
    """Resolve all templates and compute their keys, once on a text and once on nothing."""
    extractor = FeatureExtractor(features, *features.templates())
    extractor.reader.load()
    for text_ in ("", text):
        encoded = extractor.encode(nlp.make_doc(text_))
        nodes = extractor.keys(extractor.nodes, encoded)
        edges = extractor.keys(extractor.edges, encoded)
    return nodes.shape, edges.shape


def test_names():
    assert list(PRESETS) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_presets_have_no_repeats(name):
    for texts in PRESETS[name]:
        texts = expand_names(texts, "gazetteer", ["a", "b"])
        assert len(parse_templates(texts)) == sum(len(parse_templates([text])) for text in texts)


@pytest.mark.parametrize("name", NAMES)
def test_presets_resolve_on_a_blank_pipeline(name):
    n_nodes = len(parse_templates(expand_names(PRESETS[name].nodes, "gazetteer", [])))
    n_edges = len(parse_templates(expand_names(PRESETS[name].edges, "gazetteer", []))) - 1
    nodes, edges = shapes(FeatureTemplates(preset=name))
    assert nodes == (11, n_nodes)
    # The label pair alone is no feature of the text.
    assert edges == (11, max(n_edges, 0))


@pytest.mark.parametrize("name", ["ner", "kazama"])
def test_presets_use_every_gazetteer(name, gazetteers):
    plain, _ = shapes(FeatureTemplates(preset=name))
    nodes, _ = shapes(FeatureTemplates(preset=name, gazetteers=gazetteers))
    one = {name: gazetteers[name] for name in ("org",)}
    with_one, _ = shapes(FeatureTemplates(preset=name, gazetteers=one))
    assert nodes[1] - plain[1] == len(gazetteers) * (with_one[1] - plain[1]) > 0


def test_chunk_is_the_template_of_crfpp(tmp_path):
    path = tmp_path / "template"
    path.write_text(CRFPP, encoding="utf8")
    nodes, edges = read_template(path, ["orth", "tag"])
    assert parsed(PRESETS["chunk"].nodes) == parsed(nodes) == parsed(HE_WANG["chunking"])
    assert edges == ["bias"]


def test_segment_has_what_he_and_wang_have():
    assert parsed(SEGMENTATION) <= parsed(PRESETS["segment"].nodes)


def test_kazama_is_table_1_without_chunks():
    attrs = [attr for attr in KAZAMA_ATTRS if attr != "_.chunk"]
    lists = [f"gazetteer:{name}" for name in KAZAMA_LISTS]
    want = parsed(kazama([*attrs, *lists], ["lower", "tag", *lists]))
    for texts in PRESETS["kazama"]:
        assert parsed(expand_names(texts, "gazetteer", KAZAMA_LISTS)) == want


@pytest.mark.usefixtures("extensions")
def test_kazama_with_chunks(gazetteers):
    lists = {name: gazetteers[name] for name in KAZAMA_LISTS}
    chunks = ["_.chunk[-2..2]", *window("_.chunk", 2, -2, 1)]
    features = FeatureTemplates("kazama", nodes=chunks, edges=chunks, gazetteers=lists)
    names = [f"gazetteer:{name}" for name in KAZAMA_LISTS]
    want = kazama([*KAZAMA_ATTRS, *names], ["lower", "tag", "_.chunk", *names])
    nodes, edges = features.templates()
    assert parsed(nodes) == parsed(edges) == parsed(want)
    assert shapes(features) == ((11, len(want)), (11, len(want) - 1))


@pytest.mark.parametrize("task", HE_WANG)
@pytest.mark.usefixtures("extensions")
def test_he_and_wang_can_be_written_down(task, gazetteers, tmp_path):
    path = tmp_path / "clusters.txt"
    path.write_text("0101\tNew\n0110\tYork\n", encoding="utf8")
    features = FeatureTemplates(nodes=HE_WANG[task], gazetteers=gazetteers, clusters=Clusters(path))
    nodes, _ = shapes(features)
    stars = sum("*" in text for text in HE_WANG[task])
    assert nodes == (11, len(HE_WANG[task]) + stars * (len(gazetteers) - 1))
