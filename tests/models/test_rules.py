"""Every rule against a slow second version of it, with one line for each feature in a dictionary."""

from __future__ import annotations

import json
import math
from collections import defaultdict

import numpy as np
import pytest

from spacy_nonlocal.models.feature_table import FeatureTable
from spacy_nonlocal.models.lattice import Gradient
from spacy_nonlocal.models.rules import (
    CumulativeL1,
    FrequencyDecay,
    FrequencyScale,
    Rule,
    make_rule,
)
from spacy_nonlocal.models.sparse_weights import SparseWeights
from spacy_nonlocal.models.trainer import MAX_WEIGHT, DivergenceError, Trainer

from .toy import (
    DOCS,
    UNSEEN,
    begin,
    by_key,
    gradients_of,
    make_doc,
    make_shim,
    mean_of,
    predicted_lattice,
    random_gradient,
    rows_of,
    same_bits,
    to_learn,
    trained_lattice,
)

LABELS = 3
NODES = ["bias", "orth[0]", "lower[-1]|tag[0]"]
EDGES = {"none": [], "shared": ["bias"], "text": ["orth[0]"], "both": ["bias", "orth[0]", "tag[0]"]}
RULES = [
    Rule(averaged=False),
    Rule(averaged=True),
    FrequencyDecay(averaged=False, upper=0.9, lower=0.3),
    FrequencyDecay(averaged=True, upper=0.9, lower=0.3),
    FrequencyScale(averaged=False, most=8.0, least=0.5),
    FrequencyScale(averaged=True, most=8.0, least=0.5),
    CumulativeL1(averaged=False),
]

# Features of the last three are not known when training begins. Then, all in some order.
DISTINCT = [*DOCS, *UNSEEN[:2], make_doc(["York", "is", "the", "Rome"])]
EXAMPLES = [*DISTINCT, *(DISTINCT[i] for i in (1, 1, 0, 4, 2, 6, 1, 3, 0, 5, 1, 2, 6, 6))]

all_edges = pytest.mark.parametrize("edges", EDGES.values(), ids=EDGES)


def name_of(rule):
    return f"{rule.name}-{rule.averaged}"


all_rules = pytest.mark.parametrize("rule", RULES, ids=name_of)


def start(rule, edges, *, known=4):
    """A model that knows the features of some documents, counted if the rule asks for that."""
    shim = begin(make_shim(NODES, edges), DOCS[:known], labels=LABELS, rule=rule)
    if rule.knows_first:
        for doc, gold in zip(DOCS[:known], GOLD, strict=False):
            shim.trainer.meet(to_learn(shim, doc), gold)
        shim.trainer.end_meeting()
    return shim


# Right labels of DOCS, some of them unknown.
GOLD = [
    np.array(gold, dtype=np.int32)
    for gold in ([0, 1, 2, 0, 0], [0, -1, 2, 0, 0, 1, -1], [1], [-1, 2, 2, -1, 0])
]


def examples(shim, docs=EXAMPLES, *, seed=0, period=3, shrink=0.25, l1=0.0):
    """Pairs of a document and a random gradient, with an end of a period now and then."""
    rng, total = np.random.default_rng(seed), 0.0
    for i, doc in enumerate(docs):
        step = float(rng.uniform(0.2, 1))
        total += l1 * step
        ends = {"period": period, "shrink": shrink} if (i + 1) % period == 0 else {}
        yield doc, random_gradient(shim, doc, rng, step=step, penalty=total, **ends)


def learn(shim, pairs):
    for doc, gradient in pairs:
        shim.learn(to_learn(shim, doc), gradient)
    return shim


# --- The second versions -----------------------------------------------------------------------


class Plain:
    """w += step * rate * gradient; once in a period, w *= exp(-shrink * rate)"""

    def __init__(self, rule):
        self.rule = rule
        self.w = defaultdict(float)
        self.sum = defaultdict(float)
        self.clock = 0

    def rate(self, feature):
        return 1.0

    def follow(self, changes, gradient, occurrences):
        self.meet(occurrences)
        for feature, change in changes.items():
            self.w[feature] = self.w[feature] + gradient.step * self.rate(feature) * change
        self.after(changes, gradient)
        if gradient.period:
            for feature in self.w:
                self.w[feature] = self.w[feature] * np.exp(-gradient.shrink * self.rate(feature))
            self.end_period(gradient.period)
        self.clock += 1
        for feature, w in self.w.items():
            self.sum[feature] = self.sum[feature] + w

    def meet(self, occurrences):
        pass

    def after(self, changes, gradient):
        pass

    def end_period(self, examples):
        pass

    def mean(self):
        if not self.rule.averaged:
            return self.w
        return {feature: total / self.clock for feature, total in self.sum.items()}


