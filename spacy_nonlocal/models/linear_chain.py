"""The linear-chain model: from documents to lattices, with sparse features.

A thinc Model for spaCy's config and training; its Shim owns the weights, because thinc knows nothing of sparse rows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc
from thinc.api import Model, Shim

from ..errors import Errors
from ..features.attributes import Encoded
from ..features.extractor import FeatureExtractor
from ..features.feature_templates import FeatureTemplates
from .lattice import Gradient, Lattice, Move
from .predictor import Predictor
from .rules import Rule, make_rule
from .storage import pack, unpack
from .trainer import Rows, Trainer

Change = Move | Gradient | None
Backprop = Callable[[list[Change]], list[Any]]


def LinearChain(features: FeatureTemplates) -> Model[list[Encoded], list[Lattice]]:  # noqa: N802
    """Build the model that scores label sequences with sparse features.

    features (FeatureTemplates): What the features are.
    """
    return Model("linear_chain", forward, shims=[LinearChainShim(features)])


def forward(
    model: Model[Any, Any], sequences: list[Doc | Encoded], is_train: bool
) -> tuple[list[Lattice], Backprop]:
    """Score sequences: with the raw weights while training, else with those for prediction.

    Backpropagation takes, instead of a gradient, one Move or Gradient (or None) for each sequence.
    """
    shim = cast(LinearChainShim, model.shims[0])
    # One by one: to encode a document may empty the table of words that the one before refers to.
    encoded = (shim.encode(each) if isinstance(each, Doc) else each for each in sequences)
    if not is_train:
        return [shim.predict(each) for each in encoded], _no_backprop
    trainer = shim.trainer
    rows = [trainer.rows(each, learn=True) for each in encoded]

    def backprop(moves: list[Change]) -> list[Any]:
        for each, move in zip(rows, moves, strict=True):
            shim.learn(each, move)
        return []

    return [trainer.lattice(each) for each in rows], backprop


def _no_backprop(moves: list[Change]) -> list[Any]:
    raise ValueError(Errors.NL208)


class LinearChainShim(Shim):
    """Own the features and the weights of a linear-chain model.

    features (FeatureTemplates): What the features are.
    """

    def __init__(self, features: FeatureTemplates) -> None:
        super().__init__(None)
        self.features = features
        self._extractor: FeatureExtractor | None = None
        self._templates: tuple[list[str], list[str]] = ([], [])
        self._labels: tuple[str, ...] = ()
        self._transitions = np.ones((0, 0), dtype=bool)
        self._trainer: Trainer | None = None
        self._predictor: Predictor | None = None
        self.probabilistic = False  # whether the scores are logarithms of probabilities
        self._predicted = 0  # features looked up for prediction since the weights changed

    # --- setting up ------------------------------------------------------------------------------

    def begin(
        self,
        documents: Callable[[], Iterable[Doc]],
        sequences: Callable[[Doc, Encoded], Iterable[Encoded]],
        labels: tuple[str, ...],
        transitions: NDArray[np.bool_],
        rule: Rule,
        probabilistic: bool,
    ) -> None:
        """Collect the features of the training documents, and start with weights of zero.

        documents (Callable[[], Iterable[Doc]]): Gives the training documents, each time anew.
        sequences (Callable[[Doc, Encoded], Iterable[Encoded]]): Cuts a document into sequences.
        labels (Tuple[str, ...]): The labels, in order.
        transitions (ndarray): bool[L, L], which label may follow which.
        rule (Rule): How weights follow a gradient.
        probabilistic (bool): Whether scores will be logarithms of probabilities.
        """
        fresh = LinearChainShim(self.features.copy())
        fresh.probabilistic = probabilistic
        fresh._use(*fresh.features.templates(), labels, transitions)
        extractor = fresh.extractor
        extractor.reader.load()
        if "lower_lexicon" in extractor.reader.word_attrs:
            extractor.reader.lower_lexicon.learn(documents())
        fresh._trainer = Trainer(extractor, transitions, rule, self.features.min_count)
        encoded = (part for doc in documents() for part in sequences(doc, extractor.encode(doc)))
        fresh._trainer.collect(encoded)
        self._become(fresh)

    def _become(self, other: LinearChainShim) -> None:
        """Take over everything at once, after all that can fail has not."""
        self.features, self._templates = other.features, other._templates
        self._labels, self._transitions = other._labels, other._transitions
        self._extractor, self._trainer = other._extractor, other._trainer
        self._predictor, self._predicted = other._predictor, 0
        self.probabilistic = other.probabilistic

    def clear(self) -> None:
        """Become a model that was never initialized."""
        self._become(LinearChainShim(self.features))

    def _use(
        self,
        nodes: list[str],
        edges: list[str],
        labels: tuple[str, ...],
        transitions: NDArray[np.bool_],
    ) -> None:
        """Derive what follows from templates and labels; the one place, for new and for loaded models."""
        self._templates = (nodes, edges)
        self._labels = labels
        self._transitions = transitions
        self._extractor = FeatureExtractor(self.features, nodes, edges)

    # --- the two halves --------------------------------------------------------------------------

    @property
    def is_ready(self) -> bool:
        return self._extractor is not None

    @property
    def is_trainable(self) -> bool:
        return self._trainer is not None

    @property
    def extractor(self) -> FeatureExtractor:
        if self._extractor is None:
            raise ValueError(Errors.NL209)
        return self._extractor

    @property
    def trainer(self) -> Trainer:
        if self._trainer is None:
            raise ValueError(Errors.NL209 if self._extractor is None else Errors.NL210)
        return self._trainer

    @property
    def predictor(self) -> Predictor:
        if self._predictor is None:
            self._predictor = Predictor.from_trainer(self.trainer, self._transitions)
        return self._predictor

    def encode(self, doc: Doc) -> Encoded:
        """RETURNS (Encoded): A document's attributes."""
        return self.extractor.encode(doc)

    def predict(self, sequence: Encoded) -> Lattice:
        """RETURNS (Lattice): Scores under the weights for prediction."""
        if self._predictor is None:
            # While training goes on, the weights are new each time: a few documents need only a few of them.
            trainer = self.trainer
            self._predicted += len(sequence) * len(self.extractor.node_templates)
            if self._predicted < trainer.node.used:
                return trainer.mean_lattice(trainer.rows(sequence, learn=False))
        return self.predictor.lattice(sequence)

    def document_weights(self, keys: NDArray[np.uint64]) -> NDArray[np.float32]:
        """RETURNS (ndarray): float32[n], the weights for prediction of features of a whole labelling."""
        if self._predictor is not None:
            return self._predictor.document_weights(keys)
        trainer = self.trainer
        part = trainer.document
        places, weights = part.mean_of(
            part.features.find(keys)[:, None], trainer.clock, trainer.penalty
        )
        # One more, for features without any.
        return np.append(weights[:, 0], np.float32(0))[places[:, 0]]

    def learn(self, rows: Rows, move: Change) -> None:
        """Change the weights, if there is anything to change, and count the example."""
        trainer = self.trainer
        if isinstance(move, Gradient):
            trainer.follow(rows, move)
        elif move is not None:
            trainer.move(rows, move)
        trainer.clock += 1
        self._predictor, self._predicted = None, 0

    # --- thinc's contract ------------------------------------------------------------------------

    def finish_update(self, optimizer: Any) -> None:
        """Do nothing: every example has changed the weights already."""

    def to_device(self, device_type: str, device_id: int) -> None:
        """Do nothing: the weights stay on the CPU."""

    def copy(self) -> LinearChainShim:
        return LinearChainShim(self.features).from_bytes(self.to_bytes())

    def __deepcopy__(self, memo: dict[int, Any]) -> LinearChainShim:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restore, (self.features, self.to_bytes()))

    # --- saving ----------------------------------------------------------------------------------

    def model_bytes(self, name: str) -> bytes:
        """Write down what prediction needs.

        name (str): The component's name, for messages.
        RETURNS (bytes): The model file.
        """
        predictor, reader = self.predictor, self.extractor.reader
        predictor.check_finite(name)
        nodes, edges = self._templates
        settings = {
            "nodes": nodes,
            "edges": edges,
            "labels": list(self._labels),
            "probabilistic": self.probabilistic,
        }
        resources = {f"resource.{name}": array for name, array in reader.state().items()}
        transitions = {"transitions": self._transitions.astype(np.uint8)}
        return pack("model", settings, {**transitions, **predictor.state(), **resources})

    def training_bytes(self, learner: dict[str, Any], model: bytes) -> bytes:
        """Write down what only training needs.

        learner (Dict[str, Any]): The learner's name and state, for JSON.
        model (bytes): The model file that it belongs to.
        RETURNS (bytes): The training file.
        """
        trainer = self.trainer
        settings = {
            "rule": trainer.rule.settings(),
            "min_count": trainer.min_count,
            "model": _digest(model),
            "learner": learner,
        }
        return pack("training", settings, trainer.state())

    def load(
        self,
        model: tuple[bytes, str],
        training: tuple[bytes, str] | None,
        *,
        labels: tuple[str, ...] | None = None,
        rule: Rule | None = None,
        probabilistic: bool | None = None,
    ) -> dict[str, Any]:
        """Take over what was saved; nothing changes if any of it is not sound.

        model (Tuple[bytes, str]): What `model_bytes` has written, and where it comes from.
        training (Optional[Tuple[bytes, str]]): What `training_bytes` has written, and where it comes from.
        labels (Optional[Tuple[str, ...]]): What the labels have to be.
        rule (Optional[Rule]): The learner's, to go on training with; it has to be of the kind that was saved.
        probabilistic (Optional[bool]): Whether scores have to be logarithms of probabilities.
        RETURNS (Dict[str, Any]): The learner's name and state, if there is a training file.
        """
        fresh = LinearChainShim(self.features.copy())
        fresh._load_model(*model)
        if labels is not None and labels != fresh._labels:
            saved, given = ", ".join(fresh._labels), ", ".join(labels)
            raise ValueError(Errors.NL411.format(source=model[1], saved=saved, given=given))
        if probabilistic is not None and probabilistic != fresh.probabilistic:
            saved = "are" if fresh.probabilistic else "are not"
            raise ValueError(Errors.NL420.format(source=model[1], saved=saved))
        learner = {}
        if training is not None:
            learner = fresh._load_training(*training, _digest(model[0]), rule)
        self._become(fresh)
        return learner

    def _load_model(self, data: bytes, source: str) -> None:
        settings, arrays = unpack(data, "model", source)
        labels, transitions = tuple(settings["labels"]), arrays["transitions"].astype(bool)
        self._use(settings["nodes"], settings["edges"], labels, transitions)
        self.probabilistic = settings.get("probabilistic", False)
        resources = {k.removeprefix("resource."): v for k, v in arrays.items()}
        self.extractor.reader.set_state(resources)
        self._predictor = Predictor.from_state(self.extractor, self._transitions, arrays, source)

    def _load_training(
        self, data: bytes, source: str, model: str, rule: Rule | None
    ) -> dict[str, Any]:
        settings, arrays = unpack(data, "training", source)
        if settings["model"] != model:
            raise ValueError(Errors.NL211.format(source=source))
        saved, learner = _saved_rule(settings), settings["learner"]
        if rule is not None and (rule.name, rule.averaged) != (saved.name, saved.averaged):
            raise ValueError(Errors.NL413.format(source=source, learner=learner.get("name")))
        min_count = settings["min_count"]
        self._trainer = Trainer(self.extractor, self._transitions, rule or saved, min_count)
        self._trainer.set_state(arrays, source)
        # The same weights, from one table instead of two.
        self._predictor = None
        return cast(dict[str, Any], learner)

    def to_bytes(self) -> bytes:
        """RETURNS (bytes): Both files in one, for thinc; empty for a model that was never initialized."""
        if not self.is_ready:
            return b""
        files = [self.model_bytes("linear_chain")]
        if self.is_trainable:
            files.append(self.training_bytes({}, files[0]))
        return pack("shim", {}, {str(i): np.frombuffer(f, np.uint8) for i, f in enumerate(files)})

    def from_bytes(self, bytes_data: bytes) -> LinearChainShim:
        if bytes_data:
            _, files = unpack(bytes_data, "shim", "linear_chain")
            model, *training = [(files[name].tobytes(), "linear_chain") for name in sorted(files)]
            self.load(model, training[0] if training else None)
        return self


def _saved_rule(settings: dict[str, Any]) -> Rule:
    # Files of version 0.1 have no rule, because there was only one.
    return make_rule(settings["rule"]) if "rule" in settings else Rule(settings["averaged"])


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _restore(features: FeatureTemplates, data: bytes) -> LinearChainShim:
    return LinearChainShim(features).from_bytes(data)
