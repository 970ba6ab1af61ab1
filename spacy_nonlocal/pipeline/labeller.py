"""What all labelling components share: spaCy's contract around a lattice model, a target and a learner."""

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import srsly
from numpy.typing import NDArray
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import Model

from ..analyses import Analysis, best_sums
from ..confidence import Confidence, Labelling
from ..errors import Errors
from ..kernels.marginals import log_partition, marginals
from ..kernels.nbest import n_best
from ..kernels.viterbi import viterbi
from ..learners.learner import Learner
from ..models.lattice import Lattice
from ..targets import make_target
from .gold import GoldLabels
from .learning import LearningPipe
from .scoring import labeller_score


class SequenceLabeller(LearningPipe):
    """The base of components that label sequences.

    vocab (Vocab): The shared vocabulary.
    model (Model): Gives the lattice of a sequence.
    name (str): The component's name.
    learner (Learner): The update rule.
    target (str): What is learned: "ents", "tag", "pos" or "spans:KEY".
    scheme (str): How spans become labels: "BIO", "BILUO" or "IO".
    unit (str): What is one sequence: "doc" or "sent".
    confidence (Optional[bool]): Whether to say how probable each annotation is; None: if the learner can.
    threshold (Optional[float]): What is less probable is not annotated.
    resumable (bool): Whether to save what only training needs, so that it can go on later.
    scorer (Optional[Callable]): Scores predictions.
    """

    def __init__(
        self,
        vocab: Vocab,
        model: Model[Any, Any],
        name: str,
        *,
        learner: Learner,
        target: str = "ents",
        scheme: str = "BIO",
        unit: str = "doc",
        confidence: bool | None = None,
        threshold: float | None = None,
        resumable: bool = True,
        scorer: Callable[..., dict[str, Any]] | None = labeller_score,
    ) -> None:
        if unit not in ("doc", "sent"):
            raise ValueError(Errors.NL405.format(name=name, unit=unit))
        super().__init__(vocab, model, name)
        self.learner = learner
        self.resumable = resumable
        self.scorer = scorer
        self.cfg: dict[str, Any] = {"labels": [], "target": target, "scheme": scheme, "unit": unit}
        self._target = make_target(target, scheme, name)
        self._codec = self._target.codec(())
        self._seen = 0  # examples that `update` was given
        self._skip = 0  # examples that a resumed run has seen already
        self._scores: dict[str, dict[str, Any]] = {}  # by the number of examples seen
        self._gold = GoldLabels()
        self.confidence = self._can_tell("confidence") if confidence else confidence
        self.threshold = threshold

    # --- labels ----------------------------------------------------------------------------------

    @property
    def label_data(self) -> tuple[str, ...]:
        """RETURNS (Tuple[str, ...]): What `spacy init labels` writes, for `initialize`."""
        return self.labels

    def add_label(self, label: str) -> int:
        """Add a label before the component is initialized.

        label (str): The label.
        RETURNS (int): 0 if it is there already, else 1.
        """
        if not isinstance(label, str) or not label:
            raise ValueError(Errors.NL415.format(name=self.name, label=label))
        if label in self.labels:
            return 0
        if self._shim.is_ready:
            raise ValueError(Errors.NL409.format(name=self.name, label=label))
        self._set_labels([*self.labels, label])
        return 1

    # --- prediction ------------------------------------------------------------------------------

    @property
    def threshold(self) -> float | None:
        """RETURNS (Optional[float]): What is less probable than this is not annotated."""
        return self._checked(self.cfg["threshold"])

    @threshold.setter
    def threshold(self, value: float | None) -> None:
        self.cfg["threshold"] = self._checked(value)

    def _checked(self, threshold: float | None) -> float | None:
        # Tools such as `spacy find-threshold` write into cfg directly.
        if threshold is None:
            return None
        self._can_tell("threshold")
        if not 0 <= threshold <= 1:
            raise ValueError(Errors.NL418.format(name=self.name, threshold=threshold))
        return float(threshold)

    def _can_tell(self, what: str) -> bool:
        """Raise unless the learner's scores are probabilities."""
        if not self.learner.probabilistic:
            raise ValueError(
                Errors.NL417.format(name=self.name, learner=self.learner.name, what=what)
            )
        return True

    def predict(self, docs: Iterable[Doc]) -> list[Any]:
        """Label documents without changing them.

        docs (Iterable[Doc]): The documents.
        RETURNS (List[Labelling]): Label numbers for each document, and how probable they are.
        """
        self._check_ready()
        return [self._label(doc) for doc in docs]

    def marginals(self, doc: Doc) -> NDArray[np.float32]:
        """Find the probability of every label at every token.

        doc (Doc): The document.
        RETURNS (ndarray): float32[T, L]; the columns are `label_names`.
        """
        self._check_ready()
        self._can_tell("marginals")
        out = np.zeros((len(doc), len(self._codec.labels)), dtype=np.float32)
        with self._naming(doc):
            for start, end, lattice in self._lattices(doc):
                _, beliefs, _ = marginals(lattice.node, lattice.edge, pairs=False)
                out[start:end] = beliefs[:, : lattice.n_labels]
        return out

    def nbest(self, doc: Doc, n: int) -> list[Analysis]:
        """Find the best labellings of a document, under the same constraints as the one that is predicted.

        doc (Doc): The document; it is not changed.
        n (int): How many; fewer come back if there are no more.
        RETURNS (List[Analysis]): Labellings, the best first, with their scores and what they mean; with CRF learners,
            also with their probabilities.
        """
        self._check_ready()
        if n < 1:
            raise ValueError(Errors.NL425.format(name=self.name, n=n))
        bounds, found, log_z = [], [], 0.0
        with self._naming(doc):
            for start, end, lattice in self._lattices(doc):
                bounds.append((start, end))
                found.append(n_best(lattice.node, lattice.edge, n))
                if self.learner.probabilistic:
                    log_z += log_partition(lattice.node, lattice.edge)
        analyses = []
        for score, chosen in best_sums([scores for _, scores in found], n):
            labels = np.zeros(len(doc), dtype=np.int32)
            for (start, end), (paths, _), i in zip(bounds, found, chosen, strict=True):
                labels[start:end] = paths[i]
            probability = math.exp(min(0.0, score - log_z)) if self.learner.probabilistic else None
            annotations = self._target.annotations(doc, labels, self._codec)
            analyses.append(Analysis(labels, score, probability, annotations))
        return analyses

    @property
    def label_names(self) -> tuple[str, ...]:
        """RETURNS (Tuple[str, ...]): What a token can be labelled as: tags, or, for spans, "O", "B-X", "I-X", …."""
        return self._codec.labels

    def _check_ready(self) -> None:
        if not self._shim.is_ready:
            raise ValueError(Errors.NL407.format(name=self.name))

    def _label(self, doc: Doc) -> Any:
        path = np.zeros(len(doc), dtype=np.int32)
        threshold = self.threshold
        sure = self.learner.probabilistic and (
            self.confidence is not False or threshold is not None
        )
        found = []
        with self._naming(doc):
            for start, end, lattice in self._lattices(doc):
                path[start:end], _ = viterbi(lattice.node, lattice.edge)
                if sure:
                    found.append(self._target.confidence(lattice, path[start:end], self._codec))
                    found[-1].spans[:, :2] += start
        if not sure:
            return Labelling(path, None)
        confidence = Confidence.join(found)
        if threshold is not None:
            confidence = confidence.drop(path, threshold, self._target.nothing)
        return Labelling(path, confidence if self.confidence is not False else None)

    def _lattices(self, doc: Doc) -> Iterator[tuple[int, int, Lattice]]:
        """The sequences of a document: where each starts and ends, and its scores, under all constraints."""
        if not len(doc):
            return
        encoded = self._shim.encode(doc)
        preset, bounds = self._target.preset(doc, self._codec), self._bounds(doc)
        if preset is not None:
            # Entities across sentences stay; to the labels around them they look like "outside".
            for start, end in self._codec.crossing(preset, [start for start, _ in bounds[1:]]):
                preset[start:end] = 0
        for start, end in bounds:
            (lattice,) = self.model.predict([encoded.part(start, end)])
            self._close(lattice)
            if preset is not None:
                lattice = lattice.restrict(self._codec.allowed(preset[start:end]))
            yield start, end, lattice

    def set_annotations(self, docs: Iterable[Doc], scores: list[Any]) -> None:
        """Write labels into documents.

        docs (Iterable[Doc]): The documents.
        scores (List[Labelling]): What `predict` has returned for them.
        """
        for doc, labelling in zip(docs, scores, strict=True):
            self._target.write(doc, labelling.labels, self._codec, labelling.confidence)

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Score predictions. While a resumed run passes over examples, it gives the scores that were measured then:
        they decide when training ends.

        examples (Iterable[Example]): Predictions and references.
        RETURNS (Dict[str, Any]): The scores.
        """
        key = str(self._seen)
        if self._seen <= self._skip and key in self._scores:
            return self._scores[key]
        scores = super().score(examples, **kwargs)
        if self._learning:
            self._scores[key] = srsly.json_loads(srsly.json_dumps(scores))
        return scores
