"""CRF learners against trying every labelling: gradients, steps, and what they lead to."""

from __future__ import annotations

import json
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from spacy_nonlocal.errors import LatticeError
from spacy_nonlocal.learners.adf import ADF
from spacy_nonlocal.learners.crf import PERIODS
from spacy_nonlocal.learners.dca import DCA
from spacy_nonlocal.learners.l1sgd import L1SGD
from spacy_nonlocal.learners.learner import ABSURD, Learner
from spacy_nonlocal.learners.madf import MADF
from spacy_nonlocal.learners.sgd import SGD
from spacy_nonlocal.models.lattice import Gradient, Lattice
from spacy_nonlocal.models.rules import CumulativeL1, FrequencyDecay, FrequencyScale, Rule

from ..kernels.oracles import INF, labellings, lattices, log_sum_exp, path_scores
from ..models.toy import begin, counts_of, make_doc, make_shim, to_learn, weights_of

MAKERS = {"SGD": SGD, "L1SGD": L1SGD, "ADF": ADF, "MADF": MADF, "DCA": DCA}
NAMES = [*MAKERS]

few = settings(deadline=None, derandomize=True, max_examples=40)
all_learners = pytest.mark.parametrize("name", NAMES)

# Two tokens, two labels; a change of label costs 1.
HAND = Lattice(
    np.array([[2, 1, -INF, -INF], [1, 0, -INF, -INF]], dtype=np.float32),
    np.array([[[0, -1, 0, 0], [-1, 0, 0, 0]]], dtype=np.float32),
)


def path(*labels):
    return np.array(labels, dtype=np.int32)


def no_distance(gold, guess):
    raise AssertionError("these learners have no use for a distance")


def moves(learner, n):
    """The gradients of so many examples, one like the other."""
    return [learner.judge(HAND, path(0, 1), no_distance).move for _ in range(n)]


def begun(name, sequences=20, **kwargs):
    learner = MAKERS[name](**kwargs)
    learner.begin(sequences)
    return learner


# --- Loss and gradient -------------------------------------------------------------------------


def log_z(node, edge):
    return log_sum_exp(path_scores(node, edge, labellings(len(node), edge.shape[1])))


def slopes(function, lattice):
    """The derivatives of a function of node and edge scores, by small differences; 0 for scores of -inf."""
    arrays, out = [array.astype(np.float64) for array in lattice], []
    for array in arrays:
        slope = np.zeros_like(array)
        for at in np.argwhere(np.isfinite(array)):
            at, here, values = tuple(at), array[tuple(at)], []
            for h in (1e-4, -1e-4):
                array[at] = here + h
                values.append(function(*arrays))
            array[at] = here
            slope[at] = (values[0] - values[1]) / 2e-4
        out.append(slope)
    return out


def legal_labellings(lattice):
    paths = labellings(len(lattice.node), lattice.n_labels)
    return paths[path_scores(*lattice, paths) > -INF]


@st.composite
def examples(draw):
    """A lattice, a labelling that it allows, and which labels are allowed by what is known of that."""
    lattice = Lattice(*draw(lattices(masks=draw(st.booleans()))))
    legal = legal_labellings(lattice)
    assume(len(legal))
    gold = legal[draw(st.integers(0, len(legal) - 1))]
    allowed = draw(hnp.arrays(bool, (len(gold), lattice.n_labels)))
    allowed[np.arange(len(gold)), gold] = True
    return lattice, gold, allowed


def check(verdict, loss, slope):
    assert verdict.loss == pytest.approx(loss, rel=1e-5, abs=1e-5)
    assert verdict.loss >= 0
    for got, want in zip(verdict.move[:2], slope, strict=True):
        assert (got.dtype, got.shape) == (np.float32, want.shape)
        assert np.allclose(got, -want, atol=2e-5)


@few
@given(examples())
def test_the_gradient_is_minus_the_derivative_of_the_loss(example):
    lattice, gold, _ = example

    def loss(node, edge):
        return log_z(node, edge) - path_scores(node, edge, gold[None])[0]

    want, slope = loss(*lattice), slopes(loss, lattice)
    for name in NAMES:
        check(begun(name).judge(lattice, gold, no_distance), want, slope)


