"""Every name in the entry points resolves: to what setup.cfg says, and from a config."""

from configparser import ConfigParser
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path

import pytest
import spacy
from spacy.util import registry
from thinc.api import Config, Model

from spacy_nonlocal.corpus import ColumnCorpus
from spacy_nonlocal.features.clusters import Clusters
from spacy_nonlocal.features.consistency import ConsistencyFeatures
from spacy_nonlocal.features.feature_templates import FeatureTemplates
from spacy_nonlocal.features.gazetteers import Gazetteer
from spacy_nonlocal.features.user_features import UserFeatures
from spacy_nonlocal.learners.adf import ADF
from spacy_nonlocal.learners.averaged_perceptron import AveragedPerceptron
from spacy_nonlocal.learners.dca import DCA
from spacy_nonlocal.learners.joint_passive_aggressive import JointPassiveAggressive
from spacy_nonlocal.learners.joint_perceptron import JointPerceptron
from spacy_nonlocal.learners.l1sgd import L1SGD
from spacy_nonlocal.learners.madf import MADF
from spacy_nonlocal.learners.margin_perceptron import MarginPerceptron
from spacy_nonlocal.learners.passive_aggressive import PassiveAggressive
from spacy_nonlocal.learners.perceptron import Perceptron
from spacy_nonlocal.learners.sgd import SGD
from spacy_nonlocal.pipeline.local_tagger import LocalTagger
from spacy_nonlocal.pipeline.nonlocal_reranker import NonlocalReranker

SETUP = Path(__file__).parents[1] / "setup.cfg"


def declared():
    """(group, name, "module:object") of every entry point."""
    parser = ConfigParser(interpolation=None, delimiters=("=",))
    parser.optionxform = str
    parser.read(SETUP, encoding="utf8")
    return [
        (group, *map(str.strip, line.split("=", 1)))
        for group, lines in parser["options.entry_points"].items()
        for line in lines.strip().splitlines()
    ]


ENTRIES = declared()
REGISTERED = [entry for entry in ENTRIES if entry[0] != "spacy_factories"]
FACTORIES = [entry for entry in ENTRIES if entry[0] == "spacy_factories"]

# A block for each name: what has no default, and nothing else.
BLOCKS = {
    "spacy-nonlocal.LinearChain.v1": (
        {"features": {"@misc": "spacy-nonlocal.FeatureTemplates.v1"}},
        Model,
    ),
    "spacy-nonlocal.FeatureTemplates.v1": ({}, FeatureTemplates),
    "spacy-nonlocal.Gazetteer.v1": ({"path": "places.txt"}, Gazetteer),
    "spacy-nonlocal.Clusters.v1": ({"path": "clusters.txt"}, Clusters),
    "spacy-nonlocal.Perceptron.v1": ({}, Perceptron),
    "spacy-nonlocal.AveragedPerceptron.v1": ({}, AveragedPerceptron),
    "spacy-nonlocal.MarginPerceptron.v1": ({}, MarginPerceptron),
    "spacy-nonlocal.PassiveAggressive.v1": ({}, PassiveAggressive),
    "spacy-nonlocal.SGD.v1": ({"l2": 2.0, "rate": 0.5, "average": True}, SGD),
    "spacy-nonlocal.L1SGD.v1": ({"l1": 0.5, "rate": None, "decay": 0.9}, L1SGD),
    "spacy-nonlocal.ADF.v1": ({"l2": 2.0, "upper": 0.9, "lower": 0.5}, ADF),
    "spacy-nonlocal.MADF.v1": ({"l2": 2.0, "alpha": 100.0, "beta": 2.0}, MADF),
    "spacy-nonlocal.DCA.v1": ({"C": 0.5, "average": False}, DCA),
    "spacy-nonlocal.ConsistencyFeatures.v1": (
        {"phrase": False, "match": "lower", "count": "pairs", "connectives": ["und", "oder"]},
        ConsistencyFeatures,
    ),
    "spacy-nonlocal.UserFeatures.v1": (
        {"function": "spacy_nonlocal.targets.describe", "timeout": 1.5},
        UserFeatures,
    ),
    "spacy-nonlocal.JointPerceptron.v1": (
        {"algorithm": "candidate", "n_best": 5, "n_best_predict": 7, "margin_total": 2.5},
        JointPerceptron,
    ),
    "spacy-nonlocal.JointPassiveAggressive.v1": (
        {"C": 0.5, "nonlocal_step": 0.1, "average": False},
        JointPassiveAggressive,
    ),
    "spacy-nonlocal.labeller_scorer.v1": ({}, object),
    "spacy-nonlocal.ColumnCorpus.v1": (
        {"path": "x.txt", "columns": ["orth", "ents"]},
        ColumnCorpus,
    ),
}
COMPONENTS = {"local_tagger": LocalTagger, "nonlocal_reranker": NonlocalReranker}

