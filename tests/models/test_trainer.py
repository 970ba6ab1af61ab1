from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_nonlocal.kernels.viterbi import score_path
from spacy_nonlocal.models import trainer as trainer_module
from spacy_nonlocal.models.lattice import Move
from spacy_nonlocal.models.rules import Rule
from spacy_nonlocal.models.trainer import Trainer, base_scores

from .toy import (
    DOCS,
    EDGES,
    NODES,
    UNSEEN,
    begin,
    by_feature,
    claim_all,
    counts_of,
    documents,
    make_doc,
    make_shim,
    predicted_lattice,
    quick,
    random_paths,
    random_weights,
    rows_of,
    same_bits,
    to_learn,
    trained_lattice,
    weights_of,
)

INF = np.inf


def collected(docs=DOCS, *, nodes=NODES, edges=EDGES, min_count=1, averaged=True, labels=3):
    shim = make_shim(nodes, edges, min_count=min_count)
    return begin(shim, docs, labels=labels, averaged=averaged)


def encoded(shim, docs=DOCS):
    return [shim.encode(doc) for doc in docs]


def states(shim):
    return {name: array.tobytes() for name, array in shim.trainer.state().items()}


def key_lists(shim, docs=DOCS):
    """The keys of all features, node and edge, in order of sight."""
    extractor = shim.extractor
    return (
        [k for e in encoded(shim, docs) for k in extractor.keys(extractor.nodes, e).ravel()],
        [k for e in encoded(shim, docs) for k in extractor.keys(extractor.edges, e).ravel()],
    )


# --- Collecting features -----------------------------------------------------------------------


def test_features_are_numbered_in_order_of_sight():
    shim = collected()
    nodes, edges = key_lists(shim)
    assert shim.trainer.node.features.table.keys().tolist() == list(dict.fromkeys(nodes))
    bias = shim.extractor.bias_key
    assert shim.trainer.edge.features.table.keys().tolist() == [bias, *dict.fromkeys(edges)]


def promoted(parts, min_count):
    """The keys seen often enough, in the order in which that was seen; each part is looked at as a whole."""
    counts, rows = Counter(), {}
    for part in parts:
        counts.update(part)
        rows.update(dict.fromkeys(key for key in part if counts[key] >= min_count))
    return list(rows)


@pytest.mark.parametrize("min_count", [1, 2, 3, 5, 1000])
def test_min_count(min_count):
    shim = collected(min_count=min_count)
    extractor, trainer = shim.extractor, shim.trainer
    for compiled, of_words, table, first in (
        (extractor.nodes, extractor.node_of_words, trainer.node.features.table, []),
        (
            *(extractor.edges, extractor.edge_of_words),
            *(trainer.edge.features.table, [extractor.bias_key]),
        ),
    ):
        keys = [extractor.keys(compiled, each) for each in encoded(shim)]
        # Words come before annotations if features are counted.
        flags = [of_words, ~of_words] if min_count > 1 else [of_words | True]
        parts = [each[:, which].ravel().tolist() for each in keys for which in flags]
        assert table.keys().tolist() == [*first, *promoted(parts, min_count)]
        counts = Counter(key for part in parts for key in part)
        assert {*table.keys().tolist()} == {
            *first,
            *(key for key, n in counts.items() if n >= min_count),
        }


@pytest.mark.parametrize("min_count", [1, 2, 3])
def test_rows_after_counting(min_count):
    shim = collected(min_count=min_count)
    trainer, extractor = shim.trainer, shim.extractor
    for sequence in encoded(shim, [*DOCS, *UNSEEN]):
        rows = trainer.rows(sequence, learn=False)
        for got, compiled, table in (
            (rows.node, extractor.nodes, trainer.node.features.table),
            (rows.edge, extractor.edges, trainer.edge.features.table),
        ):
            keys = extractor.keys(compiled, sequence)
            row_of = {key: row for row, key in enumerate(table.keys().tolist())}
            want = [[row_of.get(key, -1) for key in line] for line in keys.tolist()]
            assert got.shape == keys.shape
            assert got.tolist() == want


