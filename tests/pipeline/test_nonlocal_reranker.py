"""Labelling whole documents: what is learned, what is chosen, what is recorded."""

import pickle
import random
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example

from spacy_nonlocal.candidates import Candidates
from spacy_nonlocal.corpus import ColumnCorpus
from spacy_nonlocal.features.feature_templates import FeatureTemplates
from spacy_nonlocal.features.user_features import UserFeatures
from spacy_nonlocal.learners.averaged_perceptron import AveragedPerceptron
from spacy_nonlocal.learners.joint_passive_aggressive import JointPassiveAggressive
from spacy_nonlocal.learners.joint_perceptron import JointPerceptron
from spacy_nonlocal.learners.margin_perceptron import MarginPerceptron
from spacy_nonlocal.learners.passive_aggressive import PassiveAggressive
from spacy_nonlocal.learners.perceptron import Perceptron
from spacy_nonlocal.models.lattice import Lattice
from spacy_nonlocal.models.linear_chain import LinearChain
from spacy_nonlocal.pipeline.local_tagger import LocalTagger
from spacy_nonlocal.pipeline.nonlocal_reranker import NonlocalReranker

from .test_against_plain_python import (
    CLASSES,
    EDGES,
    LABELS,
    NODES,
    VOCAB,
    PlainTagger,
    compare,
    corpora,
    hamming,
)
from .util import (
    ENTS,
    JOINT,
    NAME,
    RERANKER,
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

ASSETS = Path(__file__).parents[2] / "assets"
SCHEMES = ("BIO", "BILUO", "IO")
USER = f"{__name__}.user_strings"
BARE = "Anna Smith lives in Paris ."
# The word before tells persons from places, but after "Then" there are as many of both.
NAMESAKES = tuple(
    (f"{before} {name} stays . Then {name} spoke .", f"O B-{kind} O O O B-{kind} O O")
    for name in ("Kent", "Hudson", "Lincoln", "Raleigh")
    for before, kind in (("Mr", "PER"), ("in", "LOC"))
)
UNSEEN = {
    "PER": "Mr Zorn stays . Then Zorn spoke .",
    "LOC": "in Zorn stays . Then Zorn spoke .",
}


def strings(words, spans):
    """Features of a labelled document: what spans with the same words are, and how many have how many words."""
    for i, (start, end, kind) in enumerate(spans):
        yield f"{end - start} words"
        for other_start, other_end, other in spans[i + 1 :]:
            if words[start:end] == words[other_start:other_end]:
                yield f"{kind} and {other}"
        if words.count(words[start]) > 1:
            yield f"{kind} repeated"


def user_strings(doc, spans):
    return strings([t.text for t in doc], [(s.start, s.end, s.label_) for s in spans])


def failing_strings(doc, spans):
    if len(spans) == 1:
        raise KeyError("no such thing")
    return ["fine"]


def user(function=USER):
    """The config of a block of user features."""
    return {"@misc": "spacy-nonlocal.UserFeatures.v1", "function": function}


def reranker_of(nlp):
    return nlp.get_pipe(NAME)


def given_labels(nlp, data=ENTS):
    return [iob(label(nlp, text)) for text, _ in data]


def right(data=ENTS):
    return [labels for _, labels in data]


def without_nonlocal(nlp, **config):
    """The same pipeline, blind to all that is non-local."""
    return make_nlp(**RERANKER, **config, nonlocal_features={}).from_bytes(nlp.to_bytes())


def state(component):
    return component.to_bytes(exclude=["vocab"])


@pytest.fixture(scope="module")
def namesakes():
    """A pipeline that has learned that a name has one label in a document."""
    return trained(NAMESAKES, passes=20, **RERANKER, **features("orth[-1]"))


# --- without non-local features, the algorithms of the local tagger ------------------------------


def components(local, joint, *, unit="doc", scheme="BIO"):
    """A local tagger and a reranker without non-local features."""
    shared = {"unit": unit, "scheme": scheme}

    def model():
        return LinearChain(FeatureTemplates(nodes=list(NODES), edges=list(EDGES)))

    tagger = LocalTagger(VOCAB, model(), NAME, learner=local, **shared)
    other = NonlocalReranker(VOCAB, model(), NAME, nonlocal_features={}, ranker=joint, **shared)
    return tagger, other


def one_sentence(words, labels):
    starts = [True] + [False] * (len(words) - 1)
    doc = Doc(VOCAB, words=words, sent_starts=starts)
    ents = ["" if each == "?" else each for each in labels]
    return Example(doc, Doc(VOCAB, words=words, ents=ents))


def learn_alike(taggers, corpus, order, losses=True):
    """All weights of two components, and what they predict with, are the same after every update."""
    for tagger in taggers:
        tagger.initialize(lambda: [one_sentence(*each) for each in corpus], labels=CLASSES)
    for i in order:
        loss, other_loss = (tagger.update([one_sentence(*corpus[i])]) for tagger in taggers)
        assert not losses or loss == other_loss
        first, second = (tagger.model.shims[0].trainer.state() for tagger in taggers)
        assert first.keys() == second.keys()
        for name in first:
            assert np.array_equal(first[name], second[name]), name
        for words, _ in corpus:
            doc = one_sentence(words, ["O"] * len(words)).predicted
            (a,), (b,) = (tagger.model.predict([doc]) for tagger in taggers)
            assert np.array_equal(a.node, b.node)
            assert np.array_equal(a.edge, b.edge)
            (c,), (d,) = (tagger.predict([doc]) for tagger in taggers)
            assert np.array_equal(c.labels, d.labels)


FEW = settings(derandomize=True, deadline=None, max_examples=20)


@pytest.mark.parametrize("unit", ["doc", "sent"])
@pytest.mark.parametrize("scheme", SCHEMES)
@settings(derandomize=True, deadline=None, max_examples=8)
@given(
    data=corpora(unknown=True),
    margin=st.sampled_from([0, 1, 3, 1000]),
    n_best=st.sampled_from([2, 20]),
    average=st.booleans(),
)
def test_algorithm_4_2_without_nonlocal_features_is_the_margin_perceptron(
    unit, scheme, data, margin, n_best, average
):
    joint = JointPerceptron(
        n_best=n_best, margin_local=margin, margin_total=margin, average=average
    )
    local = MarginPerceptron(margin, average)
    learn_alike(components(local, joint, unit=unit, scheme=scheme), *data)


@FEW
@given(data=corpora(), margin=st.sampled_from([0, 1, 3]), extra=st.sampled_from([0, 2, 1000]))
def test_the_larger_margin_counts_without_nonlocal_features(data, margin, extra):
    for margins in ((margin, margin + extra), (margin + extra, margin)):
        joint = JointPerceptron(n_best=5, margin_local=margins[0], margin_total=margins[1])
        learn_alike(components(MarginPerceptron(margin + extra), joint), *data)


@FEW
@given(data=corpora(), average=st.booleans())
def test_with_one_candidate_it_is_the_perceptron(data, average):
    joint = JointPerceptron(n_best=1, margin_local=5, margin_total=0, average=average)
    local = AveragedPerceptron() if average else Perceptron()
    learn_alike(components(local, joint), *data)


@pytest.mark.parametrize("unit", ["doc", "sent"])
@pytest.mark.parametrize("algorithm", ["proposed", "candidate"])
@FEW
@given(
    data=corpora(unknown=True),
    C=st.sampled_from([2**-8, 0.25, 1.0, 100.0]),
    n_best=st.sampled_from([1, 20]),
    average=st.booleans(),
)
def test_passive_aggressive_without_nonlocal_features(unit, algorithm, data, C, n_best, average):  # noqa: N803
    joint = JointPassiveAggressive(C, algorithm, n_best, average=average)
    taggers = components(PassiveAggressive(C, average), joint, unit=unit)
    learn_alike(taggers, *data, losses=False)


@FEW
@given(data=corpora())
def test_losses_of_passive_aggressive_without_nonlocal_features(data):
    # With such steps, scores are exact in single precision, and so are ties.
    C = 2**-8  # noqa: N806
    learn_alike(components(PassiveAggressive(C), JointPassiveAggressive(C)), *data)


@pytest.mark.parametrize(
    "config",
    [learner("PassiveAggressive"), {**learner("JointPassiveAggressive"), "nonlocal_features": {}}],
    ids=["PassiveAggressive", "JointPassiveAggressive"],
)
def test_no_loss_where_nothing_is_left_to_learn(config):
    """A labelling that is as good as the right one, with its costs, is no mistake: nothing moves."""
    nlp = make_nlp(**config, **features("orth[0]", edges=[]))
    examples = make_examples(nlp, (("x", "B-X"),))
    nlp.initialize(lambda: examples)
    assert reranker_of(nlp).update(examples) == {NAME: 1.0}
    before = reranker_of(nlp)._shim.trainer.node.w.copy()
    loss = update(nlp, examples, passes=1)
    assert np.array_equal(reranker_of(nlp)._shim.trainer.node.w, before)
    assert loss == 0.0


# --- against dictionaries, Fractions and every labelling tried -----------------------------------


class PlainReranker(PlainTagger):
    """Algorithms 4.1 and 4.2 for documents that are lists of sentences, each a list of words.

    ranker: The settings are its.
    """

    def __init__(self, ranker):
        super().__init__("joint")
        self.ranker = ranker
        self.step = Fraction(ranker.nonlocal_step)
        self.g = defaultdict(Fraction)
        self.g_total = defaultdict(Fraction)

    def collect(self, corpus):
        super().collect([(sentence, None) for sentences, _ in corpus for sentence in sentences])

    def features(self, sentences, labels):
        """Φ_local; no label pair lies across the end of a sentence."""
        counts, start = Counter(), 0
        for sentence in sentences:
            end = start + len(sentence)
            counts += super().features(sentence, labels[start:end])
            start = end
        return counts

    def legal(self, sentences, known=None):
        parts, start = [], 0
        for sentence in sentences:
            end = start + len(sentence)
            parts.append(list(super().legal(sentence, known and known[start:end])))
            start = end
        for combination in product(*parts):
            yield tuple(each for part in combination for each in part)

    def document_features(self, sentences, labels):
        """Φ_g"""
        words = [word for sentence in sentences for word in sentence]
        return Counter(strings(words, mentions(labels)))

    def document_score(self, sentences, labels, g):
        return sum(g[key] * n for key, n in self.document_features(sentences, labels).items())

    def learn(self, sentences, known, candidates=None):
        """
        candidates (Optional[Callable]): The n best, given what is right: which of equals come first is a matter of
            taste, but that they are the best is not.
        """
        ranker = self.ranker
        gold = self.best(sentences, self.w, known) if "?" in known else tuple(known)
        costly = isinstance(ranker, JointPassiveAggressive)
        local = {
            y: self.score(sentences, y, self.w) + costly * hamming(y, gold)
            for y in self.legal(sentences)
        }
        best = sorted(local, key=lambda y: (-local[y], self.order(y)))[: ranker.n_best]
        if candidates is not None:
            found = candidates(gold)
            assert [local[y] for y in found] == [local[y] for y in best]
            assert len(set(found)) == len(found)
            best = found
        total = {y: local[y] + self.document_score(sentences, y, self.g) for y in {*best, gold}}
        choose = self.choose_pa if costly else self.choose
        found = choose(best, local, total, gold)
        if found is not None:
            self.move(sentences, gold, *found, total if found[1] else local)
        self.seen += 1
        for weights, sums in ((self.w, self.total), (self.g, self.g_total)):
            for key, value in weights.items():
                sums[key] += value

    def choose(self, best, local, total, gold):
        ranker = self.ranker
        ranked = sorted(best, key=lambda y: -total[y])  # stable
        for y in ranked[:2]:
            if y != gold and total[gold] - total[y] <= ranker.margin_total:
                return y, True
        if ranker.algorithm == "candidate":
            return None
        if best[0] != gold:
            return best[0], False
        if len(best) > 1 and local[gold] - local[best[1]] <= ranker.margin_local:
            return best[1], False
        return None

    def choose_pa(self, best, local, total, gold):
        y = max(best, key=lambda y: total[y])  # the first of equals
        if total[y] > total[gold]:
            return y, True
        if self.ranker.algorithm == "proposed" and local[best[0]] > local[gold]:
            return best[0], False
        return None

    def move(self, sentences, gold, guess, everything, scores):
        change, document = Counter(), Counter()
        change.update(self.features(sentences, gold))
        change.subtract(self.features(sentences, guess))
        if everything:
            document.update(self.document_features(sentences, gold))
            document.subtract(self.document_features(sentences, guess))
        step = Fraction(1)
        if isinstance(self.ranker, JointPassiveAggressive):
            squared = sum(n * n for n in change.values())
            squared += self.step * sum(n * n for n in document.values())
            loss = scores[guess] - scores[gold]
            step = min(Fraction(self.ranker.C), loss / squared) if squared else Fraction(0)
        for key, n in change.items():
            self.w[key] += step * n
        for key, n in document.items():
            self.g[key] += step * self.step * n

    def document_mean(self):
        return {key: value / self.seen for key, value in self.g_total.items()}


def mentions(labels):
    """Start, end and class of all that BIO labels say."""
    out = []
    for t, each in enumerate(labels):
        if each[0] == "B":
            out.append((t, t + 1, each[2:]))
        elif each[0] == "I":
            out[-1] = (out[-1][0], t + 1, out[-1][2])
    return out


def plain_component(ranker, unit="sent"):
    model = LinearChain(FeatureTemplates(nodes=list(NODES), edges=list(EDGES)))
    blocks = {"user": UserFeatures(USER)}
    return NonlocalReranker(VOCAB, model, NAME, nonlocal_features=blocks, ranker=ranker, unit=unit)


def document(sentences):
    words = [word for sentence in sentences for word in sentence]
    starts = [i == 0 for sentence in sentences for i in range(len(sentence))]
    return Doc(VOCAB, words=words, sent_starts=starts)


def document_example(sentences, labels):
    doc = document(sentences)
    ents = ["" if each == "?" else each for each in labels]
    return Example(doc, Doc(VOCAB, words=[token.text for token in doc], ents=ents))


def candidates_of(component, eg):
    """What the component has to choose from, given what is right."""

    def candidates(gold):
        sequences = [sequence for sequence, _ in component._sequences(eg, everything=True)]
        lattices, _ = component.model.begin_update(sequences)
        for lattice in lattices:
            component._close(lattice)
        right_labels = np.array([LABELS.index(each) for each in gold], dtype=np.int32)
        ranker = component.learner
        lattice = ranker.search(Lattice.join(lattices), right_labels)
        found = Candidates.best(lattice, ranker.n_best)
        paths = (found.labelling(i).tolist() for i in range(len(found)))
        return [tuple(LABELS[each] for each in path) for path in paths]

    return candidates


def document_weights(component, *, mean=False):
    """The weights of non-local features that are not zero, by name."""
    shim = component.model.shims[0]
    keys = shim.trainer.document.keys()
    weights = shim.document_weights(keys) if mean else shim.trainer.document_weights(keys)
    names = component.feature_names(keys)
    assert all(name.startswith("user: ") for name in names)
    found = zip(names, weights.tolist(), strict=True)
    return {name.removeprefix("user: "): weight for name, weight in found if weight}


def not_zero(weights):
    return {key: float(value) for key, value in weights.items() if value}


def check_against_plain(ranker, corpus, order, unit):
    component, plain = plain_component(ranker, unit), PlainReranker(ranker)
    plain.collect(corpus)
    examples = [document_example(*each) for each in corpus]
    component.initialize(lambda: examples, labels=CLASSES)
    for i in order:
        eg = document_example(*corpus[i])
        plain.learn(*corpus[i], candidates_of(component, eg))
        component.update([eg])
        assert document_weights(component) == not_zero(plain.g)
        for sentences, _ in corpus:
            for sentence in sentences:
                (raw,), _ = component.model.begin_update([Doc(VOCAB, words=sentence)])
                compare(raw, plain, sentence, plain.w)
    return component, plain


@st.composite
def documents(draw, unit, unknown=False):
    """Documents cut into sentences, and an order in which they are learned."""
    corpus, order = draw(corpora(unknown=unknown))
    cut = []
    for words, labels in corpus:
        if unknown and set(labels) == {"?"}:
            labels = ["O", *labels[1:]]
        sentences = [[words[0]]]
        for word, each in zip(words[1:], labels[1:], strict=True):
            if unit == "sent" and each[0] != "I" and draw(st.booleans()):
                sentences.append([])
            sentences[-1].append(word)
        cut.append((sentences, labels))
    return cut, order


@pytest.mark.parametrize("unit", ["doc", "sent"])
@pytest.mark.parametrize("algorithm", ["proposed", "candidate"])
@FEW
@given(
    data=st.data(),
    margins=st.tuples(*[st.sampled_from([0, 1, 3, 100])] * 2),
    n_best=st.sampled_from([1, 2, 5, 1000]),
    step=st.sampled_from([1, 0.25, 4]),
)
def test_joint_perceptron_against_plain_python(unit, algorithm, data, margins, n_best, step):
    ranker = JointPerceptron(
        algorithm,
        n_best,
        margin_local=margins[0],
        margin_total=margins[1],
        nonlocal_step=step,
        average=False,
    )
    check_against_plain(ranker, *data.draw(documents(unit)), unit)


@pytest.mark.parametrize("unit", ["doc", "sent"])
@FEW
@given(data=st.data(), n_best=st.sampled_from([2, 5]))
def test_partly_annotated_documents_against_plain_python(unit, data, n_best):
    ranker = JointPerceptron(
        n_best=n_best, margin_local=2, margin_total=2, nonlocal_step=1, average=False
    )
    check_against_plain(ranker, *data.draw(documents(unit, unknown=True)), unit)


@pytest.mark.parametrize("unit", ["doc", "sent"])
@pytest.mark.parametrize("algorithm", ["proposed", "candidate"])
@FEW
@given(data=st.data(), n_best=st.sampled_from([1, 2, 5, 1000]), step=st.sampled_from([1, 0.25]))
def test_joint_passive_aggressive_against_plain_python(unit, algorithm, data, n_best, step):
    # Small steps of a power of two: sums are exact, so that both see the same ties.
    ranker = JointPassiveAggressive(2**-8, algorithm, n_best, nonlocal_step=step, average=False)
    check_against_plain(ranker, *data.draw(documents(unit)), unit)


@pytest.mark.parametrize("unit", ["doc", "sent"])
@FEW
@given(data=st.data(), step=st.sampled_from([1, 0.25, 0.03]))
def test_the_first_step_of_the_passive_aggressive_learner_is_as_long_as_needed(unit, data, step):
    """From weights of zero: how long it is depends on the distance by features of both kinds."""
    corpus, _ = data.draw(documents(unit))
    ranker = JointPassiveAggressive(1000.0, nonlocal_step=step, average=False)
    component, plain = plain_component(ranker, unit), PlainReranker(ranker)
    plain.collect(corpus)
    component.initialize(lambda: [document_example(*each) for each in corpus], labels=CLASSES)
    eg = document_example(*corpus[0])
    plain.learn(*corpus[0], candidates_of(component, eg))
    component.update([eg])
    assert document_weights(component) == pytest.approx(not_zero(plain.g), rel=1e-5)
    for sentence in corpus[0][0]:
        (raw,), _ = component.model.begin_update([Doc(VOCAB, words=sentence)])
        compare(raw, plain, sentence, plain.w)


@FEW
@given(data=documents("doc"), margin=st.sampled_from([0, 3]))
def test_averages_against_plain_python(data, margin):
    ranker = JointPerceptron(n_best=5, margin_local=margin, margin_total=margin, nonlocal_step=0.25)
    component, plain = check_against_plain(ranker, *data, "doc")
    mean = not_zero(plain.document_mean())
    assert document_weights(component, mean=True) == pytest.approx(mean, abs=1e-6)
    for (sentence,), _ in data[0]:
        (lattice,) = component.model.predict([Doc(VOCAB, words=sentence)])
        compare(lattice, plain, sentence, plain.mean())


@pytest.mark.parametrize("unit", ["doc", "sent"])
@FEW
@given(data=st.data())
def test_nbest_against_plain_python(unit, data):
    """Every labelling comes once, and its score is what its features weigh."""
    ranker = JointPerceptron(
        n_best=5, margin_local=3, margin_total=3, nonlocal_step=0.25, average=False
    )
    component, plain = check_against_plain(ranker, *data.draw(documents(unit)), unit)
    sentences = [["a", "A"], ["a"]] if unit == "sent" else [["a", "A", "a"]]
    analyses = component.nbest(document(sentences), 10_000)
    scores = {tuple(LABELS[i] for i in each.labels): each.score for each in analyses}
    local = {y: plain.score(sentences, y, plain.w) for y in plain.legal(sentences)}
    assert scores.keys() == local.keys()
    assert len(analyses) == len(scores)
    total = {y: local[y] + plain.document_score(sentences, y, plain.g) for y in local}
    # Only differences mean anything: scores are all less what the first one's non-local features weigh.
    assert len({Fraction(scores[y]) - total[y] for y in local}) == 1
    values = [each.score for each in analyses]
    assert values == sorted(values, reverse=True)


# --- an end of learning --------------------------------------------------------------------------

SEPARABLE = [
    ([["a", "b"], ["b"]], ["B-X", "I-X", "B-Y"]),
    ([["b", "c"]], ["B-Y", "O"]),
    ([["c"], ["A"], ["c"]], ["O", "B-X", "O"]),
    ([["A", "A"]], ["B-X", "B-X"]),
]


def updates_until_nothing_changes(ranker, corpus=SEPARABLE, limit=20_000, **kwargs):
    """RETURNS: The component, and how many examples have changed weights."""
    component = plain_component(ranker, **kwargs)
    component.initialize(lambda: [document_example(*each) for each in corpus], labels=CLASSES)
    trainer = component.model.shims[0].trainer
    updates, before = 0, -1
    while updates != before:
        assert updates < limit
        before = updates
        for each in corpus:
            old = [part.w.tobytes() for part in trainer.parts]
            component.update([document_example(*each)])
            updates += [part.w.tobytes() for part in trainer.parts] != old
    losses = component.update([document_example(*each) for each in corpus])
    assert losses == {NAME: 0.0}
    for sentences, labels in corpus:
        (found,) = component.predict([document(sentences)])
        assert [LABELS[i] for i in found.labels] == labels
    return component, updates


def differences(plain, features_of):
    """Φ(gold) - Φ(y), for every document and every labelling y of it that is not right."""
    out = []
    for sentences, labels in SEPARABLE:
        gold = tuple(labels)
        for y in plain.legal(sentences):
            if y != gold:
                change = Counter()
                change.update(features_of(sentences, gold))
                change.subtract(features_of(sentences, y))
                out.append(change)
    return out


@pytest.mark.parametrize("margin", [0, 1, 10, 100])
@pytest.mark.parametrize("algorithm", ["proposed", "candidate"])
@pytest.mark.parametrize("step", [1, 0.01])
def test_updates_are_bounded_on_separable_data(margin, algorithm, step):
    """Kazama & Torisawa: at most (2C + R²) / δ² updates, where features have √step times their size.

    Local features alone separate these data, by δ; that is enough for moves of all weights and of local ones.
    """
    ranker = JointPerceptron(
        algorithm,
        n_best=5,
        margin_local=margin,
        margin_total=margin,
        nonlocal_step=step,
        average=False,
    )
    _, updates = updates_until_nothing_changes(ranker)
    plain = PlainReranker(JointPerceptron(n_best=2, margin_local=10, margin_total=10))
    plain.collect(SEPARABLE)
    for _ in range(15):
        for each in SEPARABLE:
            plain.learn(*each)
    local = differences(plain, plain.features)
    norm = float(sum(value**2 for value in plain.w.values())) ** 0.5
    delta = min(float(sum(plain.w[k] * n for k, n in each.items())) for each in local) / norm
    assert delta > 0
    both = zip(local, differences(plain, plain.document_features), strict=True)
    R2 = max(
        sum(n * n for n in a.values()) + step * sum(n * n for n in b.values()) for a, b in both
    )
    assert 0 < updates <= (2 * margin + R2) / delta**2


def test_only_nonlocal_features_separate():
    """Algorithm 4.1 comes to an end where the same words have other labels, if non-local features see why."""
    corpus = [([["b"], ["a"], ["a"]], ["B-X", "B-X", "B-X"]), ([["a"]], ["B-Y"])]
    ranker = JointPerceptron(
        "candidate", n_best=1000, margin_total=1, nonlocal_step=1, average=False
    )
    updates_until_nothing_changes(ranker, corpus)


# --- labels --------------------------------------------------------------------------------------


def test_no_config_at_all():
    nlp = spacy.blank("en")
    nlp.add_pipe("nonlocal_reranker")
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    update(nlp, examples)
    assert given_labels(nlp) == right()
    assert list(nlp.get_pipe("nonlocal_reranker").nonlocal_features) == ["consistency"]


def test_no_label():
    nlp = make_nlp(**RERANKER)
    with pytest.raises(ValueError, match=r"\[NL410\].*'local_tagger'"):
        nlp.initialize()
    with pytest.raises(ValueError, match=r"\[NL410\]"):
        nlp.initialize(lambda: iter(()))


@pytest.mark.parametrize("target", ["ents", "tag", "spans:names"])
def test_implicit_labels(target):
    nlp, examples = make_target(target)
    nlp.initialize(lambda: examples)
    expected = tuple(sorted({t for _, labels in TAGS for t in labels.split()}))
    component = reranker_of(nlp)
    assert component.labels == (expected if target == "tag" else ("LOC", "PER"))
    assert component.labels == component.label_data


def test_given_labels():
    nlp = make_nlp(**RERANKER)
    examples = make_examples(nlp)
    reranker_of(nlp).initialize(lambda: examples, nlp=nlp, labels=["PER", "ORG", "LOC"])
    assert reranker_of(nlp).labels == ("LOC", "ORG", "PER")
    update(nlp, examples)
    assert given_labels(nlp) == right()


def test_initialize_examples():
    nlp = make_nlp(**RERANKER)
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    for bad in (lambda: None, lambda: examples[0], examples):
        with pytest.raises(TypeError):
            nlp.initialize(bad)


def test_no_data():
    """Documents without annotation teach nothing, and cost nothing."""
    nlp = trained(passes=1, **RERANKER)
    empty = Example(make_doc(nlp, "nothing known here"), make_doc(nlp, "nothing known here"))
    before = reranker_of(nlp).to_bytes(exclude=["training"])
    assert reranker_of(nlp).update([empty]) == {NAME: 0.0}
    assert reranker_of(nlp).update([]) == {NAME: 0.0}
    assert reranker_of(nlp).to_bytes(exclude=["training"]) == before
    only_empty = make_nlp(**RERANKER)
    with pytest.raises(ValueError, match=r"\[NL410\].*'local_tagger'"):
        only_empty.initialize(lambda: [empty])


def test_requires_labels():
    nlp = make_nlp(**RERANKER, target="tag")
    examples = make_examples(nlp)
    with pytest.raises(ValueError, match=r"\[NL410\].*tag annotation"):
        nlp.initialize(lambda: examples)


def test_used_before_training():
    nlp = make_nlp(**RERANKER)
    for use in (nlp, lambda text: reranker_of(nlp).nbest(make_doc(nlp, text), 1)):
        with pytest.raises(ValueError, match=r"\[NL407\].*'local_tagger'"):
            use(BARE)
    with pytest.raises(ValueError, match=r"\[NL407\].*'local_tagger'"):
        nlp.update(make_examples(nlp))


def test_unknown_label_in_update():
    nlp = trained(passes=1, **RERANKER)
    examples = make_examples(nlp, (("Acme in Rome", "B-ORG O B-LOC"),))
    with pytest.raises(ValueError, match=r"\[NL403\].*'local_tagger'.*'ORG' of 'Acme'"):
        nlp.update(examples)


# --- learning ------------------------------------------------------------------------------------


def make_target(target, **config):
    """A pipeline and examples for a target."""
    nlp = make_nlp(**RERANKER, target=target, **config)
    if target == "tag":
        return nlp, make_examples(nlp, TAGS, "tags")
    examples = make_examples(nlp)
    if target != "ents":
        for eg in examples:
            eg.reference.spans["names"] = list(eg.reference.ents)
            eg.reference.set_ents([], default="missing")
    for eg in examples:
        eg.predicted[0].is_sent_start = True
        for token in list(eg.predicted)[1:]:
            token.is_sent_start = False
    return nlp, examples


def annotation(doc, target):
    if target == "tag":
        return tags(doc)
    spans = doc.ents if target == "ents" else doc.spans["names"]
    return [(span.start, span.end, span.label_) for span in spans]


@pytest.mark.parametrize("name", JOINT)
@pytest.mark.parametrize(
    ("target", "scheme", "unit"),
    [
        *(("ents", scheme, "doc") for scheme in SCHEMES),
        ("ents", "BILUO", "sent"),
        ("tag", "BIO", "doc"),
        ("spans:names", "BIO", "doc"),
        ("spans:names", "IO", "sent"),
    ],
)
def test_overfitting(name, target, scheme, unit, tmp_path):
    config = {"scheme": scheme, "unit": unit, "ranker": learner(name)["ranker"]}
    nlp, examples = make_target(target, **config)
    nlp.initialize(lambda: examples)
    update(nlp, examples)
    nlp.to_disk(tmp_path)
    from_bytes = make_nlp(**RERANKER, target=target, **config).from_bytes(nlp.to_bytes())
    for each in (nlp, spacy.load(tmp_path), from_bytes):
        for eg in examples:
            doc = each(eg.predicted.copy())
            assert annotation(doc, target) == annotation(eg.reference, target)
    score = {"ents": "ents_f", "tag": "tag_acc"}.get(target, "spans_names_f")
    assert nlp.evaluate(examples)[score] == 1.0


@pytest.mark.parametrize("name", JOINT)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_incomplete_data(name, scheme):
    data = (
        ("Anna Smith lives in Paris .", "B-PER I-PER ? ? ? ?"),
        ("Anna Smith lives in Paris .", "? ? O O B-LOC O"),
        ("Bob flew to Rome .", "B-PER ? O ? ?"),
        ("Bob flew to Rome .", "? O ? B-LOC O"),
    )
    nlp = trained(data, scheme=scheme, **learner(name))
    assert iob(label(nlp, data[0][0])) == "B-PER I-PER O O B-LOC O"
    assert iob(label(nlp, data[2][0])) == "B-PER O O B-LOC O"


def test_incomplete_data_of_sentences():
    """A sentence of which nothing is known is a part of its document all the same."""
    nlp = make_nlp(**RERANKER, unit="sent")
    words = ["Anna", "came", ".", "Bob", "met", "Anna", "."]
    starts = [i in (0, 3) for i in range(len(words))]
    reference = Doc(nlp.vocab, words=words, ents=["B-PER", "O", "O", "", "", "", ""])
    examples = [Example(Doc(nlp.vocab, words=words, sent_starts=starts), reference)]
    nlp.initialize(lambda: examples)
    update(nlp, examples)
    doc = nlp(Doc(nlp.vocab, words=words, sent_starts=starts))
    assert iob(doc).split()[:3] == ["B-PER", "O", "O"]


def test_learns_example_by_example():
    one, other = trained(passes=0, **RERANKER), trained(passes=0, **RERANKER)
    one.update(make_examples(one))
    for eg in make_examples(other):
        other.update([eg])
    assert state(reranker_of(one)) == state(reranker_of(other))


def test_loss_is_the_number_of_wrong_tokens():
    config = learner("JointPerceptron", margin_local=0.0, margin_total=0.0)
    nlp = make_nlp(**config)
    examples = make_examples(nlp, ENTS[:1])
    nlp.initialize(lambda: examples)
    # With all weights zero everything is outside: three of six tokens are wrong.
    assert reranker_of(nlp).update(examples) == {NAME: 3.0}
    assert update(nlp, examples) == 0.0


def sentence_examples(nlp, ents="O B-LOC I-LOC B-PER O O"):
    words = ["Visit", "New", "York", "Anna", "said", "."]
    starts = [True, False, False, True, False, False]
    reference = Doc(nlp.vocab, words=words, sent_starts=starts, ents=ents.split())
    return [Example(Doc(nlp.vocab, words=words, sent_starts=starts), reference)]


def test_sentences_without_boundaries():
    nlp = make_nlp(**RERANKER, unit="sent")
    examples = sentence_examples(nlp)
    nlp.initialize(lambda: examples)
    with pytest.raises(ValueError, match=r"\[NL406\].*'local_tagger'.*'Visit New York'"):
        label(nlp, "Visit New York")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_spans_across_sentences_count_as_unknown(scheme):
    nlp = make_nlp(**RERANKER, unit="sent", scheme=scheme)
    examples = sentence_examples(nlp, "O O B-PER I-PER O O")
    nlp.initialize(lambda: examples)
    with pytest.warns(UserWarning, match=r"\[NL455\].*'local_tagger'"):
        update(nlp, examples, passes=2)


# --- what an earlier component has set -----------------------------------------------------------


@pytest.mark.parametrize("scheme", SCHEMES)
def test_entities_that_are_there_stay(scheme):
    nlp = trained(**RERANKER, scheme=scheme)
    doc = make_doc(nlp, BARE)
    doc.set_ents([Span(doc, 1, 3, label="LOC", kb_id="Q7", span_id="rule")], default="missing")
    doc = nlp(doc)
    assert iob(doc).split()[1:] == ["B-LOC", "I-LOC", "O", "B-LOC", "O"]
    kept = next(ent for ent in doc.ents if ent.start == 1)
    assert (kept.kb_id_, kept.ent_id_) == ("Q7", "rule")
    doc = make_doc(nlp, BARE)
    doc.set_ents([Span(doc, 3, 5, label="DATE")], default="missing")
    assert iob(nlp(doc)) == "B-PER I-PER O B-DATE I-DATE O"


@pytest.mark.parametrize("scheme", SCHEMES)
def test_entities_that_cross_sentences_stay(scheme):
    nlp = make_nlp(**RERANKER, unit="sent", scheme=scheme)
    examples = sentence_examples(nlp)
    nlp.initialize(lambda: examples)
    update(nlp, examples)
    doc = examples[0].predicted.copy()
    doc.set_ents([Span(doc, 2, 4, label="LOC")], default="missing")
    assert iob(nlp(doc)).split()[2:] == ["B-LOC", "I-LOC", "O", "O"]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_blocked_tokens_stay_blocked(scheme):
    nlp = trained(**RERANKER, scheme=scheme)
    doc = make_doc(nlp, BARE)
    doc.set_ents([], blocked=[doc[4:5]], default="missing")
    doc = nlp(doc)
    assert [(ent.text, ent.label_) for ent in doc.ents] == [("Anna Smith", "PER")]
    assert (doc[4].ent_iob_, doc[4].ent_type_) == ("B", "")


def test_what_is_set_speaks_for_the_rest(namesakes):
    """An entity that somebody has set is a mention like others: the rest of the document follows it."""
    for kind in ("PER", "LOC"):
        doc = make_doc(namesakes, "Then Zorn spoke . Then Zorn spoke .")
        doc.set_ents([Span(doc, 1, 2, label=kind)], default="missing")
        doc = namesakes(doc)
        assert [ent.label_ for ent in doc.ents] == [kind, kind]


def test_tags_that_are_there_stay():
    nlp = trained(TAGS, "tags", target="tag", **RERANKER)
    doc = label(nlp, "the dog sees", tags=["", "FOREIGN", ""])
    assert [token.tag_ for token in doc] == ["DT", "FOREIGN", "VBZ"]


# --- unusual documents ---------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["ents", "tag", "spans:names"])
@pytest.mark.parametrize("unit", ["doc", "sent"])
def test_empty_doc(target, unit):
    nlp = make_nlp(**RERANKER, target=target, unit=unit)
    reranker_of(nlp).add_label("X")
    nlp.add_pipe("sentencizer", first=True)
    nlp.initialize(lambda: [Example(nlp.make_doc("x"), nlp.make_doc("x"))])
    nlp.update([Example(nlp.make_doc(""), nlp.make_doc(""))])
    doc = nlp("")
    assert len(doc) == 0
    assert doc._.nonlocal_changes == []
    assert [len(each) for each in nlp.pipe(["", "a b", ""])] == [0, 2, 0]


@pytest.mark.parametrize("name", JOINT)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_one_token_doc(name, scheme):
    data = (("Rome", "B-LOC"), ("Anna", "B-PER"), ("so", "O"))
    nlp = trained(data, scheme=scheme, **learner(name))
    assert given_labels(nlp, data) == right(data)


def test_whitespace_doc():
    nlp = trained(**RERANKER)
    assert nlp(" \n\t ").ents == ()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_corpus_without_entities(scheme):
    """The only labelling there is has no entities: nothing to compare, and no second best."""
    nlp = make_nlp(**RERANKER, scheme=scheme)
    examples = make_examples(nlp, (("nothing to see", "O O O"), ("nothing", "O")))
    with pytest.warns(UserWarning, match=r"\[NL454\].*'local_tagger'"):
        nlp.initialize(lambda: examples)
    assert update(nlp, examples) == 0.0
    doc = label(nlp, BARE)
    assert iob(doc) == "O O O O O O"
    assert doc._.nonlocal_changes == []
    (only,) = reranker_of(nlp).nbest(make_doc(nlp, BARE), 10)
    assert only.annotations == []


def test_document_without_entities_in_any_candidate():
    nlp = trained(**RERANKER)
    doc = make_doc(nlp, BARE)
    doc.set_ents([], blocked=[doc[:]], default="missing")
    (only,) = reranker_of(nlp).nbest(doc, 10)
    assert only.annotations == []
    doc = nlp(doc)
    assert doc.ents == ()
    assert doc._.nonlocal_changes == []


def test_one_candidate():
    config = learner("JointPassiveAggressive", n_best=1, n_best_predict=1)
    nlp = trained(**config)
    assert given_labels(nlp) == right()
    assert label(nlp, BARE)._.nonlocal_changes == []


def test_long_doc():
    nlp = trained(**RERANKER)
    text, labels = ENTS[1]
    times = 2000 // len(text.split())
    doc = label(nlp, " ".join([text] * times))
    assert iob(doc) == " ".join([labels] * times)


# --- nbest ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, -1, -20])
def test_none_asked_for(n):
    nlp = trained(passes=1, **RERANKER)
    with pytest.raises(ValueError, match=rf"\[NL425\].*'local_tagger'.*{n}"):
        reranker_of(nlp).nbest(make_doc(nlp, BARE), n)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_more_asked_for_than_there_are(scheme):
    nlp = trained(passes=3, **RERANKER, scheme=scheme)
    component = reranker_of(nlp)
    analyses = component.nbest(make_doc(nlp, "Anna left Rome"), 10_000)
    codec = component._codec
    legal = {
        path
        for path in product(range(len(codec.labels)), repeat=3)
        if codec.start[path[0]]
        and codec.end[path[-1]]
        and all(codec.transitions[pair] for pair in pairwise(path))
    }
    assert {tuple(each.labels.tolist()) for each in analyses} == legal
    assert len(analyses) == len(legal)


@pytest.mark.parametrize("n", [1, 2, 30])
def test_the_best_come_first(namesakes, n):
    for text in (*UNSEEN.values(), BARE):
        doc = make_doc(namesakes, text)
        before = doc.to_bytes()
        analyses = reranker_of(namesakes).nbest(doc, n)
        assert doc.to_bytes() == before
        assert len(analyses) == n
        scores = [each.score for each in analyses]
        assert scores == sorted(scores, reverse=True)
        assert len({tuple(each.labels.tolist()) for each in analyses}) == n
        assert all(each.probability is None for each in analyses)
        (predicted,) = reranker_of(namesakes).predict([doc])
        assert analyses[0].labels.tolist() == predicted.labels.tolist()
        spans = [(span.start, span.end, span.label_) for span in analyses[0].annotations]
        ents = label(namesakes, text).ents
        assert spans == [(ent.start, ent.end, ent.label_) for ent in ents]


def test_nbest_of_an_empty_document():
    nlp = trained(passes=1, **RERANKER)
    (only,) = reranker_of(nlp).nbest(make_doc(nlp, ""), 5)
    assert (only.score, only.annotations) == (0, [])


def test_nbest_of_tags():
    nlp = trained(TAGS, "tags", target="tag", **RERANKER)
    best, second = reranker_of(nlp).nbest(make_doc(nlp, TAGS[0][0]), 2)
    assert best.annotations == TAGS[0][1].split()
    assert second.annotations != best.annotations


# --- what has changed ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", UNSEEN)
def test_a_name_is_corrected_by_its_other_mention(namesakes, kind):
    doc = label(namesakes, UNSEEN[kind])
    assert [(ent.text, ent.label_) for ent in doc.ents] == [("Zorn", kind)] * 2


def test_what_has_changed(namesakes):
    """After "Then" the local model guesses the same, whoever Zorn is: one of the two documents is put right."""
    blind = without_nonlocal(namesakes, **features("orth[-1]"))
    changed = 0
    for kind, text in UNSEEN.items():
        doc, local = label(namesakes, text), label(blind, text)
        assert local._.nonlocal_changes == []
        changes = doc._.nonlocal_changes
        if iob(doc) == iob(local):
            assert changes == []
            continue
        changed += 1
        (change,) = changes
        other = {"PER": "LOC", "LOC": "PER"}[kind]
        assert (change["start"], change["end"]) == (5, 6)
        assert change["before"] == [[5, 6, other]]
        assert change["after"] == [[5, 6, kind]]
        assert change["mentions"] == [[1, 2, kind, "same"]]
        # It was worth it, by what the features say.
        assert change["gain"] > change["loss"] >= 0
        assert any(name.startswith("consistency: phrase") for name, _, _ in change["features"])
        total = sum(value * weight for _, value, weight in change["features"])
        assert total == pytest.approx(change["gain"], abs=1e-5) or len(change["features"]) == 10
        weighed = [abs(value * weight) for _, value, weight in change["features"]]
        assert weighed == sorted(weighed, reverse=True)
    assert changed == 1


def test_taking_changes_back_gives_the_best_by_local_features(namesakes):
    blind = without_nonlocal(namesakes, **features("orth[-1]"))
    texts = [" ".join(each) for each in product(UNSEEN.values(), repeat=2)]
    texts += [text.replace("Zorn", "Mr Zorn") for text in texts]
    seen = 0
    for text in texts:
        doc = label(namesakes, text)
        found = {(ent.start, ent.end, ent.label_) for ent in doc.ents}
        for change in doc._.nonlocal_changes:
            seen += 1
            after = {tuple(each) for each in change["after"]}
            assert after <= found
            found = found - after | {tuple(each) for each in change["before"]}
        local = label(blind, text).ents
        assert found == {(ent.start, ent.end, ent.label_) for ent in local}
    assert seen


def changed_doc(nlp):
    docs = [label(nlp, text) for text in UNSEEN.values()]
    (doc,) = [doc for doc in docs if doc._.nonlocal_changes]
    return doc


def test_the_record_survives_saving(namesakes):
    doc = changed_doc(namesakes)
    changes = doc._.nonlocal_changes
    again = Doc(namesakes.vocab).from_bytes(doc.to_bytes())
    assert again._.nonlocal_changes == changes
    data = DocBin(docs=[doc], store_user_data=True).to_bytes()
    (again,) = DocBin(store_user_data=True).from_bytes(data).get_docs(namesakes.vocab)
    assert again._.nonlocal_changes == changes
    assert doc.copy()._.nonlocal_changes == changes
    assert pickle.loads(pickle.dumps(doc))._.nonlocal_changes == changes  # noqa: S301


def test_documents_without_a_record():
    assert Doc(VOCAB, words=["a"])._.nonlocal_changes == []


def test_a_new_prediction_makes_a_new_record(namesakes):
    doc = changed_doc(namesakes)
    doc.set_ents([], default="missing")
    blind = without_nonlocal(namesakes, **features("orth[-1]"))
    assert blind(doc)._.nonlocal_changes == []


def test_changed_tags():
    """The same word has one tag in a document."""
    data = tuple(
        (f"{before} {word} . so {word} .", f"{before} {tag} . so {tag} .")
        for word in ("run", "walk", "jump", "talk")
        for before, tag in (("the", "NN"), ("we", "VB"))
    )
    nlp = trained(data, "tags", target="tag", passes=20, **RERANKER, **features("orth[-1]"))
    docs = [label(nlp, f"{before} swim . so swim .") for before in ("the", "we")]
    assert [(doc[1].tag_, doc[4].tag_) for doc in docs] == [("NN", "NN"), ("VB", "VB")]
    ((change,),) = [changes for changes in (doc._.nonlocal_changes for doc in docs) if changes]
    assert (change["start"], change["end"]) == (4, 5)
    assert [len(change["before"]), len(change["after"])] == [1, 1]


def test_changed_span_groups():
    nlp = make_nlp(**RERANKER, target="spans:names", **features("orth[-1]"))
    examples = make_examples(nlp, NAMESAKES)
    for eg in examples:
        eg.reference.spans["names"] = list(eg.reference.ents)
    nlp.initialize(lambda: examples)
    update(nlp, examples, passes=20)
    docs = [label(nlp, text) for text in UNSEEN.values()]
    for kind, doc in zip(UNSEEN, docs, strict=True):
        assert [span.label_ for span in doc.spans["names"]] == [kind, kind]
    assert sum(len(doc._.nonlocal_changes) for doc in docs) == 1


# --- blocks of features --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "block",
    [
        {"@misc": "spacy-nonlocal.Perceptron.v1"},
        {"phrase": True},
        "spacy-nonlocal.ConsistencyFeatures.v1",
        None,
    ],
)
def test_a_block_that_is_no_features(block):
    message = r"\[NL426\].*'local_tagger': nonlocal_features\.odd is .*ConsistencyFeatures"
    with pytest.raises(ValueError, match=message):
        make_nlp(**RERANKER, nonlocal_features={"odd": block})


