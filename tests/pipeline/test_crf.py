"""CRF learners inside a pipeline: they learn, go on where they stopped, and stop before they diverge."""

import logging
import math
import random
from functools import partial
from itertools import product

import numpy as np
import pytest
import spacy
from spacy.lang.en import English
from spacy.tokenizer import Tokenizer
from spacy.tokens import Doc, Span
from spacy.training import Example

from spacy_nonlocal.features import attributes
from spacy_nonlocal.learners.learner import Verdict
from spacy_nonlocal.learners.rate_search import PATIENCE, START
from spacy_nonlocal.models import trainer
from spacy_nonlocal.models.storage import unpack

from .test_resume import (
    MORE,
    PARTLY,
    from_bytes,
    reload,
    resume_from,
    state,
    train,
    trained_files,
)
from .util import (
    ENTS,
    NAME,
    TAGS,
    features,
    iob,
    label,
    learner,
    make_doc,
    make_examples,
    make_nlp,
    tags,
    trained,
    update,
)

# With settings that suit a corpus of four documents.
CRF = {
    "SGD": {"l2": 0.1},
    "L1SGD": {"l1": 0.02, "decay": 0.85},
    "ADF": {"l2": 0.1},
    "MADF": {"l2": 0.1, "alpha": 10.0},
    "DCA": {"C": 1.0},
}
WITH_RATE = ["SGD", "L1SGD", "ADF", "MADF"]
# A whole number of periods, and more than one document in each.
PERIODS = (*MORE, *MORE, *MORE[:4])
# So short that all labellings can be tried.
SHORT = (
    ("Anna Smith sleeps", "B-PER I-PER O"),
    ("in New York", "O B-LOC I-LOC"),
    ("Rome", "B-LOC"),
    ("Bob and Anna", "B-PER O B-PER"),
)


@pytest.fixture(autouse=True, scope="module")
def _plain_tokenizer():
    """Documents here come in words: hundreds of pipelines need not learn the exceptions of English each."""
    with pytest.MonkeyPatch.context() as patch:
        make = partial(English, create_tokenizer=lambda nlp: Tokenizer(nlp.vocab))
        patch.setattr(spacy, "blank", lambda lang: make())
        yield


def crf(name, **settings):
    return learner(name, **{**CRF[name], **settings})


def tagger_of(nlp):
    return nlp.get_pipe(NAME)


def begun(data=ENTS, attr="ents", **config):
    """A pipeline that is about to learn, and its examples."""
    nlp = make_nlp(**config)
    examples = make_examples(nlp, data, attr)
    nlp.initialize(lambda: examples)
    return nlp, examples


def model(nlp):
    return tagger_of(nlp).model.shims[0].model_bytes(NAME)


def weights(nlp):
    """All weights that the model file holds."""
    _, arrays = unpack(model(nlp), "model", "")
    return np.concatenate([arrays["node.values"], arrays["edge.values"]])


# --- learning ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CRF)
@pytest.mark.parametrize("scheme", ["BIO", "BILUO", "IO"])
def test_entities(name, scheme):
    nlp = trained(scheme=scheme, **crf(name))
    assert [iob(label(nlp, text)) for text, _ in ENTS] == [labels for _, labels in ENTS]


# Not L1SGD: the mean of sparse weights is not sparse.
@pytest.mark.parametrize("name", ["SGD", "ADF", "MADF", "DCA"])
@pytest.mark.parametrize("average", [True, False])
def test_averaged_or_not(name, average):
    nlp = trained(**crf(name, average=average))
    assert tagger_of(nlp).learner.averaged == average
    assert [iob(label(nlp, text)) for text, _ in ENTS] == [labels for _, labels in ENTS]


@pytest.mark.parametrize("name", CRF)
def test_tags(name):
    nlp = trained(TAGS, "tags", target="tag", **crf(name))
    assert [tags(label(nlp, text)) for text, _ in TAGS] == [labels for _, labels in TAGS]