def test_a_document_that_comes_twice_counts_twice():
    once, twice = collected(DOCS[:1], min_count=2), collected([DOCS[0]] * 2, min_count=2)
    keys, counts = np.unique(key_lists(once, DOCS[:1])[0], return_counts=True)
    assert {*once.trainer.node.features.table.keys().tolist()} == {*keys[counts > 1].tolist()}
    assert len(twice.trainer.node.features) == len(keys)
    assert (rows_of(twice, DOCS[0]).node >= 0).all()


@pytest.mark.parametrize("limit", [trainer_module.MAX_KEPT_BYTES, 0])
@pytest.mark.parametrize("min_count", [1, 2, 3])
def test_what_was_collected_is_not_counted_again(monkeypatch, min_count, limit):
    monkeypatch.setattr(trainer_module, "MAX_KEPT_BYTES", limit)
    shim = collected(min_count=min_count)
    state = states(shim)
    rows = [rows_of(shim, doc) for doc in DOCS]
    for _ in range(3):
        again = [to_learn(shim, doc) for doc in DOCS]
        for a, b in zip(rows, again, strict=True):
            assert np.array_equal(a.node, b.node)
            assert np.array_equal(a.edge, b.edge)
    assert states(shim) == state


@pytest.mark.parametrize("min_count", [1, 2, 3])
def test_collecting_other_documents_adds_to_the_first(min_count):
    shim, other = collected(DOCS[:2], min_count=min_count), collected(min_count=min_count)
    shim.trainer.collect(iter(encoded(shim, DOCS[2:])))
    assert states(shim) == states(other)


def test_distance_after_collecting_again():
    shim = collected([make_doc(["a", "a"])], nodes=["bias"], edges=["orth[0]"])
    gold, guess = np.array([0, 0], np.int32), np.array([1, 1], np.int32)
    assert shim.trainer.distance(rows_of(shim, make_doc(["a", "a"])), gold, guess) == 10
    doc = make_doc(["b", "c"])
    # Edge features are new, node features are not.
    shim.trainer.collect([shim.encode(doc)])
    assert shim.trainer.distance(rows_of(shim, doc), gold, guess) == 10


def test_nothing_to_collect():
    shim = collected([])
    assert len(shim.trainer.node.features) == 0
    assert shim.trainer.edge.features.table.keys().tolist() == [shim.extractor.bias_key]
    lattice = trained_lattice(shim, DOCS[0])
    assert lattice.node[:, :3].tolist() == [[0, 0, 0]] * 5


# --- Rows that are kept ------------------------------------------------------------------------


def test_rows_are_kept_between_epochs(monkeypatch):
    shim = collected()

    def not_again(*args):
        raise AssertionError

    with monkeypatch.context() as patch:
        patch.setattr(type(shim.extractor), "keys", not_again)
        # Documents made anew, as each epoch of `spacy train` has them.
        again = [make_doc([t.text for t in doc], [t.tag_ for t in doc]) for doc in DOCS]
        for _ in range(2):
            for each in encoded(shim, again):
                shim.trainer.rows(each, learn=True)
                shim.trainer.rows(each, learn=False)
        for learn in (True, False):
            with pytest.raises(AssertionError):
                shim.trainer.rows(shim.encode(UNSEEN[0]), learn=learn)


def test_rows_are_those_of_the_tags_at_hand():
    shim = collected()
    words = [token.text for token in DOCS[0]]
    sequences = [shim.encode(make_doc(words, [tag] * len(words))) for tag in ("NNP", "DT", "NEW")]
    extractor = shim.extractor
    for _ in range(2):
        for sequence in sequences:
            keys = extractor.keys(extractor.nodes, sequence)
            rows = shim.trainer.rows(sequence, learn=False).node
            assert np.array_equal(rows, shim.trainer.node.features.table.find(keys))
    first, second, new = (shim.trainer.rows(sequence, learn=False).node for sequence in sequences)
    assert not np.array_equal(first, second)
    assert (new < 0).any()