@pytest.mark.parametrize("name", ["Perceptron", "MarginPerceptron", "PassiveAggressive"])
def test_a_ranker_that_cannot_rank(name):
    config = {"ranker": learner(name)["learner"]}
    with pytest.raises(ValueError, match=rf"\[NL427\].*'local_tagger' learns with {name}"):
        make_nlp(**RERANKER, **config)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (learner("JointPerceptron", algorithm="4.2"), r"\[NL507\].*'4\.2'"),
        (learner("JointPassiveAggressive", n_best=0), r"\[NL508\].*n_best.*0"),
        (learner("JointPassiveAggressive", C=0.0), r"\[NL501\].*C"),
        (learner("JointPerceptron", margin_total=-1.0), r"\[NL502\].*margin_total"),
        ({**RERANKER, "scheme": "BMES"}, r"\[NL401\].*'BMES'"),
        ({**RERANKER, "unit": "page"}, r"\[NL405\].*'page'"),
        ({**RERANKER, "nonlocal_features": {"u": user("no.such.thing")}}, r"\[NL145\].*no\.such"),
    ],
)
def test_settings_out_of_range(config, message):
    with pytest.raises(ValueError, match=message):
        make_nlp(**config)


def test_blocks_have_features_of_their_own():
    """Two blocks with the same features: each has its own weights, and together they move as one that counts double."""
    one = trained(NAMESAKES, passes=2, **RERANKER, nonlocal_features={"a": user()})
    two = trained(NAMESAKES, passes=2, **RERANKER, nonlocal_features={"a": user(), "b": user()})
    keys = reranker_of(two).model.shims[0].trainer.document.keys()
    names = reranker_of(two).feature_names(keys)
    weights = dict(zip(names, reranker_of(two)._shim.document_weights(keys).tolist(), strict=True))
    assert {name[:3] for name in names} == {"a: ", "b: "}
    for name, weight in weights.items():
        twin = {"a": "b", "b": "a"}[name[0]] + name[1:]
        assert weights[twin] == weight
    single = reranker_of(one).model.shims[0].trainer.document.keys()
    assert set(single.tolist()) < set(keys.tolist())


