"""Weights that stand still: fast scores for prediction."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors
from ..features.attributes import Encoded
from ..features.extractor import FeatureExtractor
from ..kernels.keys import Templates
from ..kernels.lattice import padded, score_rows
from ..kernels.lexemes import fill_outside, fill_words, score_words
from ..kernels.table import KeyTable
from .lattice import Lattice
from .storage import Arrays, pack_sparse, unpack_sparse
from .trainer import Trainer, base_scores, edge_scores

_Arguments = tuple[Templates, NDArray[np.int32], NDArray[np.int32], KeyTable, NDArray[np.float32]]


class Predictor:
    """The predicting half of a linear-chain model.

    extractor (FeatureExtractor): Features.
    transitions (ndarray): bool[L, L], which label may follow which.
    node_table (KeyTable), node_weights (ndarray): float32[R, width].
    edge_table (KeyTable), edge_weights (ndarray): float32[R, L * width].
    document_table (KeyTable), document_weights (ndarray): float32[R, 1].
    """

    def __init__(
        self,
        extractor: FeatureExtractor,
        transitions: NDArray[np.bool_],
        node_table: KeyTable,
        node_weights: NDArray[np.float32],
        edge_table: KeyTable,
        edge_weights: NDArray[np.float32],
        document_table: KeyTable,
        document_weights: NDArray[np.float32],
    ) -> None:
        self.extractor = extractor
        self.n_labels = len(transitions)
        self.width = padded(self.n_labels)
        self.base_node, self.base_edge = base_scores(transitions)
        self.node_table, self.node_weights = node_table, node_weights
        self.edge_table, self.edge_weights = edge_table, edge_weights
        self.document_table, self._document_weights = document_table, document_weights
        # One more, for features without any.
        self._padded_weights = np.append(document_weights[:, 0], np.float32(0))
        self._bias = self.base_edge + edge_weights[0]
        self._zero = np.zeros(self.width, dtype=np.float32)
        self._rest_groups = np.array([0, len(extractor.rest)], dtype=np.int32)
        self._edge_groups = np.array([0, len(extractor.edges)], dtype=np.int32)
        self._word_scores = WordScores(self)

    @classmethod
    def from_trainer(cls, trainer: Trainer, transitions: NDArray[np.bool_]) -> Predictor:
        """RETURNS (Predictor): One that uses the trainer's weights as they are now."""
        return cls(
            trainer.extractor,
            transitions,
            KeyTable(trainer.node.keys()),
            trainer.node.mean(trainer.clock, trainer.penalty),
            KeyTable(trainer.edge.keys()),
            trainer.edge.mean(trainer.clock, trainer.penalty),
            KeyTable(trainer.document.keys()),
            trainer.document.mean(trainer.clock, trainer.penalty),
        )

    def lattice(self, sequence: Encoded) -> Lattice:
        """RETURNS (Lattice): Scores of a sequence."""
        extractor = self.extractor
        node = self._word_scores.node_scores(sequence)
        if len(extractor.rest):
            rows = self.node_table.find(extractor.keys(extractor.rest, sequence))
            rest = np.empty_like(node)
            score_rows(rows, self._rest_groups, self.node_weights, self._zero, rest)
            node += rest
        if not len(extractor.edges):
            return Lattice(node, self._bias.reshape(1, self.n_labels, self.width))
        rows = self.edge_table.find(extractor.keys(extractor.edges, sequence))
        edge = edge_scores(rows, self._edge_groups, self.edge_weights, self._bias, self.n_labels)
        return Lattice(node, edge)

    def document_weights(self, keys: NDArray[np.uint64]) -> NDArray[np.float32]:
        """RETURNS (ndarray): float32[n], the weights of features of a whole labelling."""
        return self._padded_weights[self.document_table.find(keys)]

    def state(self) -> dict[str, NDArray[Any]]:
        """RETURNS (Dict[str, ndarray]): Keys and weights of the features that have any."""
        L = self.n_labels
        edges = self.edge_weights.reshape(-1, L, self.width)[:, :, :L].reshape(-1, L * L)
        nodes = pack_sparse("node", self.node_weights[:, :L])
        return {
            **_without_empty_rows("node", nodes, self.node_table, always=0),
            # The label pair alone is row 0, even if it never got a weight.
            **_without_empty_rows("edge", pack_sparse("edge", edges), self.edge_table, always=1),
            **_without_empty_rows(
                "document", pack_sparse("document", self._document_weights), self.document_table, 0
            ),
        }

    @classmethod
    def from_state(
        cls,
        extractor: FeatureExtractor,
        transitions: NDArray[np.bool_],
        arrays: Arrays,
        source: str,
    ) -> Predictor:
        L = len(transitions)
        width = padded(L)
        nodes = unpack_sparse("node", arrays, L, source)
        edges = unpack_sparse("edge", arrays, L * L, source).reshape(-1, L, L)
        room = ((0, 0), (0, width - L))
        return cls(
            extractor,
            transitions,
            KeyTable(arrays["node.keys"]),
            np.ascontiguousarray(np.pad(nodes, room)),
            KeyTable(arrays["edge.keys"]),
            np.ascontiguousarray(np.pad(edges, ((0, 0), *room)).reshape(-1, L * width)),
            *_document_state(arrays, source),
        )

    def check_finite(self, name: str) -> None:
        """Raise if a weight is not a finite number."""
        if not (
            np.isfinite(self.node_weights).all()
            and np.isfinite(self.edge_weights).all()
            and np.isfinite(self._document_weights).all()
        ):
            raise ValueError(Errors.NL207.format(name=name))