def test_parts_of_a_document_are_kept_apart():
    shim = collected()
    sequence = shim.encode(DOCS[1])
    for learn in (False, True, True, False):
        for start, end in ((0, 2), (0, 3), (1, 3), (2, 7), (0, 0)):
            part = sequence.part(start, end)
            rows = shim.trainer.rows(part, learn=learn)
            keys = shim.extractor.keys(shim.extractor.nodes, part)
            want = shim.trainer.node.features.table.find(keys)
            assert np.array_equal(rows.node, want)
            assert not learn or (want >= 0).all()


@pytest.mark.parametrize("limit", [0, 1, 200, 400])
def test_few_or_no_rows_are_kept(monkeypatch, limit):
    def learn(shim):
        rng = np.random.default_rng(0)
        for _ in range(3):
            for each in encoded(shim):
                rows = shim.trainer.rows(each, learn=True)
                gold, guess = random_paths(rng, len(each), 3)
                shim.learn(rows, Move(gold, guess, 0.3))
        return shim.to_bytes()

    kept = learn(collected(min_count=2))
    monkeypatch.setattr(trainer_module, "MAX_KEPT_BYTES", limit)
    shim = collected(min_count=2)
    assert learn(shim) == kept
    assert shim.trainer._kept_bytes <= limit


def test_what_is_kept_is_counted(monkeypatch):
    one = collected(DOCS[:1]).trainer
    size = one._kept_bytes
    assert size == one.rows(one.extractor.encode(DOCS[0]), learn=False).nbytes > 0
    # Room for one of each; the same document takes none twice.
    for limit in (size, 2 * size):
        monkeypatch.setattr(trainer_module, "MAX_KEPT_BYTES", limit)
        trainer = collected([DOCS[0], DOCS[0], DOCS[1]]).trainer
        assert trainer._kept_bytes == size


def test_looking_keeps_nothing():
    shim = collected([])
    before = states(shim)
    for doc in DOCS:
        rows = rows_of(shim, doc)
        assert (rows.node < 0).all()
        assert (rows.edge < 0).all()
    assert (shim.trainer._kept, shim.trainer._kept_bytes) == ({}, 0)
    assert states(shim) == before


# --- Features that arrive later ----------------------------------------------------------------

PLAIN = ["orth[0]", "lower[-1]|lower[0]"]
TAGGED = [*PLAIN, "tag[0]", "orth[0]|tag[1]"]


def untagged(doc):
    return make_doc([token.text for token in doc], [""] * len(doc))


def learn_at_random(shim, docs, seed=0):
    """Moves that no learner would make, but each time the same."""
    rng = np.random.default_rng(seed)
    for doc in docs:
        gold, guess = random_paths(rng, len(doc), 3)
        shim.learn(to_learn(shim, doc), Move(gold, guess, 1 / 4))
    return shim


def by_key(part, clock=None):
    """The weights of each feature, or their means."""
    keys = part.features.table.keys().tolist()
    weights = by_feature(part, None if clock is None else part.mean(clock, 0.0))
    return dict(zip(keys, weights.tolist(), strict=True))


def test_new_features_get_rows_after_the_old_ones():
    shim = collected(DOCS[:2])
    before = [
        part.features.table.keys().tolist() for part in (shim.trainer.node, shim.trainer.edge)
    ]
    for doc in [*DOCS[2:], *UNSEEN]:
        rows = to_learn(shim, doc)
        assert (rows.node >= 0).all()
        assert (rows.edge >= 0).all()
    want = key_lists(shim, [*DOCS, *UNSEEN])
    for part, old, keys in zip((shim.trainer.node, shim.trainer.edge), before, want, strict=True):
        table = part.features.table.keys().tolist()
        assert table[: len(old)] == old
        bias = [shim.extractor.bias_key] if part is shim.trainer.edge else []
        assert table == [*bias, *dict.fromkeys(keys)]
        assert len(table) > len(old)
        # Known, but not learned from: only the label pair alone has weights.
        assert part.keys().tolist() == bias
        assert len(part.w) == len(part.u) == len(bias)