def test_user_features_beside_consistency():
    blocks = {
        "consistency": {"@misc": "spacy-nonlocal.ConsistencyFeatures.v1"},
        "mine": user(),
    }
    nlp = trained(
        NAMESAKES, passes=20, **RERANKER, nonlocal_features=blocks, **features("orth[-1]")
    )
    assert given_labels(nlp, NAMESAKES) == right(NAMESAKES)
    names = [name for name, _, _ in changed_doc(nlp)._.nonlocal_changes[0]["features"]]
    assert any(name.startswith("mine: ") for name in names)
    assert any(name.startswith("consistency: ") for name in names)


def test_a_user_feature_that_fails():
    """In training and in prediction, the message says which function, document and candidate."""
    function = f"{__name__}.failing_strings"
    message = rf"\[NL144\].*{function} failed with .*no such thing.*candidate \d+ \('.*'Anna Smith lives in"
    nlp = trained(passes=0, **RERANKER)
    other = make_nlp(**RERANKER, nonlocal_features={"bad": user(function)})
    other.from_bytes(nlp.to_bytes())
    before = reranker_of(other).to_bytes(exclude=["vocab", "training"])
    with pytest.raises(ValueError, match=message):
        other.update(make_examples(other))
    assert reranker_of(other).to_bytes(exclude=["vocab", "training"]) == before
    with pytest.raises(ValueError, match=message):
        label(other, BARE)
    with pytest.raises(ValueError, match=message):
        reranker_of(other).nbest(make_doc(other, BARE), 3)


