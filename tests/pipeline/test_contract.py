"""spaCy's contract: the command line, other components, other processes, other pipelines."""

import copy
import json
import multiprocessing
import pickle

import pytest
import spacy
from spacy.tokens import DocBin
from spacy.training import Example
from thinc.api import Config, ConfigValidationError

from .util import (
    BASE_CONFIG,
    CONFIG,
    DATA,
    ENTS,
    JOINT,
    LEARNERS,
    NAME,
    RERANKER,
    SCORES,
    TAGS,
    columns,
    features,
    iob,
    label,
    learner,
    make_doc,
    make_examples,
    make_nlp,
    run,
    tags,
    trained,
    update,
    write_config,
    write_project,
)


@pytest.fixture(scope="module", params=["ents", "tag"])
def project(request, tmp_path_factory):
    """A project whose pipeline was trained by `spacy train`."""
    path = tmp_path_factory.mktemp(f"project-{request.param}")
    config, paths = write_project(path, request.param)
    output = run("train", *config, "--output", path / "out", *paths)
    return path, request.param, output


def given(nlp, target):
    read = iob if target == "ents" else tags
    return [read(label(nlp, text)) for text, _ in DATA[target]]


def right(target):
    return [labels for _, labels in DATA[target]]


# --- the command line ----------------------------------------------------------------------------


def test_spacy_train(project):
    path, target, output = project
    assert "LOSS LOCAL" in output
    for name in ("model-best", "model-last"):
        assert given(spacy.load(path / "out" / name), target) == right(target)


def test_spacy_evaluate(project):
    path, target, _ = project
    nlp = spacy.blank("en")
    attr = "ents" if target == "ents" else "tags"
    DocBin(docs=[eg.reference for eg in make_examples(nlp, DATA[target], attr)]).to_disk(
        path / "dev.spacy"
    )
    metrics = path / "metrics.json"
    run("evaluate", path / "out" / "model-last", path / "dev.spacy", "--output", metrics)
    assert json.loads(metrics.read_text())[SCORES[target]] == 1.0


def test_spacy_init_labels_and_training_with_them(project):
    path, target, _ = project
    config, paths = [str(path / "config.cfg")], ["--paths.train", str(path / "corpus.txt")]
    paths += ["--paths.dev", str(path / "corpus.txt")]
    run("init", "labels", *config, path / "labels", *paths)
    labels = path / "labels" / f"{NAME}.json"
    assert set(json.loads(labels.read_text())) == set(
        spacy.load(path / "out" / "model-last").get_pipe(NAME).labels
    )
    with_labels = path / "with-labels.cfg"
    block = f'\n[initialize.components.{NAME}.labels]\n@readers = "spacy.read_labels.v1"\n'
    with_labels.write_text((path / "config.cfg").read_text() + block + f'path = "{labels}"\n')
    run("train", with_labels, "--output", path / "labelled", *paths)
    for file_ in ("cfg", "model", "training"):
        first = path / "out" / "model-last" / NAME / file_
        second = path / "labelled" / "model-last" / NAME / file_
        assert first.read_bytes() == second.read_bytes()


def test_spacy_assemble(tmp_path):
    trained().to_disk(tmp_path / "nlp")
    source = f'source = "{tmp_path / "nlp"}"'
    text = BASE_CONFIG.replace('["local_tagger"]', '["local_tagger", "sentencizer"]')
    text = text.replace('factory = "local_tagger"', source)
    text += '\n[components.sentencizer]\nfactory = "sentencizer"\n'
    (tmp_path / "config.cfg").write_text(text)
    run("assemble", tmp_path / "config.cfg", tmp_path / "assembled")
    nlp = spacy.load(tmp_path / "assembled")
    assert nlp.pipe_names == [NAME, "sentencizer"]
    assert given(nlp, "ents") == right("ents")


def test_spacy_init_fill_config(tmp_path):
    base = tmp_path / "base.cfg"
    base.write_text(BASE_CONFIG)
    run("init", "fill-config", base, tmp_path / "full.cfg")
    filled = Config().from_disk(tmp_path / "full.cfg")["components"][NAME]
    assert (filled["target"], filled["scheme"], filled["unit"]) == ("ents", "BIO", "doc")
    assert filled["model"]["features"]["preset"] == "ner"
    assert filled["learner"]["@misc"].startswith("spacy-nonlocal.")
    assert filled["resumable"] is True