@few
@given(examples())
def test_the_gradient_where_gold_is_known_in_parts(example):
    lattice, _, allowed = example
    known = lattice.restrict(allowed)

    def loss(node, edge):
        masked = np.full_like(node, -INF)
        masked[:, : lattice.n_labels][allowed] = node[:, : lattice.n_labels][allowed]
        return log_z(node, edge) - log_z(masked, edge)

    want, slope = loss(*lattice), slopes(loss, lattice)
    for name in NAMES:
        check(begun(name).judge_partly(lattice, known, no_distance), want, slope)


@few
@given(examples())
def test_all_or_nothing_known(example):
    lattice, gold, allowed = example
    learner = begun("SGD")
    whole = learner.judge(lattice, gold, no_distance)
    allowed[...] = False
    allowed[np.arange(len(gold)), gold] = True
    partly = learner.judge_partly(lattice, lattice.restrict(allowed), no_distance)
    assert partly.loss == pytest.approx(whole.loss, rel=1e-5, abs=1e-5)
    for a, b in zip(whole.move[:2], partly.move[:2], strict=True):
        assert np.allclose(a, b, atol=1e-5)
    nothing = learner.judge_partly(lattice, lattice, no_distance)
    assert nothing.loss == 0
    assert not any(array.any() for array in nothing.move[:2])


@all_learners
def test_by_hand(name):
    """Scores of 00, 01, 10, 11: 3, 1, 1, 1."""
    move, loss = begun(name).judge(HAND, path(0, 1), no_distance)
    z = math.exp(3) + 3 * math.exp(1)
    one = math.exp(1) / z
    assert loss == pytest.approx(math.log(z) - 1)
    assert move.node[:, :2].tolist() == [
        pytest.approx([2 * one, -2 * one]),
        pytest.approx([-(1 - 2 * one), 1 - 2 * one]),
    ]
    assert move.edge[0, :, :2].tolist() == [
        pytest.approx([-(1 - 3 * one), 1 - one]),
        pytest.approx([-one, -one]),
    ]
    assert isinstance(move, Gradient)
    assert not move.node[:, 2:].any()
    assert not move.edge[:, :, 2:].any()


@all_learners
def test_the_lattice_stays_as_it_is(name):
    node, edge, gold = HAND.node.copy(), HAND.edge.copy(), path(1, 0)
    known = HAND.restrict(np.array([[True, True], [True, False]]))
    before = known.node.copy()
    learner = begun(name)
    learner.judge(HAND, gold, no_distance)
    learner.judge_partly(HAND, known, no_distance)
    assert np.array_equal(HAND.node, node)
    assert np.array_equal(HAND.edge, edge)
    assert np.array_equal(known.node, before)
    assert gold.tolist() == [1, 0]


@all_learners
def test_what_is_certain_teaches_nothing(name):
    """However large the scores are, the loss is not negative."""
    for size in (0.0, 1e3, 1e6):
        node = np.array([[size, -INF, -INF, -INF]] * 3, dtype=np.float32)
        lattice = Lattice(node, np.zeros((1, 1, 4), np.float32))
        move, loss = begun(name).judge(lattice, path(0, 0, 0), no_distance)
        assert loss == pytest.approx(0, abs=1e-6)
        assert loss >= 0
        assert np.allclose(move.node, 0, atol=1e-6)
        assert np.allclose(move.edge, 0, atol=1e-6)


@all_learners
def test_an_illegal_labelling_is_refused(name):
    lattice = HAND.restrict(np.array([[True, False], [True, True]]))
    with pytest.raises(LatticeError, match="NL616"):
        begun(name).judge(lattice, path(1, 0), no_distance)


@all_learners
def test_no_legal_labelling(name):
    nothing = HAND.restrict(np.zeros((2, 2), dtype=bool))
    with pytest.raises(ValueError, match="NL6"):
        begun(name).judge(nothing, path(0, 0), no_distance)
    with pytest.raises(ValueError, match="NL6"):
        begun(name).judge_partly(HAND, nothing, no_distance)