# --- starting, saving ----------------------------------------------------------------------------


def test_bpm_runs_average_nonlocal_weights_too():
    nlp = make_nlp(**learner("JointPerceptron", nonlocal_step=1.0))
    examples = make_examples(nlp, NAMESAKES)
    component = reranker_of(nlp)
    component.initialize(lambda: examples, bpm_runs=4, bpm_seed=3)
    trainer = component.model.shims[0].trainer
    assert trainer.clock == 0
    weights = trainer.document.w[: trainer.document.used]
    assert weights.any()
    assert np.any(weights != np.round(weights))  # a mean, not one run
    # The same runs, one by one.
    total, rng = Counter(), random.Random(3)
    for _ in range(4):
        one = make_nlp(**learner("JointPerceptron", nonlocal_step=1.0))
        again = make_examples(one, NAMESAKES)
        one.initialize(lambda again=again: again)
        one.update(rng.sample(again, len(again)))
        part = reranker_of(one).model.shims[0].trainer.document
        for key, weight in zip(part.keys().tolist(), part.w[: part.used, 0].tolist(), strict=True):
            total[key] += weight / 4
    keys = trainer.document.keys().tolist()
    found = dict(zip(keys, weights[:, 0].tolist(), strict=True))
    assert {k: v for k, v in found.items() if v} == {k: v for k, v in total.items() if v}