@pytest.mark.parametrize("name", CRF)
def test_edges_that_look_at_the_text(name):
    """The words "same" and "flip" say how a label follows from the one before, and nothing about the label itself."""
    data = (
        ("x same flip same", "X X Y Y"),
        ("y same flip same", "Y Y X X"),
        ("x flip flip same", "X Y X X"),
        ("y flip same flip", "Y X X Y"),
    )
    right = []
    for edges in (["bias"], ["bias", "orth[0]"]):
        config = features("orth[0]", edges=edges)
        nlp = trained(data * 5, "tags", target="tag", **config, **crf(name))
        right.append(tags(label(nlp, "x flip same same flip flip")) == "X Y Y Y X Y")
    assert right == [False, True]


@pytest.mark.parametrize("name", CRF)
def test_sentences(name):
    nlp = make_nlp(unit="sent", **crf(name))
    examples = []
    for first, second in ((ENTS[0], ENTS[1]), (ENTS[2], ENTS[3])):
        words = f"{first[0]} {second[0]}".split()
        starts = [t in (0, len(first[0].split())) for t in range(len(words))]
        predicted = Doc(nlp.vocab, words=words, sent_starts=starts)
        ents = f"{first[1]} {second[1]}".split()
        examples.append(Example(predicted, Doc(nlp.vocab, words=words, ents=ents)))
    nlp.initialize(lambda: examples)
    assert tagger_of(nlp).learner.sequences == 4
    update(nlp, examples)
    for eg in examples:
        assert iob(nlp(eg.predicted.copy())) == iob(eg.reference)


@pytest.mark.parametrize("name", WITH_RATE)
def test_sentences_set_by_an_annotating_component(name):
    sure = {}
    for unit in ("doc", "sent"):
        nlp = spacy.blank("en")
        nlp.add_pipe("sentencizer")
        nlp.add_pipe(NAME, config={"unit": unit, **learner(name, seed=0)})
        examples = make_examples(nlp, MORE)
        nlp.initialize(lambda e=examples: e)
        for _ in range(40):
            fresh = [Example(eg.predicted.copy(), eg.reference) for eg in examples]
            nlp.update(fresh, annotates=["sentencizer"])
        sure[unit] = [ent._.confidence for text, _ in MORE for ent in label(nlp, text).ents]
    # Each document is one sentence.
    assert len(sure["sent"]) == len(sure["doc"])
    assert np.mean(sure["sent"]) == pytest.approx(np.mean(sure["doc"]), abs=0.05)


# --- the loss ------------------------------------------------------------------------------------


def legal(names):
    """Whether labels of the scheme BIO follow each other as they may."""
    before = ("O", *names)
    return all(
        not name.startswith("I-") or previous[2:] == name[2:]
        for previous, name in zip(before, names, strict=False)
    )


def labellings(length, kinds=("LOC", "PER")):
    names = ["O", *(f"{part}-{kind}" for kind in kinds for part in "BI")]
    return [each for each in product(names, repeat=length) if legal(each)]


@pytest.mark.parametrize("name", CRF)
def test_first_loss_is_that_of_pure_chance(name):
    """All weights are zero: -log p(gold) is the logarithm of how many labellings there are."""
    nlp = make_nlp(**crf(name))
    for first in SHORT:
        examples = make_examples(nlp, (first, *MORE, *MORE))
        tagger_of(nlp).initialize(lambda e=examples: e)
        count = len(labellings(len(first[0].split())))
        assert nlp.update(examples[:1]) == {NAME: pytest.approx(math.log(count), rel=1e-6)}


@pytest.mark.parametrize("name", CRF)
def test_first_loss_of_partly_known_documents(name):
    nlp = make_nlp(**crf(name))
    for text, known in (
        ("Anna Smith sleeps", "B-PER ? O"),
        ("Anna Smith sleeps", "? ? O"),
        ("in New York", "? B-LOC I-LOC"),
        ("in New York", "O B-LOC ?"),
        ("in New York now", "O ? ? O"),
    ):
        examples = make_examples(nlp, ((text, known), *MORE, *MORE))
        tagger_of(nlp).initialize(lambda e=examples: e)
        possible = labellings(len(text.split()))
        agree = [
            names
            for names in possible
            if all(k in ("?", n) for k, n in zip(known.split(), names, strict=True))
            # A span that is known ends where it ends.
            and not any(
                k == "?" and n.startswith("I-") and before != "?"
                for before, k, n in zip(("?", *known.split()), known.split(), names, strict=False)
            )
        ]
        expected = math.log(len(possible) / len(agree))
        assert nlp.update(examples[:1]) == {NAME: pytest.approx(expected, rel=1e-6)}