# --- Steps -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["SGD", "MADF"])
@pytest.mark.parametrize(
    ("l2", "rate", "sequences"), [(1.0, 0.5, 20), (10.0, 2.0, 3), (0.01, 8, 7)]
)
def test_steps_become_smaller(name, l2, rate, sequences):
    steps = [move.step for move in moves(begun(name, sequences, l2=l2, rate=rate), 50)]
    want = [rate / (1 + l2 / sequences * rate * t) for t in range(50)]
    assert steps == pytest.approx(want, rel=1e-12)
    assert steps[0] == rate


def test_steps_of_adf_stay():
    """Its rates decay with the features, not with time."""
    assert {move.step for move in moves(begun("ADF", rate=0.3), 50)} == {0.3}


@pytest.mark.parametrize("name", ["SGD", "ADF", "MADF"])
@pytest.mark.parametrize("sequences", [1, 5, 19, 20, 47, 100])
def test_the_penalty_of_a_period(name, sequences):
    """w -= step * λ w, for all steps of the period at once: as a logarithm, the sum."""
    learner = begun(name, sequences, l2=3.0, rate=0.7)
    due, got, length = 0.0, [], max(1, sequences // PERIODS)
    for i, move in enumerate(moves(learner, 130)):
        due += move.step * 3.0 / sequences
        if (i + 1) % length:
            assert (move.period, move.shrink) == (0, 0.0)
        else:
            assert move.period == learner.period == length
            assert move.shrink == pytest.approx(due, rel=1e-9)
            got.append(move.shrink)
            due = 0.0
        assert (move.penalty, move.reach) == (0.0, INF)
    assert len(got) == 130 // length


@pytest.mark.parametrize("sequences", [1, 7, 40])
def test_l1sgd_steps_and_penalty(sequences):
    learner = begun("L1SGD", sequences, l1=2.5, rate=0.8, decay=0.6)
    total, length = 0.0, max(1, sequences // PERIODS)
    for t, move in enumerate(moves(learner, 100)):
        assert move.step == pytest.approx(0.8 * 0.6 ** (t / sequences), rel=1e-12)
        total += move.step * 2.5 / sequences
        assert move.penalty == pytest.approx(total, rel=1e-9)
        assert (move.shrink, move.reach) == (0.0, INF)
        assert move.period == (length if (t + 1) % length == 0 else 0)


def test_l1sgd_without_decay():
    assert {move.step for move in moves(begun("L1SGD", rate=0.3, decay=1.0), 30)} == {0.3}


def test_dca_goes_as_far_as_the_loss():
    learner = begun("DCA", 40, C=0.25)
    for t in range(30):
        gold = path(t % 2, t // 2 % 2)
        move, loss = learner.judge(HAND, gold, no_distance)
        assert (move.step, move.reach) == (0.25, loss)
        assert (move.penalty, move.shrink) == (0.0, 0.0)
        assert move.period == (4 if (t + 1) % 4 == 0 else 0)


def test_dca_reaches_what_the_model_allows():
    """step = min(C, loss / ‖gradient‖²), with the gradient of all weights."""
    doc, gold = make_doc(["a", "b", "a"]), path(0, 1, 1)
    for C in (0.01, 0.1, 100.0):
        learner = begun("DCA", 10, C=C)
        shim = begin(make_shim(["bias", "orth[0]"], ["bias"]), [doc], labels=2, rule=learner.rule)
        rows, paths = to_learn(shim, doc), labellings(3, 2)
        counts = np.array([counts_of(shim.trainer, rows, each) for each in paths])
        # All weights are zero: every labelling is as likely as any other.
        direction = counts_of(shim.trainer, rows, gold) - counts.mean(axis=0)
        loss = 3 * math.log(2)
        want = min(C, loss / (direction @ direction)) * direction
        verdict = learner.judge(shim.trainer.lattice(rows), gold, no_distance)
        assert verdict.loss == pytest.approx(loss, rel=1e-6)
        shim.learn(rows, verdict.move)
        assert np.allclose(weights_of(shim.trainer), want, atol=1e-6)


# --- Time and state ----------------------------------------------------------------------------


@all_learners
@pytest.mark.parametrize("sequences", [10, 20, 100])
def test_passes_end_with_the_data(name, sequences):
    learner, ends = begun(name, sequences), []
    for t in range(1, 3 * sequences + 1):
        move = learner.judge(HAND, path(0, 0), no_distance).move
        if learner.ended_pass:
            ends.append(t)
            # All that is due has been taken from the weights that the penalty is about.
            assert move.period
    assert ends == [sequences, 2 * sequences, 3 * sequences]


@all_learners
def test_periods(name):
    for sequences, period in ((0, 1), (1, 1), (9, 1), (19, 1), (20, 2), (1234, 123)):
        assert begun(name, sequences).period == period


def kinds(moves_):
    return [move[2:] for move in moves_]


@all_learners
@pytest.mark.parametrize("stop", [0, 1, 7, 30])
def test_state_round_trip(name, stop):
    straight, stopped = begun(name, 47), MAKERS[name]()
    moves(straight, stop)
    state = straight.state()
    assert state["name"] == name
    assert state["averaged"] == straight.averaged
    stopped.set_state(json.loads(json.dumps(state)))
    assert stopped.state() == state
    assert kinds(moves(stopped, 60)) == kinds(moves(straight, 60))
    assert stopped.ended_pass == straight.ended_pass


@pytest.mark.parametrize("name", NAMES[:4])
def test_a_rate_that_was_found_is_saved(name):
    learner, other = begun(name), MAKERS[name]()
    learner.rate = 0.3125
    other.set_state(json.loads(json.dumps(learner.state())))
    assert other.rate == 0.3125


@all_learners
def test_a_state_without_anything(name):
    """As another learner of the same kind may have saved it."""
    learner = MAKERS[name]()
    learner.set_state({"name": "Other", "averaged": learner.averaged})
    assert kinds(moves(learner, 5)) == kinds(moves(begun(name, 1), 5))


@all_learners
def test_to_begin_and_to_restart_is_to_forget(name):
    learner = begun(name, 30)
    first = kinds(moves(learner, 40))
    learner.restart()
    assert kinds(moves(learner, 40)) == first
    learner.begin(30)
    assert kinds(moves(learner, 40)) == first
    learner.begin(7)
    assert kinds(moves(learner, 40)) == kinds(moves(begun(name, 7), 40))


def test_penalties():
    """Of weights whose sizes add up to 3, and their squares to 5."""
    for name in ("SGD", "ADF", "MADF"):
        assert MAKERS[name](l2=4.0).penalty(3.0, 5.0) == 10.0
    assert L1SGD(l1=4.0).penalty(3.0, 5.0) == 12.0
    # What it takes back is not known.
    assert DCA(C=0.25).penalty(3.0, 5.0) == 0.0


# --- Settings ----------------------------------------------------------------------------------


@all_learners
def test_contract(name):
    learner = MAKERS[name]()
    assert isinstance(learner, Learner)
    assert learner.name == name
    assert learner.probabilistic
    assert learner.wants_rate == (name != "DCA")
    assert learner.step_setting == ("C" if name == "DCA" else "rate")
    assert hasattr(learner, learner.step_setting)
    if name != "DCA":
        given_rate = MAKERS[name](rate=0.5)
        assert (given_rate.rate, given_rate.wants_rate) == (0.5, False)


def test_rules():
    for average in (True, False):
        for maker in (SGD, ADF, MADF, DCA):
            assert maker(average=average).averaged is average
    assert not L1SGD().averaged
    assert type(SGD().rule) is type(DCA().rule) is Rule
    assert ADF(upper=0.9, lower=0.2).rule.settings() == FrequencyDecay(False, 0.9, 0.2).settings()
    assert MADF(alpha=7.0, beta=2.0).rule.settings() == FrequencyScale(False, 7.0, 2.0).settings()
    assert type(L1SGD().rule) is CumulativeL1


POSITIVE = [(name, "rate") for name in NAMES[:4]]
POSITIVE += [("SGD", "l2"), ("ADF", "l2"), ("MADF", "l2"), ("L1SGD", "l1"), ("DCA", "C")]
POSITIVE += [("MADF", "alpha"), ("MADF", "beta")]
SHARES = [("L1SGD", "decay"), ("ADF", "upper"), ("ADF", "lower")]


@pytest.mark.parametrize(("name", "setting"), POSITIVE)
@pytest.mark.parametrize("value", [0, 0.0, -1, -1e-9, INF, -INF, math.nan, ABSURD * 1.01])
def test_settings_that_have_to_be_positive(name, setting, value):
    with pytest.raises(ValueError, match=f"NL501.*{name}: `{setting}` is {value},"):
        MAKERS[name](**{setting: value})


@pytest.mark.parametrize(("name", "setting"), SHARES)
@pytest.mark.parametrize("value", [0, 0.0, -0.5, 1.001, 2, INF, -INF, math.nan])
def test_settings_that_have_to_be_shares(name, setting, value):
    with pytest.raises(ValueError, match=f"NL503.*{name}: `{setting}` is {value},"):
        MAKERS[name](**{setting: value})


@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 1.5), (0.5, 1.0), (1000.0, 1000.1)])
def test_frequent_features_have_no_higher_rates(alpha, beta):
    with pytest.raises(ValueError, match=f"NL504.*MADF.*`alpha` is {alpha},.*{beta}"):
        MADF(alpha=alpha, beta=beta)