# With every setting that is not the default, as a user would write it.
FULL = """
[model]
@architectures = "spacy-nonlocal.LinearChain.v1"

[model.features]
@misc = "spacy-nonlocal.FeatureTemplates.v1"
preset = "ner"
nodes = ["cluster:4[0]"]
edges = ["bias", "tag[0]"]
min_count = 2

[model.features.gazetteers]

[model.features.gazetteers.places]
@misc = "spacy-nonlocal.Gazetteer.v1"
path = "places.txt"
lower = true

[model.features.clusters]
@misc = "spacy-nonlocal.Clusters.v1"
path = "clusters.txt"

[learner]
@misc = "spacy-nonlocal.MarginPerceptron.v1"
margin = 5.5
average = false
"""


WRONG_TYPES = [
    ("spacy-nonlocal.MarginPerceptron.v1", "margin", "wide"),
    ("spacy-nonlocal.MarginPerceptron.v1", "average", "no"),
    ("spacy-nonlocal.PassiveAggressive.v1", "C", [1]),
    ("spacy-nonlocal.PassiveAggressive.v1", "average", "no"),
    ("spacy-nonlocal.SGD.v1", "l2", "strong"),
    ("spacy-nonlocal.SGD.v1", "rate", [1]),
    ("spacy-nonlocal.DCA.v1", "C", None),
]


def kind_of(group):
    return group.removeprefix("spacy_")


def test_the_list_is_not_empty():
    assert len(ENTRIES) >= 11
    assert {group for group, _, _ in ENTRIES} >= {"spacy_factories", "spacy_misc", "spacy_readers"}


def test_every_name_is_tried_here():
    configurable = {name for group, name, _ in REGISTERED if group != "spacy_cli"}
    assert configurable == set(BLOCKS)
    assert {name for _, name, _ in FACTORIES} == set(COMPONENTS)


def test_names_are_versioned():
    names = [name for group, name, _ in REGISTERED if group != "spacy_cli"]
    assert all(name.startswith("spacy-nonlocal.") and name.endswith(".v1") for name in names)


def test_what_is_installed_is_what_is_declared():
    groups = {group for group, _, _ in ENTRIES}
    installed = {
        (group, entry.name, entry.value)
        for group in groups
        for entry in entry_points(group=group)
        if entry.value.startswith("spacy_nonlocal.")
    }
    assert installed == set(ENTRIES)


@pytest.mark.parametrize(("group", "name", "target"), ENTRIES, ids=[name for _, name, _ in ENTRIES])
def test_targets_exist(group, name, target):
    module, _, attribute = target.partition(":")
    assert callable(getattr(import_module(module), attribute))


@pytest.mark.parametrize(
    ("group", "name", "target"), REGISTERED, ids=[name for _, name, _ in REGISTERED]
)
def test_names_resolve_to_their_targets(group, name, target):
    module, _, attribute = target.partition(":")
    assert registry.get(kind_of(group), name) is getattr(import_module(module), attribute)