@pytest.mark.parametrize("name", CRF)
def test_loss_falls(name):
    # Ten documents are ten periods: the penalty is in the loss once in each pass.
    nlp, examples = begun(PERIODS[:10], **crf(name))
    losses = [update(nlp, examples, passes=1) for _ in range(30)]
    assert all(math.isfinite(loss) and loss > 0 for loss in losses)
    assert losses[-1] < losses[0]
    assert sum(losses[1:6]) < 5 * losses[0]
    assert [iob(label(nlp, text)) for text, _ in MORE] == [labels for _, labels in MORE]


@pytest.mark.parametrize("name", ["SGD", "MADF"])
def test_the_penalty_is_counted_once_in_a_pass(name):
    """A hundred and five documents: there are ten whole periods in each pass."""
    nlp, examples = begun(((MORE * 14)[:105]), **crf(name, rate=0.1))
    assert tagger_of(nlp).learner.period == 10
    learning, penalties = tagger_of(nlp).learner, []
    original = learning.penalty
    learning.penalty = lambda *norms: penalties.append(original(*norms)) or penalties[-1]
    for passes in (1, 2):
        update(nlp, examples, passes=1)
        assert len(penalties) == passes
    assert all(0 < value < math.inf for value in penalties)


def test_learners_with_one_objective_agree():
    """SGD and MADF follow one convex objective: in the end they are equally sure of the same."""
    sgd, madf = (
        trained(SHORT, passes=400, **learner(name, l2=1.0, rate=0.1, **more))
        for name, more in (("SGD", {}), ("MADF", {"alpha": 1.0, "beta": 0.5}))
    )
    for text, _ in SHORT:
        one, other = (tagger_of(nlp).marginals(make_doc(nlp, text)).tolist() for nlp in (sgd, madf))
        assert np.allclose(one, other, atol=0.03)


# --- one seed, one outcome -----------------------------------------------------------------------


@pytest.mark.parametrize("name", CRF)
def test_same_seed_same_bytes(name):
    first, second = (trained(PERIODS, passes=3, **crf(name)) for _ in range(2))
    assert tagger_of(first).to_bytes() == tagger_of(second).to_bytes()


@pytest.mark.parametrize("name", CRF)
def test_initialized_again_is_as_new(name):
    nlp = trained(MORE, passes=3, **crf(name))
    before = state(nlp)
    examples = make_examples(nlp, MORE)
    nlp.initialize(lambda: examples)
    update(nlp, examples, passes=3)
    assert state(nlp) == before


@pytest.mark.parametrize("name", CRF)
@pytest.mark.parametrize("way", ["disk", "bytes"])
def test_update_after_reload(name, way, tmp_path):
    config = crf(name)
    steady, stopped = (trained(PERIODS, passes=1, **config) for _ in range(2))
    # Not at the end of a period.
    for nlp in (steady, stopped):
        update(nlp, make_examples(nlp, MORE[:3]), passes=1)
        assert tagger_of(nlp).learner.time % tagger_of(nlp).learner.period
    stopped = reload(stopped, tmp_path) if way == "disk" else from_bytes(stopped, config)
    assert state(stopped) == state(steady)
    for nlp in (steady, stopped):
        update(nlp, make_examples(nlp, MORE[::-1]), passes=2)
    assert state(stopped) == state(steady)


@pytest.mark.parametrize("name", CRF)
def test_reload_in_the_first_pass(name):
    """Before all features have come up for the first time."""
    config = crf(name) if name == "DCA" else crf(name, rate=0.1)
    steady, stopped = (trained(MORE, passes=0, **config) for _ in range(2))
    for nlp in (steady, stopped):
        nlp.update(make_examples(nlp, MORE[:3]))
    stopped = from_bytes(stopped, config)
    for nlp in (steady, stopped):
        nlp.update(make_examples(nlp, MORE[3:]))
    assert state(stopped) == state(steady)


