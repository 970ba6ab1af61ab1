"""Every learner against cases worked out by hand, and against trying every labelling."""

import json

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from spacy_nonlocal.kernels.viterbi import score_path, viterbi
from spacy_nonlocal.learners.averaged_perceptron import AveragedPerceptron
from spacy_nonlocal.learners.learner import Learner, token_errors
from spacy_nonlocal.learners.margin_perceptron import MarginPerceptron
from spacy_nonlocal.learners.passive_aggressive import PassiveAggressive
from spacy_nonlocal.learners.perceptron import Perceptron
from spacy_nonlocal.models.lattice import Lattice

from ..kernels.oracles import INF, best_path, labellings, lattices, path_scores, second_path
from ..models.toy import (
    begin,
    by_feature,
    counts_of,
    make_doc,
    make_shim,
    quick,
    rows_of,
    weights_of,
)

LEARNERS = [Perceptron(), AveragedPerceptron(), MarginPerceptron(), PassiveAggressive()]
NAMES = [learner.name for learner in LEARNERS]

# Two tokens, two labels; a change of label costs 1. Scores of 00, 01, 10, 11: 3, 1, 1, 1.
HAND = Lattice(
    np.array([[2, 1, -INF, -INF], [1, 0, -INF, -INF]], dtype=np.float32),
    np.array([[[0, -1, 0, 0], [-1, 0, 0, 0]]], dtype=np.float32),
)


def path(*labels):
    return np.array(labels, dtype=np.int32)


def no_distance(gold, guess):
    raise AssertionError("this learner has no use for a distance")


def judge(learner, lattice, gold, distance=no_distance):
    gold = path(*gold)
    verdict = learner.judge(lattice, gold, distance)
    if verdict.move is not None:
        assert verdict.move.gold.tolist() == gold.tolist()
        assert verdict.move.guess.dtype == np.int32
    return verdict


def guess_of(verdict):
    return tuple(verdict.move.guess.tolist())


@st.composite
def examples(draw):
    """A lattice of which some labelling is legal, and one of those."""
    lattice = Lattice(*draw(lattices(masks=draw(st.booleans()))))
    paths = labellings(len(lattice.node), lattice.n_labels)
    legal = paths[path_scores(*lattice, paths) > -INF]
    assume(len(legal))
    return lattice, tuple(legal[draw(st.integers(0, len(legal) - 1))].tolist())


# --- What all have in common -------------------------------------------------------------------


@pytest.mark.parametrize("learner", LEARNERS, ids=NAMES)
def test_contract(learner):
    assert isinstance(learner, Learner)
    assert learner.state() == {"name": type(learner).__name__, "averaged": learner.averaged}
    learner.set_state(json.loads(json.dumps(learner.state())))


@pytest.mark.parametrize("learner", LEARNERS, ids=NAMES)
def test_the_lattice_stays_as_it_is(learner):
    node, edge = HAND.node.copy(), HAND.edge.copy()
    gold = path(1, 0)
    learner.judge(HAND, gold, lambda a, b: 4.0)
    assert np.array_equal(HAND.node, node)
    assert np.array_equal(HAND.edge, edge)
    assert gold.tolist() == [1, 0]


@pytest.mark.parametrize("learner", LEARNERS, ids=NAMES)
def test_an_empty_sequence_teaches_nothing(learner):
    lattice = Lattice(np.zeros((0, 4), np.float32), np.zeros((1, 2, 4), np.float32))
    assert judge(learner, lattice, ()) == (None, 0)


@pytest.mark.parametrize("learner", LEARNERS, ids=NAMES)
def test_one_label_teaches_nothing(learner):
    node = np.array([[1, -INF, -INF, -INF]] * 3, dtype=np.float32)
    assert judge(learner, Lattice(node, np.zeros((1, 1, 4), np.float32)), (0, 0, 0)) == (None, 0)


@pytest.mark.parametrize("learner", LEARNERS, ids=NAMES)
def test_no_legal_labelling(learner):
    lattice = HAND.restrict(np.zeros((2, 2), dtype=bool))
    with pytest.raises(ValueError, match="NL6"):
        judge(learner, lattice, (0, 0), lambda a, b: 1.0)


@pytest.mark.parametrize("learner", LEARNERS, ids=NAMES)
def test_one_token(learner):
    node = np.array([[0, 3, -INF, -INF]], dtype=np.float32)
    lattice = Lattice(node, np.zeros((1, 2, 4), np.float32))
    verdict = judge(learner, lattice, (0,), lambda a, b: 2.0)
    assert guess_of(verdict) == (1,)
    assert verdict.loss == 1