def test_settings_at_the_edge():
    for name, setting in POSITIVE:
        if setting not in ("alpha", "beta"):
            for value in (1e-9, ABSURD):
                assert getattr(MAKERS[name](**{setting: value}), setting) == value
    for name, setting in SHARES:
        for value in (1e-9, 1):
            given = {"upper": value, "lower": value} if name == "ADF" else {setting: value}
            MAKERS[name](**given)
    with pytest.raises(ValueError, match=r"NL504.*ADF.*`upper`.*`lower`"):
        ADF(upper=0.5)
    assert MADF(alpha=3.0, beta=3.0).rule.top_rate == pytest.approx(1 / 3)
    MADF(alpha=ABSURD, beta=ABSURD)


# --- What it leads to --------------------------------------------------------------------------

# Not separable: the same words have other labels elsewhere.
CORPUS = [
    (make_doc(["in", "York", "."]), path(0, 1, 0)),
    (make_doc(["in", "New", "York"]), path(0, 1, 2)),
    (make_doc(["York", "York"]), path(1, 1)),
    (make_doc(["New", "in", "York"]), path(0, 0, 0)),
    (make_doc(["New", "York"]), path(1, 2)),
    (make_doc(["."]), path(0)),
    (make_doc(["York"]), path(2)),
    (make_doc(["in", "New"]), path(0, 0)),
    (make_doc(["York", "in", "York"]), path(1, 0, 1)),
    (make_doc(["in", "."]), path(0, 0)),
]