def test_spacy_debug_config(tmp_path):
    config, paths = write_project(tmp_path)
    assert "Config is valid" in run("debug", "config", *config, *paths)


def test_spacy_debug_data(tmp_path):
    config, paths = write_project(tmp_path)
    # Fewer than a hundred documents are an error to this command.
    (tmp_path / "corpus.txt").write_text(columns(ENTS * 30), encoding="utf8")
    assert "Pipeline can be initialized with data" in run("debug", "data", *config, *paths)


def test_spacy_debug_model(tmp_path):
    config, paths = write_project(tmp_path)
    run("debug", "model", *config, NAME, *paths)


# spaCy leaves the files it writes open.
@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning"
)
def test_spacy_package(project):
    path, target, _ = project
    (path / "packages").mkdir()
    run("package", path / "out" / "model-last", path / "packages", "--build", "none", "--force")
    (package,) = (path / "packages").glob("en_pipeline-*/en_pipeline/en_pipeline-*")
    assert given(spacy.load(package), target) == right(target)
    meta = json.loads((package.parents[1] / "meta.json").read_text())
    assert any(each.startswith("spacy-nonlocal") for each in meta["requirements"])


def test_settings_of_initialization_come_from_the_config():
    nlp = make_nlp()
    examples = make_examples(nlp)
    settings = {"bpm_runs": 1, "bpm_seed": 5, "labels": ["LOC", "ORG", "PER"]}
    nlp.config["initialize"]["components"][NAME] = settings
    nlp.initialize(lambda: examples)
    assert nlp.get_pipe(NAME).labels == ("LOC", "ORG", "PER")
    nlp.config["initialize"]["components"][NAME] = {"bpm_rums": 1}
    with pytest.raises(ConfigValidationError, match="bpm_rums"):
        nlp.initialize(lambda: examples)


# --- processes -----------------------------------------------------------------------------------


@pytest.fixture
def _start_method(request):
    before = multiprocessing.get_start_method(allow_none=True)
    multiprocessing.set_start_method(request.param, force=True)
    yield
    multiprocessing.set_start_method(before, force=True)


@pytest.mark.parametrize("_start_method", ["fork", "spawn"], indirect=True)
@pytest.mark.parametrize("config", [{}, RERANKER], ids=["local_tagger", "nonlocal_reranker"])
@pytest.mark.usefixtures("_start_method")
def test_multiprocessing(config):
    nlp = trained(**config)
    texts = [text for text, _ in ENTS] * 3
    docs = list(nlp.pipe(texts, n_process=2, batch_size=4))
    assert [iob(doc) for doc in docs] == right("ents") * 3


@pytest.mark.parametrize("name", [*LEARNERS, *JOINT])
def test_pickle(name):
    nlp = trained(passes=3, **learner(name))
    again = pickle.loads(pickle.dumps(nlp))  # noqa: S301
    assert given(again, "ents") == given(nlp, "ents")
    update(nlp, make_examples(nlp), passes=2)
    update(again, make_examples(again), passes=2)
    tagger, other = nlp.get_pipe(NAME), again.get_pipe(NAME)
    assert tagger.to_bytes(exclude=["vocab"]) == other.to_bytes(exclude=["vocab"])


@pytest.mark.parametrize("config", [{}, RERANKER], ids=["local_tagger", "nonlocal_reranker"])
def test_pickle_before_training(config):
    nlp = pickle.loads(pickle.dumps(make_nlp(**config)))  # noqa: S301
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    update(nlp, examples)
    assert given(nlp, "ents") == right("ents")


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda model: model.copy()])
def test_copies_of_the_model_go_their_own_ways(duplicate):
    nlp = trained(passes=3)
    tagger = nlp.get_pipe(NAME)
    twin = duplicate(tagger.model)
    before = twin.shims[0].model_bytes(NAME)
    assert before == tagger.model.shims[0].model_bytes(NAME)
    update(nlp, make_examples(nlp, ENTS[:1]), passes=1)
    nlp.update(make_examples(nlp, (("Anna Rome", "O O"),)))
    assert tagger.model.shims[0].model_bytes(NAME) != before
    assert twin.shims[0].model_bytes(NAME) == before