@pytest.mark.parametrize("name", CRF)
@pytest.mark.parametrize("data", [MORE, PERIODS])
def test_interrupted_and_resumed_after_each_pass(name, data, tmp_path):
    passes = 3
    steady, examples = begun(data, **crf(name))
    checkpoints = []
    for i in range(passes):
        steady.to_disk(tmp_path / str(i))
        checkpoints.append(state(steady))
        update(steady, examples, passes=1)
    for i in range(passes):
        resumed = make_nlp(**crf(name))
        examples = make_examples(resumed, data)
        tagger = tagger_of(resumed)
        tagger.initialize(lambda e=examples: e, nlp=resumed, resume=tmp_path / str(i))
        assert state(resumed) == checkpoints[i]
        update(resumed, examples, passes)
        assert state(resumed) == state(steady)


def test_losses_of_a_resumed_run(tmp_path):
    steady, examples = begun(PERIODS, **crf("MADF"))
    losses = []
    for i in range(3):
        if i == 1:
            steady.to_disk(tmp_path)
        losses.append(update(steady, examples, passes=1))
    resumed = make_nlp(**crf("MADF"))
    tagger_of(resumed).initialize(lambda: examples, nlp=resumed, resume=tmp_path)
    again = [update(resumed, make_examples(resumed, PERIODS), passes=1) for _ in range(3)]
    assert again == [0.0, *losses[1:]]


def test_spacy_train_is_resumed(tmp_path):
    whole = train(tmp_path, "whole", max_steps=20, name="MADF")
    cut = train(tmp_path, "cut", max_steps=10, name="MADF")
    again = resume_from(cut / "model-last")
    resumed = train(tmp_path, "resumed", max_steps=20, name="MADF", extra=again)
    assert trained_files(resumed / "model-last") == trained_files(whole / "model-last")


@pytest.mark.parametrize(("saved", "given"), [("SGD", "MADF"), ("ADF", "L1SGD"), ("MADF", "SGD")])
def test_another_crf_learner_cannot_go_on(saved, given, tmp_path):
    nlp = trained(passes=2, **crf(saved))
    nlp.to_disk(tmp_path)
    other = make_nlp(**crf(given))
    with pytest.raises(ValueError, match=rf"\[NL413\].*{saved}"):
        tagger_of(other).from_disk(tmp_path / NAME)
    # Prediction alone needs no learner.
    tagger_of(other).from_disk(tmp_path / NAME, exclude=["training"])
    before, after = (tagger_of(each).marginals(make_doc(nlp, MORE[4][0])) for each in (nlp, other))
    assert before.tolist() == after.tolist()


# --- incomplete data -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", CRF)
def test_partly_annotated_documents(name):
    nlp = trained(PARTLY, **crf(name))
    for text, labels in PARTLY:
        given = iob(label(nlp, text)).split()
        assert all(k in ("?", n) for k, n in zip(labels.split(), given, strict=True))


@pytest.mark.parametrize("name", CRF)
def test_partly_tagged_documents(name):
    data = (("the dog sees a cat", "DT ? VBZ ? NN"), ("a cat", "DT ?"), ("dog", "?"))
    nlp = trained(data, "tags", target="tag", **crf(name))
    assert tags(label(nlp, "the cat sees")) == "DT NN VBZ"


@pytest.mark.parametrize("name", CRF)
def test_documents_of_which_nothing_is_known(name):
    """They are no sequences to learn from, and change nothing."""
    nothing = ("Nobody knows this", "? ? ?")
    nlp, examples = begun((*ENTS, nothing), **crf(name))
    assert tagger_of(nlp).learner.sequences == len(ENTS)
    update(nlp, examples, passes=2)
    before = model(nlp)
    losses = nlp.update(make_examples(nlp, [nothing]))
    assert losses == {NAME: 0.0}
    assert model(nlp) == before