class Decay(Plain):
    def __init__(self, rule):
        super().__init__(rule)
        self.rates = {}
        self.fired = defaultdict(int)

    def rate(self, feature):
        return self.rates.setdefault(feature, 1.0)

    def after(self, changes, gradient):
        for feature in changes:
            self.fired[feature] += 1

    def end_period(self, examples):
        upper, lower = self.rule.upper, self.rule.lower
        for feature in self.rates:
            share = self.fired[feature] / examples
            self.rates[feature] *= upper - share * (upper - lower)
        self.fired.clear()


class Scale(Plain):
    """rates: those of features that were counted; others get theirs when they are met."""

    def __init__(self, rule, rates):
        super().__init__(rule)
        self.rates = rates

    def rate(self, feature):
        return self.rates[feature]

    def meet(self, occurrences):
        for feature, share in occurrences.items():
            if feature not in self.rates:
                self.rates[feature] = rate_of(self.rule, share)


def rate_of(rule, share):
    return 1 / (rule.least + (rule.most - rule.least) * share)


class EagerL1(Plain):
    """All weights pay after each example (Tsuruoka et al. 2009, figure 2, for all features instead of some)."""

    def __init__(self, rule):
        super().__init__(rule)
        self.q = defaultdict(float)

    def after(self, changes, gradient):
        u = gradient.penalty
        for feature, z in self.w.items():
            q = self.q[feature]
            down, up = np.maximum(0, z - (u + q)), np.minimum(0, z + (u - q))
            self.w[feature] = np.where(z > 0, down, np.where(z < 0, up, z))
            self.q[feature] = q + (self.w[feature] - z)


def second_version(shim):
    rule = shim.trainer.rule
    if isinstance(rule, FrequencyDecay):
        return Decay(rule)
    if isinstance(rule, FrequencyScale):
        return Scale(rule, counted_rates(shim))
    return EagerL1(rule) if isinstance(rule, CumulativeL1) else Plain(rule)


def counted_rates(shim):
    """What `start` has counted, from the beliefs of the right labels."""
    trainer, counts, tokens = shim.trainer, defaultdict(float), 0
    for doc, gold in zip(DOCS, GOLD, strict=True):
        text = bool(trainer.extractor.edge_templates)
        node = np.zeros((len(gold), trainer.width))
        edge = np.zeros((len(gold) if text else 1, trainer.n_labels, trainer.width))
        for t, label in enumerate(gold):
            if label >= 0:
                node[t, label] += 1
                tokens += 1
            if t > 0 and label >= 0 and gold[t - 1] >= 0:
                edge[t if text else 0, gold[t - 1], label] += 1
        for feature, change in gradients_of(shim, doc, Gradient(node, edge, 0.0))[0].items():
            counts[feature] = counts[feature] + change
    return {feature: rate_of(trainer.rule, n / tokens) for feature, n in counts.items()}


def agree(got, want):
    """The same features, but for those without any weight, and nearly the same numbers."""
    for feature in {*got, *want}:
        a, b = got.get(feature, 0.0), want.get(feature, 0.0)
        assert np.allclose(a, b, rtol=2e-5, atol=2e-6), (feature, a, b)
    return bool(want)


# --- What all have in common -------------------------------------------------------------------


@all_edges
@all_rules
def test_weights_and_means(rule, edges):
    shim = start(rule, edges)
    second = second_version(shim)
    l1 = 0.1 if isinstance(rule, CumulativeL1) else 0.0
    shrink = 0.0 if l1 else 0.25
    # With all features in the first period, none is new when rates have decayed.
    period = len(DISTINCT) if isinstance(rule, FrequencyDecay) else 3
    for doc, gradient in examples(shim, l1=l1, shrink=shrink, period=period):
        changes, occurrences = gradients_of(shim, doc, gradient)
        learn(shim, [(doc, gradient)])
        second.follow(changes, gradient, occurrences)
        # Who has waited to pay has paid in the mean.
        assert agree(mean_of(shim), second.mean())
        if not l1 or gradient.period:
            assert agree(by_key(shim.trainer), second.w)
    assert shim.trainer.clock == second.clock == len(EXAMPLES)


