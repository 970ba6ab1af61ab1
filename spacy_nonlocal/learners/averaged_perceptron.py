"""The averaged perceptron (Collins 2002a): the perceptron's rule, the mean of the weights over all examples seen."""

from __future__ import annotations

from typing import ClassVar

from ..models.rules import Rule
from .perceptron import Perceptron


class AveragedPerceptron(Perceptron):
    """Learn with the perceptron's rule; predict with the mean of the weights."""

    name: ClassVar[str] = "AveragedPerceptron"

    def __init__(self) -> None:
        self.rule = Rule(averaged=True)