@pytest.mark.parametrize("name", JOINT)
def test_the_same_data_give_the_same_bytes(name):
    first, second = (trained(NAMESAKES, passes=3, **learner(name)) for _ in range(2))
    assert reranker_of(first).to_bytes() == reranker_of(second).to_bytes()


def test_nonlocal_weights_survive_reload(namesakes, tmp_path):
    """The means, with the training state and without it."""
    nlp = trained(NAMESAKES, passes=1, **RERANKER)
    keys = reranker_of(nlp).model.shims[0].trainer.document.keys()
    nlp.to_disk(tmp_path)
    slim = make_nlp(**RERANKER)
    reranker_of(slim).from_bytes(reranker_of(nlp).to_bytes(exclude=["training"]))
    expected = reranker_of(nlp)._shim.document_weights(keys)
    assert expected.any()
    for other in (spacy.load(tmp_path), slim):
        assert np.array_equal(reranker_of(other)._shim.document_weights(keys), expected)
        for text in UNSEEN.values():
            assert label(other, text)._.nonlocal_changes == label(nlp, text)._.nonlocal_changes
            a, b = (reranker_of(each).nbest(make_doc(nlp, text), 5) for each in (nlp, other))
            assert [each.score for each in a] == [each.score for each in b]


@pytest.mark.parametrize("blocks", [{"a": user()}, {}])
def test_update_after_reload(blocks, tmp_path):
    config = {**RERANKER, "nonlocal_features": blocks}
    steady, stopped = (trained(NAMESAKES, passes=2, **config) for _ in range(2))
    stopped.to_disk(tmp_path)
    stopped = spacy.load(tmp_path)
    for nlp in (steady, stopped):
        update(nlp, make_examples(nlp, NAMESAKES), passes=2)
    assert state(reranker_of(steady)) == state(reranker_of(stopped))


