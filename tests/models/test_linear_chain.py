import copy
import pickle

import numpy as np
import pytest
from thinc.api import Model

from spacy_nonlocal.features import attributes
from spacy_nonlocal.features.clusters import Clusters
from spacy_nonlocal.features.feature_templates import FeatureTemplates
from spacy_nonlocal.features.gazetteers import Gazetteer
from spacy_nonlocal.models import trainer as trainer_module
from spacy_nonlocal.models.lattice import Move
from spacy_nonlocal.models.linear_chain import LinearChain, LinearChainShim
from spacy_nonlocal.models.rules import CumulativeL1, FrequencyDecay, FrequencyScale, Rule
from spacy_nonlocal.models.storage import pack, unpack

from .toy import (
    DOCS,
    EDGES,
    NODES,
    UNSEEN,
    begin,
    label_names,
    make_doc,
    make_shim,
    predicted_lattice,
    random_paths,
    random_weights,
    rows_of,
    same_bits,
)

EVERYTHING = [*DOCS, *UNSEEN[:2]]


def learn(shim, epochs=1, seed=0):
    """Some moves that no learner would make, but each time the same."""
    rng = np.random.default_rng(seed)
    for _ in range(epochs):
        for doc in DOCS:
            gold, guess = random_paths(rng, len(doc), len(shim._transitions))
            shim.learn(shim.trainer.rows(shim.encode(doc), learn=True), Move(gold, guess, 1 / 3))
    return shim


def trained(nodes=NODES, edges=EDGES, *, averaged=True, labels=3, **kwargs):
    return learn(begin(make_shim(nodes, edges, **kwargs), averaged=averaged, labels=labels))


def files(shim, learner=None):
    model = shim.model_bytes("tagger")
    return (model, "dir/model"), (shim.training_bytes(learner or {}, model), "dir/training")


def agree(a, b, docs=EVERYTHING):
    return all(same_bits(predicted_lattice(a, doc), predicted_lattice(b, doc)) for doc in docs)


@pytest.fixture
def resources(tmp_path):
    places, clusters = tmp_path / "places.txt", tmp_path / "clusters.txt"
    places.write_text("York\nU.S.\n", encoding="utf8")
    clusters.write_text("0110\tAnna\n0111\tLee\n", encoding="utf8")
    return {"gazetteers": {"places": Gazetteer(places)}, "clusters": Clusters(clusters)}


RESOURCE_NODES = ["gazetteer:*[-1..1]", "cluster:3[0]", "lower_lexicon[0]", "orth[0]"]

# --- Before anything is learned ----------------------------------------------------------------


def test_architecture():
    model = LinearChain(FeatureTemplates("ner"))
    assert isinstance(model, Model)
    assert isinstance(model.shims[0], LinearChainShim)


def test_not_initialized():
    model = LinearChain(FeatureTemplates("ner"))
    shim = model.shims[0]
    assert not shim.is_ready
    assert not shim.is_trainable
    for call in (
        lambda: model.predict([DOCS[0]]),
        lambda: model.begin_update([DOCS[0]]),
        lambda: shim.encode(DOCS[0]),
        lambda: shim.model_bytes("tagger"),
        lambda: shim.trainer,
        lambda: shim.predictor,
    ):
        with pytest.raises(ValueError, match="NL209"):
            call()


def test_bytes_of_a_model_that_was_never_initialized():
    shim = make_shim()
    assert shim.to_bytes() == b""
    assert not make_shim().from_bytes(b"").is_ready


def test_unknown_attribute_changes_nothing():
    shim = make_shim(["orht[0]"])
    with pytest.raises(ValueError, match="NL104.*'orht'.*'orth'"):
        begin(shim)
    assert not shim.is_trainable


# --- forward and backprop ----------------------------------------------------------------------


def make_model(**kwargs):
    model = LinearChain(FeatureTemplates(nodes=NODES, edges=EDGES))
    begin(model.shims[0], **kwargs)
    return model


def test_predict_takes_documents_and_what_they_are_encoded_to():
    model = make_model()
    shim = learn(model.shims[0])
    from_docs = model.predict(DOCS)
    from_encoded = model.predict([shim.encode(doc) for doc in DOCS])
    for a, b, doc in zip(from_docs, from_encoded, DOCS, strict=True):
        assert same_bits(a, b)
        assert same_bits(a, predicted_lattice(shim, doc))