@pytest.mark.parametrize("name", CRF)
def test_one_document_of_one_word(name):
    nlp = trained((("Rome", "B-LOC"),), **crf(name))
    assert iob(label(nlp, "Rome")) == "B-LOC"


# --- features that come late ---------------------------------------------------------------------


@pytest.mark.parametrize("name", CRF)
def test_features_from_an_annotating_component(name):
    """The first tagger's tags are all that the second one sees, and there are none before it has learned."""
    nlp = spacy.blank("en")
    nlp.add_pipe(NAME, name="tags", config={"target": "tag", **crf(name)})
    nlp.add_pipe(NAME, name="names", config={**features("tag[0]"), **crf(name)})
    data = (("the dog Rex", "DT NN NNP"), ("Bello sees the cat", "NNP VBZ DT NN"))
    examples = make_examples(nlp, data, "tags")
    for eg in examples:
        eg.reference.ents = [
            Span(eg.reference, t.i, t.i + 1, label="DOG") for t in eg.reference if t.tag_ == "NNP"
        ]
    nlp.initialize(lambda: examples)
    before = len(nlp.get_pipe("names").model.shims[0].trainer.node.features)
    for _ in range(60):
        fresh = [Example(eg.predicted.copy(), eg.reference) for eg in examples]
        losses = nlp.update(fresh, annotates=["tags"])
    assert len(nlp.get_pipe("names").model.shims[0].trainer.node.features) > before
    assert all(math.isfinite(loss) for loss in losses.values())
    doc = label(nlp, "the cat Rex")
    assert tags(doc) == "DT NN NNP"
    assert [ent.text for ent in doc.ents] == ["Rex"]


def test_late_features_have_the_rate_of_their_frequency():
    settings = {"alpha": 10.0, "beta": 0.5}
    nlp, _ = begun(ENTS, **features("orth[0]"), **learner("MADF", rate=0.1, **settings))
    node = tagger_of(nlp).model.shims[0].trainer.node
    before = node.used
    nlp.update(make_examples(nlp, (("new new words", "O O O"),)))
    rates = node.beside["rate"][before : node.used]
    expected = [1 / (0.5 + 9.5 * share) for share in (2 / 3, 1 / 3)]
    assert rates.shape[0] == 2
    assert sorted(rates[:, 0].tolist()) == pytest.approx(sorted(expected), rel=1e-5)


@pytest.mark.parametrize("name", CRF)
def test_new_documents_after_reload(name, tmp_path):
    steady, stopped = (trained(passes=2, **crf(name)) for _ in range(2))
    stopped = reload(stopped, tmp_path)
    for nlp in (steady, stopped):
        update(nlp, make_examples(nlp, MORE[4:]), passes=2)
    assert state(stopped) == state(steady)


# --- starting from a mean ------------------------------------------------------------------------


@pytest.mark.parametrize("name", CRF)
def test_bpm_runs(name):
    outcomes = []
    for _ in range(2):
        nlp = make_nlp(**crf(name))
        examples = make_examples(nlp, MORE)
        tagger_of(nlp).initialize(lambda e=examples: e, nlp=nlp, bpm_runs=3, bpm_seed=1)
        assert tagger_of(nlp).learner.time == 0
        outcomes.append(state(nlp))
        update(nlp, examples)
        assert [iob(label(nlp, text)) for text, _ in MORE] == [labels for _, labels in MORE]
        outcomes.append(state(nlp))
    assert outcomes[:2] == outcomes[2:]


@pytest.mark.parametrize("name", CRF)
def test_one_bpm_run_over_one_document_is_one_update(name):
    config = crf(name) if name == "DCA" else crf(name, rate=0.1)
    nlp, examples = begun(ENTS[:1], **config)
    nlp.update(examples)
    other = make_nlp(**config)
    examples = make_examples(other, ENTS[:1])
    tagger_of(other).initialize(lambda: examples, nlp=other, bpm_runs=1)
    for text, _ in ENTS:
        one, two = (tagger_of(each).marginals(make_doc(nlp, text)) for each in (nlp, other))
        assert np.allclose(one, two, atol=1e-6)


# --- the first step ------------------------------------------------------------------------------