@pytest.mark.parametrize("learner", LEARNERS, ids=NAMES)
@quick
@given(example=examples())
def test_a_move_leads_from_a_legal_labelling_that_is_wrong(learner, example):
    lattice, gold = example
    move, loss = judge(learner, lattice, gold, lambda a, b: 3.0)
    if move is not None:
        assert tuple(move.guess.tolist()) != gold
        assert score_path(*lattice, move.guess) > -INF
        assert move.step > 0
    assert 0 <= loss <= len(gold)


def test_token_errors():
    assert token_errors(path(), path()) == 0
    assert token_errors(path(0, 1, 2, 1), path(0, 2, 2, 0)) == 2


def test_which_predict_with_the_mean():
    assert not Perceptron().averaged
    assert AveragedPerceptron().averaged
    for maker in (MarginPerceptron, PassiveAggressive):
        assert maker().averaged
        assert not maker(average=False).averaged


# --- Perceptron, averaged or not ---------------------------------------------------------------


@pytest.mark.parametrize("learner", LEARNERS[:2], ids=NAMES[:2])
def test_perceptron_by_hand(learner):
    assert judge(learner, HAND, (0, 0)) == (None, 0)
    for gold, errors in (((0, 1), 1), ((1, 0), 1), ((1, 1), 2)):
        verdict = judge(learner, HAND, gold)
        assert guess_of(verdict) == (0, 0)
        assert verdict.move.step == 1
        assert verdict.loss == errors


@pytest.mark.parametrize("learner", LEARNERS[:2], ids=NAMES[:2])
@quick
@given(example=examples())
def test_perceptron_against_every_labelling(learner, example):
    lattice, gold = example
    best, _ = best_path(*lattice)
    verdict = judge(learner, lattice, gold)
    assert verdict.loss == sum(a != b for a, b in zip(gold, best, strict=True))
    if best == gold:
        assert verdict.move is None
    else:
        assert guess_of(verdict) == best
        assert verdict.move.step == 1


def test_a_tie_goes_to_the_lower_label():
    flat = Lattice(np.zeros_like(HAND.node), np.zeros_like(HAND.edge))
    flat.node[:, 2:] = -INF
    assert judge(Perceptron(), flat, (0, 0)).move is None
    assert guess_of(judge(Perceptron(), flat, (0, 1))) == (0, 0)


# --- Margin perceptron -------------------------------------------------------------------------


@pytest.mark.parametrize(("margin", "moves"), [(0, False), (1.999, False), (2, True), (2.5, True)])
def test_margin_by_hand(margin, moves):
    # The best is ahead by 2.
    verdict = judge(MarginPerceptron(margin), HAND, (0, 0))
    assert (verdict.move is not None) == moves
    # Nothing was labelled wrong.
    assert verdict.loss == 0
    if moves:
        assert guess_of(verdict) in {(0, 1), (1, 0), (1, 1)}
        assert verdict.move.step == 1


@pytest.mark.parametrize("margin", [0, 1000])
def test_a_wrong_labelling_comes_before_the_margin(margin):
    verdict = judge(MarginPerceptron(margin), HAND, (1, 0))
    assert guess_of(verdict) == (0, 0)
    assert verdict.loss == 1


def test_a_tie_is_within_a_margin_of_zero():
    lattice = Lattice(HAND.node.copy(), HAND.edge.copy())
    lattice.node[1, 1] = 2
    # 00 and 01 have 3 each.
    assert guess_of(judge(MarginPerceptron(0), lattice, (0, 0))) == (0, 1)


@quick
@given(examples(), st.sampled_from([0, 0.125, 1, 4, 1000]))
def test_margin_against_every_labelling(example, margin):
    lattice, gold = example
    best, top = best_path(*lattice)
    second = second_path(*lattice, best)
    verdict = judge(MarginPerceptron(margin), lattice, gold)
    if best != gold:
        assert guess_of(verdict) == best
        assert verdict.loss == sum(a != b for a, b in zip(gold, best, strict=True))
    elif second is not None and top - second[1] <= margin:
        assert guess_of(verdict) == second[0]
        assert verdict.loss == 0
    else:
        assert verdict == (None, 0)


# --- Passive-aggressive ------------------------------------------------------------------------