def test_old_weights_stay_and_new_ones_are_zero():
    shim = collected(DOCS[:2])
    learn_at_random(shim, DOCS[:2])
    trainer = shim.trainer
    parts = (trainer.node, trainer.edge)
    before = [(by_feature(part), by_feature(part, part.u), part.keys()) for part in parts]
    lattice = trained_lattice(shim, DOCS[0])
    for doc in [*DOCS[2:], *UNSEEN]:
        to_learn(shim, doc)
    for claimed in (False, True):
        for part, (w, u, keys) in zip(parts, before, strict=True):
            if claimed:
                claim_all(part)
                assert part.used == len(part.features) <= len(part.w) == len(part.u)
            assert part.keys()[: len(keys)].tolist() == keys.tolist()
            assert len(part.keys()) == part.used
            assert len(part.features) > len(w)
            new_w, new_u = by_feature(part), by_feature(part, part.u)
            assert np.array_equal(new_w[: len(w)], w)
            assert np.array_equal(new_u[: len(u)], u)
            assert not new_w[len(w) :].any()
            assert not new_u[len(u) :].any()
            assert w.any()
            assert (part.w.dtype, part.u.dtype) == (np.float32, np.float64)
            assert part.w.flags.c_contiguous
        assert same_bits(trained_lattice(shim, DOCS[0]), lattice)


@pytest.mark.parametrize("edges", [[], ["bias"], ["orth[0]"], EDGES])
@pytest.mark.parametrize("averaged", [True, False])
def test_it_makes_no_difference_when_features_arrive(edges, averaged):
    """All at once, or each with its document: the same weights for the same features, and the same scores."""
    docs = [*DOCS, *UNSEEN[:2]]
    first = collected(docs, edges=edges, averaged=averaged)
    late = collected([], edges=edges, averaged=averaged)
    for shim in (first, late):
        learn_at_random(shim, docs * 2)
    for a, b in ((first.trainer.node, late.trainer.node), (first.trainer.edge, late.trainer.edge)):
        assert by_key(a) == by_key(b)
        assert by_key(a, 12) == by_key(b, 12)
        assert np.any(list(by_key(a).values())) or (edges == [] and a is first.trainer.edge)
    for doc in docs:
        assert same_bits(trained_lattice(first, doc), trained_lattice(late, doc))
        assert same_bits(predicted_lattice(first, doc), predicted_lattice(late, doc))
        mean = late.trainer.mean_lattice(rows_of(late, doc))
        assert same_bits(mean, predicted_lattice(late, doc))


def test_room_is_made_in_few_steps():
    shim = collected([], nodes=["orth[0]"], edges=["orth[0]"])
    sizes, gold, guess = set(), np.zeros(2, dtype=np.int32), np.ones(2, dtype=np.int32)
    for i in range(2000):
        shim.learn(to_learn(shim, make_doc([f"w{i}", f"v{i}"])), Move(gold, guess, 1.0))
        sizes.add(len(shim.trainer.node.w))
        for part in (shim.trainer.node, shim.trainer.edge):
            assert part.used <= len(part.w) == len(part.u)
            assert len(part.w) <= part.used * 5 / 4 + 2
    assert shim.trainer.node.used == 4000
    assert len(sizes) < 40


def test_what_is_in_the_room_is_not_saved():
    shim = collected([], nodes=["orth[0]"])
    learn_at_random(shim, [make_doc([f"w{i}"]) for i in range(30)])
    part = shim.trainer.node
    assert 0 < part.used < len(part.w) == len(part.u)
    part.w[part.used :], part.u[part.used :] = np.nan, np.nan
    state = part.state()
    assert len(state["w.mask"]) == len(state["u.mask"]) == len(state["rows"]) == part.used
    assert np.isfinite(state["w.values"]).all()
    assert np.isfinite(state["u.values"]).all()
    assert len(part.mean(1, 0.0)) == len(part.keys()) == part.used
    assert np.isfinite(part.mean(1, 0.0)).all()


def test_distance_with_features_that_arrived_later():
    shim = collected(DOCS[:1])
    rng = np.random.default_rng(8)
    for doc in [*DOCS, *UNSEEN]:
        rows = to_learn(shim, doc)
        gold, guess = random_paths(rng, len(doc), 3)
        difference = counts_of(shim.trainer, rows, gold) - counts_of(shim.trainer, rows, guess)
        assert shim.trainer.distance(rows, gold, guess) == difference @ difference