def objective(name, rate):
    """The objective on SHORT after one pass over the sample, by trying all labellings."""
    nlp = make_nlp(**crf(name, rate=rate))
    examples = make_examples(nlp, SHORT)
    nlp.initialize(lambda: examples)
    order = random.Random(0).sample(range(len(SHORT)), len(SHORT))
    nlp.update([examples[i] for i in order])
    total = 0.0
    columns = tagger_of(nlp).label_names
    for text, gold in SHORT:
        (lattice,) = tagger_of(nlp).model.predict([make_doc(nlp, text)])
        scores = {}
        for names in labellings(len(text.split())):
            path = [columns.index(each) for each in names]
            node = sum(float(lattice.node[t, y]) for t, y in enumerate(path))
            pairs = zip(path, path[1:], strict=False)
            scores[names] = node + sum(float(lattice.edge[0, a, b]) for a, b in pairs)
        highest = max(scores.values())
        log_z = highest + math.log(sum(math.exp(each - highest) for each in scores.values()))
        total += log_z - scores[tuple(gold.split())]
    w = weights(nlp).astype(np.float64)
    if name == "L1SGD":
        return total + CRF[name]["l1"] * np.abs(w).sum()
    return total + CRF[name]["l2"] / 2 * (w**2).sum()


def logged(caplog):
    return [each for each in caplog.messages if "first step" in each]


@pytest.mark.parametrize("name", [*CRF][:-1])
def test_the_first_step_is_the_best_of_many(name, caplog):
    with caplog.at_level(logging.INFO, logger="spacy"):
        nlp, _ = begun(SHORT, **crf(name))
    rate = tagger_of(nlp).learner.rate
    exponent = math.log2(rate / START)
    assert exponent == round(exponent) >= 0
    tried = [START * 2.0**i for i in range(int(exponent) + 1 + PATIENCE)]
    values = [objective(name, each) for each in tried]
    assert tried[int(np.argmin(values))] == rate
    (message,) = logged(caplog)
    assert f"{NAME}: first step of {name} is {rate:g}," in message
    assert "sample of 4 of 4 sequences" in message
    said = float(message.rsplit("objective ", 1)[1].rstrip(")"))
    assert said == pytest.approx(min(values), rel=1e-3)


@pytest.mark.parametrize("name", [*CRF][:-1])
def test_looking_for_the_first_step_leaves_no_trace(name):
    found, _ = begun(MORE, **crf(name))
    rate = tagger_of(found).learner.rate
    given, _ = begun(MORE, **crf(name, rate=rate))
    assert not weights(found).any()
    for nlp in (found, given):
        assert tagger_of(nlp).learner.time == 0
        update(nlp, make_examples(nlp, MORE), passes=3)
    for text, _ in MORE:
        one, two = (tagger_of(nlp).marginals(make_doc(nlp, text)) for nlp in (found, given))
        assert np.allclose(one, two, atol=1e-5)


@pytest.mark.parametrize("name", WITH_RATE)
def test_a_given_rate_is_kept(name, caplog):
    with caplog.at_level(logging.INFO, logger="spacy"):
        nlp, examples = begun(MORE, **crf(name, rate=0.03))
        update(nlp, examples, passes=2)
    assert tagger_of(nlp).learner.rate == 0.03
    assert logged(caplog) == []


@pytest.mark.parametrize("name", WITH_RATE)
def test_same_seed_same_first_step(name):
    # More than there are in a sample.
    data = MORE * 20
    rates = {tagger_of(begun(data, **crf(name, seed=7))[0]).learner.rate for _ in range(2)}
    assert len(rates) == 1
    assert rates.pop() > 0


def test_the_sample_is_drawn_by_the_seed(caplog):
    with caplog.at_level(logging.INFO, logger="spacy"):
        for seed in (0, 0, 1):
            begun(MORE * 20, **crf("SGD", seed=seed))
    first, second, other = logged(caplog)
    assert "sample of 100 of 160 sequences" in first
    assert first == second != other