@pytest.mark.parametrize("edges", [EDGES["shared"], EDGES["both"]])
@pytest.mark.parametrize(
    ("rule", "stop"),
    [
        pytest.param(
            rule,
            stop,
            id=f"{name_of(rule)}-{stop}",
        )
        for rule in RULES
        for stop in (0, 1, 3, 6, 11)
    ],
)
def test_going_on_is_like_never_having_stopped(rule, edges, stop):
    l1 = 0.1 if isinstance(rule, CumulativeL1) else 0.0
    straight, stopped = start(rule, edges, known=2), start(rule, edges, known=2)
    pairs = list(examples(straight, l1=l1))
    learn(straight, pairs[:stop])
    settings = json.loads(json.dumps(rule.settings()))
    trainer = Trainer(stopped.extractor, stopped._transitions, make_rule(settings), 1)
    trainer.set_state(straight.trainer.state(), "here")
    stopped._trainer = trainer
    assert trainer.penalty == straight.trainer.penalty
    for at in range(stop, len(pairs)):
        for shim in (straight, stopped):
            learn(shim, pairs[at : at + 1])
        a, b = straight.trainer.state(), stopped.trainer.state()
        assert [*a] == [*b]
        for name, array in a.items():
            assert array.tobytes() == b[name].tobytes(), (at, name)
    for doc in [*DOCS, *UNSEEN]:
        assert same_bits(trained_lattice(straight, doc), trained_lattice(stopped, doc))
        assert same_bits(predicted_lattice(straight, doc), predicted_lattice(stopped, doc))


@all_rules
def test_looking_changes_nothing(rule):
    """Prediction in the middle of training, in both ways, or none at all."""
    l1 = 0.1 if isinstance(rule, CumulativeL1) else 0.0
    one, other = start(rule, EDGES["both"]), start(rule, EDGES["both"])
    for doc, gradient in examples(one, l1=l1):
        learn(one, [(doc, gradient)])
        learn(other, [(doc, gradient)])
        few = one.trainer.mean_lattice(rows_of(one, doc))
        assert same_bits(few, predicted_lattice(one, doc))
        first, again = mean_of(one), mean_of(one)
        assert all(np.array_equal(first[feature], again[feature]) for feature in again)
    a, b = one.trainer.state(), other.trainer.state()
    assert all(array.tobytes() == b[name].tobytes() for name, array in a.items())
    assert same_bits(predicted_lattice(one, DOCS[0]), predicted_lattice(other, DOCS[0]))


@all_rules
def test_reset_begins_anew(rule):
    shim, fresh = start(rule, EDGES["both"]), start(rule, EDGES["both"])
    learn(shim, examples(shim, l1=0.1))
    shim.trainer.reset()
    assert (shim.trainer.clock, shim.trainer.penalty) == (0, 0.0)
    assert shim.trainer.norms() == (0.0, 0.0)
    for each in (shim, fresh):
        learn(each, examples(each, [*DOCS, *DOCS], seed=1, period=len(DOCS), l1=0.1))
    assert agree(by_key(shim.trainer), by_key(fresh.trainer))
    assert agree(mean_of(shim), mean_of(fresh))


@all_rules
def test_settings_make_the_same_rule(rule):
    copy = make_rule(json.loads(json.dumps(rule.settings())))
    assert type(copy) is type(rule)
    assert vars(copy) == vars(rule)
    assert copy.top_rate == rule.top_rate


def test_norms_are_those_of_all_weights():
    shim = start(Rule(averaged=False), EDGES["both"])
    assert shim.trainer.norms() == (0.0, 0.0)
    learn(shim, examples(shim))
    weights = np.concatenate([w.ravel() for w in by_key(shim.trainer).values()])
    size, squares = shim.trainer.norms()
    assert size == pytest.approx(np.abs(weights).sum(), rel=1e-5)
    assert squares == pytest.approx((weights**2).sum(), rel=1e-5)


# --- How far -----------------------------------------------------------------------------------


@all_edges
@pytest.mark.parametrize("reach", [0.0, 1e-3, 0.5, 1e6, math.inf])
def test_a_step_goes_no_further_than_its_reach(edges, reach):
    shim, rng = start(Rule(averaged=True), edges), np.random.default_rng(5)
    for doc in DOCS:
        gradient = random_gradient(shim, doc, rng, step=0.5, reach=reach)
        changes, _ = gradients_of(shim, doc, gradient)
        squared = sum((change**2).sum() for change in changes.values())
        before = by_key(shim.trainer)
        shim.learn(to_learn(shim, doc), gradient)
        step = min(0.5, reach / squared)
        want = {f: before.get(f, 0.0) + step * change for f, change in changes.items()}
        assert agree(by_key(shim.trainer), {**before, **want})


