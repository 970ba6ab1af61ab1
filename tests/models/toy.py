"""What the tests of models and learners share: a small language, and models with weights of any kind."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import spacy
from hypothesis import settings
from hypothesis import strategies as st
from spacy.tokens import Doc

from spacy_nonlocal.features.feature_templates import FeatureTemplates
from spacy_nonlocal.models.lattice import Gradient
from spacy_nonlocal.models.linear_chain import LinearChain, LinearChainShim
from spacy_nonlocal.models.rules import Rule
from spacy_nonlocal.models.sparse_weights import SparseWeights
from spacy_nonlocal.models.trainer import Rows, Trainer

from ..kernels.oracles import edge_counts, node_counts

quick = settings(deadline=None, derandomize=True, max_examples=60)

nlp = spacy.blank("en")

WORDS = ["Anna", "Lee", "York", "the", "The", "new", "1997", ",", "U.S.", "said"]
TAGS = ["NNP", "DT", "VBD"]

# One of each kind: one word, several words, token attributes, comparisons.
NODES = ["bias", "orth[-2..2]", "form[0]", "suffix2[-1]", "lower[-1]|lower[0]", "tag[0]"]
NODES += ["orth[-1]==orth[0]", "shape_short[0]|tag[1]", "orth[0]|lower[0]"]
EDGES = ["bias", "orth[0]", "tag[-1]|tag[0]"]


def make_doc(words: Sequence[str], tags: Sequence[str] | None = None) -> Doc:
    tags = [TAGS[len(word) % 3] for word in words] if tags is None else tags
    return Doc(nlp.vocab, words=list(words), tags=list(tags))


DOCS = [
    make_doc(["Anna", "Lee", "said", "York", ","]),
    make_doc(["the", "new", "York", "said", "the", "U.S.", "said"]),
    make_doc(["Lee"]),
    make_doc(["The", "The", "new", "Anna", "1997"]),
]
# As DOCS, with words that no training document has.
UNSEEN = [make_doc(["Rome", "York", "is"]), make_doc(["zig", "zag"]), make_doc([])]

documents = st.lists(st.sampled_from([*WORDS, "unseen"]), min_size=1, max_size=8).map(make_doc)


def make_shim(
    nodes: Sequence[str] = NODES, edges: Sequence[str] = EDGES, **kwargs: Any
) -> LinearChainShim:
    features = FeatureTemplates(nodes=list(nodes), edges=list(edges), **kwargs)
    return LinearChain(features).shims[0]


def begin(
    shim: LinearChainShim,
    docs: Sequence[Doc] = DOCS,
    *,
    labels: int = 3,
    averaged: bool = True,
    rule: Rule | None = None,
    probabilistic: bool = False,
    transitions: np.ndarray | None = None,
) -> LinearChainShim:
    """Collect features; each document is one sequence."""
    if transitions is None:
        transitions = np.ones((labels, labels), dtype=bool)
    names = label_names(len(transitions))
    rule = Rule(averaged) if rule is None else rule
    shim.begin(
        lambda: iter(docs),
        lambda doc, encoded: [encoded],
        names,
        transitions,
        rule,
        probabilistic,
    )
    return shim


def label_names(n: int) -> tuple[str, ...]:
    return tuple(f"L{i}" for i in range(n))


def claim_all(part: SparseWeights) -> None:
    """Give every feature weights; in order, those that have none."""
    rows = np.arange(len(part.features), dtype=np.int32)[:, None]
    part.claim(rows, np.ones(len(rows), dtype=bool))


def by_feature(part: SparseWeights, values: np.ndarray | None = None) -> np.ndarray:
    """The weights (or what else each place has) in the order of the features, zero for those without a place."""
    values = part.w if values is None else values
    places = part.places(np.arange(len(part.features), dtype=np.int32)[:, None])[:, 0]
    out = np.zeros((len(places), values.shape[1]), dtype=values.dtype)
    out[places >= 0] = values[places[places >= 0]]
    return out


def random_weights(shim: LinearChainShim, seed: int = 0) -> None:
    """Give every weight of every feature (and none of the padding) a value that rounds in every sum."""
    rng, trainer, L = np.random.default_rng(seed), shim.trainer, shim.trainer.n_labels
    for part in (trainer.node, trainer.edge):
        claim_all(part)
    n_nodes, n_edges = trainer.node.used, trainer.edge.used
    assert (n_nodes, n_edges) == (len(trainer.node.features), len(trainer.edge.features))
    trainer.node.w[:n_nodes, :L] = rng.normal(size=(n_nodes, L))
    edges = trainer.edge.w[:n_edges].reshape(-1, L, trainer.width)
    edges[:, :, :L] = rng.normal(size=(len(edges), L, L))
    if not trainer.extractor.edge_bias:
        trainer.edge.w[0] = 0
    shim._predictor = None


def rows_of(shim: LinearChainShim, doc: Doc) -> Rows:
    """The rows of a document's features, without learning any."""
    return shim.trainer.rows(shim.encode(doc), learn=False)