def corpus_model(learner):
    """A model of the corpus, for a learner that begins."""
    docs = [doc for doc, _ in CORPUS]
    shim = begin(make_shim(["bias", "orth[0]"], ["bias", "orth[0]"]), docs, rule=learner.rule)
    learner.begin(len(CORPUS))
    if learner.rule.knows_first:
        for doc, gold in CORPUS:
            shim.trainer.meet(to_learn(shim, doc), gold)
        shim.trainer.end_meeting()
    return shim


def run(learner, passes):
    shim, rng = corpus_model(learner), np.random.default_rng(0)
    for _ in range(passes):
        for i in rng.permutation(len(CORPUS)):
            doc, gold = CORPUS[i]
            rows = to_learn(shim, doc)
            verdict = learner.judge(shim.trainer.lattice(rows), gold, no_distance)
            shim.learn(rows, verdict.move)
    assert learner.ended_pass == (passes > 0)
    return shim


class Exact:
    """Losses of the corpus and their slope, from the feature counts of all labellings."""

    def __init__(self):
        shim = corpus_model(SGD())
        trainer = shim.trainer
        self.right, self.all = [], []
        for doc, gold in CORPUS:
            rows = to_learn(shim, doc)
            self.right.append(counts_of(trainer, rows, gold))
            paths = labellings(len(doc), 3)
            self.all.append(np.array([counts_of(trainer, rows, each) for each in paths]))
        self.size = len(self.right[0])

    def loss(self, w):
        pairs = zip(self.right, self.all, strict=True)
        return sum(log_sum_exp(counts @ w) - right @ w for right, counts in pairs)

    def slope(self, w):
        out = np.zeros(self.size)
        for right, counts in zip(self.right, self.all, strict=True):
            scores = counts @ w
            out += np.exp(scores - log_sum_exp(scores)) @ counts - right
        return out

    def descend(self, shrink, passes=3000, step=0.02):
        """Plain gradient descent on the losses; what the penalty does to the weights is up to `shrink`."""
        w = np.zeros(self.size)
        for _ in range(passes):
            w = shrink(w - step * self.slope(w), step)
        return w