def _document_state(arrays: Arrays, source: str) -> tuple[KeyTable, NDArray[np.float32]]:
    if "document.keys" not in arrays:  # files of version 0.1 have none
        return KeyTable(), np.zeros((0, 1), dtype=np.float32)
    return KeyTable(arrays["document.keys"]), unpack_sparse("document", arrays, 1, source)


def _without_empty_rows(
    name: str, arrays: dict[str, NDArray[Any]], table: KeyTable, always: int
) -> dict[str, NDArray[Any]]:
    """The keys and weights of features that have any, and of the first `always` ones."""
    mask = arrays[f"{name}.mask"]
    rows = np.any(mask, axis=1) | (np.arange(len(mask)) < always)
    return {f"{name}.keys": table.keys()[rows], **arrays, f"{name}.mask": mask[rows]}


class WordScores:
    """For every word seen, and every offset, the sum of all weights that depend on that word alone."""

    def __init__(self, predictor: Predictor) -> None:
        self._predictor = predictor
        extractor = predictor.extractor
        shape = (len(extractor.offsets), predictor.width)
        self._generation = extractor.reader.words.generation
        self._scores = np.zeros((0, *shape), dtype=np.float32)
        self._filled = np.zeros(0, dtype=bool)
        distance = int(np.abs(extractor.offsets).max(initial=1))
        self._outside = np.zeros((shape[0], distance, shape[1]), dtype=np.float32)
        fill_outside(*self._arguments(), self._outside)

    def _arguments(self) -> _Arguments:
        extractor, predictor = self._predictor.extractor, self._predictor
        return (
            extractor.nodes,
            extractor.word_groups,
            extractor.offsets,
            predictor.node_table,
            predictor.node_weights,
        )

    def node_scores(self, sequence: Encoded) -> NDArray[np.float32]:
        """RETURNS (ndarray): float32[T, width], without what looks at more than one word or at a token."""
        predictor = self._predictor
        self._fill(sequence.ids)
        node = np.empty((len(sequence), predictor.width), dtype=np.float32)
        offsets, base = predictor.extractor.offsets, predictor.base_node
        score_words(sequence.ids, offsets, self._scores, self._outside, base, node)
        return node

    def _fill(self, ids: NDArray[np.int32]) -> None:
        """Compute the vectors of words that come up for the first time."""
        words = self._predictor.extractor.reader.words
        if words.generation != self._generation:
            self._generation = words.generation
            self._filled[:] = False
        if len(words) > len(self._filled):
            room = max(len(words), 2 * len(self._filled)) - len(self._filled)
            self._filled = np.append(self._filled, np.zeros(room, dtype=bool))
            shape = (room, *self._scores.shape[1:])
            self._scores = np.concatenate([self._scores, np.zeros(shape, dtype=np.float32)])
        missing = ids[~self._filled[ids]]
        if len(missing):
            missing = np.unique(missing)
            fill_words(*self._arguments(), words.values, missing, self._scores)
            self._filled[missing] = True