def test_a_gradient_of_zero_goes_nowhere():
    shim = start(Rule(averaged=True), EDGES["both"])
    nothing = random_gradient(shim, DOCS[0], np.random.default_rng(0), reach=1.0)
    nothing.node[...], nothing.edge[...] = 0, 0
    shim.learn(to_learn(shim, DOCS[0]), nothing)
    assert shim.trainer.norms() == (0.0, 0.0)
    assert shim.trainer.clock == 1


@all_rules
@pytest.mark.parametrize("step", [1e30, 1e38, 1e300, math.inf, math.nan])
def test_too_large_a_step_changes_no_weight(rule, step):
    shim = start(rule, EDGES["both"])
    learn(shim, examples(shim, DOCS, l1=0.1))
    trainer = shim.trainer
    before, mean, penalty = by_key(trainer), mean_of(shim), trainer.penalty
    rates = [{name: a.copy() for name, a in p.beside.items()} for p in (trainer.node, trainer.edge)]
    bad = random_gradient(
        shim, DOCS[0], np.random.default_rng(1), step=step, penalty=9.0, period=1, shrink=1.0
    )
    with pytest.raises(DivergenceError):
        shim.learn(to_learn(shim, DOCS[0]), bad)
    assert (trainer.clock, trainer.penalty) == (len(DOCS), penalty)
    for old, new in ((before, by_key(trainer)), (mean, mean_of(shim))):
        assert [*old] == [*new]
        assert all(np.array_equal(old[feature], new[feature]) for feature in old)
    for part, arrays in zip((trainer.node, trainer.edge), rates, strict=True):
        assert all(np.array_equal(part.beside[name], array) for name, array in arrays.items())
    # And training can go on.
    learn(shim, examples(shim, DOCS, seed=2, l1=0.1))


def test_high_rates_count_as_large_steps():
    rng = np.random.default_rng(1)
    for least, fails in ((1.0, False), (1e-6, True)):
        shim = start(FrequencyScale(averaged=False, most=2.0, least=least), EDGES["shared"])
        gradient = random_gradient(shim, DOCS[0], rng, step=1e25)
        if fails:
            with pytest.raises(DivergenceError):
                shim.learn(to_learn(shim, DOCS[0]), gradient)
            assert shim.trainer.norms() == (0.0, 0.0)
        else:
            shim.learn(to_learn(shim, DOCS[0]), gradient)


def growing(shim, doc, step):
    """As large a gradient as beliefs can make: of a label that is right everywhere, and impossible."""
    gradient = random_gradient(shim, doc, np.random.default_rng(0), step=step)
    gradient.node[...], gradient.edge[...] = 0, 0
    gradient.node[:, 0] = 1
    gradient.edge[1 if len(gradient.edge) > 1 else 0 :, 0, 0] = 1
    if len(gradient.edge) == 1:
        gradient.edge[0, 0, 0] = len(doc) - 1
    return gradient


@all_edges
def test_weights_never_leave_the_range(edges):
    shim = start(Rule(averaged=False), edges)
    trainer, gradient = shim.trainer, growing(shim, DOCS[1], 1e27)
    with pytest.raises(DivergenceError):
        learn(shim, [(DOCS[1], gradient)] * 10_000)
    assert trainer.clock > 10
    largest = max(np.abs(w).max() for w in by_key(trainer).values())
    # Not before it was necessary, for a bound that knows only how many features there are.
    assert MAX_WEIGHT * 0.9 < largest < MAX_WEIGHT


def test_weights_of_edges_alone_never_leave_the_range():
    shim = begin(make_shim([], ["bias"]), labels=LABELS, rule=Rule(averaged=False))
    with pytest.raises(DivergenceError):
        shim.learn(to_learn(shim, DOCS[1]), growing(shim, DOCS[1], 1e35))


def test_large_steps_that_lead_nowhere_are_no_danger():
    shim = start(Rule(averaged=False), EDGES["both"])
    gradient = growing(shim, DOCS[0], 1e28)
    gradient.node[...], gradient.edge[...] = 0, 0
    for _ in range(50):
        shim.learn(to_learn(shim, DOCS[0]), gradient)
    assert shim.trainer.norms() == (0.0, 0.0)