@pytest.fixture(scope="module")
def exact():
    return Exact()


def objective(exact, learner, w):
    return exact.loss(w) + learner.penalty(np.abs(w).sum(), w @ w)


L2 = 0.5
LEARNERS = {
    "SGD": lambda: SGD(l2=L2, rate=0.5),
    "SGD-averaged": lambda: SGD(l2=L2, rate=0.5, average=True),
    "L1SGD": lambda: L1SGD(l1=L2, rate=0.5, decay=0.97),
    "ADF": lambda: ADF(l2=L2, rate=0.5, upper=0.999, lower=0.99),
    "MADF": lambda: MADF(l2=L2, rate=1.0, alpha=10.0),
    "DCA": lambda: DCA(C=1 / L2),
}


@pytest.mark.parametrize("name", [name for name in LEARNERS if name != "DCA"])
def test_the_objective_falls(name, exact):
    values = [objective(exact, LEARNERS[name](), np.zeros(exact.size))]
    assert values[0] == pytest.approx(22 * math.log(3))
    for passes in (1, 60):
        learner = LEARNERS[name]()
        values.append(objective(exact, learner, weights_of(run(learner, passes).trainer)))
    assert all(later < before for before, later in pairwise(values)), values


@pytest.mark.parametrize("C", [0.02, 0.5, 2.0])
def test_the_losses_of_dca_fall(C, exact):
    """The first pass lowers the objective. Later ones lower the losses only: that an example has moved the weights
    before is not remembered, and so they move as far again."""
    values, penalties = [], []
    for passes in (0, 1, 2, 20):
        learner = DCA(C)
        w = weights_of(run(learner, passes).trainer)
        values.append(exact.loss(w))
        penalties.append(w @ w / (2 * C))
    assert all(later < before for before, later in pairwise(values)), values
    assert values[1] + penalties[1] < values[0] == pytest.approx(22 * math.log(3))


@pytest.mark.parametrize(("name", "close"), [("SGD", 0.01), ("MADF", 0.02), ("ADF", 0.05)])
def test_the_optimum_with_l2(name, close, exact):
    best = exact.descend(lambda w, step: w / (1 + step * L2))
    learner = LEARNERS[name]()
    least = objective(exact, learner, best)
    # Nothing pulls at the weights any more.
    assert np.abs(exact.slope(best) + L2 * best).max() < 1e-6
    weights = weights_of(run(learner, 300).trainer)
    got = objective(exact, learner, weights)
    assert least - 1e-6 <= got <= least * (1 + close)


def test_the_optimum_with_l1(exact):
    def threshold(w, step):
        return np.sign(w) * np.maximum(np.abs(w) - step * L2, 0)

    best = exact.descend(threshold)
    learner = LEARNERS["L1SGD"]()
    least = objective(exact, learner, best)
    weights = weights_of(run(learner, 200).trainer)
    got = objective(exact, learner, weights)
    assert least - 1e-6 <= got <= least * 1.02
    # It is the same weights that are worth their penalty, or nearly so.
    assert 0 < np.count_nonzero(weights) < 2 * np.count_nonzero(best)


def test_losses_and_penalties_add_up_to_the_objective(exact):
    """What the component reports after a pass with hardly any steps is the objective, but for rounding."""
    learner = SGD(l2=L2, rate=1e-7)
    shim = corpus_model(learner)
    total = 0.0
    for doc, gold in CORPUS:
        rows = to_learn(shim, doc)
        verdict = learner.judge(shim.trainer.lattice(rows), gold, no_distance)
        shim.learn(rows, verdict.move)
        total += verdict.loss
    assert learner.ended_pass
    total += learner.penalty(*shim.trainer.norms())
    assert total == pytest.approx(objective(exact, learner, np.zeros(exact.size)), rel=1e-4)