def test_update_after_reload_of_sentences(tmp_path):
    nlp, examples = make_target("ents", unit="sent")
    nlp.initialize(lambda: examples)
    update(nlp, examples, passes=2)
    nlp.to_disk(tmp_path)
    other = spacy.load(tmp_path)
    for each in (nlp, other):
        update(each, examples, passes=2)
    assert state(reranker_of(nlp)) == state(reranker_of(other))


def test_pickled_with_user_features():
    nlp = trained(NAMESAKES, passes=2, **RERANKER, nonlocal_features={"mine": user()})
    again = pickle.loads(pickle.dumps(nlp))  # noqa: S301
    assert given_labels(again, NAMESAKES) == given_labels(nlp, NAMESAKES)
    for each in (nlp, again):
        update(each, make_examples(each, NAMESAKES), passes=1)
    assert state(reranker_of(again)) == state(reranker_of(nlp))


def test_another_averaging_is_refused(tmp_path):
    nlp = trained(passes=1, **RERANKER)
    reranker_of(nlp).to_disk(tmp_path)
    other = reranker_of(make_nlp(**learner("JointPassiveAggressive", average=False)))
    with pytest.raises(ValueError, match=r"\[NL413\].*JointPassiveAggressive"):
        other.from_disk(tmp_path)


