"""Component `local_tagger`: labels sequences with features of the words around each token."""

from collections.abc import Callable
from typing import Any

from spacy.language import Language
from thinc.api import Config, Model

from ..errors import Errors
from ..learners.joint_perceptron import JointPerceptron
from ..learners.learner import Learner
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

[learner]
@misc = "spacy-nonlocal.PassiveAggressive.v1"
"""
DEFAULTS = Config().from_str(default_config)


@Language.factory(
    "local_tagger",
    assigns=["doc.ents", "token.ent_iob", "token.ent_type"],
    default_config={
        "model": DEFAULTS["model"],
        "learner": DEFAULTS["learner"],
        "target": "ents",
        "scheme": "BIO",
        "unit": "doc",
        "confidence": None,
        "threshold": None,
        "resumable": True,
        "scorer": {"@scorers": "spacy-nonlocal.labeller_scorer.v1"},
    },
    default_score_weights={"ents_f": 1.0, "ents_p": 0.0, "ents_r": 0.0, "ents_per_type": None},
)
def make_local_tagger(
    nlp: Language,
    name: str,
    model: Model[Any, Any],
    learner: Learner,
    target: str,
    scheme: str,
    unit: str,
    confidence: bool | None,
    threshold: float | None,
    resumable: bool,
    scorer: Callable[..., Any] | None,
) -> "LocalTagger":
    """Construct a tagger that looks at the words around each token.

    model (Model): Gives the lattice of a sequence.
    learner (Learner): The update rule.
    target (str): What is learned: "ents", "tag", "pos" or "spans:KEY".
    scheme (str): How spans become labels: "BIO", "BILUO" or "IO".
    unit (str): What is one sequence: "doc" or "sent".
    confidence (Optional[bool]): Whether to say how probable each annotation is; None: if the learner can.
    threshold (Optional[float]): What is less probable is not annotated.
    resumable (bool): Whether to save what only training needs.
    scorer (Optional[Callable]): Scores predictions.
    """
    if isinstance(learner, JointPerceptron):
        raise ValueError(Errors.NL434.format(name=name, learner=learner.name))
    return LocalTagger(
        nlp.vocab,
        model,
        name,
        learner=learner,
        target=target,
        scheme=scheme,
        unit=unit,
        confidence=confidence,
        threshold=threshold,
        resumable=resumable,
        scorer=scorer,
    )


class LocalTagger(SequenceLabeller):
    """Label sequences with features of the words around each token, and of neighbouring labels."""
