"""The component against a second implementation: dictionaries, Fractions and every labelling tried.

Slow and plain on purpose. It shares nothing with the package but the meaning of templates, schemes and rules.
"""

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import spacy
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc
from spacy.training import Example

from spacy_nonlocal.features.feature_templates import FeatureTemplates
from spacy_nonlocal.learners.averaged_perceptron import AveragedPerceptron
from spacy_nonlocal.learners.margin_perceptron import MarginPerceptron
from spacy_nonlocal.learners.passive_aggressive import PassiveAggressive
from spacy_nonlocal.learners.perceptron import Perceptron
from spacy_nonlocal.models.linear_chain import LinearChain
from spacy_nonlocal.pipeline.local_tagger import LocalTagger

VOCAB = spacy.blank("xx").vocab
CLASSES = ("X", "Y")
LABELS = ("O", "B-X", "I-X", "B-Y", "I-Y")
NODES = ("bias", "orth[0]", "orth[-1]|lower[1]")
EDGES = ("bias", "lower[0]")


def hamming(a, b):
    return sum(x != y for x, y in zip(a, b, strict=True))


class PlainTagger:
    """A linear-chain tagger for BIO labels.

    rule (str): "perceptron", "margin" or "pa".
    bound (Fraction): The margin, or PA's largest step.
    """

    def __init__(self, rule, bound=0, *, nodes=NODES, edges=EDGES, min_count=1):
        self.rule, self.bound = rule, Fraction(bound)
        self.nodes, self.edges, self.min_count = nodes, edges, min_count
        self.w = defaultdict(Fraction)
        self.total = defaultdict(Fraction)  # the sum of w over all examples seen
        self.seen = 0

    # features

    def value(self, words, t, attr):
        if t < 0:
            return ("before", -t)
        if t >= len(words):
            return ("after", t - len(words))
        return words[t].lower() if attr == "lower" else words[t]

    def feature(self, template, words, t):
        values = [template]
        for term in template.split("|") if template != "bias" else ():
            attr, offset = term[:-1].split("[")
            values.append(self.value(words, t + int(offset), attr))
        return tuple(values)

    def collect(self, corpus):
        counts = Counter()
        for words, _ in corpus:
            for t in range(len(words)):
                counts.update(("node", self.feature(x, words, t)) for x in self.nodes)
                counts.update(("edge", self.feature(x, words, t)) for x in self.edges)
        # The label pair alone is always known.
        self.known = {key for key, n in counts.items() if n >= self.min_count}
        self.known.add(("edge", ("bias",)))

    def features(self, words, labels):
        """Φ(x, y)"""
        counts = Counter()
        for t in range(len(words)):
            for template in self.nodes:
                key = ("node", self.feature(template, words, t))
                if key in self.known:
                    counts[key, labels[t]] += 1
            for template in self.edges if t > 0 else ():
                key = ("edge", self.feature(template, words, t))
                if key in self.known:
                    counts[key, labels[t - 1], labels[t]] += 1
        return counts

    # inference

    def score(self, words, labels, w):
        return sum(w[key] * n for key, n in self.features(words, labels).items() if key in w)

    def legal(self, words, known=None):
        """Every labelling that is legal and agrees with what is known."""
        for labels in product(LABELS, repeat=len(words)):
            pairs = zip(("O", *labels), labels, strict=False)
            if not all(b[0] != "I" or a[1:] == b[1:] for a, b in pairs):
                continue
            if known is None or self.agrees(labels, known):
                yield labels

    def agrees(self, labels, known):
        for t, label in enumerate(known):
            if label not in ("?", labels[t]):
                return False
            # What is known has an end: it does not go on into what is unknown.
            if label == "?" and t > 0 and known[t - 1] != "?" and labels[t][0] == "I":
                return False
        return True

    @staticmethod
    def order(labels):
        """Among equal scores, the lower label at the last position wins, then at the one before it, …"""
        return [LABELS.index(label) for label in reversed(labels)]

    def best(self, words, w, known=None, cost=lambda labels: 0):
        return min(
            self.legal(words, known),
            key=lambda y: (-self.score(words, y, w) - cost(y), self.order(y)),
        )

    def second(self, words, w, best):
        """The best of all others; among equals the one that leaves the best at the latest position."""

        def key(y):
            last = max(t for t in range(len(y)) if y[t] != best[t])
            return (-self.score(words, y, w), -last, self.order(y[: last + 1]))

        return min((y for y in self.legal(words) if y != best), key=key, default=None)

    # learning

    def learn(self, words, known):
        gold = self.best(words, self.w, known) if "?" in known else tuple(known)
        guess, step = self.judge(words, gold)
        if guess is not None:
            for sign, labels in ((step, gold), (-step, guess)):
                for key, n in self.features(words, labels).items():
                    self.w[key] += sign * n
        self.seen += 1
        for key, value in self.w.items():
            self.total[key] += value

    def judge(self, words, gold):
        best = self.best(words, self.w)
        if self.rule == "pa":
            return self.judge_pa(words, gold)
        if best != gold:
            return best, 1
        if self.rule == "margin":
            second = self.second(words, self.w, best)
            if second is not None:
                ahead = self.score(words, gold, self.w) - self.score(words, second, self.w)
                if ahead <= self.bound:
                    return second, 1
        return None, 0

    def has_tie(self, words, gold):
        first, *rest = sorted(
            -self.score(words, y, self.w) - hamming(y, gold) for y in self.legal(words)
        )
        return rest[0] - first < 1e-4

    def judge_pa(self, words, gold):
        guess = self.best(words, self.w, cost=lambda labels: hamming(labels, gold))
        loss = self.score(words, guess, self.w) - self.score(words, gold, self.w)
        loss += hamming(guess, gold)
        if guess == gold or loss <= 0:
            return None, 0
        change = self.features(words, gold)
        change.subtract(self.features(words, guess))
        squared = sum(n * n for n in change.values())
        return (guess, min(self.bound, loss / squared)) if squared else (None, 0)

    def mean(self):
        return {key: value / self.seen for key, value in self.total.items()}


