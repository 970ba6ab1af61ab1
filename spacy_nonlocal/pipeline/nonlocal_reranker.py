"""Component `nonlocal_reranker`: labels whole documents, so that the same name gets the same label."""

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.language import Language
from spacy.strings import get_string_id
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import Config, Model

from ..analyses import Analysis
from ..candidates import Candidates
from ..changes import Reranked, set_changes
from ..errors import Errors
from ..features.consistency import ConsistencyFeatures
from ..features.nonlocal_features import Differences, NonlocalFeatures
from ..kernels.viterbi import score_path, viterbi
from ..learners.joint_perceptron import JointPerceptron
from ..learners.learner import Learner, token_errors
from ..models.lattice import Lattice, Move
from ..models.trainer import Rows
from .explaining import explain_changes
from .labeller import SequenceLabeller

default_config = """
[model]
@architectures = "spacy-nonlocal.LinearChain.v1"

[model.features]
@misc = "spacy-nonlocal.FeatureTemplates.v1"
preset = "ner"
nodes = []
edges = ["bias"]
min_count = 1

[ranker]
@misc = "spacy-nonlocal.JointPassiveAggressive.v1"
"""
_NOTHING = np.zeros(0, dtype=np.int32)
DEFAULTS = Config().from_str(default_config)


@Language.factory(
    "nonlocal_reranker",
    assigns=["doc.ents", "token.ent_iob", "token.ent_type"],
    default_config={
        "model": DEFAULTS["model"],
        "nonlocal_features": None,
        "ranker": DEFAULTS["ranker"],
        "target": "ents",
        "scheme": "BIO",
        "unit": "doc",
        "resumable": True,
        "scorer": {"@scorers": "spacy-nonlocal.labeller_scorer.v1"},
    },
    default_score_weights={
        "ents_f": 1.0,
        "ents_p": 0.0,
        "ents_r": 0.0,
        "ents_per_type": None,
    },
)
def make_nonlocal_reranker(
    nlp: Language,
    name: str,
    model: Model[Any, Any],
    nonlocal_features: dict[str, Any] | None,
    ranker: Learner,
    target: str,
    scheme: str,
    unit: str,
    resumable: bool,
    scorer: Callable[..., Any] | None,
) -> "NonlocalReranker":
    """Construct a tagger that chooses among the best labellings of a document by what they look like as a whole.

    model (Model): Gives the lattice of a sequence.
    nonlocal_features (Optional[Dict[str, NonlocalFeatures]]): Blocks of features that look at a whole labelled
        document, by name; None: one of ConsistencyFeatures.
    ranker (Learner): The update rule, for local and non-local weights.
    target (str): What is learned: "ents", "tag", "pos" or "spans:KEY".
    scheme (str): How spans become labels: "BIO", "BILUO" or "IO".
    unit (str): What is one sequence for the local model: "doc" or "sent".
    resumable (bool): Whether to save what only training needs.
    scorer (Optional[Callable]): Scores predictions.
    """
    if nonlocal_features is None:
        nonlocal_features = {"consistency": ConsistencyFeatures()}
    return NonlocalReranker(
        nlp.vocab,
        model,
        name,
        nonlocal_features=nonlocal_features,
        ranker=ranker,
        target=target,
        scheme=scheme,
        unit=unit,
        resumable=resumable,
        scorer=scorer,
    )