def test_dca_needs_no_first_step(caplog):
    with caplog.at_level(logging.INFO, logger="spacy"):
        begun(MORE, **crf("DCA"))
    assert logged(caplog) == []


def test_no_first_step_is_found(monkeypatch):
    nlp = make_nlp(**crf("SGD"))
    examples = make_examples(nlp)
    monkeypatch.setattr(
        tagger_of(nlp).learner, "judge", lambda *args: Verdict(None, math.nan), raising=True
    )
    with pytest.raises(ValueError, match=r"\[NL506\].*'local_tagger'.*SGD.*`rate`"):
        nlp.initialize(lambda: examples)


# --- weights that are zero -----------------------------------------------------------------------


def test_l1_stores_no_zeros():
    files = {}
    for l1 in (0.001, 0.3):
        nlp = trained(MORE, **learner("L1SGD", l1=l1, rate=0.1))
        files[l1] = len(model(nlp)), np.count_nonzero(weights(nlp)), len(weights(nlp))
        # Whatever is in the file is not zero.
        assert files[l1][1] == files[l1][2]
    dense = trained(MORE, **learner("SGD", l2=0.1, rate=0.1))
    assert files[0.3][0] < files[0.001][0] < len(model(dense))
    assert 0 < files[0.3][1] < files[0.001][1] / 3
    assert files[0.3][1] < np.count_nonzero(weights(dense)) / 5


def test_strong_l1_leaves_hardly_anything():
    nlp = trained(MORE, passes=20, **learner("L1SGD", l1=1000.0, rate=0.1))
    assert np.count_nonzero(weights(nlp)) <= 5
    assert np.abs(weights(nlp)).max(initial=0) < 0.01
    nlp.from_bytes(nlp.to_bytes())
    assert iob(label(nlp, ENTS[0][0])).count("-") == 0


def test_what_is_due_is_paid_when_it_is_used():
    """Whether the weights were asked for in the middle of a period or not, they become the same."""
    steady, curious = (trained(PERIODS, passes=0, **crf("L1SGD")) for _ in range(2))
    for data in PERIODS:
        for nlp in (steady, curious):
            nlp.update(make_examples(nlp, [data]))
        model(curious)
        label(curious, ENTS[0][0])
    assert state(curious) == state(steady)


# --- divergence ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CRF)
@pytest.mark.parametrize("loss", [math.nan, math.inf, -math.inf])
def test_divergence(name, loss, monkeypatch):
    nlp = trained(passes=2, **crf(name))
    tagger = tagger_of(nlp)
    before = model(nlp)
    judge = tagger.learner.judge
    with monkeypatch.context() as patch:
        patch.setattr(tagger.learner, "judge", lambda *a: judge(*a)._replace(loss=loss))
        setting = "C" if name == "DCA" else "rate"
        value = getattr(tagger.learner, setting)
        with pytest.raises(
            ValueError,
            match=rf"\[NL505\].*'local_tagger'.*the document 'Anna Smith lives in Paris \.'.*"
            rf"{name} is {loss}\..*Lower `{setting}` \(it is {value}\)",
        ):
            nlp.update(make_examples(nlp))
    assert model(nlp) == before
    # What was learned until then is sound.
    update(nlp, make_examples(nlp))
    assert [iob(label(nlp, text)) for text, _ in ENTS] == [labels for _, labels in ENTS]


@pytest.mark.parametrize("name", CRF)
def test_divergence_in_partly_known_documents(name, monkeypatch):
    nlp = trained(PARTLY, passes=2, **crf(name))
    before = model(nlp)
    monkeypatch.setattr(
        tagger_of(nlp).learner, "judge_partly", lambda *args: Verdict(None, math.nan)
    )
    with pytest.raises(ValueError, match=r"\[NL505\].*'local_tagger'.*'Anna Smith lives"):
        nlp.update(make_examples(nlp, PARTLY))
    assert model(nlp) == before


