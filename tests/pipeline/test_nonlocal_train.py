"""A real `spacy train` of the reranker on the news corpus."""

import json
import multiprocessing
from pathlib import Path

import pytest
import spacy
from spacy.tokens import DocBin
from thinc.api import Config

from spacy_nonlocal.corpus import ColumnCorpus

from .util import files_of, run, write_config

ASSETS = Path(__file__).parents[2] / "assets"
NAME = "nonlocal_reranker"
CONFIG = """
[paths]
train = null
dev = null

[nlp]
lang = "en"
pipeline = ["nonlocal_reranker"]

[components]

[components.nonlocal_reranker]
factory = "nonlocal_reranker"

[components.nonlocal_reranker.nonlocal_features]

[components.nonlocal_reranker.nonlocal_features.consistency]
@misc = "spacy-nonlocal.ConsistencyFeatures.v1"

[components.nonlocal_reranker.ranker]
@misc = "spacy-nonlocal.{ranker}.v1"

[corpora]

[corpora.train]
@readers = "spacy-nonlocal.ColumnCorpus.v1"
path = ${{paths.train}}
columns = ["orth", "ents"]
limit = 150

[corpora.dev]
@readers = "spacy-nonlocal.ColumnCorpus.v1"
path = ${{paths.dev}}
columns = ["orth", "ents"]
limit = 40

[training]
seed = 1
max_epochs = 3
eval_frequency = 20
patience = 0

[training.batcher]
@batchers = "spacy.batch_by_sequence.v1"
size = 10

[initialize]

[initialize.components]

[initialize.components.nonlocal_reranker]
{initialize}
"""
BASE_CONFIG = """
[nlp]
lang = "en"
pipeline = ["nonlocal_reranker"]

[components]

[components.nonlocal_reranker]
factory = "nonlocal_reranker"
"""


def train(path, name, ranker="JointPassiveAggressive", initialize=""):
    """Train a pipeline. RETURNS: Where it is, and what was printed."""
    config, output = path / f"{name}.cfg", path / name
    write_config(config, CONFIG.format(ranker=ranker, initialize=initialize))
    paths = ["--paths.train", ASSETS / "news-train.txt", "--paths.dev", ASSETS / "news-dev.txt"]
    return output, run("train", config, "--output", output, *paths)


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    path = tmp_path_factory.mktemp("nonlocal")
    return path, *train(path, "out")


@pytest.fixture(scope="module")
def dev():
    return list(
        ColumnCorpus(ASSETS / "news-dev.txt", ["orth", "ents"], limit=40)(spacy.blank("en"))
    )


@pytest.fixture
def _spawn():
    before = multiprocessing.get_start_method(allow_none=True)
    multiprocessing.set_start_method("spawn", force=True)
    yield
    multiprocessing.set_start_method(before, force=True)


def entities(doc):
    return [(ent.start, ent.end, ent.label_) for ent in doc.ents]


def test_spacy_train(project, dev):
    _, output, printed = project
    assert "LOSS NONLO" in printed
    assert "ENTS_F" in printed
    for which in ("model-best", "model-last"):
        nlp = spacy.load(output / which)
        assert nlp.pipe_names == [NAME]
        assert nlp.get_pipe(NAME).labels == ("LOC", "ORG", "PER")
        scores = nlp.evaluate(dev)
        assert scores["ents_f"] > 0.75
        if which == "model-best":
            # Averages included: what was measured is what was saved.
            assert scores["ents_f"] == pytest.approx(nlp.meta["performance"]["ents_f"])
        assert set(files_of(output / which / NAME)) == {"cfg", "model", "training"}


def test_saved_pipeline_corrects_names(project, dev):
    nlp = spacy.load(project[1] / "model-best")
    changes = [c for eg in dev for c in nlp(eg.predicted.copy())._.nonlocal_changes]
    assert changes
    for change in changes:
        assert change["before"] != change["after"]
        assert change["features"]


@pytest.mark.usefixtures("_spawn")
def test_saved_pipeline_in_two_processes(project, dev):
    nlp = spacy.load(project[1] / "model-best")
    one = [nlp(eg.predicted.copy()) for eg in dev[:12]]
    two = list(nlp.pipe((eg.predicted.copy() for eg in dev[:12]), n_process=2, batch_size=3))
    assert [entities(doc) for doc in two] == [entities(doc) for doc in one]
    assert any(doc._.nonlocal_changes for doc in one)
    assert [doc._.nonlocal_changes for doc in two] == [doc._.nonlocal_changes for doc in one]


def test_spacy_evaluate(project, dev):
    path, output, _ = project
    DocBin(docs=[eg.reference for eg in dev]).to_disk(path / "dev.spacy")
    metrics = path / "metrics.json"
    run("evaluate", output / "model-best", path / "dev.spacy", "--output", metrics)
    expected = spacy.load(output / "model-best").evaluate(dev)
    assert json.loads(metrics.read_text())["ents_f"] == pytest.approx(expected["ents_f"])


def test_two_runs_with_one_seed_are_identical(project, tmp_path):
    again, _ = train(tmp_path, "again")
    for which in ("model-best", "model-last"):
        assert files_of(again / which / NAME) == files_of(project[1] / which / NAME)


def test_joint_perceptron_from_the_mean_of_runs(dev, tmp_path):
    output, _ = train(tmp_path, "out", "JointPerceptron", "bpm_runs = 2")
    assert spacy.load(output / "model-best").evaluate(dev)["ents_f"] > 0.7


def test_spacy_init_fill_config(tmp_path):
    write_config(tmp_path / "full.cfg", BASE_CONFIG)
    filled = Config().from_disk(tmp_path / "full.cfg")["components"][NAME]
    assert filled["ranker"]["@misc"] == "spacy-nonlocal.JointPassiveAggressive.v1"
    assert filled["model"]["features"]["preset"] == "ner"
    assert (filled["target"], filled["scheme"], filled["unit"]) == ("ents", "BIO", "doc")
    assert filled["nonlocal_features"] is None