def test_copies_keep_their_gazetteers(tmp_path):
    path = tmp_path / "places.txt"
    path.write_text("Oslo\n", encoding="utf8")
    gazetteer = {"@misc": "spacy-nonlocal.Gazetteer.v1", "path": str(path)}
    config = features("gazetteer:places[0]", gazetteers={"places": gazetteer})
    data = (("go Oslo go", "O B-LOC O"), ("Oslo", "B-LOC"))
    nlp = trained(data, **config, **learner("MarginPerceptron"))
    twin = make_nlp(**config)
    tagger = twin.get_pipe(NAME)
    tagger.from_bytes(nlp.get_pipe(NAME).to_bytes())
    tagger.model = copy.deepcopy(nlp.get_pipe(NAME).model)
    assert iob(label(twin, "go Oslo go")) == "O B-LOC O"
    path.write_text("Lima\n", encoding="utf8")
    examples = make_examples(nlp, data)
    nlp.initialize(lambda: examples)
    assert iob(label(twin, "go Oslo go")) == "O B-LOC O"


def test_model_in_bytes():
    tagger = trained().get_pipe(NAME)
    other = make_nlp().get_pipe(NAME)
    other.model.from_bytes(tagger.model.to_bytes())
    assert other.model.shims[0].model_bytes(NAME) == tagger.model.shims[0].model_bytes(NAME)


# --- other components ----------------------------------------------------------------------------


def test_select_pipes():
    nlp = trained()
    with nlp.select_pipes(disable=NAME):
        assert iob(label(nlp, ENTS[0][0])) == "     "
    assert iob(label(nlp, ENTS[0][0])) == ENTS[0][1]
    with nlp.select_pipes(enable=[]):
        assert label(nlp, ENTS[0][0]).ents == ()


def test_entities_of_an_entity_ruler():
    nlp = trained()
    ruler = nlp.add_pipe("entity_ruler", before=NAME)
    ruler.add_patterns([{"label": "ORG", "pattern": "Paris", "id": "psg"}])
    doc = label(nlp, ENTS[0][0])
    assert [(ent.text, ent.label_, ent.ent_id_) for ent in doc.ents] == [
        ("Anna Smith", "PER", ""),
        ("Paris", "ORG", "psg"),
    ]


def test_annotating_entity_ruler_in_training():
    nlp = spacy.blank("en")
    ruler = nlp.add_pipe("entity_ruler")
    nlp.add_pipe(NAME)
    examples = make_examples(nlp)
    nlp.get_pipe(NAME).initialize(lambda: examples, nlp=nlp)
    ruler.add_patterns([{"label": "LOC", "pattern": "Paris"}])
    for _ in range(40):
        fresh = [Example(eg.predicted.copy(), eg.reference) for eg in examples]
        nlp.update(fresh, annotates=["entity_ruler"])
    assert given(nlp, "ents") == right("ents")


def test_features_from_an_annotating_component():
    """The first tagger's tags are all that the second one sees."""
    nlp = spacy.blank("en")
    nlp.add_pipe(NAME, name="tags", config={"target": "tag"})
    nlp.add_pipe(NAME, name="names", config=features("tag[0]"))
    data = (("the dog Rex", "DT NN NNP"), ("Bello sees the cat", "NNP VBZ DT NN"))
    examples = make_examples(nlp, data, "tags")
    for eg in examples:
        ents = [f"B-{t.tag_}" if t.tag_ == "NNP" else "O" for t in eg.reference]
        eg.reference.ents = [
            spacy.tokens.Span(eg.reference, i, i + 1, label="DOG")
            for i, each in enumerate(ents)
            if each != "O"
        ]
    nlp.initialize(lambda: examples)
    for _ in range(40):
        fresh = [Example(eg.predicted.copy(), eg.reference) for eg in examples]
        nlp.update(fresh, annotates=["tags"])
    doc = label(nlp, "the cat Rex")
    assert tags(doc) == "DT NN NNP"
    assert [ent.text for ent in doc.ents] == ["Rex"]