@pytest.mark.parametrize("limit", [trainer_module.MAX_KEPT_BYTES, 0])
def test_a_new_sequence_is_counted_once(monkeypatch, limit):
    monkeypatch.setattr(trainer_module, "MAX_KEPT_BYTES", limit)
    shim = collected([], min_count=2, nodes=TAGGED)
    doc = make_doc(["a", "b", "c"], ["X", "Y", "Z"])
    for _ in range(4):
        assert (to_learn(shim, doc).node < 0).all()
    state = states(shim)
    # Made anew, it is still the same sequence.
    to_learn(shim, make_doc(["a", "b", "c"], ["X", "Y", "Z"]))
    assert states(shim) == state
    # Part of another sequence, they are seen for the second time.
    rows = to_learn(shim, make_doc(["a", "b", "c", "d"], ["P", "Q", "R", "S"]))
    keys = shim.extractor.keys(shim.extractor.nodes, shim.encode(doc))
    found = shim.trainer.node.features.find(keys)
    column = [str(t) for t in shim.extractor.node_templates].index("orth[0]")
    assert (found[:, column] >= 0).all()
    assert (rows.node[:3, column] == found[:, column]).all()
    assert (rows.node[3] < 0).any()


@pytest.mark.parametrize("limit", [trainer_module.MAX_KEPT_BYTES, 0])
def test_words_are_not_counted_again_when_tags_arrive(monkeypatch, limit):
    monkeypatch.setattr(trainer_module, "MAX_KEPT_BYTES", limit)
    doc = make_doc(["a", "b", "c"], ["X", "Y", "Z"])
    shim = collected([untagged(doc)], nodes=TAGGED, edges=["orth[0]", "tag[0]"], min_count=2)
    extractor, trainer = shim.extractor, shim.trainer

    def counts():
        out = {}
        for part, compiled, templates in (
            (trainer.node, extractor.nodes, extractor.node_templates),
            (trainer.edge, extractor.edges, extractor.edge_templates),
        ):
            keys = extractor.keys(compiled, shim.encode(doc))
            rare = dict(
                zip(*(part.features.state()[n].tolist() for n in ("rare", "counts")), strict=True)
            )
            for template, column in zip(templates, keys.T.tolist(), strict=True):
                name = f"{'node' if part is trainer.node else 'edge'} {template}"
                out[name] = [rare.get(key, 0) for key in column]
        return out

    words = {"node orth[0]", "node lower[-1]|lower[0]", "edge orth[0]"}
    assert {name for name, n in counts().items() if n == [1, 1, 1]} == words
    # After "c" there is no tag in either case.
    tagged = {**dict.fromkeys(counts(), [1, 1, 1]), "node orth[0]|tag[1]": [1, 1, 2]}
    for _ in range(3):
        to_learn(shim, doc)
        assert counts() == tagged
    # Other tags for the same words: only what looks at tags is counted.
    to_learn(shim, make_doc(["a", "b", "c"], ["X", "Y", "W"]))
    other = {"node tag[0]": [2, 2, 1], "edge tag[0]": [2, 2, 1], "node orth[0]|tag[1]": [2, 1, 2]}
    assert counts() == {**tagged, **other}


@pytest.mark.parametrize("min_count", [2, 3])
@pytest.mark.parametrize("edges", [["bias"], EDGES])
def test_promotion_makes_kept_rows_as_good_as_new_ones(monkeypatch, edges, min_count):
    rng = np.random.default_rng(9)
    words = ["a", "b", "c", "d", "e", "f"]
    docs = [make_doc(rng.choice(words, size=n).tolist()) for n in rng.integers(1, 6, size=25)]
    order = [docs[i] for i in rng.integers(0, len(docs), size=150)]

    def run(start):
        shim = collected(start, edges=edges, min_count=min_count)
        sizes = set()
        for i, doc in enumerate(order):
            learn_at_random(shim, [doc], seed=i)
            # What is kept is what would be found.
            rows, keys = (
                rows_of(shim, doc),
                shim.extractor.keys(shim.extractor.nodes, shim.encode(doc)),
            )
            assert np.array_equal(rows.node, shim.trainer.node.features.find(keys))
            sizes.add(len(shim.trainer.node.features))
        lattices = [trained_lattice(shim, doc) for doc in docs]
        return shim, lattices, sizes

    for start in ([], docs[:3]):
        kept, want, sizes = run(start)
        assert len(sizes) > 5
        assert kept.trainer._kept
        with monkeypatch.context() as patch:
            patch.setattr(trainer_module, "MAX_KEPT_BYTES", 0)
            bare, got, _ = run(start)
            assert not bare.trainer._kept
        assert states(kept) == states(bare)
        assert all(same_bits(a, b) for a, b in zip(got, want, strict=True))