def test_passive_aggressive_by_hand():
    # With Hamming cost, and 00 right: 00 has 3, 01 and 10 have 1 + 1, 11 has 1 + 2.
    tie = judge(PassiveAggressive(), HAND, (0, 0), lambda a, b: 1.0)
    assert tie == (None, 0)
    # With 10 right: 00 has 3 + 1, 01 has 1 + 2, 10 has 1, 11 has 1 + 1. The loss is 4 - 1.
    verdict = judge(PassiveAggressive(), HAND, (1, 0), lambda a, b: 12.0)
    assert guess_of(verdict) == (0, 0)
    assert verdict.move.step == 3 / 12
    assert verdict.loss == 1


@pytest.mark.parametrize(("C", "step"), [(0.1, 0.1), (0.25, 0.25), (1.0, 0.25), (100.0, 0.25)])
def test_the_step_is_bounded(C, step):
    assert judge(PassiveAggressive(C), HAND, (1, 0), lambda a, b: 12.0).move.step == step


def test_right_but_not_by_enough():
    node = np.array([[0.5, 0, -INF, -INF]], dtype=np.float32)
    lattice = Lattice(node, np.zeros((1, 2, 4), np.float32))
    verdict = judge(PassiveAggressive(), lattice, (0,), lambda a, b: 2.0)
    assert guess_of(verdict) == (1,)
    assert verdict.move.step == 0.25


def test_right_by_enough():
    node = np.array([[1, 0, -INF, -INF]], dtype=np.float32)
    lattice = Lattice(node, np.zeros((1, 2, 4), np.float32))
    assert judge(PassiveAggressive(), lattice, (0,)) == (None, 0)


def test_labellings_that_no_feature_tells_apart():
    assert judge(PassiveAggressive(), HAND, (1, 0), lambda a, b: 0.0) == (None, 1)


@quick
@given(examples(), st.sampled_from([0.01, 0.5, 1.0, 50.0]), st.integers(1, 40))
def test_passive_aggressive_against_every_labelling(example, C, squared):
    lattice, gold = example
    paths = labellings(len(gold), lattice.n_labels)
    costs = (paths != gold).sum(axis=1)
    totals = path_scores(*lattice, paths) + costs
    loss = totals.max() - path_scores(*lattice, path(*gold)[None])[0]
    asked = []

    def distance(a, b):
        asked.append((tuple(a.tolist()), tuple(b.tolist())))
        return float(squared)

    verdict = judge(PassiveAggressive(C), lattice, gold, distance)
    if loss == 0:
        assert verdict == (None, 0)
        return
    guess = guess_of(verdict)
    index = (paths == guess).all(axis=1).argmax()
    assert totals[index] == totals.max()
    assert verdict.move.step == min(C, loss / squared)
    assert verdict.loss == costs[index]
    assert asked == [(gold, guess)]


@quick
@given(examples())
def test_of_equal_costly_labellings_the_lower_labels_win(example):
    lattice, gold = example
    costly = lattice.node + 1
    costly[np.arange(len(gold)), gold] = lattice.node[np.arange(len(gold)), gold]
    want, _ = best_path(costly, lattice.edge)
    verdict = judge(PassiveAggressive(), lattice, gold, lambda a, b: 1.0)
    assert verdict.move is None or guess_of(verdict) == want


# --- With a model ------------------------------------------------------------------------------

NODES = ["orth[0]", "orth[-1]|orth[0]"]
EDGES = ["bias", "lower[0]"]
# What only the words before tell apart: "York" is 1 alone, 2 after "New".
SEPARABLE = [
    (make_doc(["in", "York", "."]), (0, 1, 0)),
    (make_doc(["in", "New", "York", "."]), (0, 1, 2, 0)),
    (make_doc(["York", "York"]), (1, 1)),
    (make_doc(["new", "in", "town"]), (0, 0, 0)),
    (make_doc(["New"]), (1,)),
]


def make_trainer(averaged=False):
    shim = begin(
        make_shim(NODES, EDGES), [doc for doc, _ in SEPARABLE], labels=3, averaged=averaged
    )
    return shim, shim.trainer


def step(shim, learner, doc, gold):
    """One example as the component has it. RETURNS: The verdict."""
    trainer = shim.trainer
    rows = trainer.rows(shim.encode(doc), learn=True)
    verdict = learner.judge(
        trainer.lattice(rows), path(*gold), lambda a, b: trainer.distance(rows, a, b)
    )
    shim.learn(rows, verdict.move)
    return verdict