def test_frozen_components_do_not_change(tmp_path):
    """`spacy train` with the first tagger sourced, frozen and annotating, its tags the second one's features."""
    source = trained(TAGS, "tags", target="tag")
    source.to_disk(tmp_path / "tags")
    corpus = tmp_path / "corpus.txt"
    corpus.write_text(
        columns((("the dog sees a cat", "O B-X O O B-X"), ("a small cat runs", "O O B-X O"))),
        encoding="utf8",
    )
    config = CONFIG.format(target="ents", score="ents_f")
    config = config.replace('["local_tagger"]', '["tags", "local_tagger"]')
    config = config.replace(
        "[corpora.train]",
        f"""[components.tags]
source = "{tmp_path / "tags"}"
component = "local_tagger"

[components.local_tagger.model]
@architectures = "spacy-nonlocal.LinearChain.v1"

[components.local_tagger.model.features]
@misc = "spacy-nonlocal.FeatureTemplates.v1"
preset = null
nodes = ["tag[0]"]

[corpora.train]""",
    ).replace(
        "seed = 1",
        'seed = 1\nfrozen_components = ["tags"]\nannotating_components = ["tags"]',
    )
    write_config(tmp_path / "config.cfg", config)
    paths = ["--paths.train", corpus, "--paths.dev", corpus]
    run("train", tmp_path / "config.cfg", "--output", tmp_path / "out", *paths)
    nlp = spacy.load(tmp_path / "out" / "model-last")
    before = source.get_pipe(NAME).to_bytes(exclude=["vocab"])
    assert nlp.get_pipe("tags").to_bytes(exclude=["vocab"]) == before
    assert [ent.text for ent in label(nlp, "the small cat sees a dog").ents] == ["cat", "dog"]


def test_source_into_another_pipeline():
    nlp = trained()
    other = spacy.blank("en")
    other.add_pipe("sentencizer")
    other.add_pipe(NAME, source=nlp)
    assert other.pipe_names == ["sentencizer", NAME]
    assert given(other, "ents") == right("ents")


def test_source_by_config(tmp_path):
    trained().to_disk(tmp_path / "nlp")
    config = {
        "nlp": {"lang": "en", "pipeline": ["names"]},
        "components": {"names": {"source": str(tmp_path / "nlp"), "component": NAME}},
    }
    nlp = spacy.util.load_model_from_config(Config(config), auto_fill=True)
    assert given(nlp, "ents") == right("ents")
    nlp.to_disk(tmp_path / "copy")
    assert given(spacy.load(tmp_path / "copy"), "ents") == right("ents")


