import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from spacy_nonlocal.kernels.viterbi import viterbi
from spacy_nonlocal.models.lattice import Lattice, indicators

from ..kernels.oracles import INF, best_path, lattices
from .toy import quick


def test_n_labels_leaves_out_padding():
    lattice = Lattice(np.zeros((2, 4), np.float32), np.zeros((1, 3, 4), np.float32))
    assert lattice.n_labels == 3


def test_restrict_makes_a_lattice_of_its_own():
    node = np.arange(8, dtype=np.float32).reshape(2, 4)
    node[:, 3] = -INF
    lattice = Lattice(node.copy(), np.zeros((1, 3, 4), np.float32))
    allowed = np.array([[True, False, True], [False, False, True]])
    restricted = lattice.restrict(allowed)
    assert np.array_equal(lattice.node, node)
    assert restricted.node.tolist() == [[0, -INF, 2, -INF], [-INF, -INF, 6, -INF]]
    assert np.array_equal(restricted.edge, lattice.edge)


@quick
@given(lattices(), hnp.arrays(bool, (5, 4)))
def test_the_best_of_what_is_allowed(lattice, allowed):
    lattice = Lattice(*lattice)
    T, L = len(lattice.node), lattice.n_labels
    allowed = allowed[:T, :L]
    restricted = lattice.restrict(allowed)
    want, top = best_path(*restricted)
    if top == -INF:
        assert not allowed.any(axis=1).all()
        with pytest.raises(ValueError, match="NL616"):
            viterbi(*restricted)
    else:
        path, score = viterbi(*restricted)
        assert allowed[np.arange(T), path].all()
        assert (tuple(path.tolist()), score) == (want, top)


# --- The beliefs of one labelling --------------------------------------------------------------


@quick
@given(st.data(), st.integers(0, 6), st.integers(1, 4), st.integers(0, 3), st.booleans())
def test_indicators(data, T, L, padding, shared):
    width, tables = L + padding, 1 if shared else T
    labels = data.draw(hnp.arrays(np.int32, T, elements=st.integers(-1, L - 1)))
    node, edge = indicators(labels, L, width, tables)
    want_node, want_edge = np.zeros((T, width)), np.zeros((tables, L, width))
    for t in range(T):
        if labels[t] >= 0:
            want_node[t, labels[t]] = 1
        if t > 0 and labels[t - 1] >= 0 and labels[t] >= 0:
            want_edge[0 if shared else t, labels[t - 1], labels[t]] += 1
    assert node.dtype == edge.dtype == np.float32
    assert (node.shape, edge.shape) == (want_node.shape, want_edge.shape)
    assert np.array_equal(node, want_node)
    assert np.array_equal(edge, want_edge)


def test_indicators_by_hand():
    labels = np.array([1, 1, -1, 0, 1, 1], dtype=np.int32)
    node, edge = indicators(labels, 2, 4, 1)
    assert node.argmax(axis=1).tolist() == [1, 1, 0, 0, 1, 1]
    assert node.sum(axis=1).tolist() == [1, 1, 0, 1, 1, 1]
    # 1 after 1 twice, 1 after 0 once; what is next to something unknown is no pair.
    assert edge.tolist() == [[[0, 1, 0, 0], [0, 2, 0, 0]]]
    _, edge = indicators(labels, 2, 4, 6)
    assert np.argwhere(edge).tolist() == [[1, 1, 1], [4, 0, 1], [5, 1, 1]]