@pytest.mark.parametrize(
    ("group", "name"),
    [(group, name) for group, name, _ in REGISTERED if group != "spacy_cli"],
)
def test_names_resolve_in_a_config(group, name):
    arguments, kind = BLOCKS[name]
    config = {"it": {f"@{kind_of(group)}": name, **arguments}}
    it = registry.resolve(Config(config))["it"]
    assert isinstance(it, kind)
    # Filled with defaults it says the same, and can be written down and read again.
    filled = registry.fill(Config(config))
    again = Config().from_str(filled.to_str())
    assert again.to_str() == filled.to_str()
    assert isinstance(registry.resolve(again)["it"], kind)


def test_defaults_are_filled_in():
    filled = registry.fill(Config({"it": {"@misc": "spacy-nonlocal.FeatureTemplates.v1"}}))["it"]
    assert filled["edges"] == ["bias"]
    assert filled["min_count"] == 1
    filled = registry.fill(Config({"it": {"@misc": "spacy-nonlocal.MarginPerceptron.v1"}}))["it"]
    assert filled["margin"] == 1000.0
    filled = registry.fill(Config({"it": {"@misc": "spacy-nonlocal.PassiveAggressive.v1"}}))["it"]
    assert (filled["C"], filled["average"]) == (1.0, True)


def test_every_setting_in_a_config():
    resolved = registry.resolve(Config().from_str(FULL))
    learner, model = resolved["learner"], resolved["model"]
    assert (learner.margin, learner.averaged) == (5.5, False)
    features = model.shims[0].features
    assert features.min_count == 2
    assert features.gazetteers["places"].lower
    assert features.clusters.path == "clusters.txt"
    nodes, edges = features.templates()
    assert nodes[-1] == "cluster:4[0]"
    assert "gazetteer:places[-1..1]" in nodes
    assert edges == ["bias", "tag[0]"]


@pytest.mark.parametrize(
    ("name", "setting", "value"),
    [
        *WRONG_TYPES,
        ("spacy-nonlocal.Perceptron.v1", "margin", 1.0),
        ("spacy-nonlocal.FeatureTemplates.v1", "nodes", 3),
        ("spacy-nonlocal.FeatureTemplates.v1", "node", ["orth[0]"]),
        ("spacy-nonlocal.Gazetteer.v1", "lower", "perhaps"),
    ],
)
def test_settings_of_the_wrong_type_or_name(name, setting, value):
    needed = BLOCKS[name][0]
    with pytest.raises(ValueError, match=setting):
        registry.resolve(Config({"it": {"@misc": name, **needed, setting: value}}))


@pytest.mark.parametrize("name", COMPONENTS)
def test_components_are_found_by_name(name):
    nlp = spacy.blank("en")
    component = nlp.add_pipe(name)
    assert isinstance(component, COMPONENTS[name])
    # The config that spaCy writes down makes the same component again.
    again = spacy.util.load_model_from_config(Config().from_str(nlp.config.to_str()))
    assert isinstance(again.get_pipe(name), COMPONENTS[name])
    assert again.config["components"] == nlp.config["components"]


@pytest.mark.parametrize(
    "learner", [name for name in BLOCKS if "Perceptron" in name or "Pass" in name]
)
def test_components_take_every_learner(learner):
    nlp = spacy.blank("en")
    joint = "Joint" in learner
    factory, setting = ("nonlocal_reranker", "ranker") if joint else ("local_tagger", "learner")
    component = nlp.add_pipe(factory, config={setting: {"@misc": learner}})
    assert isinstance(component.learner, BLOCKS[learner][1])


@pytest.mark.parametrize("learner", [name for name in BLOCKS if ".Joint" in name])
def test_a_joint_learner_cannot_learn_locally(learner):
    with pytest.raises(ValueError, match="NL434.*'local_tagger'.*Joint.*nonlocal_reranker"):
        spacy.blank("en").add_pipe("local_tagger", config={"learner": {"@misc": learner}})