def test_divergence_after_loading():
    shim = start(Rule(averaged=False), EDGES["shared"])
    gradient = growing(shim, DOCS[0], 1e28)
    for _ in range(6):
        shim.learn(to_learn(shim, DOCS[0]), gradient)
    shim.trainer.set_state(shim.trainer.state(), "here")
    with pytest.raises(DivergenceError):
        learn(shim, [(DOCS[0], gradient)] * 100)
    assert max(np.abs(w).max() for w in by_key(shim.trainer).values()) < MAX_WEIGHT


# --- Frequency decay ---------------------------------------------------------------------------


def test_rates_decay_by_hand():
    rule = FrequencyDecay(averaged=False, upper=0.9, lower=0.5)
    always, once = make_doc(["a"]), make_doc(["a", "b"])
    shim = begin(make_shim(["orth[0]"], ["bias"]), [always, once], labels=2, rule=rule)
    rng = np.random.default_rng(0)
    for doc, period in ((once, 0), (always, 0), (always, 0), (always, 4), (always, 0), (always, 2)):
        gradient = random_gradient(shim, doc, rng, period=period)
        shim.learn(to_learn(shim, doc), gradient)
    rates = shim.trainer.node.beside["rate"][:2, 0]
    # After four: 0.9 - 4/4 · 0.4 and 0.9 - 1/4 · 0.4. After two more: 0.9 - 0.4 and 0.9.
    assert rates.tolist() == pytest.approx([0.5 * 0.5, 0.8 * 0.9])
    assert not shim.trainer.node.beside["fired"].any()


def test_free_places_do_not_decay():
    """The rate of a feature that comes late is the same, whether there was room for it or not."""
    rule = FrequencyDecay(averaged=False, upper=0.9, lower=0.5)
    part = SparseWeights(FeatureTable(1), 4, rule)
    part.features.add(np.arange(1, 12, dtype=np.uint64))
    for rows in (range(8), [8]):
        part.claim(np.array([[*rows]], dtype=np.int32), np.ones(1, dtype=bool))
    assert part.used < len(part.w)
    rule.end_period(part, 1, 0.0)
    arrays = {f"x.{name}": array for name, array in part.state().items()}
    copy = SparseWeights.from_state(arrays, "x", 4, rule, 1, "here")
    for each in (part, copy):
        each.claim(np.array([[9]], dtype=np.int32), np.ones(1, dtype=bool))
    assert part.beside["rate"][8] == copy.beside["rate"][8] == pytest.approx(0.9)
    assert part.beside["rate"][9] == copy.beside["rate"][9]


def test_rates_do_not_know_what_was_before_reset():
    """The search for a rate learns from a sample, and resets: features of the sample must not be worse off."""
    rule = FrequencyDecay(averaged=False, upper=0.9, lower=0.5)
    shim, fresh = start(rule, EDGES["shared"]), start(rule, EDGES["shared"])
    learn(shim, examples(shim, DOCS))
    shim.trainer.reset()
    for each in (shim, fresh):
        learn(each, examples(each, [DOCS[2], DOCS[2], DOCS[0]], seed=1, period=1))
    assert agree(by_key(shim.trainer), by_key(fresh.trainer))


# --- Frequency scale ---------------------------------------------------------------------------


@all_edges
def test_rates_are_those_of_counts(edges):
    rule = FrequencyScale(averaged=False, most=50.0, least=0.25)
    shim = start(rule, edges)
    rates = by_key(shim.trainer, "rate")
    want = counted_rates(shim)
    assert agree({feature: rates[feature] for feature in want}, want)
    highest = max(rate.max() for rate in rates.values())
    assert highest <= rule.top_rate == 4.0


