"""Features as a config declares them.

No postponed annotations here: spaCy hands the signature to pydantic.
"""

import copy
import re
from pathlib import Path
from typing import Any

from ..errors import Errors
from .clusters import Clusters
from .crfpp import read_template
from .gazetteers import Gazetteer
from .presets import PRESETS
from .templates import expand_names


class FeatureTemplates:
    """Declare the features of a model.

    preset (Optional[str]): A ready list: "ner", "chunk", "tag", "segment" or "kazama".
    nodes (List[str]): Templates of features that look at one label; they add to the preset's.
    edges (List[str]): Templates of features that look at two neighbouring labels; "bias" is the label pair alone.
    min_count (int): A feature must be seen so many times in the training documents.
    gazetteers (Dict[str, Gazetteer]): Lists of names, used as `gazetteer:NAME`, all of them as `gazetteer:*`.
    clusters (Optional[Clusters]): A file of word clusters, used as `cluster:BITS`.
    crfpp (Optional[Union[str, Path]]): A CRF++ template file, whose templates are added.
    columns (List[str]): The attributes that stand for that file's columns, in order.
    """

    def __init__(
        self,
        preset: str | None = None,
        nodes: list[str] = [],  # noqa: B006 (never changed)
        edges: list[str] = ["bias"],  # noqa: B006
        min_count: int = 1,
        gazetteers: dict[str, Any] = {},  # noqa: B006 (pydantic sees unresolved blocks)
        clusters: Clusters | None = None,
        crfpp: str | Path | None = None,
        columns: list[str] = [],  # noqa: B006
    ) -> None:
        if preset is not None and preset not in PRESETS:
            raise ValueError(Errors.NL108.format(preset=preset, known=", ".join(PRESETS)))
        if min_count < 1:
            raise ValueError(Errors.NL109.format(min_count=min_count))
        for name, gazetteer in gazetteers.items():
            if not re.fullmatch(r"[\w.-]+", name):
                raise ValueError(Errors.NL112.format(name=name))
            if not isinstance(gazetteer, Gazetteer):
                raise ValueError(Errors.NL111.format(name=name, value=gazetteer))
        self.min_count = min_count
        self.gazetteers: dict[str, Gazetteer] = dict(gazetteers)
        self.clusters = clusters
        self.crfpp = crfpp
        self.columns = list(columns)
        ready = PRESETS[preset] if preset is not None else None
        self.nodes = [*(ready.nodes if ready else ()), *nodes]
        self.edges = [*(ready.edges if ready else ()), *edges]

    def copy(self) -> "FeatureTemplates":
        """RETURNS (FeatureTemplates): The same, with lists and clusters that can be loaded on their own."""
        other = copy.copy(self)
        other.gazetteers = {name: copy.copy(each) for name, each in self.gazetteers.items()}
        other.clusters = copy.copy(self.clusters)
        return other

    def templates(self) -> tuple[list[str], list[str]]:
        """Put all templates together. Reads the CRF++ file, if there is one.

        RETURNS (Tuple[List[str], List[str]]): Node templates and edge templates.
        """
        nodes, edges = list(self.nodes), list(self.edges)
        if self.crfpp is not None:
            more_nodes, more_edges = read_template(self.crfpp, self.columns)
            nodes += more_nodes
            edges += more_edges
        names = sorted(self.gazetteers)
        nodes = expand_names(nodes, "gazetteer", names)
        edges = expand_names(edges, "gazetteer", names)
        if not nodes and not edges:
            raise ValueError(Errors.NL110)
        return nodes, edges