@pytest.mark.parametrize("name", CRF)
def test_weights_that_would_grow_beyond_all_bounds(name, monkeypatch):
    nlp = trained(passes=2, **crf(name))
    tagger = tagger_of(nlp)
    before = model(nlp)
    judge = tagger.learner.judge

    def giant(*args):
        verdict = judge(*args)
        return verdict._replace(move=verdict.move._replace(step=1e38, reach=math.inf))

    monkeypatch.setattr(tagger.learner, "judge", giant)
    with pytest.raises(ValueError, match=r"\[NL505\].*'local_tagger'.*without bounds"):
        nlp.update(make_examples(nlp))
    assert model(nlp) == before


@pytest.mark.parametrize("name", CRF)
def test_absurd_steps_never_leave_numbers_that_are_none(name):
    setting = "C" if name == "DCA" else "rate"
    nlp, examples = begun(MORE, **crf(name, **{setting: 1e6}))
    losses = [update(nlp, examples, passes=1) for _ in range(10)]
    assert all(math.isfinite(loss) for loss in losses)
    assert np.isfinite(weights(nlp)).all()
    doc = label(nlp, ENTS[0][0])
    assert all(0 <= ent._.confidence <= 1 for ent in doc.ents)


# --- settings ------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [0, 0.0, -1.0, 1e9])
@pytest.mark.parametrize(
    ("name", "setting"),
    [
        *((name, "l2") for name in ("SGD", "ADF", "MADF")),
        *((name, "rate") for name in WITH_RATE),
        ("L1SGD", "l1"),
        ("DCA", "C"),
        ("MADF", "alpha"),
        ("MADF", "beta"),
    ],
)
def test_settings_that_are_not_positive_or_absurd(name, setting, value):
    with pytest.raises(ValueError, match=rf"\[NL501\] {name}: `{setting}` is {value}.*1e\+06"):
        make_nlp(**learner(name, **{setting: value}))


@pytest.mark.parametrize("value", [0.0, -0.5, 1.1, 1e9])
@pytest.mark.parametrize(
    ("name", "setting"), [("ADF", "upper"), ("ADF", "lower"), ("L1SGD", "decay")]
)
def test_settings_that_are_no_shares(name, setting, value):
    with pytest.raises(ValueError, match=rf"\[NL503\] {name}: `{setting}` is {value}"):
        make_nlp(**learner(name, **{setting: value}))


@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 2.0), (0.5, 1.0)])
def test_alpha_below_beta(alpha, beta):
    with pytest.raises(ValueError, match=rf"\[NL504\] MADF: `alpha` is {alpha}.*{beta}"):
        make_nlp(**learner("MADF", alpha=alpha, beta=beta))
    make_nlp(**learner("MADF", alpha=beta, beta=beta))


@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize(
    ("name", "setting", "code"),
    [
        ("SGD", "l2", "NL501"),
        ("SGD", "rate", "NL501"),
        ("L1SGD", "l1", "NL501"),
        ("L1SGD", "decay", "NL503"),
        ("ADF", "upper", "NL503"),
        ("MADF", "alpha", "NL501"),
        ("MADF", "beta", "NL501"),
        ("DCA", "C", "NL501"),
    ],
)
def test_settings_that_are_no_numbers(name, setting, code, value):
    # spaCy refuses them in configs, because they are no JSON; in Python, we do.
    with pytest.raises(ValueError, match=r"\[E961\]"):
        make_nlp(**learner(name, **{setting: value}))
    make = spacy.registry.misc.get(f"spacy-nonlocal.{name}.v1")
    with pytest.raises(ValueError, match=rf"\[{code}\] {name}: `{setting}` is {value}"):
        make(**{setting: value})


@pytest.mark.parametrize("name", CRF)
def test_unknown_settings(name):
    with pytest.raises(ValueError, match="lambda_"):
        make_nlp(**learner(name, lambda_=1.0))


# --- Large corpora ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", CRF)
def test_more_words_than_the_table_holds(name, monkeypatch):
    """Numbers of words are worth nothing once the table was emptied: nothing may hold on to them."""
    whole = model(trained(MORE, passes=2, **crf(name)))
    monkeypatch.setattr(attributes, "MAX_WORDS", 3)
    monkeypatch.setattr(trainer, "MAX_KEPT_BYTES", 0)
    assert model(trained(MORE, passes=2, **crf(name))) == whole