def test_models_of_crf_learners_are_refused(tmp_path):
    nlp = trained(passes=1, **learner("MADF", l2=0.1))
    reranker_of(nlp).to_disk(tmp_path)
    with pytest.raises(ValueError, match=r"\[NL420\]"):
        reranker_of(make_nlp(**RERANKER)).from_disk(tmp_path)


# --- the news corpus -----------------------------------------------------------------------------


def learn_news(factory):
    nlp = make_nlp(factory)
    train, dev = (
        list(ColumnCorpus(ASSETS / f"news-{part}.txt", ["orth", "ents"])(nlp))
        for part in ("train", "dev")
    )
    nlp.initialize(lambda: train)
    rng = random.Random(0)
    for _ in range(5):
        nlp.update(rng.sample(train, len(train)))
    return nlp, dev


def test_news():
    """Whole documents are worth several points, and what is changed is mostly put right."""
    (tagger, dev), (nlp, _) = learn_news("local_tagger"), learn_news("nonlocal_reranker")
    local, joint = tagger.evaluate(dev), nlp.evaluate(dev)
    assert joint["ents_f"] > local["ents_f"] + 0.04
    fixed = broken = 0
    for eg in dev:
        doc = nlp(eg.predicted.copy())
        gold = {(ent.start, ent.end, ent.label_) for ent in eg.reference.ents}
        for change in doc._.nonlocal_changes:
            fixed += len({tuple(each) for each in change["after"]} & gold)
            broken += len({tuple(each) for each in change["before"]} & gold)
    assert fixed > 30
    assert fixed > 3 * broken