def test_nothing_to_predict():
    assert make_model().predict([]) == []


def test_training_sees_the_raw_weights_and_prediction_the_mean():
    model = make_model()
    shim = learn(model.shims[0])
    (raw,), _ = model.begin_update([DOCS[0]])
    (mean,) = model.predict([DOCS[0]])
    assert same_bits(raw, shim.trainer.lattice(rows_of(shim, DOCS[0])))
    assert not same_bits(raw, mean)


def test_backprop_takes_moves():
    model, other = make_model(), begin(make_shim())
    rng = np.random.default_rng(0)
    moves = [Move(*random_paths(rng, len(doc), 3), 0.5) for doc in DOCS]
    moves[2] = None
    _, backprop = model.begin_update(DOCS)
    assert backprop(moves) == []
    for doc, move in zip(DOCS, moves, strict=True):
        other.learn(other.trainer.rows(other.encode(doc), learn=True), move)
    assert model.shims[0].to_bytes() == other.to_bytes()
    assert model.shims[0].trainer.clock == 4


def test_one_move_for_each_sequence():
    model = make_model()
    _, backprop = model.begin_update(DOCS)
    with pytest.raises(ValueError, match="argument"):
        backprop([None])


def test_no_backprop_after_prediction():
    model = make_model()
    _, backprop = model(DOCS, is_train=False)
    with pytest.raises(ValueError, match="NL208"):
        backprop([None] * 4)


def test_finish_update_does_nothing():
    model = make_model()
    before = model.shims[0].to_bytes()
    model.finish_update(None)
    assert model.shims[0].to_bytes() == before


def test_prediction_follows_learning():
    model = make_model()
    shim = model.shims[0]
    (before,) = model.predict(DOCS[:1])
    learn(shim)
    (after,) = model.predict(DOCS[:1])
    assert not same_bits(before, after)


@pytest.mark.parametrize("averaged", [True, False])
def test_the_first_predictions_after_learning_are_like_the_later_ones(averaged):
    """First only the weights at hand are averaged, in the end all of them."""
    model = make_model(averaged=averaged)
    shim = learn(model.shims[0])
    first = [model.predict([doc])[0] for doc in EVERYTHING]
    for _ in range(10):
        last = [model.predict([doc])[0] for doc in EVERYTHING]
    assert shim._predictor is not None
    for a, b, doc in zip(first, last, EVERYTHING, strict=True):
        assert same_bits(a, b)
        assert same_bits(a, predicted_lattice(shim, doc))


def test_a_small_table_of_words_changes_no_prediction(monkeypatch):
    model = make_model()
    learn(model.shims[0])
    want = [model.predict([doc])[0] for doc in EVERYTHING]
    monkeypatch.setattr(attributes, "MAX_WORDS", 3)
    for doc, lattice in zip(EVERYTHING, want, strict=True):
        assert same_bits(model.predict([doc])[0], lattice)


@pytest.mark.parametrize("training", [False, True])
def test_a_small_table_of_words_changes_no_batch(monkeypatch, training):
    monkeypatch.setattr(trainer_module, "MAX_KEPT_BYTES", 0)
    model = make_model(averaged=False)
    learn(model.shims[0])
    want = [model.predict([doc])[0] for doc in EVERYTHING]
    monkeypatch.setattr(attributes, "MAX_WORDS", 3)
    got, _ = model(EVERYTHING, is_train=training)
    assert all(same_bits(a, b) for a, b in zip(got, want, strict=True))


# --- begin -------------------------------------------------------------------------------------