def others(gold):
    """All labellings but one, and their Hamming costs."""
    paths = labellings(len(gold), 3)
    costs = (paths != gold).sum(axis=1)
    return paths[costs > 0], costs[costs > 0]


def differences(trainer, rows, gold):
    """Φ(gold) - Φ(y) for every other labelling y."""
    right = counts_of(trainer, rows, path(*gold))
    return np.array([right - counts_of(trainer, rows, y) for y in others(gold)[0]])


def run(learner, limit=100_000):
    """Learn until a pass changes nothing. RETURNS: The model, and the number of updates."""
    shim, _ = make_trainer()
    updates, before = 0, -1
    while updates != before:
        assert updates < limit
        before = updates
        for doc, gold in SEPARABLE:
            updates += step(shim, learner, doc, gold).move is not None
    return shim, updates


def all_differences(shim):
    trainer = shim.trainer
    return np.concatenate(
        [differences(trainer, rows_of(shim, doc), gold) for doc, gold in SEPARABLE]
    )


@pytest.mark.parametrize("margin", [None, 0, 1, 10, 100, 1000])
def test_updates_are_bounded_on_separable_data(margin):
    """Kazama & Torisawa: at most (2C + R²) / δ² updates; for the perceptron, Novikoff's R² / δ²."""
    learner = Perceptron() if margin is None else MarginPerceptron(margin, average=False)
    shim, updates = run(learner)
    C = margin or 0
    deltas = all_differences(shim)
    # Any separating direction gives a bound: take the best that was found, by a large margin.
    direction = weights_of(run(MarginPerceptron(1000, average=False))[0].trainer)
    direction /= np.linalg.norm(direction)
    delta = (deltas @ direction).min()
    R2 = (deltas**2).sum(axis=1).max()
    assert delta > 0
    assert 0 < updates <= (2 * C + R2) / delta**2
    # It has stopped because the margin is there: their second bound as well.
    weights = weights_of(shim.trainer)
    assert (deltas @ weights).min() > C or (margin is None and (deltas @ weights).min() >= 0)
    assert (deltas @ weights).min() / np.linalg.norm(weights) >= delta * C / (2 * C + R2)


def test_losses_are_bounded_on_separable_data():
    """Crammer et al.: if u leaves no loss, and no step is cut short, Σ loss² / ‖ΔΦ‖² <= ‖u‖²."""
    direction = weights_of(run(MarginPerceptron(1000, average=False))[0].trainer)
    shim, trainer = make_trainer()
    costs = np.concatenate([others(gold)[1] for _, gold in SEPARABLE])
    ideal = direction * (costs / (all_differences(shim) @ direction)).max()
    learner, total = PassiveAggressive(C=1000.0, average=False), 0.0
    for _ in range(30):
        for doc, gold in SEPARABLE:
            move, _ = step(shim, learner, doc, gold)
            if move is not None:
                rows = rows_of(shim, doc)
                total += move.step**2 * trainer.distance(rows, move.gold, move.guess)
    assert 0 < total <= ideal @ ideal
    # What is left to learn by then is next to nothing.
    assert (all_differences(shim) @ weights_of(trainer) >= costs - 0.01).all()


@pytest.mark.parametrize("C", [0.01, 0.2, 10.0])
def test_passive_aggressive_moves_as_far_as_it_must(C):
    shim, trainer = make_trainer()
    for _ in range(2):
        for doc, gold in SEPARABLE:
            rows = rows_of(shim, doc)
            before = weights_of(trainer)
            losses = others(gold)[1] - differences(trainer, rows, gold) @ before
            verdict = step(shim, PassiveAggressive(C, average=False), doc, gold)
            if verdict.move is None:
                assert losses.max() <= 1e-5
                continue
            delta = counts_of(trainer, rows, path(*gold)) - counts_of(
                trainer, rows, verdict.move.guess
            )
            want = min(C, losses.max() / (delta @ delta))
            assert verdict.move.step == pytest.approx(want, rel=1e-4, abs=1e-6)
            assert np.allclose(weights_of(trainer), before + want * delta, atol=1e-5)
            if want < C:
                # Just as far ahead of the guess as it costs.
                errors = (verdict.move.guess != gold).sum()
                assert weights_of(trainer) @ delta == pytest.approx(errors, abs=1e-4)