def test_promotion_drops_what_is_kept():
    shim = collected([], nodes=["orth[0]"], edges=[], min_count=2)
    assert to_learn(shim, make_doc(["a", "b"])).node.tolist() == [[-1], [-1]]
    assert len(shim.trainer._kept) == 1
    # Nothing is promoted, nothing is dropped.
    to_learn(shim, make_doc(["c"]))
    assert len(shim.trainer._kept) == 2
    assert to_learn(shim, make_doc(["b", "d"])).node.tolist() == [[0], [-1]]
    assert len(shim.trainer._kept) == 1
    assert shim.trainer._kept_bytes == sum(rows.nbytes for rows in shim.trainer._kept.values())
    assert rows_of(shim, make_doc(["a", "b"])).node.tolist() == [[-1], [0]]
    # And likewise if only an edge feature is promoted.
    shim = collected([], nodes=["bias"], edges=["orth[0]"], min_count=2)
    for words in (["a"], ["b"], ["c"]):
        to_learn(shim, make_doc(words))
    kept = len(shim.trainer._kept)
    to_learn(shim, make_doc(["d", "a"]))
    assert len(shim.trainer._kept) == 1 < kept
    assert (rows_of(shim, make_doc(["a"])).edge >= 0).all()


# --- Scores ------------------------------------------------------------------------------------


def test_base_scores():
    transitions = np.array([[True, False], [True, True]])
    node, edge = base_scores(transitions)
    assert node.tolist() == [0, 0, -INF, -INF]
    assert edge.reshape(2, 4)[:, :2].tolist() == [[0, -INF], [0, 0]]
    assert node.dtype == edge.dtype == np.float32


@pytest.mark.parametrize("edges", [[], ["bias"], EDGES])
@pytest.mark.parametrize("labels", [1, 2, 3, 4, 5, 9])
def test_the_lattice_scores_what_the_weights_say(edges, labels):
    """score(path) = w·Φ(x, path), for any path."""
    shim = collected(edges=edges, labels=labels, averaged=False)
    random_weights(shim)
    rng = np.random.default_rng(1)
    for doc in [*DOCS, UNSEEN[0]]:
        rows = rows_of(shim, doc)
        lattice = shim.trainer.lattice(rows)
        assert lattice.n_labels == labels
        assert (lattice.node[:, labels:] == -INF).all()
        for path in random_paths(rng, len(doc), labels):
            want = weights_of(shim.trainer) @ counts_of(shim.trainer, rows, path)
            assert score_path(*lattice, path) == pytest.approx(want, abs=1e-4)


@pytest.mark.parametrize("edges", [["bias"], ["orth[0]"], EDGES])
def test_illegal_transitions_have_no_score(edges):
    transitions = np.array([[True, True, False], [False, True, True], [True, False, True]])
    shim = begin(make_shim(NODES, edges), transitions=transitions)
    random_weights(shim)
    lattice = trained_lattice(shim, DOCS[0])
    assert ((lattice.edge[:, :, :3] == -INF) == ~transitions).all()
    assert np.isfinite(lattice.node[:, :3]).all()


# --- Moves -------------------------------------------------------------------------------------


@pytest.mark.parametrize("edges", [[], ["bias"], ["orth[0]"], EDGES])
def test_a_move_is_step_times_the_difference(edges):
    rng = np.random.default_rng(2)
    shim = collected(edges=edges, averaged=False)
    trainer = shim.trainer
    for doc in DOCS:
        rows = rows_of(shim, doc)
        gold, guess = random_paths(rng, len(doc), 3)
        difference = counts_of(trainer, rows, gold) - counts_of(trainer, rows, guess)
        before = weights_of(trainer)
        trainer.move(rows, Move(gold, guess, 0.25))
        assert np.array_equal(weights_of(trainer) - before, 0.25 * difference)