def component(learner, *, nodes=NODES, edges=EDGES, min_count=1):
    features = FeatureTemplates(nodes=list(nodes), edges=list(edges), min_count=min_count)
    return LocalTagger(VOCAB, LinearChain(features), "tagger", learner=learner)


def example(words, labels):
    ents = ["" if label == "?" else label for label in labels]
    return Example(Doc(VOCAB, words=words), Doc(VOCAB, words=words, ents=ents))


def scores(plain, words, w):
    """Node and edge scores, float64[T, L] and float64[T, L, L]; the edges of position 0 do not matter."""
    T, L = len(words), len(LABELS)
    node, edge = np.zeros((T, L)), np.zeros((T, L, L))
    for t in range(T):
        for i, label in enumerate(LABELS):
            for template in plain.nodes:
                key = ("node", plain.feature(template, words, t))
                node[t, i] += w.get((key, label), 0)
            for template in plain.edges:
                key = ("edge", plain.feature(template, words, t))
                for j, after in enumerate(LABELS):
                    edge[t, i, j] += w.get((key, label, after), 0)
    return node, edge


def compare(lattice, plain, words, w):
    """The lattice has the plain implementation's scores, and -inf where BIO forbids a pair."""
    L = len(LABELS)
    node, edge = scores(plain, words, w)
    np.testing.assert_allclose(lattice.node[:, :L], node, atol=1e-4)
    found = np.broadcast_to(lattice.edge, (len(words), L, lattice.edge.shape[2]))[1:, :, :L]
    forbidden = np.array([[b[0] == "I" and a[1:] != b[1:] for b in LABELS] for a in LABELS])
    assert np.isneginf(found[:, forbidden]).all()
    np.testing.assert_allclose(found[:, ~forbidden], edge[1:][:, ~forbidden], atol=1e-4)


def check(learner, plain, corpus, order, averaged, **settings_):
    tagger = component(learner, **settings_)
    plain.collect(corpus)
    examples = [example(words, labels) for words, labels in corpus]
    tagger.initialize(lambda: examples, labels=CLASSES)
    for i in order:
        tagger.update([example(*corpus[i])])
        plain.learn(*corpus[i])
    w = plain.mean() if averaged else plain.w
    for words, _ in (*corpus, (["c", "A", "b", "new"], None)):
        doc = Doc(VOCAB, words=words)
        (raw,), _ = tagger.model.begin_update([doc])
        compare(raw, plain, words, plain.w)
        (lattice,) = tagger.model.predict([doc])
        compare(lattice, plain, words, w)
        ((path, _),) = tagger.predict([doc])
        found = tuple(LABELS[label] for label in path)
        best = plain.best(words, w)
        # Means are no whole numbers: between equal labellings either may win.
        ahead = plain.score(words, best, w) - plain.score(words, found, w)
        assert abs(ahead) < 1e-4
        assert found in set(plain.legal(words))
    return tagger