def test_begin_cuts_documents_into_sequences():
    shim, halves = begin(make_shim()), make_shim()
    halves.begin(
        lambda: iter(DOCS),
        lambda doc, encoded: [
            encoded.part(0, len(doc) // 2),
            encoded.part(len(doc) // 2, len(doc)),
        ],
        label_names(3),
        np.ones((3, 3), dtype=bool),
        Rule(averaged=True),
        False,
    )
    keys = {*halves.trainer.node.features.table.keys().tolist()}
    whole = shim.encode(DOCS[0])
    for part in (whole.part(0, 2), whole.part(2, 5)):
        assert {*shim.extractor.keys(shim.extractor.nodes, part).ravel().tolist()} <= keys
    assert not {*shim.extractor.keys(shim.extractor.nodes, whole).ravel().tolist()} <= keys


def test_begin_again_starts_anew():
    shim = trained()
    begin(shim)
    assert shim.to_bytes() == begin(make_shim()).to_bytes()


def test_begin_that_fails_changes_nothing():
    def broken():
        yield DOCS[0]
        raise OSError("the corpus is gone")

    shim = trained()
    before = files(shim)
    with pytest.raises(OSError, match="the corpus is gone"):
        shim.begin(
            broken,
            lambda doc, encoded: [encoded],
            label_names(5),
            np.ones((5, 5), dtype=bool),
            Rule(averaged=False),
            False,
        )
    assert files(shim) == before
    assert agree(shim, trained())


def test_begin_applies_min_count():
    assert len(trained(min_count=2).trainer.node.features) < len(trained().trainer.node.features)


def test_begin_learns_the_lower_lexicon():
    docs = [make_doc(["the", "The", "the", "York"])]
    shim = begin(make_shim(["lower_lexicon[0]"]), docs)
    encoded = shim.encode(make_doc(["The", "york", "said"]))
    assert shim.extractor.reader.words.values[encoded.ids, 0].tolist() == [1, 0, 0]


def test_begin_reads_the_files(resources):
    shim = begin(make_shim(RESOURCE_NODES, [], **resources))
    encoded = shim.encode(make_doc(["York", "Anna", "Lee"]))
    assert encoded.tokens[:, 0].tolist() == [1, 0, 0]
    column = shim.extractor.reader.columns["cluster:3"]
    codes = shim.extractor.reader.words.values[encoded.ids, column].tolist()
    assert codes == [0, 0b1011, 0b1011]


def test_a_missing_file_is_named(tmp_path):
    gazetteers = {"places": Gazetteer(tmp_path / "nowhere.txt")}
    with pytest.raises(OSError, match=r"NL121.*nowhere\.txt"):
        begin(make_shim(RESOURCE_NODES[:1], gazetteers=gazetteers))


def test_clear():
    shim = trained()
    shim.clear()
    assert not shim.is_ready
    assert not shim.is_trainable
    assert shim.to_bytes() == b""
    with pytest.raises(ValueError, match="NL209"):
        _ = shim.predictor
    assert files(learn(begin(shim))) == files(trained())


# --- Features that arrive in update ------------------------------------------------------------


def begun(docs, **kwargs):
    model = LinearChain(FeatureTemplates(nodes=NODES, edges=EDGES, **kwargs))
    begin(model.shims[0], docs)
    return model


def update(model, docs, seed=0):
    rng = np.random.default_rng(seed)
    lattices, backprop = model.begin_update(docs)
    backprop([Move(*random_paths(rng, len(doc), 3), 1 / 4) for doc in docs])
    return lattices


def many(n):
    """Documents of new words, enough for any room there is."""
    return [make_doc([f"{word}{i}" for word in ("Anna", "said", "York")]) for i in range(n)]


@pytest.mark.parametrize("ready", [True, False])
def test_predictions_with_a_grown_table(ready):
    """Looked at, not learned from: the table has grown, but the weights, and all scores, are the same."""
    model = begun(DOCS[:2])
    shim = model.shims[0]
    update(model, DOCS[:2])
    old, docs = shim.predictor, [DOCS[0], *many(3)]
    want = [predicted_lattice(shim, doc) for doc in docs]
    if not ready:
        shim._predictor = None
    model.begin_update(many(20))
    assert len(shim.trainer.node.features) > len(old.node_table)
    for _ in range(30):
        for doc, before in zip(docs, want, strict=True):
            (lattice,) = model.predict([doc])
            assert same_bits(lattice, before)
            assert same_bits(lattice, shim.trainer.mean_lattice(rows_of(shim, doc)))
    # In the end there is one, with weights for every feature in its own table.
    assert shim._predictor is not None
    assert (shim._predictor is old) == ready
    assert len(shim.predictor.node_weights) == len(shim.predictor.node_table)
    assert len(shim.predictor.edge_weights) == len(shim.predictor.edge_table)


def test_an_old_predictor_still_works():
    """Whoever holds on to it gets the scores of then, however much is learned since."""
    model = begun(DOCS[:2])
    shim = model.shims[0]
    update(model, DOCS[:2])
    docs = [*DOCS, *many(20)]
    old = shim.predictor
    tables = [table.keys().tolist() for table in (old.node_table, old.edge_table)]
    want = [old.lattice(shim.encode(doc)) for doc in docs]
    model.begin_update(docs)
    for _ in range(2):
        for doc, lattice in zip(docs, want, strict=True):
            assert same_bits(old.lattice(shim.encode(doc)), lattice)
        update(model, docs)
    assert [table.keys().tolist() for table in (old.node_table, old.edge_table)] == tables
    assert not any(
        same_bits(predicted_lattice(shim, doc), lattice)
        for doc, lattice in zip(docs, want, strict=True)
    )


@pytest.mark.parametrize("min_count", [1, 2])
def test_saving_after_the_table_has_grown(min_count):
    model = begun(DOCS[:2], min_count=min_count)
    shim = model.shims[0]
    _ = shim.predictor
    model.begin_update([*DOCS, *many(5)])
    other = make_shim()
    other.load(*files(shim))
    assert agree(shim, other)
    assert files(other) == files(shim)
    for each in (model.shims[0], other):
        learn(each)
    assert files(other) == files(shim)


def test_a_batch_may_grow_the_table_for_those_before():
    """Rows are found for the whole batch before any lattice is made: all weights must be there by then."""
    docs = [*DOCS, *many(30)]
    one, batch = begun(docs), begun(DOCS[:1])
    want, got = update(one, docs), update(batch, docs)
    assert all(same_bits(a, b) for a, b in zip(got, want, strict=True))
    assert agree(one.shims[0], batch.shims[0], docs)


@pytest.mark.parametrize("averaged", [True, False])
@pytest.mark.parametrize("min_count", [1, 2, 3])
def test_resuming_with_rare_features(min_count, averaged):
    """What was seen, and how often, is saved as well: the same features are promoted at the same time."""

    def run(stop):
        shim = begin(make_shim(min_count=min_count), DOCS[:1], averaged=averaged)
        rng, docs = np.random.default_rng(1), [*DOCS, *UNSEEN, *DOCS, make_doc(["zag", "Rome"])]
        sizes = []
        for i, doc in enumerate(docs):
            if i == stop:
                other = make_shim()  # whose config says nothing of min_count
                other.load(*files(shim))
                shim = other
            move = Move(*random_paths(rng, len(doc), 3), 1 / 3)
            shim.learn(shim.trainer.rows(shim.encode(doc), learn=True), move)
            sizes.append(len(shim.trainer.node.features))
        return files(shim), sizes

    want, sizes = run(None)
    assert len({*sizes}) > 2
    for stop in range(0, 12, 2):
        assert run(stop) == (want, sizes)


def test_begin_sees_words_and_update_sees_tags():
    """As with a tagger that runs during training: what looks at tags is learned from, too."""
    untagged = [make_doc([token.text for token in doc], [""] * len(doc)) for doc in DOCS]
    late, early = begin(make_shim(), untagged), begin(make_shim())
    for shim in (late, early):
        learn(shim)
    assert len(late.trainer.node.features) > len(early.trainer.node.features)
    assert agree(late, early)


# --- Copies ------------------------------------------------------------------------------------


COPIES = {
    "copy": lambda shim: shim.copy(),
    "deepcopy": copy.deepcopy,
    "pickle": lambda shim: pickle.loads(pickle.dumps(shim)),  # noqa: S301
    "bytes": lambda shim: make_shim().from_bytes(shim.to_bytes()),
}


@pytest.mark.parametrize("averaged", [True, False])
@pytest.mark.parametrize("way", COPIES)
def test_copies(way, averaged):
    shim = trained(averaged=averaged)
    other = COPIES[way](shim)
    assert other.to_bytes() == shim.to_bytes()
    assert agree(shim, other)
    # And each goes its own way.
    before = shim.to_bytes()
    learn(other)
    assert shim.to_bytes() == before
    assert learn(shim).to_bytes() == other.to_bytes()


@pytest.mark.parametrize("way", COPIES)
def test_copies_of_what_was_never_initialized(way):
    assert not COPIES[way](make_shim()).is_ready


def test_thinc_copies_and_saves_the_model():
    model = make_model()
    learn(model.shims[0])
    for other in (
        model.copy(),
        LinearChain(FeatureTemplates(nodes=NODES, edges=EDGES)).from_bytes(model.to_bytes()),
    ):
        assert agree(model.shims[0], other.shims[0])
        assert other.shims[0].is_trainable


def test_thinc_saves_the_model_to_disk(tmp_path):
    model = make_model()
    learn(model.shims[0])
    model.to_disk(tmp_path / "model")
    other = LinearChain(FeatureTemplates(nodes=NODES, edges=EDGES)).from_disk(tmp_path / "model")
    assert agree(model.shims[0], other.shims[0])


# --- Two files ---------------------------------------------------------------------------------


def test_model_and_training_file():
    shim, other = trained(), make_shim()
    learner = {"name": "Perceptron", "seen": 12}
    model, training = files(shim, learner)
    assert other.load(model, training) == learner
    assert other.is_trainable
    assert agree(shim, other)
    assert files(other, learner) == (model, training)


def test_model_file_alone():
    shim, other = trained(), make_shim()
    model, _ = files(shim)
    assert other.load(model, None) == {}
    assert other.is_ready
    assert not other.is_trainable
    assert agree(shim, other)
    assert other.model_bytes("tagger") == model[0]
    with pytest.raises(ValueError, match="NL210"):
        _ = other.trainer
    # And once more through thinc.
    assert agree(shim, make_shim().from_bytes(other.to_bytes()))


@pytest.mark.parametrize("averaged", [True, False])
def test_training_goes_on_as_if_it_had_not_stopped(averaged):
    straight = learn(trained(averaged=averaged), epochs=2, seed=1)
    stopped, other = trained(averaged=averaged), make_shim()
    other.load(*files(stopped))
    assert files(learn(other, epochs=2, seed=1)) == files(straight)


def test_the_same_training_gives_the_same_bytes():
    assert files(trained()) == files(trained())


def test_templates_travel_with_the_model():
    other = make_shim(["is_title[0]"])
    other.load(files(trained())[0], None)
    assert agree(trained(), other)


def test_resources_travel_with_the_model(resources, tmp_path):
    shim = trained(RESOURCE_NODES, **resources)
    nowhere = {
        "gazetteers": {"places": Gazetteer(tmp_path / "nowhere")},
        "clusters": Clusters(tmp_path / "nowhere"),
    }
    for training in (None, files(shim)[1]):
        other = make_shim(RESOURCE_NODES, **nowhere)
        other.load(files(shim)[0], training)
        assert agree(shim, other)
        assert other.model_bytes("tagger") == shim.model_bytes("tagger")


def test_weights_are_small_on_disk():
    shim = begin(make_shim())
    assert len(shim.model_bytes("tagger")) < 1000
    assert len(trained().model_bytes("tagger")) > len(shim.model_bytes("tagger"))


# --- Files that do not fit ---------------------------------------------------------------------


def refuse(match, model, training=None, **kwargs):
    """Loading fails, and leaves everything as it was."""
    shim = trained()
    before = files(shim)
    with pytest.raises(ValueError, match=match):
        shim.load(model, training, **kwargs)
    assert files(shim) == before
    fresh = make_shim()
    with pytest.raises(ValueError, match=match):
        fresh.load(model, training, **kwargs)
    assert not fresh.is_ready


def flipped(data, at):
    return data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :]


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_damaged_files_are_named(share):
    (model, _), (training, _) = files(trained(labels=4))
    code = "NL201" if share == 0 else "NL203"
    for damage in (flipped, lambda data, at: data[:at]):
        broken = damage(model, int(len(model) * share)), "dir/model"
        refuse(f"{code}.*dir/model", broken)
        refuse(f"{code}.*dir/model", broken, (training, "dir/training"))
        broken = damage(training, int(len(training) * share)), "dir/training"
        refuse(f"{code}.*dir/training", (model, "dir/model"), broken)


def test_files_in_each_others_place():
    (model, _), (training, _) = files(trained())
    refuse("NL204.*dir/model.*'training'.*'model'", (training, "dir/model"))
    refuse("NL204.*dir/training.*'model'", (model, "dir/model"), (model, "dir/training"))


def test_files_of_two_models():
    model, _ = files(trained(labels=3))
    _, training = files(trained(labels=4))
    refuse("NL211.*dir/training", model, training)


def test_files_of_two_states_of_a_model():
    model, _ = files(trained())
    _, training = files(learn(trained()))
    refuse("NL211.*dir/training", model, training)


@pytest.mark.parametrize(
    "labels", [(), ("L0", "L1"), ("L0", "L2", "L1"), ("L0", "L1", "L2", "L3"), ("l0", "L1", "L2")]
)
def test_other_labels(labels):
    model, training = files(trained())
    match = (
        f"NL411.*dir/model was saved with the labels L0, L1, L2, but .* give {', '.join(labels)}:"
    )
    for file in (None, training):
        refuse(match, model, file, labels=labels)


def test_the_same_labels():
    model, training = files(trained())
    make_shim().load(model, training, labels=label_names(3))
    make_shim().load(model, None, labels=label_names(3))


def test_transitions_travel_with_the_model():
    transitions = np.array([[True, True, False], [False, True, True], [True, False, True]])
    shim = learn(begin(make_shim(), transitions=transitions))
    for training in (None, files(shim)[1]):
        other = make_shim()
        other.load(files(shim)[0], training)
        assert agree(shim, other)
        edge = predicted_lattice(other, DOCS[0]).edge[:, :, :3]
        assert ((edge == -np.inf) == ~transitions).all()


@pytest.mark.parametrize("averaged", [True, False])
def test_other_averaging(averaged):
    model, training = files(trained(averaged=averaged), {"name": "Some"})
    refuse("NL413.*dir.*Some", model, training, rule=Rule(not averaged))
    make_shim().load(model, training, rule=Rule(averaged))
    # Who only predicts need not care.
    make_shim().load(model, None, rule=Rule(not averaged))


RULES = [
    Rule(averaged=False),
    FrequencyDecay(averaged=False, upper=0.9, lower=0.5),
    FrequencyScale(averaged=False, most=8.0, least=0.5),
    CumulativeL1(averaged=False),
]


@pytest.mark.parametrize("given", range(4))
@pytest.mark.parametrize("saved", range(4))
def test_rules_of_another_kind(saved, given):
    model, training = files(begin(make_shim(), rule=RULES[saved]), {"name": "Some"})
    shim = make_shim()
    if saved == given:
        shim.load(model, training, rule=RULES[given])
        assert shim.trainer.rule is RULES[given]
    else:
        with pytest.raises(ValueError, match="NL413.*dir/training.*Some"):
            shim.load(model, training, rule=RULES[given])
        assert not shim.is_ready


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_the_rule_travels_with_the_training_file(rule):
    model, training = files(begin(make_shim(), rule=rule))
    shim = make_shim()
    shim.load(model, training)
    assert type(shim.trainer.rule) is type(rule)
    assert shim.trainer.rule.settings() == rule.settings()
    assert files(shim) == (model, training)


def test_a_rule_with_other_settings_is_that_of_the_learner():
    model, training = files(begin(make_shim(), rule=FrequencyDecay(False, 0.9, 0.5)))
    shim = make_shim()
    shim.load(model, training, rule=FrequencyDecay(False, 0.8, 0.1))
    assert (shim.trainer.rule.upper, shim.trainer.rule.lower) == (0.8, 0.1)
    assert shim.trainer.node.rule is shim.trainer.edge.rule is shim.trainer.rule


@pytest.mark.parametrize("averaged", [True, False])
def test_training_files_from_before_there_were_rules(averaged):
    shim = trained(averaged=averaged)
    model, (training, source) = files(shim, {"name": "Some"})
    settings, arrays = unpack(training, "training", "")
    assert settings.pop("rule") == Rule(averaged).settings()
    settings["averaged"] = averaged
    del arrays["penalty"]
    old = pack("training", settings, arrays), source
    refuse("NL413.*dir/training.*Some", model, old, rule=Rule(not averaged))
    refuse("NL413.*dir/training.*Some", model, old, rule=CumulativeL1(averaged))
    for rule in (None, Rule(averaged)):
        other = make_shim()
        assert other.load(model, old, rule=rule) == {"name": "Some"}
        assert files(other, {"name": "Some"}) == (model, (training, source))
        assert files(learn(other, seed=1)) == files(learn(trained(averaged=averaged), seed=1))


@pytest.mark.parametrize("probabilistic", [True, False])
def test_scores_of_another_kind(probabilistic):
    shim = learn(begin(make_shim(), probabilistic=probabilistic))
    model, training = files(shim)
    saved = "scores are probabilities" if probabilistic else "scores are not probabilities"
    for file in (None, training):
        refuse(f"NL420.*dir/model.*{saved}", model, file, probabilistic=not probabilistic)
        for wanted in (None, probabilistic):
            other = make_shim()
            other.load(model, file, probabilistic=wanted)
            assert other.probabilistic == probabilistic
    assert make_shim().from_bytes(shim.to_bytes()).probabilistic == probabilistic
    shim.clear()
    assert not shim.probabilistic


def test_models_from_before_there_were_probabilities():
    settings, arrays = unpack(trained().model_bytes("tagger"), "model", "")
    assert settings.pop("probabilistic") is False
    shim = make_shim()
    shim.load((pack("model", settings, arrays), "dir/model"), None, probabilistic=False)
    assert not shim.probabilistic
    assert agree(trained(), shim)


@pytest.mark.parametrize("name", ["node.values", "edge.values"])
def test_weights_that_are_not_finite(name):
    settings, arrays = unpack(trained().model_bytes("tagger"), "model", "")
    arrays[name][0] = np.nan
    refuse("NL205.*dir/model", (pack("model", settings, arrays), "dir/model"))


def test_sums_that_are_not_finite():
    model, (training, _) = files(trained())
    settings, arrays = unpack(training, "training", "")
    arrays["node.u.values"][0] = np.inf
    refuse("NL205.*dir/training", model, (pack("training", settings, arrays), "dir/training"))


@pytest.mark.parametrize("part", ["node", "edge"])
@pytest.mark.parametrize("array", ["w", "u"])
def test_weights_that_are_not_finite_are_not_saved(part, array):
    shim = trained()
    getattr(getattr(shim.trainer, part), array)[0, 0] = np.nan
    shim._predictor = None
    with pytest.raises(ValueError, match="NL207.*'tagger'"):
        shim.model_bytes("tagger")
    with pytest.raises(ValueError, match="NL207.*'linear_chain'"):
        shim.to_bytes()


def test_resources_of_another_config(resources, tmp_path):
    shim = trained(RESOURCE_NODES, **resources)
    other = Gazetteer(tmp_path / "places.txt", lower=True)
    fresh = make_shim(RESOURCE_NODES, **{**resources, "gazetteers": {"places": other}})
    with pytest.raises(ValueError, match="NL127"):
        fresh.load(files(shim)[0], None)
    fresh = make_shim(RESOURCE_NODES)
    with pytest.raises(ValueError, match="NL105.*places"):
        fresh.load(files(shim)[0], None)


def test_a_refused_file_does_not_change_the_gazetteers(tmp_path):
    def with_places(text):
        path = tmp_path / f"{text}.txt"
        path.write_text(text, encoding="utf8")
        return trained(["gazetteer:*[0]"], gazetteers={"places": Gazetteer(path)})

    shim, other = with_places("York"), with_places("Anna")
    before = shim.model_bytes("tagger")
    with pytest.raises(ValueError, match="NL201"):
        shim.load(files(other)[0], (b"not a training file", "dir/training"))
    assert shim.model_bytes("tagger") == before


def test_random_weights_survive():
    shim = begin(make_shim(), labels=5, averaged=False)
    random_weights(shim)
    other = make_shim()
    other.load(files(shim)[0], None)
    assert agree(shim, other)