def trained_lattice(shim: LinearChainShim, doc: Doc) -> Any:
    return shim.trainer.lattice(rows_of(shim, doc))


def predicted_lattice(shim: LinearChainShim, doc: Doc) -> Any:
    return shim.predictor.lattice(shim.encode(doc))


def same_bits(a: Any, b: Any) -> bool:
    """Whether two lattices are equal down to the last bit."""
    return all(
        x.shape == y.shape and x.dtype == y.dtype == np.float32 and x.tobytes() == y.tobytes()
        for x, y in zip(a, b, strict=True)
    )


def random_paths(rng: np.random.Generator, length: int, labels: int) -> Any:
    return rng.integers(0, labels, (2, length)).astype(np.int32)


def counts_of(trainer: Trainer, rows: Rows, path: np.ndarray) -> np.ndarray:
    """Φ(x, path), node and edge features in one vector, whether they have weights or not."""
    node, edge = ((len(part.features), part.columns) for part in (trainer.node, trainer.edge))
    nodes = node_counts(rows.node, path, node)
    edges = edge_counts(rows.edge, path, edge, trainer.width)
    if trainer.extractor.edge_bias:
        zeros = np.zeros((len(path), 1), dtype=np.int32)
        edges += edge_counts(zeros, path, edge, trainer.width)
    return np.concatenate([nodes.ravel(), edges.ravel()])


def weights_of(trainer: Trainer) -> np.ndarray:
    """The weights of all features, zero for those without any, in the order of `counts_of`."""
    parts = [by_feature(part).ravel() for part in (trainer.node, trainer.edge)]
    return np.concatenate(parts).astype(np.float64)


# --- Gradients ---------------------------------------------------------------------------------

Feature = tuple[str, int]  # "node" or "edge", and its key


def to_learn(shim: LinearChainShim, doc: Doc) -> Rows:
    """The rows of a document's features, of which new ones get one."""
    return shim.trainer.rows(shim.encode(doc), learn=True)


def random_gradient(
    shim: LinearChainShim, doc: Doc, rng: np.random.Generator, *, step: float = 0.5, **kwargs: Any
) -> Gradient:
    """Beliefs of any size. No pair ends at the first token, and padding has none."""
    trainer, T = shim.trainer, len(doc)
    L, tables = trainer.n_labels, T if trainer.extractor.edge_templates else 1
    node = np.zeros((T, trainer.width), dtype=np.float32)
    edge = np.zeros((tables, L, trainer.width), dtype=np.float32)
    node[:, :L] = rng.normal(size=(T, L))
    first = 0 if tables == 1 < T else 1
    edge[first:, :, :L] = rng.normal(size=(tables, L, L))[first:]
    return Gradient(node, edge, step, **kwargs)


def gradients_of(
    shim: LinearChainShim, doc: Doc, gradient: Gradient
) -> tuple[dict[Feature, np.ndarray], dict[Feature, float]]:
    """What each feature of a document gets, and at which share of its tokens it is found."""
    extractor, encoded = shim.extractor, shim.encode(doc)
    edge = gradient.edge.reshape(len(gradient.edge), -1).astype(np.float64)
    sums: dict[Feature, Any] = defaultdict(float)
    shares: dict[Feature, float] = defaultdict(float)
    for t, keys in enumerate(extractor.keys(extractor.nodes, encoded).tolist()):
        for key in keys:
            sums["node", key] += gradient.node[t].astype(np.float64)
            shares["node", key] += 1 / len(doc)
    for t, keys in enumerate(extractor.keys(extractor.edges, encoded).tolist()):
        for key in keys:
            sums["edge", key] += edge[t]
            shares["edge", key] += 1 / len(doc)
    if extractor.edge_bias:
        sums["edge", extractor.bias_key] += edge.sum(axis=0)
    return dict(sums), dict(shares)


def by_key(trainer: Trainer, beside: str | None = None) -> dict[Feature, np.ndarray]:
    """Copies of the weights, or of what is beside them, of all features that have any."""
    return {
        (name, key): line.copy()
        for name, part in (("node", trainer.node), ("edge", trainer.edge))
        for key, line in zip(
            part.keys().tolist(), part.w if beside is None else part.beside[beside], strict=False
        )
    }


def mean_of(shim: LinearChainShim) -> dict[Feature, np.ndarray]:
    """The weights for prediction, of all features that have any."""
    trainer = shim.trainer
    return {
        (name, key): line
        for name, part in (("node", trainer.node), ("edge", trainer.edge))
        for key, line in zip(
            part.keys().tolist(), part.mean(trainer.clock, trainer.penalty), strict=True
        )
    }