@st.composite
def corpora(draw, unknown=False):
    """One to four documents of up to four tokens, and an order in which they are learned."""
    corpus = []
    for _ in range(draw(st.integers(1, 3))):
        words = draw(st.lists(st.sampled_from("aAbc"), min_size=1, max_size=4))
        labels = []
        while len(labels) < len(words):
            kind = draw(
                st.sampled_from(["O", "?", "B-X", "B-Y"] if unknown else ["O", "B-X", "B-Y"])
            )
            labels.append(kind)
            if kind[0] == "B":
                longer = draw(st.integers(0, len(words) - len(labels)))
                labels += [f"I{kind[1:]}"] * longer
        corpus.append((words, labels))
    order = draw(st.lists(st.integers(0, len(corpus) - 1), min_size=1, max_size=8))
    return corpus, order


FEW = settings(derandomize=True, deadline=None, max_examples=25)


@FEW
@given(data=corpora())
def test_perceptron(data):
    check(Perceptron(), PlainTagger("perceptron"), *data, averaged=False)


@FEW
@given(data=corpora())
def test_averaged_perceptron(data):
    check(AveragedPerceptron(), PlainTagger("perceptron"), *data, averaged=True)


@FEW
@given(data=corpora(unknown=True))
def test_averaged_perceptron_on_partly_annotated_documents(data):
    corpus, order = data
    order = [i for i in order if set(corpus[i][1]) != {"?"}]
    if order:
        check(AveragedPerceptron(), PlainTagger("perceptron"), corpus, order, averaged=True)


@FEW
@given(data=corpora(), margin=st.sampled_from([0, 1, 3, 1000]), average=st.booleans())
def test_margin_perceptron(data, margin, average):
    learner = MarginPerceptron(margin=margin, average=average)
    check(learner, PlainTagger("margin", margin), *data, averaged=average)


@FEW
@given(data=corpora(), average=st.booleans())
def test_passive_aggressive_with_small_steps(data, average):
    # Steps of a power of two: sums are exact, so that both see the same ties.
    learner = PassiveAggressive(C=2**-8, average=average)
    check(learner, PlainTagger("pa", Fraction(1, 2**8)), *data, averaged=average)


@settings(derandomize=True, deadline=None, max_examples=15)
@given(data=corpora(), average=st.booleans(), C=st.sampled_from([Fraction(1, 4), Fraction(100)]))
def test_passive_aggressive_with_steps_of_any_size(data, average, C):  # noqa: N803
    plain = PlainTagger("pa", C)
    # Floats break ties that Fractions see, except while all weights are zero: no ties, then.
    rehearsal = PlainTagger("pa", C)
    rehearsal.collect(data[0])
    for i in data[1]:
        assume(not any(rehearsal.w.values()) or not rehearsal.has_tie(*data[0][i]))
        rehearsal.learn(*data[0][i])
    check(PassiveAggressive(C=float(C), average=average), plain, *data, averaged=average)


@pytest.mark.parametrize(
    "settings_",
    [
        {"min_count": 2},
        {"edges": ("bias",)},
        {"edges": ("orth[0]|orth[-1]",)},
        {"edges": ()},
        {"nodes": ("orth[-2]", "lower[2]", "orth[0]|lower[0]")},
        {"nodes": ("bias",), "edges": ("bias", "orth[1]"), "min_count": 3},
    ],
)
@settings(derandomize=True, deadline=None, max_examples=8)
@given(data=corpora())
def test_other_templates(settings_, data):
    plain = PlainTagger("perceptron", **settings_)
    check(AveragedPerceptron(), plain, *data, averaged=True, **settings_)


def test_loss_counts_wrong_tokens():
    corpus = [(["a", "b", "c"], ["B-X", "I-X", "O"]), (["c", "a"], ["O", "B-Y"])]
    tagger, plain = component(Perceptron()), PlainTagger("perceptron")
    plain.collect(corpus)
    examples = [example(*each) for each in corpus]
    tagger.initialize(lambda: examples, labels=CLASSES)
    for _ in range(4):
        for words, labels in corpus:
            wrong = hamming(plain.best(words, plain.w), labels)
            assert tagger.update([example(words, labels)]) == {"tagger": wrong}
            plain.learn(words, labels)


def test_bpm_is_the_mean_of_runs_from_zero():
    """With one document there is only one order: every run is the same, and so is their mean."""
    corpus = [(["a", "b", "c"], ["B-X", "I-X", "O"])]
    examples = [example(*each) for each in corpus]
    tagger, plain = component(AveragedPerceptron()), PlainTagger("perceptron")
    plain.collect(corpus)
    tagger.initialize(lambda: examples, labels=CLASSES, bpm_runs=3)
    plain.learn(*corpus[0])
    doc = Doc(VOCAB, words=corpus[0][0])
    compare(tagger.model.predict([doc])[0], plain, corpus[0][0], plain.w)
    (raw,), _ = tagger.model.begin_update([doc])
    compare(raw, plain, corpus[0][0], plain.w)