@quick
@given(documents, st.sampled_from([[], ["bias"], ["orth[0]"], EDGES]), st.data())
def test_distance_is_exact(doc, edges, data):
    shim = collected(edges=edges)
    trainer = shim.trainer
    paths = st.lists(st.integers(0, 2), min_size=len(doc), max_size=len(doc))
    gold, guess = (np.array(data.draw(paths), dtype=np.int32) for _ in range(2))
    rows = rows_of(shim, doc)
    difference = counts_of(trainer, rows, gold) - counts_of(trainer, rows, guess)
    # Twice: what numbers the features is clean again.
    for _ in range(2):
        assert trainer.distance(rows, gold, guess) == difference @ difference
    assert trainer.distance(rows, gold, gold) == 0


def test_a_move_to_the_same_place_is_none():
    shim = collected()
    gold = np.zeros(5, dtype=np.int32)
    shim.trainer.move(rows_of(shim, DOCS[0]), Move(gold, gold, 1.0))
    assert not weights_of(shim.trainer).any()


# --- Averaging ---------------------------------------------------------------------------------


@quick
@given(st.lists(st.tuples(st.integers(0, 3), st.booleans(), st.integers(1, 4)), max_size=12))
def test_the_mean_is_that_of_the_weights_after_each_example(examples):
    shim = collected()
    trainer, rng = shim.trainer, np.random.default_rng(3)
    total, n = np.zeros_like(weights_of(trainer)), 0
    for which, moves, quarters in examples:
        rows = to_learn(shim, DOCS[which])
        gold, guess = random_paths(rng, len(DOCS[which]), 3)
        # An example that moves nothing counts as well.
        shim.learn(rows, Move(gold, guess, quarters / 4) if moves else None)
        total += weights_of(trainer)
        n += 1
    assert trainer.clock == n
    want = total / n if n else total
    parts = (trainer.node, trainer.edge)
    got = [by_feature(part, part.mean(trainer.clock, 0.0)).ravel() for part in parts]
    assert np.allclose(np.concatenate(got), want, rtol=1e-6, atol=1e-6)


def test_a_mean_of_weights_that_did_not_begin_at_zero():
    shim = collected()
    trainer = shim.trainer
    random_weights(shim)
    start = trainer.node.w.copy()
    assert np.array_equal(trainer.node.mean(0, 0.0), start)
    for _ in range(3):
        shim.learn(to_learn(shim, DOCS[0]), None)
    assert np.array_equal(trainer.node.mean(trainer.clock, 0.0), start)


def test_without_averaging_the_mean_is_the_weights():
    shim = collected(averaged=False)
    gold, guess = random_paths(np.random.default_rng(4), 5, 3)
    for _ in range(3):
        shim.learn(to_learn(shim, DOCS[0]), Move(gold, guess, 1.0))
    part = shim.trainer.node
    assert np.array_equal(part.mean(shim.trainer.clock, 0.0), part.w[: part.used])
    assert part.w.any()
    assert part.u.size == 0


@pytest.mark.parametrize("edges", [[], ["bias"], ["orth[0]"], EDGES])
@pytest.mark.parametrize("averaged", [True, False])
@pytest.mark.parametrize("examples", [0, 1, 4])
def test_the_mean_of_a_few_weights_is_that_of_all(edges, averaged, examples):
    shim, rng = collected(edges=edges, averaged=averaged, min_count=2), np.random.default_rng(7)
    for doc in DOCS[:examples]:
        gold, guess = random_paths(rng, len(doc), 3)
        shim.learn(to_learn(shim, doc), Move(gold, guess, 1 / 3))
    for doc in [*DOCS, *UNSEEN[:2]]:
        mean = shim.trainer.mean_lattice(rows_of(shim, doc))
        assert same_bits(mean, predicted_lattice(shim, doc))