def test_two_taggers_in_one_pipeline(tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe(NAME, name="first")
    nlp.add_pipe(NAME, name="second", config={"target": "tag"})
    examples = make_examples(nlp)
    for eg in examples:
        for token in eg.reference:
            token.tag_ = "NNP" if token.text[0].isupper() else "X"
    nlp.initialize(lambda: examples)
    for _ in range(20):
        losses = {}
        fresh = [Example(eg.predicted.copy(), eg.reference) for eg in examples]
        nlp.update(fresh, losses=losses)
    assert set(losses) == {"first", "second"}
    nlp.to_disk(tmp_path)
    doc = label(spacy.load(tmp_path), ENTS[0][0])
    assert iob(doc) == ENTS[0][1]
    assert tags(doc) == "NNP NNP X X NNP X"


def test_memory_zone():
    nlp = trained()
    for i in range(5):
        with nlp.memory_zone():
            docs = [label(nlp, f"Anna Smith lives in Paris{i} ."), *nlp.pipe(["Bob is in Rome ."])]
            assert docs[1].ents[0].text == "Bob"
    assert given(nlp, "ents") == right("ents")


def test_memory_zone_before_anything_else(tmp_path):
    trained().to_disk(tmp_path)
    nlp = spacy.load(tmp_path)
    with nlp.memory_zone():
        assert given(nlp, "ents") == right("ents")
    assert given(nlp, "ents") == right("ents")
    assert nlp.get_pipe(NAME).labels == ("LOC", "PER")
    assert "PER" in nlp.vocab.strings


# --- saving --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*LEARNERS, *JOINT])
def test_overfitting_io(name, tmp_path):
    nlp = trained(**learner(name))
    assert given(nlp, "ents") == right("ents")
    nlp.to_disk(tmp_path)
    from_disk = spacy.load(tmp_path)
    from_bytes = make_nlp(**learner(name))
    from_bytes.from_bytes(nlp.to_bytes())
    unseen = "Smith said that Bob Anna and York met in the city of New Paris ."
    for other in (from_disk, from_bytes):
        assert given(other, "ents") == right("ents")
        assert iob(label(other, unseen)) == iob(label(nlp, unseen))
        assert other.get_pipe(NAME).labels == ("LOC", "PER")
        before, after = (
            each.get_pipe(NAME).model.predict([make_doc(each, unseen)])[0] for each in (nlp, other)
        )
        assert before.node.tobytes() == after.node.tobytes()
        assert before.edge.tobytes() == after.edge.tobytes()


@pytest.mark.parametrize(
    "config",
    [
        {"target": "tag"},
        {"scheme": "BILUO"},
        {"scheme": "IO"},
        features("lower_lexicon[0]", "orth[0]", edges=["bias", "lower[0]"]),
        features("prefix2[0]|suffix1[1]", "orth[-1]==orth[0]", edges=[]),
        {**RERANKER, "target": "tag"},
        {**RERANKER, "scheme": "BILUO"},
        {**RERANKER, "scheme": "IO", "nonlocal_features": {}},
    ],
)
def test_settings_survive_saving(config, tmp_path):
    data, attr = (TAGS, "tags") if config.get("target") == "tag" else (ENTS, "ents")
    nlp = trained(data, attr, **config)
    nlp.to_disk(tmp_path)
    other = spacy.load(tmp_path)
    for text, _ in data:
        before, after = label(nlp, text), label(other, text)
        assert (iob(before), tags(before)) == (iob(after), tags(after))
    tagger, other_tagger = nlp.get_pipe(NAME), other.get_pipe(NAME)
    assert tagger.to_bytes(exclude=["vocab"]) == other_tagger.to_bytes(exclude=["vocab"])


def test_saving_before_training(tmp_path):
    nlp = make_nlp()
    nlp.get_pipe(NAME).add_label("PER")
    nlp.to_disk(tmp_path)
    other = spacy.load(tmp_path)
    assert other.get_pipe(NAME).labels == ("PER",)
    with pytest.raises(ValueError, match=r"\[NL407\]"):
        other("x")
    assert make_nlp().from_bytes(nlp.to_bytes()).get_pipe(NAME).labels == ("PER",)


def test_the_vocabulary_is_saved_unless_excluded(tmp_path):
    tagger = trained().get_pipe(NAME)
    tagger.to_disk(tmp_path / "with")
    tagger.to_disk(tmp_path / "without", exclude=["vocab"])
    assert (tmp_path / "with" / "vocab").is_dir()
    assert {path.name for path in (tmp_path / "without").iterdir()} == {"cfg", "model", "training"}
    assert len(tagger.to_bytes(exclude=["vocab"])) < len(tagger.to_bytes())


def test_excluded_training_state(tmp_path):
    nlp = trained()
    tagger = nlp.get_pipe(NAME)
    tagger.to_disk(tmp_path, exclude=["vocab"])
    tagger.to_disk(tmp_path, exclude=["vocab", "training"])
    assert {path.name for path in tmp_path.iterdir()} == {"cfg", "model"}
    slim = make_nlp()
    slim.get_pipe(NAME).from_disk(tmp_path)
    assert given(slim, "ents") == right("ents")
    slim.get_pipe(NAME).from_bytes(tagger.to_bytes(exclude=["training"]))
    assert given(slim, "ents") == right("ents")
    with pytest.raises(ValueError, match=r"\[NL408\]"):
        slim.update(make_examples(slim))


def test_excluded_training_state_while_loading(tmp_path):
    nlp = trained()
    nlp.get_pipe(NAME).to_disk(tmp_path)
    slim = make_nlp()
    slim.get_pipe(NAME).from_disk(tmp_path, exclude=["training"])
    assert given(slim, "ents") == right("ents")
    with pytest.raises(ValueError, match=r"\[NL408\]"):
        slim.update(make_examples(slim))


def test_a_slim_pipeline_is_trained_anew_after_initialize(tmp_path):
    tagger = trained().get_pipe(NAME)
    slim = make_nlp()
    slim.get_pipe(NAME).from_bytes(tagger.to_bytes(exclude=["training"]))
    examples = make_examples(slim)
    slim.initialize(lambda: examples)
    update(slim, examples)
    assert given(slim, "ents") == right("ents")


def test_not_resumable(tmp_path):
    nlp = trained(resumable=False)
    nlp.to_disk(tmp_path)
    assert {path.name for path in (tmp_path / NAME).iterdir()} == {"cfg", "model"}
    other = spacy.load(tmp_path)
    assert given(other, "ents") == right("ents")
    with pytest.raises(ValueError, match=r"\[NL408\].*'local_tagger'"):
        other.update(make_examples(other))


def test_saved_files_do_not_depend_on_the_process(tmp_path):
    first, second = trained(), trained()
    assert first.get_pipe(NAME).to_bytes() == second.get_pipe(NAME).to_bytes()