def test_averaged_perceptron_by_hand():
    """One word, two labels: the weights after each of four examples, and their mean."""
    doc = make_doc(["x"])
    shim = begin(make_shim(["orth[0]"], ["bias"]), [doc], labels=2)
    weights = []
    # 0 is right at first sight (a tie); 1 is not; then 1 is; 0 is not.
    for gold in (0, 1, 1, 0):
        step(shim, AveragedPerceptron(), doc, (gold,))
        weights.append(by_feature(shim.trainer.node)[0, :2].tolist())
    assert weights == [[0, 0], [-1, 1], [-1, 1], [0, 0]]
    assert shim.trainer.node.mean(4, 0.0)[0, :2].tolist() == [-0.5, 0.5]
    lattice = shim.predict(shim.encode(doc))
    assert lattice.node[0, :2].tolist() == [-0.5, 0.5]


def test_the_averaged_perceptron_learns_as_the_perceptron():
    (a, _), (b, _) = make_trainer(averaged=True), make_trainer()
    for doc, gold in SEPARABLE * 3:
        step(a, AveragedPerceptron(), doc, gold)
        step(b, Perceptron(), doc, gold)
    assert np.array_equal(weights_of(a.trainer), weights_of(b.trainer))
    assert weights_of(a.trainer).any()


@pytest.mark.parametrize("known", [0, 1, len(SEPARABLE)])
@pytest.mark.parametrize("edges", [["bias"], EDGES])
@pytest.mark.parametrize(
    "learner",
    [Perceptron(), AveragedPerceptron(), MarginPerceptron(10.0), MarginPerceptron(0, False)],
    ids=lambda learner: f"{learner.name}-{learner.averaged}",
)
def test_features_that_arrive_with_their_examples_are_learned(learner, edges, known):
    """Whether the documents were there at the beginning or not, they end up labelled right, by the same weights."""

    def learned(docs):
        shim = begin(make_shim(NODES, edges), docs, labels=3, averaged=learner.averaged)
        verdicts = [step(shim, learner, doc, gold).loss for doc, gold in SEPARABLE * 30]
        return shim, verdicts

    docs = [doc for doc, _ in SEPARABLE]
    (late, late_losses), (early, losses) = learned(docs[:known]), learned(docs)
    assert late_losses == losses
    for doc, gold in SEPARABLE:
        lattice = late.predict(late.encode(doc))
        assert viterbi(*lattice)[0].tolist() == list(gold)
        assert np.array_equal(lattice.node, early.predict(early.encode(doc)).node)


def test_passive_aggressive_with_features_that_arrive_with_their_examples():
    learner = PassiveAggressive(average=False)
    shim = begin(make_shim(NODES, EDGES), [], labels=3, averaged=False)
    early, _ = make_trainer()
    for doc, gold in SEPARABLE * 10:
        assert step(shim, learner, doc, gold).loss == step(early, learner, doc, gold).loss
    for doc, gold in SEPARABLE:
        assert viterbi(*shim.predict(shim.encode(doc)))[0].tolist() == list(gold)


def test_gold_scores_are_not_rounded():
    """(x + 1) - 1 is not always x: the right label must not lose what it has by being compared."""
    x = np.float32(1 + 2**-23)
    assert (x + np.float32(1)) - np.float32(1) < x
    # At the first token a tie, which the lower label wins; at the second, the wrong label is ahead by its cost.
    node = np.array([[x, x - 1, -INF, -INF], [0, 0, -INF, -INF]], dtype=np.float32)
    lattice = Lattice(node, np.zeros((1, 2, 4), np.float32))
    verdict = judge(PassiveAggressive(), lattice, (0, 0), lambda a, b: 2.0)
    assert guess_of(verdict) == (0, 1)
    assert (verdict.move.step, verdict.loss) == (0.5, 1)


# --- Settings ----------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [0, 0.0, -1, -0.001, INF, -INF, float("nan")])
def test_passive_aggressive_needs_a_positive_step(C):
    with pytest.raises(ValueError, match=f"NL501.*PassiveAggressive: `C` is {C},"):
        PassiveAggressive(C)


@pytest.mark.parametrize("margin", [-1, -0.001, INF, -INF, float("nan")])
def test_margin_must_not_be_negative(margin):
    with pytest.raises(ValueError, match=f"NL502.*MarginPerceptron: `margin` is {margin},"):
        MarginPerceptron(margin)


def test_settings_at_the_edge():
    assert MarginPerceptron(0).margin == 0
    assert PassiveAggressive(1e-9).C == 1e-9