class NonlocalReranker(SequenceLabeller):
    """Label whole documents: of the best labellings by local features, take the best by all features.

    vocab (Vocab): The shared vocabulary.
    model (Model): Gives the lattice of a sequence.
    name (str): The component's name.
    nonlocal_features (Dict[str, NonlocalFeatures]): Blocks of features of whole labellings, by name.
    ranker (Learner): The update rule.
    **settings: What all labelling components have.
    """

    learner: JointPerceptron

    def __init__(
        self,
        vocab: Vocab,
        model: Model[Any, Any],
        name: str,
        *,
        nonlocal_features: dict[str, NonlocalFeatures],
        ranker: Learner,
        **settings: Any,
    ) -> None:
        if not isinstance(ranker, JointPerceptron):
            raise ValueError(
                Errors.NL427.format(name=name, learner=getattr(ranker, "name", ranker))
            )
        for block, features in nonlocal_features.items():
            if not isinstance(features, NonlocalFeatures):
                raise ValueError(Errors.NL426.format(name=name, block=block, value=features))
        super().__init__(vocab, model, name, learner=ranker, **settings)
        self.nonlocal_features = dict(nonlocal_features)

    # --- prediction ------------------------------------------------------------------------------

    def nbest(self, doc: Doc, n: int) -> list[Analysis]:
        """Find the best labellings of a document by all features, among the best by local ones.

        doc (Doc): The document; it is not changed.
        n (int): How many; fewer come back if there are no more.
        RETURNS (List[Analysis]): Labellings, the best first. A score is that of the local features, and by how much the
            non-local ones speak for the labelling more than for the one that is best by local features.
        """
        self._check_ready()
        if n < 1:
            raise ValueError(Errors.NL425.format(name=self.name, n=n))
        candidates = self._candidates(doc, max(n, self.learner.n_best_predict))
        total = candidates.scores + self._gains(self._differences(doc, candidates))
        return [
            self._analysis(doc, candidates.labelling(i), total[i])
            for i in np.argsort(-total, kind="stable")[:n].tolist()
        ]

    def _analysis(self, doc: Doc, labels: NDArray[np.int32], score: float) -> Analysis:
        return Analysis(labels, score, None, self._target.annotations(doc, labels, self._codec))

    def _candidates(self, doc: Doc, n: int) -> Candidates:
        with self._naming(doc):
            lattices = [lattice for _, _, lattice in self._lattices(doc)]
            if not lattices:
                return Candidates.taken_back(_NOTHING, _NOTHING, [])
            return Candidates.best(Lattice.join(lattices), n)

    def _gains(self, features: Differences) -> NDArray[np.float64]:
        """How much non-local features speak for each candidate more than for the first."""
        scores = features.dot(self._shim.document_weights(features.keys))
        return scores - scores[0]

    def _label(self, doc: Doc) -> Reranked:
        candidates = self._candidates(doc, self.learner.n_best_predict)
        if len(candidates) == 1:
            return Reranked(candidates.labelling(0), None, [])
        gains = self._gains(self._differences(doc, candidates))
        best = int(np.argmax(candidates.scores + gains))
        labels = candidates.labelling(best)
        if best == 0:
            return Reranked(labels, None, [])
        loss = candidates.scores[0] - candidates.scores[best]
        changes = explain_changes(self, doc, candidates.labelling(0), labels)
        return Reranked(labels, None, [{**change, "loss": float(loss)} for change in changes])

    def _differences(self, doc: Doc, candidates: Candidates) -> Differences:
        """The features of all blocks; the same feature of two blocks is two features."""
        parts = []
        for seed, block in self._blocks:
            first, keys, values = block.compare(doc, candidates, self._codec)
            parts.append(Differences(first, keys ^ seed, values))
        return Differences.join(parts, len(candidates))

    def feature_names(self, keys: NDArray[np.uint64]) -> list[str]:
        """RETURNS (List[str]): What non-local features are called: the block's name and its name for them."""
        found: dict[int, str] = {}
        for name, (seed, block) in zip(self.nonlocal_features, self._blocks, strict=True):
            for key, text in zip(keys.tolist(), block.names(keys ^ seed), strict=True):
                if text is not None:
                    found[key] = f"{name}: {text}"
        return [found.get(key, f"feature {key}") for key in keys.tolist()]

    @cached_property
    def _connectives(self) -> list[str]:
        blocks = self.nonlocal_features.values()
        found = [block.connectives for block in blocks if isinstance(block, ConsistencyFeatures)]
        return sorted({word for words in found for word in words})

    @cached_property
    def _blocks(self) -> list[tuple[np.uint64, NonlocalFeatures]]:
        blocks = self.nonlocal_features.items()
        return [(np.uint64(get_string_id(f"nonlocal.{name}")), block) for name, block in blocks]

    def set_annotations(self, docs: Iterable[Doc], scores: list[Any]) -> None:
        """Write labels into documents, and a record of what non-local features have changed (`doc._.nonlocal_changes`).

        docs (Iterable[Doc]): The documents.
        scores (List[Reranked]): What `predict` has returned for them.
        """
        docs = list(docs)
        super().set_annotations(docs, scores)
        for doc, labelling in zip(docs, scores, strict=True):
            set_changes(doc, labelling.changes, self.cfg["target"], self._connectives)

    # --- learning --------------------------------------------------------------------------------

    def _learn_example(self, eg: Example) -> float:
        """Learn from a document as a whole, or say where it led astray."""
        sequences = list(self._sequences(eg, everything=True))
        if not sequences:
            return 0.0
        with self._naming(eg.predicted):
            lattices, _ = self.model.begin_update([sequence for sequence, _ in sequences])
            for each in lattices:
                self._close(each)
            lattice = Lattice.join(lattices)
            gold = np.concatenate([labels for _, labels in sequences])
            if (gold < 0).any():
                # The best labelling that agrees with what is known is right.
                gold, _ = viterbi(*lattice.restrict(self._codec.allowed(gold)))
            trainer = self._shim.trainer
            rows = Rows.join([trainer.rows(sequence, learn=False) for sequence, _ in sequences])
            move, loss = self._judge(eg.predicted, rows, lattice, gold)
            self._shim.learn(rows, move)
        return loss

    def _judge(
        self, doc: Doc, rows: Rows, lattice: Lattice, gold: NDArray[np.int32]
    ) -> tuple[Move | None, float]:
        """Find how to move local weights, and move non-local ones.

        RETURNS (Tuple[Optional[Move], float]): The change of local weights, if one is needed, and the loss.
        """
        trainer, ranker = self._shim.trainer, self.learner
        candidates = Candidates.best(ranker.search(lattice, gold), ranker.n_best)
        m, right = len(candidates), candidates.find(gold)
        if right < 0:
            candidates, right = candidates.add(gold, score_path(*lattice, gold)), m
        features = self._differences(doc, candidates)
        total = candidates.scores + features.dot(trainer.document_weights(features.keys))
        choice = ranker.choose(candidates.scores, total, m, right)
        best = int(np.argmax(total[:m]))
        # Where the right labelling is as good as the best, there is no loss.
        behind = total[best] > total[right] if choice is None else True
        loss = token_errors(gold, candidates.labelling(best)) if behind else 0
        if choice is None:
            return None, loss
        guess = candidates.labelling(choice.guess)
        keys, values = features.between(right, choice.guess)
        if not choice.everything:
            keys, values = keys[:0], values[:0]

        def squared() -> float:
            nonlocal_part = ranker.nonlocal_step * float(values @ values)
            return trainer.distance(rows, gold, guess) + nonlocal_part

        step = ranker.length(choice, squared)
        trainer.move_document(keys, values, step * ranker.nonlocal_step)
        return (Move(gold, guess, step) if step else None), loss
