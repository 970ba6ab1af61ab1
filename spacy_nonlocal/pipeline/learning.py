"""How labelling components learn: spaCy's `update` and `initialize` around a lattice model and a learner.

No postponed annotations here: spaCy hands the signature of `initialize` to pydantic.
"""

import math
import random
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray
from spacy import util
from spacy.attrs import SENT_START
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example, validate_examples, validate_get_examples
from thinc.api import Optimizer
from tqdm import tqdm

from ..codecs import Codec
from ..doc_arrays import read_column
from ..errors import Errors, LatticeError, Warnings
from ..features.attributes import Encoded
from ..kernels.marginals import log_partition
from ..learners.rate_search import HIGHEST, LOWEST, find_rate
from ..learners.sgd import SGD
from ..models.lattice import Lattice
from ..models.trainer import DivergenceError
from ..targets import describe
from .saving import SavedPipe

Labels = NDArray[np.int32]

# The first step of a learner is found on a tenth of the data, but on no fewer and no more sequences than these.
SAMPLE = (100, 1000)
# Where sentences are not known yet, they are taken to be of so many tokens.
SENTENCE = 20


class LearningPipe(SavedPipe):
    """The half of a labelling component that learns."""

    _learning = False  # whether `update` was called since the component was made

    # --- learning --------------------------------------------------------------------------------

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Optimizer | None = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Learn from examples, one after the other.

        examples (Iterable[Example]): The examples.
        drop (float): Has no effect: there is no dropout.
        sgd (Optional[Optimizer]): Has no effect: the learner sets its own steps.
        losses (Optional[Dict[str, float]]): Here is added at how many tokens the labelling that the learner moved
            away from was wrong; or, for CRF learners, the objective: -log p(right labelling), and the penalty once
            in a pass.
        RETURNS (Dict[str, float]): The losses.
        """
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        examples = list(examples)
        validate_examples(examples, f"{type(self).__name__}.update")
        if not self._shim.is_ready:
            raise ValueError(Errors.NL407.format(name=self.name))
        if not self._shim.is_trainable:
            raise ValueError(Errors.NL408.format(name=self.name))
        self._learning = True
        for eg in examples:
            self._seen += 1
            if self._seen > self._skip:
                losses[self.name] += self._learn_example(eg)
        return losses

    def _learn_example(self, eg: Example) -> float:
        """Learn from an example, or say where it led astray."""
        loss = 0.0
        for sequence, gold in self._sequences(eg):
            with self._naming(eg.predicted):
                loss += self._learn(sequence, gold)
        return loss

    @contextmanager
    def _naming(self, doc: Doc, *, diverging: bool = False) -> Iterator[None]:
        """Say in errors of the kernels which component and which document they are about.

        diverging (bool): Whether divergence is expected, and not to be reported.
        """
        try:
            yield
        except DivergenceError as error:
            if diverging:
                raise
            learner, setting = self.learner, self.learner.step_setting
            message = Errors.NL505.format(
                name=self.name,
                where=describe(doc),
                learner=learner.name,
                loss=error,
                setting=setting,
                value=getattr(learner, setting, None),
            )
            raise ValueError(message) from None
        except LatticeError as error:
            message = Errors.NL419.format(name=self.name, where=describe(doc), error=error)
            raise ValueError(message) from None

    def _sequences(
        self, eg: Example, *, whole: bool = False, everything: bool = False
    ) -> Iterator[tuple[Encoded, Labels]]:
        """The sequences of an example that have any annotation, with their right labels.

        whole (bool): Whether to take the document for one sequence, whatever the unit is.
        everything (bool): Whether to take those without annotation too, if another has any.
        """
        doc = eg.predicted
        if not len(doc):
            return
        encoded = self._shim.encode(doc)
        gold = self._gold.read(eg, self._target, self._codec, encoded.orths)
        if not (gold >= 0).any():
            return
        bounds = [(0, len(doc))] if whole else self._bounds(doc)
        for start, end in self._codec.crossing(gold, [start for start, _ in bounds[1:]]):
            message = Warnings.NL455.format(
                name=self.name, span=doc[start:end].text, start=start, end=end, where=describe(doc)
            )
            warnings.warn(message, stacklevel=2)
            gold = gold.copy()
            gold[start:end] = -1
        for start, end in bounds:
            if everything or (gold[start:end] >= 0).any():
                yield encoded.part(start, end), gold[start:end]

    def _learn(self, sequence: Encoded, gold: Labels) -> float:
        (lattice,), backprop = self.model.begin_update([sequence])
        self._close(lattice)
        trainer, learner = self._shim.trainer, self.learner

        def distance(a: Labels, b: Labels) -> float:
            return trainer.distance(trainer.rows(sequence, learn=False), a, b)

        if (gold < 0).any():
            known = lattice.restrict(self._codec.allowed(gold))
            verdict = learner.judge_partly(lattice, known, distance)
        else:
            verdict = learner.judge(lattice, gold, distance)
        if not math.isfinite(verdict.loss):
            raise DivergenceError(verdict.loss)
        backprop([verdict.move])
        penalty = learner.penalty(*trainer.norms()) if learner.ended_pass else 0.0
        return verdict.loss + penalty

    # --- initialization --------------------------------------------------------------------------

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: Iterable[str] | None = None,
        bpm_runs: int = 0,
        bpm_seed: int = 0,
        resume: str | Path | None = None,
    ) -> None:
        """Find the labels and the features of the training documents.

        get_examples (Callable[[], Iterable[Example]]): Gives the training examples.
        nlp (Optional[Language]): The pipeline.
        labels (Optional[Iterable[str]]): All labels, if they are known beforehand (`spacy init labels`).
        bpm_runs (int): Start from the mean of so many one-pass runs over shuffled data (Kazama & Torisawa 2007);
            0: start from zero.
        bpm_seed (int): How those runs shuffle.
        resume (Optional[Union[str, Path]]): A pipeline saved by an interrupted run of the same config. Training goes
            on where that one stopped, and ends as if it had not been interrupted.
        """
        validate_get_examples(get_examples, f"{type(self).__name__}.initialize")
        if bpm_runs < 0:
            raise ValueError(Errors.NL416.format(name=self.name, runs=bpm_runs))
        self._seen = self._skip = 0
        self._scores = {}
        if resume is not None:
            self._resume(Path(resume))
            return
        found = self._find_labels(get_examples) if labels is None else labels
        all_labels = sorted({*self.labels, *found})
        codec = self._target.codec(all_labels)
        self._check_labels(get_examples, codec)

        def documents() -> Iterator[Doc]:
            return (eg.predicted for eg in get_examples())

        def sequences(doc: Doc, encoded: Encoded) -> list[Encoded]:
            bounds = self._bounds(doc) if self._has_bounds(doc) else []
            return [encoded.part(start, end) for start, end in bounds]

        rule, probabilistic = self.learner.rule, self.learner.probabilistic
        self._shim.begin(documents, sequences, codec.labels, codec.transitions, rule, probabilistic)
        self._set_labels(all_labels)
        if self.learner.probabilistic:
            self._prepare_learner(get_examples)
        if bpm_runs:
            self._start_from_mean(get_examples, bpm_runs, random.Random(bpm_seed))

    def _prepare_learner(self, get_examples: Callable[[], Iterable[Example]]) -> None:
        """Tell a learner how much there is to learn, count features if it asks for that, and find its first step."""
        trainer, learner = self._shim.trainer, self.learner
        examples, sizes, n = [], [], 0
        for eg in get_examples():
            parts = 0
            for sequence, gold in self._known_sequences(eg):
                parts += 1
                if learner.rule.knows_first:
                    trainer.meet(trainer.rows(sequence, learn=True), gold)
            if parts:
                examples.append(eg)
                sizes.append(parts)
                n += parts if self._has_bounds(eg.predicted) else len(eg.predicted) // SENTENCE + 1
        trainer.end_meeting()
        learner.begin(n)
        if learner.wants_rate and examples:
            self._find_rate(examples, sizes, n)

    def _has_bounds(self, doc: Doc) -> bool:
        """Whether it is known where sequences end: sentences may be set by a component that runs later."""
        return self.cfg["unit"] == "doc" or doc.has_annotation("SENT_START")

    def _known_sequences(self, eg: Example) -> Iterator[tuple[Encoded, Labels]]:
        """The sequences of an example before training; where they are not known yet, the document is one.

        To be used one by one: to encode a document may empty the table of words that the one before refers to.
        """
        return self._sequences(eg, whole=not self._has_bounds(eg.predicted))

    def _find_rate(self, examples: list[Example], sizes: list[int], n: int) -> None:
        """Choose the rate that gets furthest in one pass over a sample.

        examples (List[Example]): The training examples.
        sizes (List[int]): How many sequences each has.
        n (int): How many sequences there will be to learn from.
        """
        trainer, learner = self._shim.trainer, cast(SGD, self.learner)
        total = sum(sizes)
        wanted = max(SAMPLE[0], min(SAMPLE[1], total // 10))
        sample, size = [], 0
        for i in random.Random(learner.seed).sample(range(len(examples)), len(examples)):
            if size < wanted:
                sample.append(examples[i])
                size += sizes[i]

        def start(rate: float, sample_size: int | None = None) -> None:
            trainer.reset()
            learner.begin(n, sample_size)
            learner.rate = rate

        def objective(rate: float) -> float:
            # A pass over the sample stands for one over the data: what changes after each tenth of it does so here.
            start(rate, size)
            loss = 0.0
            try:
                for task in (self._learn, self._loss):
                    loss = 0.0
                    for eg in sample:
                        with self._naming(eg.predicted, diverging=True):
                            loss += sum(task(*part) for part in self._known_sequences(eg))
            except DivergenceError:
                return math.inf
            return loss + learner.penalty(*trainer.norms()) * size / total

        rate, value = find_rate(objective)
        start(rate)
        if value == math.inf:
            message = Errors.NL506.format(
                name=self.name, learner=learner.name, lowest=LOWEST, highest=HIGHEST
            )
            raise ValueError(message)
        util.logger.info(
            "%s: first step of %s is %g, the best on a sample of %d of %d sequences (objective %.4g)",
            self.name, learner.name, rate, size, total, value,
        )  # fmt: skip

    def _loss(self, sequence: Encoded, gold: Labels) -> float:
        """-log p(gold), under the raw weights"""
        trainer = self._shim.trainer
        lattice = trainer.lattice(trainer.rows(sequence, learn=False))
        self._close(lattice)
        known = lattice.restrict(self._codec.allowed(gold))
        return log_partition(*lattice) - log_partition(*known)

    def _find_labels(self, get_examples: Callable[[], Iterable[Example]]) -> set[str]:
        return set().union(*(self._target.classes(eg.reference) for eg in get_examples()))

    def _check_labels(self, get_examples: Callable[[], Iterable[Example]], codec: Codec) -> None:
        """Complain about examples that have nothing to learn from."""
        if codec.classes:
            return
        target = self.cfg["target"]
        known = (self._target.gold(eg, codec) >= 0 for eg in get_examples())
        if not codec.labels or not any(each.any() for each in known):
            raise ValueError(Errors.NL410.format(name=self.name, target=target))
        warnings.warn(Warnings.NL454.format(name=self.name), stacklevel=2)

    def _start_from_mean(
        self, get_examples: Callable[[], Iterable[Example]], runs: int, rng: random.Random
    ) -> None:
        """BPM initialization: learn from zero in several orders; the mean of the outcomes is where training starts."""
        trainer = self._shim.trainer
        examples = list(get_examples())
        parts = trainer.parts
        sums = [np.zeros_like(part.w, dtype=np.float64) for part in parts]
        for _ in tqdm(range(runs), desc=f"{self.name}: BPM runs", disable=None):
            trainer.reset()
            self.learner.restart()
            for eg in rng.sample(examples, len(examples)):
                self._learn_example(eg)
            sums = [part.add_to(total) for total, part in zip(sums, parts, strict=True)]
        self.learner.restart()
        trainer.start_from(total / runs for total in sums)

    def _resume(self, path: Path) -> None:
        """Load a checkpoint; the examples it has seen will be passed over."""
        directory = path / self.name if (path / self.name).is_dir() else path
        try:
            self.from_disk(directory, exclude=("vocab",))
            if not self._shim.is_trainable:
                raise ValueError(Errors.NL408.format(name=self.name))
        except (ValueError, OSError) as error:
            raise ValueError(Errors.NL414.format(name=self.name, path=path, error=error)) from None
        self._skip, self._seen = self._seen, 0

    # --- sequences -------------------------------------------------------------------------------

    def _bounds(self, doc: Doc) -> list[tuple[int, int]]:
        """Where each sequence of a document starts and ends."""
        if self.cfg["unit"] == "doc" or len(doc) < 2:
            return [(0, len(doc))] if len(doc) else []
        if not doc.has_annotation("SENT_START"):
            raise ValueError(Errors.NL406.format(name=self.name, where=describe(doc)))
        starts = read_column(doc, SENT_START) == 1
        starts[0] = True
        edges = [*np.flatnonzero(starts).tolist(), len(doc)]
        return list(zip(edges[:-1], edges[1:], strict=True))

    def _close(self, lattice: Lattice) -> None:
        """Forbid what cannot be first or last in a sequence."""
        L = lattice.n_labels
        lattice.node[0, :L][~self._codec.start] = -np.inf
        lattice.node[-1, :L][~self._codec.end] = -np.inf
