import pytest

from spacy_nonlocal.features.clusters import Clusters
from spacy_nonlocal.features.feature_templates import FeatureTemplates
from spacy_nonlocal.features.gazetteers import Gazetteer
from spacy_nonlocal.features.presets import PRESETS
from spacy_nonlocal.features.templates import parse_templates

CRFPP = "U00:%x[-1,0]/%x[0,1]\nU01:%x[0,0]\nB00:%x[0,1]\nB\n"


def write(path, text):
    path.write_text(text, encoding="utf8")
    return path


def test_templates_are_handed_on_as_they_are():
    features = FeatureTemplates(nodes=["orth[-1..1]", "bias"], edges=["bias", "tag[0]"])
    assert features.templates() == (["orth[-1..1]", "bias"], ["bias", "tag[0]"])


def test_label_pairs_are_there_by_default():
    assert FeatureTemplates(nodes=["orth[0]"]).templates()[1] == ["bias"]


def test_label_pairs_can_be_left_out():
    assert FeatureTemplates(nodes=["orth[0]"], edges=[]).templates() == (["orth[0]"], [])


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_comes_first_and_adds_up(preset):
    nodes, edges = FeatureTemplates(preset, nodes=["is_oov[0]"], edges=["tag[0]"]).templates()
    ready = [text for text in PRESETS[preset].nodes if "*" not in text]
    assert nodes == [*ready, "is_oov[0]"]
    assert edges == [*(text for text in PRESETS[preset].edges if "*" not in text), "tag[0]"]


def test_star_stands_for_all_gazetteers_in_sorted_order(tmp_path):
    gazetteers = {name: Gazetteer(tmp_path / name) for name in ("places", "firms")}
    features = FeatureTemplates(
        nodes=["orth[0]", "gazetteer:*[0]"], edges=["gazetteer:*[1]"], gazetteers=gazetteers
    )
    assert features.templates() == (
        ["orth[0]", "gazetteer:firms[0]", "gazetteer:places[0]"],
        ["gazetteer:firms[1]", "gazetteer:places[1]"],
    )


def test_star_without_gazetteers_stands_for_nothing():
    features = FeatureTemplates(nodes=["orth[0]", "gazetteer:*[0]"], edges=["gazetteer:*[0]"])
    assert features.templates() == (["orth[0]"], [])


def test_no_file_is_opened_by_declaring_it(tmp_path):
    missing = tmp_path / "missing"
    FeatureTemplates(
        "ner", gazetteers={"a": Gazetteer(missing)}, clusters=Clusters(missing), crfpp=missing
    )


def test_templates_of_crfpp_are_added(tmp_path):
    path = write(tmp_path / "template", CRFPP)
    features = FeatureTemplates(nodes=["bias"], crfpp=path, columns=["orth", "tag"])
    nodes, edges = features.templates()
    assert nodes == ["bias", "orth[-1]|tag[0]", "orth[0]"]
    assert edges == ["bias", "tag[0]", "bias"]


def test_templates_of_crfpp_may_name_gazetteers(tmp_path):
    path = write(tmp_path / "template", "U:%x[0,0]\n")
    gazetteers = {"a": Gazetteer(path), "b": Gazetteer(path)}
    features = FeatureTemplates(crfpp=path, columns=["gazetteer:*"], gazetteers=gazetteers)
    assert features.templates()[0] == ["gazetteer:a[0]", "gazetteer:b[0]"]


def test_a_missing_file_of_crfpp_is_named(tmp_path):
    features = FeatureTemplates(crfpp=tmp_path / "missing", columns=["orth"])
    with pytest.raises(FileNotFoundError, match="NL121.*missing"):
        features.templates()


def test_asking_twice_gives_the_same(tmp_path):
    path = write(tmp_path / "template", CRFPP)
    features = FeatureTemplates("tag", crfpp=path, columns=["orth", "tag"])
    assert features.templates() == features.templates()


def test_lists_are_copied():
    nodes, edges, gazetteers = ["orth[0]"], ["bias"], {}
    features = FeatureTemplates(nodes=nodes, edges=edges, gazetteers=gazetteers)
    for got in (*features.templates(), features.nodes, features.edges, features.columns):
        got.append("changed")
    features.gazetteers["changed"] = Gazetteer("nowhere")
    assert (nodes, edges, gazetteers) == (["orth[0]"], ["bias"], {})
    assert FeatureTemplates(nodes=["orth[0]"]).templates() == (["orth[0]"], ["bias"])
    assert FeatureTemplates().gazetteers == {}
    assert FeatureTemplates().columns == []


@pytest.mark.parametrize("preset", ["", "NER", "nerd"])
def test_unknown_preset(preset):
    with pytest.raises(ValueError, match=f"NL108.*'{preset}'.*ner, chunk, tag, segment, kazama"):
        FeatureTemplates(preset)


@pytest.mark.parametrize("min_count", [0, -1])
def test_min_count_below_one(min_count):
    with pytest.raises(ValueError, match=f"NL109.*{min_count}"):
        FeatureTemplates("ner", min_count=min_count)


@pytest.mark.parametrize("nodes", [[], ["gazetteer:*[0]"]])
def test_no_features_at_all(nodes):
    with pytest.raises(ValueError, match="NL110"):
        FeatureTemplates(nodes=nodes, edges=[]).templates()


def test_a_gazetteer_that_is_none():
    with pytest.raises(ValueError, match="NL111.*'places'"):
        FeatureTemplates("ner", gazetteers={"places": "places.txt"})


@pytest.mark.parametrize(
    "name", ["", "*", "a b", "a:b", "a[0]", "a|b", "a=b", "a/b", " a", "a\n", "a*", "a,b", "«a»"]
)
def test_a_gazetteer_whose_name_no_template_can_have(name):
    with pytest.raises(ValueError, match="NL112") as error:
        FeatureTemplates("ner", gazetteers={name: Gazetteer("nowhere")})
    assert repr(name) in str(error.value)


@pytest.mark.parametrize("name", ["places", "A", "2", "größe", "big-list.2", "a_b", "-", ".", "名"])
def test_a_gazetteer_whose_name_a_template_can_have(name):
    features = FeatureTemplates(
        nodes=["gazetteer:*[-1..1]"], gazetteers={name: Gazetteer("nowhere")}
    )
    nodes, _ = features.templates()
    references = [reference for t in parse_templates(nodes) for reference in t.references]
    assert references == [(f"gazetteer:{name}", offset) for offset in (-1, 0, 1)]


def test_a_copy_has_lists_of_its_own(tmp_path):
    path = write(tmp_path / "list", "a\n")
    features = FeatureTemplates("ner", min_count=3, gazetteers={"a": Gazetteer(path)})
    copy = features.copy()
    assert copy.templates() == features.templates()
    assert copy.min_count == 3
    assert copy.gazetteers["a"] is not features.gazetteers["a"]
    copy.gazetteers["b"] = Gazetteer(path)
    assert list(features.gazetteers) == ["a"]