def test_rates_by_hand():
    rule = FrequencyScale(averaged=False, most=9.0, least=1.0)
    doc = make_doc(["a", "b", "a", "a"])
    shim = begin(make_shim(["orth[0]"], ["bias"]), [doc], labels=2, rule=rule)
    trainer = shim.trainer
    trainer.meet(to_learn(shim, doc), np.array([0, 0, 1, -1], dtype=np.int32))
    trainer.meet(to_learn(shim, doc), np.array([0, -1, -1, -1], dtype=np.int32))
    trainer.end_meeting()
    # Four tokens are known: a/0 twice, a/1 and b/0 once; the pairs 00 and 01 once.
    a, b = trainer.node.beside["rate"][:2, :2].tolist()
    assert a == pytest.approx([1 / 5, 1 / 3])
    assert b == pytest.approx([1 / 3, 1.0])
    pairs = trainer.edge.beside["rate"][0].reshape(2, -1)[:, :2].tolist()
    assert pairs[0] == pytest.approx([1 / 3, 1 / 3])
    assert pairs[1] == [1.0, 1.0]
    # A word that comes later, on two of four tokens.
    late = make_doc(["c", "a", "d", "c"])
    shim.learn(to_learn(shim, late), random_gradient(shim, late, np.random.default_rng(0)))
    assert trainer.node.beside["rate"][2].tolist() == pytest.approx([1 / 5] * trainer.width)
    assert trainer.node.beside["rate"][3].tolist() == pytest.approx([1 / 3] * trainer.width)
    # What was counted stays as it was.
    assert trainer.node.beside["rate"][0, :2].tolist() == a
    # And whoever came late is not late again.
    shim.learn(to_learn(shim, doc), random_gradient(shim, doc, np.random.default_rng(0)))
    more = make_doc(["c", "e"])
    shim.learn(to_learn(shim, more), random_gradient(shim, more, np.random.default_rng(0)))
    assert trainer.node.beside["rate"][2].tolist() == pytest.approx([1 / 5] * trainer.width)


def test_nothing_to_count():
    rule = FrequencyScale(averaged=False, most=9.0, least=0.5)
    shim = begin(make_shim(["orth[0]"], ["bias"]), [], labels=2, rule=rule)
    shim.trainer.end_meeting()
    doc = make_doc(["a", "b"])
    shim.learn(to_learn(shim, doc), random_gradient(shim, doc, np.random.default_rng(0)))
    assert (shim.trainer.edge.beside["rate"][0] == 2).all()
    assert shim.trainer.node.beside["rate"][:2].ravel() == pytest.approx(1 / (0.5 + 8.5 / 2))


def test_reset_keeps_rates():
    shim = start(FrequencyScale(averaged=True, most=8.0, least=0.5), EDGES["both"])
    before = by_key(shim.trainer, "rate")
    shim.trainer.reset()
    after = by_key(shim.trainer, "rate")
    assert all(np.array_equal(before[feature], after[feature]) for feature in before)
    assert after


# --- Cumulative L1 -----------------------------------------------------------------------------


def test_lazy_as_eager_without_periods():
    """Weights that are not looked at for long pay all at once, and end up where the others are."""
    shim = start(CumulativeL1(averaged=False), EDGES["both"])
    second = second_version(shim)
    for doc, gradient in examples(shim, EXAMPLES * 3, period=1000, l1=0.05):
        changes, occurrences = gradients_of(shim, doc, gradient)
        learn(shim, [(doc, gradient)])
        second.follow(changes, gradient, occurrences)
    lazy = by_key(shim.trainer)
    behind = sum(not np.allclose(lazy[f], w, atol=1e-3) for f, w in second.w.items())
    assert behind > 3
    assert agree(mean_of(shim), second.w)
    # The end of a period makes all pay.
    for part in (shim.trainer.node, shim.trainer.edge):
        shim.trainer.rule.end_period(part, 1, shim.trainer.penalty)
    assert agree(by_key(shim.trainer), second.w)


def test_what_is_not_worth_its_penalty_is_zero():
    shim = start(CumulativeL1(averaged=False), EDGES["both"])
    learn(shim, examples(shim, l1=0.5))
    weights = np.concatenate([w.ravel() for w in mean_of(shim).values()])
    assert 0 < np.count_nonzero(weights) < len(weights) / 2
    learn(shim, examples(shim, [DOCS[2]] * 3, l1=1e6))
    assert not any(w.any() for w in mean_of(shim).values())


def test_the_penalty_never_crosses_zero():
    shim = start(CumulativeL1(averaged=False), EDGES["shared"])
    doc, gradient = next(examples(shim, DOCS[:1]))
    learn(shim, [(doc, gradient)])
    before = by_key(shim.trainer)
    nothing = gradient._replace(
        node=np.zeros_like(gradient.node), edge=np.zeros_like(gradient.edge)
    )
    for penalty in (0.1, 0.4, 1.0, 5.0):
        learn(shim, [(doc, nothing._replace(penalty=penalty))])
        for feature, w in by_key(shim.trainer).items():
            want = np.sign(before[feature]) * np.maximum(np.abs(before[feature]) - penalty, 0)
            assert np.allclose(w, want, atol=1e-6)
