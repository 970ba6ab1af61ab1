import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra import numpy as hnp

from spacy_nonlocal.kernels.viterbi import viterbi
from spacy_nonlocal.models.lattice import Lattice

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
