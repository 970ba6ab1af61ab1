"""Learners of local and non-local weights: what they move away from, against the algorithms as they are stated."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from spacy.util import registry

from spacy_nonlocal.learners.joint_passive_aggressive import JointPassiveAggressive
from spacy_nonlocal.learners.joint_perceptron import ALGORITHMS, Choice, JointPerceptron
from spacy_nonlocal.learners.learner import Learner
from spacy_nonlocal.models.lattice import Lattice

from ..kernels.oracles import INF, lattices, quick

MAKERS = (JointPerceptron, JointPassiveAggressive)
NAMES = [maker.name for maker in MAKERS]
MARGINS = st.sampled_from([0.0, 0.125, 1.0, 4.0, 1000.0])


def scores(*values):
    return np.array(values, dtype=np.float64)


def no_distance():
    raise AssertionError("this step does not depend on a distance")


@st.composite
def rankings(draw):
    """Scores of up to six candidates, the best by local ones first, and which of them is right.

    The right one may be none of them: it comes last, then, and is no better by local scores. Few values, so that ties
    are many.
    """
    limit = draw(st.sampled_from([2, 10, 80]))
    eighths = st.integers(-limit, limit).map(lambda n: n / 8)
    m = draw(st.integers(1, 6))
    outside = draw(st.booleans())
    n = m + outside
    local = sorted(draw(st.lists(eighths, min_size=n, max_size=n)), reverse=True)
    gains = draw(st.lists(eighths, min_size=n, max_size=n))
    total = [a + b for a, b in zip(local, gains, strict=True)]
    gold = m if outside else draw(st.integers(0, m - 1))
    return scores(*local), scores(*total), m, gold


# --- the algorithms as they are written down -----------------------------------------------------


def best_by(values, m):
    """The candidates, the best first; of equals, that which local scores prefer."""
    return sorted(range(m), key=lambda i: (-values[i], i))


def algorithm_4_1(local, total, m, gold, margin_total):
    best, *others = best_by(total, m)
    if best != gold and total[gold] - total[best] <= margin_total:
        return best, True
    if others:
        second = others[0]
        if second != gold and total[gold] - total[second] <= margin_total:
            return second, True
    return None


def algorithm_4_2(local, total, m, gold, margin_total, margin_local):
    found = algorithm_4_1(local, total, m, gold, margin_total)
    if found is not None:
        return found
    best, *others = best_by(local, m)
    if best != gold:
        return best, False
    if others and local[gold] - local[others[0]] <= margin_local:
        return others[0], False
    return None


def algorithm_pa(local, total, m, gold, algorithm):
    """PA-I: the best candidate by all features if it is ahead at all, else that by local ones."""
    best = best_by(total, m)[0]
    if total[best] - total[gold] > 0:
        return best, True
    if algorithm == "proposed" and local[0] - local[gold] > 0:
        return 0, False
    return None


def check(choice, expected, local, total, gold):
    """The choice is the one expected, and its loss is how far the right one is behind."""
    if expected is None:
        assert choice is None
        return
    assert (choice.guess, choice.everything) == expected
    values = total if choice.everything else local
    assert choice.loss == values[choice.guess] - values[gold]
    assert choice.guess != gold


@quick
@given(rankings(), MARGINS)
def test_candidate_against_algorithm_4_1(ranking, margin):
    local, total, m, gold = ranking
    learner = JointPerceptron(algorithm="candidate", margin_total=margin)
    expected = algorithm_4_1(local, total, m, gold, margin)
    check(learner.choose(local, total, m, gold), expected, local, total, gold)


@quick
@given(rankings(), MARGINS, MARGINS)
def test_proposed_against_algorithm_4_2(ranking, margin_total, margin_local):
    local, total, m, gold = ranking
    learner = JointPerceptron(margin_total=margin_total, margin_local=margin_local)
    expected = algorithm_4_2(local, total, m, gold, margin_total, margin_local)
    check(learner.choose(local, total, m, gold), expected, local, total, gold)


@quick
@given(rankings(), st.sampled_from(ALGORITHMS))
def test_passive_aggressive_choice(ranking, algorithm):
    local, total, m, gold = ranking
    learner = JointPassiveAggressive(algorithm=algorithm)
    expected = algorithm_pa(local, total, m, gold, algorithm)
    check(learner.choose(local, total, m, gold), expected, local, total, gold)


@quick
@given(rankings(), MARGINS)
def test_proposed_does_what_candidate_does_and_then_more(ranking, margin):
    settings = {"margin_total": margin, "margin_local": margin}
    less = JointPerceptron(algorithm="candidate", **settings).choose(*ranking)
    more = JointPerceptron(algorithm="proposed", **settings).choose(*ranking)
    if less is not None:
        assert more == less
    elif more is not None:
        assert not more.everything


@quick
@given(rankings())
def test_scores_stay_as_they_are(ranking):
    local, total, m, gold = ranking
    before = local.copy(), total.copy()
    for maker in MAKERS:
        maker().choose(local, total, m, gold)
    assert np.array_equal(local, before[0])
    assert np.array_equal(total, before[1])


# --- by hand -------------------------------------------------------------------------------------

# Four candidates; by all features the last is best, then the second. A fifth one is none of them.
LOCAL = scores(9, 7, 6, 5, 1)
TOTAL = scores(9, 11, 6, 14, 3)


@pytest.mark.parametrize("gold", [0, 1, 2, 4])
def test_the_best_by_all_features_comes_first(gold):
    learner = JointPerceptron(margin_local=0, margin_total=0)
    choice = learner.choose(LOCAL, TOTAL, 4, gold)
    assert choice == Choice(3, True, TOTAL[3] - TOTAL[gold])


@pytest.mark.parametrize(("margin", "moves"), [(0, False), (2.99, False), (3, True), (100, True)])
def test_then_the_second_best_by_all_features(margin, moves):
    # The right one is ahead by 3.
    learner = JointPerceptron(algorithm="candidate", margin_total=margin)
    choice = learner.choose(LOCAL, TOTAL, 4, 3)
    assert choice == (Choice(1, True, -3) if moves else None)


def test_then_the_best_by_local_features():
    # By all features right, by far enough; by local ones wrong.
    learner = JointPerceptron(margin_total=2.99, margin_local=0)
    assert learner.choose(LOCAL, TOTAL, 4, 3) == Choice(0, False, 4)


@pytest.mark.parametrize(("margin", "moves"), [(0, False), (1.99, False), (2, True), (100, True)])
def test_then_the_second_best_by_local_features(margin, moves):
    total = scores(20, 7, 8, 9, 1)
    learner = JointPerceptron(margin_total=1, margin_local=margin)
    choice = learner.choose(LOCAL, total, 4, 0)
    assert choice == (Choice(1, False, -2) if moves else None)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_ties_go_to_what_local_features_prefer(algorithm):
    flat = np.zeros(3)
    learner = JointPerceptron(algorithm=algorithm, margin_total=0, margin_local=0)
    assert learner.choose(flat, flat, 3, 2) == Choice(0, True, 0)
    # The right one is first among equals; the next one is within a margin of zero.
    assert learner.choose(flat, flat, 3, 0) == Choice(1, True, 0)


@pytest.mark.parametrize("maker", MAKERS, ids=NAMES)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_one_candidate_that_is_right(maker, algorithm):
    learner = maker(algorithm=algorithm)
    assert learner.choose(scores(3), scores(5), 1, 0) is None


def test_one_candidate_that_is_wrong():
    # The right one is outside, and by all features ahead of the only candidate.
    local, total = scores(3, 2), scores(3, 8)
    learner = JointPerceptron(margin_total=1)
    assert learner.choose(local, total, 1, 1) == Choice(0, False, 1)
    learner = JointPerceptron(margin_total=1, algorithm="candidate")
    assert learner.choose(local, total, 1, 1) is None
    assert JointPerceptron(margin_total=5).choose(local, total, 1, 1) == Choice(0, True, -5)
    assert JointPassiveAggressive().choose(local, total, 1, 1) == Choice(0, False, 1)


def test_passive_aggressive_is_content_with_a_tie():
    flat = np.zeros(3)
    for gold in range(3):
        assert JointPassiveAggressive().choose(flat, flat, 3, gold) is None


# --- where candidates come from, and how long steps are ------------------------------------------


@quick
@given(lattices(), st.data())
def test_search(lattice, data):
    lattice = Lattice(*lattice)
    labels = st.integers(0, lattice.n_labels - 1)
    T = len(lattice.node)
    gold = np.array(data.draw(st.lists(labels, min_size=T, max_size=T)), dtype=np.int32)
    assert JointPerceptron().search(lattice, gold) is lattice
    before = lattice.node.copy()
    costly = JointPassiveAggressive().search(lattice, gold)
    assert np.array_equal(lattice.node, before)
    assert np.array_equal(costly.edge, lattice.edge)
    for t in range(T):
        for label in range(lattice.n_labels):
            assert costly.node[t, label] == before[t, label] + (label != gold[t])
    assert np.isneginf(costly.node[:, lattice.n_labels :]).all()


def test_steps_of_the_perceptron_have_one_length():
    for choice in (Choice(1, True, 7.0), Choice(0, False, -2.0)):
        assert JointPerceptron().length(choice, no_distance) == 1.0


@pytest.mark.parametrize(
    ("C", "loss", "squared", "step"),
    [(1.0, 3.0, 12.0, 0.25), (0.1, 3.0, 12.0, 0.1), (0.25, 3.0, 12.0, 0.25), (1.0, 3.0, 0.0, 0.0)],
)
def test_steps_of_the_passive_aggressive_learner(C, loss, squared, step):
    learner = JointPassiveAggressive(C)
    for everything in (True, False):
        assert learner.length(Choice(1, everything, loss), lambda: squared) == step


@quick
@given(st.floats(1e-6, 100), st.floats(1e-6, 1000), st.one_of(st.just(0.0), st.floats(1e-3, 1000)))
def test_steps_are_as_long_as_needed_and_never_longer_than_allowed(C, loss, squared):
    step = JointPassiveAggressive(C).length(Choice(0, True, loss), lambda: squared)
    assert step == (min(C, loss / squared) if squared else 0)


# --- settings ------------------------------------------------------------------------------------


@pytest.mark.parametrize("maker", MAKERS, ids=NAMES)
def test_contract(maker):
    learner = maker()
    assert isinstance(learner, Learner)
    assert not learner.probabilistic
    assert learner.averaged
    assert not maker(average=False).averaged
    assert learner.state() == {"name": maker.__name__, "averaged": True}
    learner.set_state(json.loads(json.dumps(learner.state())))
    assert registry.get("misc", f"spacy-nonlocal.{maker.name}.v1") is maker


@pytest.mark.parametrize("maker", MAKERS, ids=NAMES)
@pytest.mark.parametrize("algorithm", ["", "4.2", "Proposed", None])
def test_unknown_algorithm(maker, algorithm):
    message = rf"NL507.*{maker.name}: `algorithm` is {algorithm!r}.*\"proposed\".*\"candidate\""
    with pytest.raises(ValueError, match=message):
        maker(algorithm=algorithm)


@pytest.mark.parametrize("maker", MAKERS, ids=NAMES)
@pytest.mark.parametrize("setting", ["n_best", "n_best_predict"])
@pytest.mark.parametrize("value", [0, -1, -100])
def test_at_least_one_candidate(maker, setting, value):
    with pytest.raises(ValueError, match=f"NL508.*{maker.name}: `{setting}` is {value},"):
        maker(**{setting: value})


@pytest.mark.parametrize("setting", ["margin_local", "margin_total"])
@pytest.mark.parametrize("value", [-1, -0.001, INF, -INF, float("nan")])
def test_margins_must_not_be_negative(setting, value):
    with pytest.raises(ValueError, match=f"NL502.*JointPerceptron: `{setting}` is {value},"):
        JointPerceptron(**{setting: value})


@pytest.mark.parametrize(
    ("maker", "setting"),
    [
        (JointPerceptron, "nonlocal_step"),
        (JointPassiveAggressive, "nonlocal_step"),
        (JointPassiveAggressive, "C"),
    ],
)
@pytest.mark.parametrize("value", [0, -1, -0.001, INF, float("nan"), 1e7])
def test_steps_must_be_positive(maker, setting, value):
    with pytest.raises(ValueError, match=f"NL501.*{maker.name}: `{setting}` is "):
        maker(**{setting: value})


def test_settings_at_the_edge():
    learner = JointPerceptron("candidate", 1, 1, 0, 0, 1e-9, average=False)
    assert (learner.algorithm, learner.n_best, learner.n_best_predict) == ("candidate", 1, 1)
    assert (learner.margin_local, learner.margin_total) == (0, 0)
    assert learner.nonlocal_step == 1e-9
    assert JointPassiveAggressive(1e-9).C == 1e-9