def test_the_mean_is_a_copy():
    for averaged in (True, False):
        shim = collected(averaged=averaged)
        claim_all(shim.trainer.node)
        mean = shim.trainer.node.mean(shim.trainer.clock, 0.0)
        assert mean.size
        mean += 1
        assert not shim.trainer.node.w.any()


def test_reset():
    shim = collected()
    gold, guess = random_paths(np.random.default_rng(5), 5, 3)
    keys = shim.trainer.node.features.table.keys().tolist()
    shim.learn(to_learn(shim, DOCS[0]), Move(gold, guess, 1.0))
    shim.trainer.reset()
    assert shim.trainer.clock == 0
    assert shim.trainer.node.features.table.keys().tolist() == keys
    assert not any(a.any() for p in (shim.trainer.node, shim.trainer.edge) for a in (p.w, p.u))
    fresh = collected()
    assert same_bits(trained_lattice(shim, DOCS[0]), trained_lattice(fresh, DOCS[0]))


# --- State -------------------------------------------------------------------------------------


@pytest.mark.parametrize("averaged", [True, False])
def test_state_round_trip(averaged):
    shim = collected(averaged=averaged)
    rng = np.random.default_rng(6)
    for doc in DOCS:
        gold, guess = random_paths(rng, len(doc), 3)
        shim.learn(to_learn(shim, doc), Move(gold, guess, 1 / 3))
    other = Trainer(shim.extractor, shim._transitions, Rule(averaged), 1)
    other.set_state(shim.trainer.state(), "here")
    assert other.clock == 4
    for part, copy in ((shim.trainer.node, other.node), (shim.trainer.edge, other.edge)):
        for name in ("w", "u"):
            a, b = getattr(part, name)[: part.used], getattr(copy, name)
            assert (a.dtype, a.shape) == (b.dtype, b.shape)
            assert np.array_equal(a, b)
        assert np.array_equal(part.features.table.keys(), copy.features.table.keys())
        assert np.array_equal(part.keys(), copy.keys())
        assert part.used == copy.used == len(part.keys()) > 0


@pytest.mark.parametrize("name", ["node.w", "edge.w", "node.u", "edge.u"])
def test_state_that_is_not_finite(name):
    shim = collected()
    part, _, array = name.partition(".")
    claim_all(getattr(shim.trainer, part))
    getattr(getattr(shim.trainer, part), array)[0, 0] = np.nan
    other = Trainer(shim.extractor, shim._transitions, Rule(averaged=True), 1)
    with pytest.raises(ValueError, match="NL205.*here"):
        other.set_state(shim.trainer.state(), "here")


@pytest.mark.parametrize("averaged", [True, False])
@pytest.mark.parametrize("min_count", [1, 2, 3])
@pytest.mark.parametrize("stop", [0, 1, 3, 7])
def test_going_on_is_like_never_having_stopped(stop, min_count, averaged):
    docs = [*DOCS, *UNSEEN, make_doc(["York", "is", "the", "Rome"]), make_doc(["zag", "said"])] * 2
    straight = collected(DOCS[:2], min_count=min_count, averaged=averaged)
    learn_at_random(straight, docs[:stop])
    stopped = Trainer(straight.extractor, straight._transitions, Rule(averaged), min_count)
    stopped.set_state(straight.trainer.state(), "here")
    shim = collected(DOCS[:2], min_count=min_count, averaged=averaged)
    shim._trainer = stopped
    stopped.extractor = shim.extractor
    assert states(shim) == states(straight)
    for each in (straight, shim):
        learn_at_random(each, docs[stop:], seed=1)
    assert states(shim) == states(straight)
    for doc in docs:
        assert same_bits(trained_lattice(shim, doc), trained_lattice(straight, doc))
        assert same_bits(predicted_lattice(shim, doc), predicted_lattice(straight, doc))


def test_what_was_seen_is_saved_only_if_features_are_counted():
    assert len(collected().trainer.state()["seen"]) == 0
    seen = collected(min_count=2).trainer.state()["seen"]
    # Words alone, and words with tags.
    assert seen.shape == (2 * len(DOCS), 16)
    assert len({row.tobytes() for row in seen}) == len(seen)
