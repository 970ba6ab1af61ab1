"""From a Doc to feature keys: the templates in compiled form, for training and for prediction alike."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from spacy.strings import get_string_id
from spacy.tokens import Doc

from ..kernels.keys import Templates
from .attributes import AttributeReader, Encoded
from .feature_templates import FeatureTemplates
from .templates import Template, parse_templates


class FeatureExtractor:
    """Compute the keys of node and edge features.

    Node templates are put in order: first, for each offset, those that look at one word there ("groups": their
    scores can be kept per word), then the rest.

    features (FeatureTemplates): What the config declares.
    nodes (Sequence[str]): Node templates.
    edges (Sequence[str]): Edge templates.
    """

    def __init__(
        self, features: FeatureTemplates, nodes: Sequence[str], edges: Sequence[str]
    ) -> None:
        node_templates, edge_templates = parse_templates(nodes), parse_templates(edges)
        names = {
            reference.attr: None
            for template in (*node_templates, *edge_templates)
            for reference in template.references
        }
        self.reader = AttributeReader(
            list(names), gazetteers=features.gazetteers, clusters=features.clusters
        )
        by_offset, rest = self._group(node_templates)
        self.offsets = np.array(list(by_offset), dtype=np.int32)
        self.node_templates = [t for group in by_offset.values() for t in group] + rest
        sizes = [len(group) for group in by_offset.values()]
        self.word_groups = np.cumsum([0, *sizes], dtype=np.int32)
        self.groups = np.append(self.word_groups, len(self.node_templates)).astype(np.int32)
        # "bias" is the same for every token: the edge table has it in row 0, not in every token's features.
        self.edge_templates = [template for template in edge_templates if template.terms]
        self.edge_bias = len(self.edge_templates) < len(edge_templates)
        self.node_of_words = self._of_words(self.node_templates)
        self.edge_of_words = self._of_words(self.edge_templates)
        self.nodes = self._compile(self.node_templates, "node")
        self.rest = self._compile(rest, "node")
        self.edges = self._compile(self.edge_templates, "edge")
        self.bias_key = get_string_id("edge:bias")

    def encode(self, doc: Doc) -> Encoded:
        """RETURNS (Encoded): The document's attributes."""
        return self.reader.read(doc)

    def keys(self, templates: Templates, encoded: Encoded) -> NDArray[np.uint64]:
        """RETURNS (ndarray): uint64[T, K], the keys of `nodes`, `rest` or `edges`."""
        return templates.keys(encoded.ids, self.reader.words.values, encoded.tokens)

    def _group(self, templates: list[Template]) -> tuple[dict[int, list[Template]], list[Template]]:
        groups: dict[int, list[Template]] = {}
        rest: list[Template] = []
        for template in templates:
            offsets = {reference.offset for reference in template.references} or {0}
            words_only = all(self.reader.is_word_attr(r.attr) for r in template.references)
            if words_only and len(offsets) == 1:
                groups.setdefault(offsets.pop(), []).append(template)
            else:
                rest.append(template)
        return dict(sorted(groups.items())), rest

    def _of_words(self, templates: list[Template]) -> NDArray[np.bool_]:
        """Which templates look at words only, and not at what an earlier component says of them."""
        flags = [all(self.reader.is_word_attr(r.attr) for r in t.references) for t in templates]
        return np.array(flags, dtype=bool)

    def _compile(self, templates: list[Template], kind: str) -> Templates:
        columns = self.reader.columns
        terms = [
            [
                (
                    columns[term.value.attr],
                    term.value.offset,
                    -1 if term.same_as is None else columns[term.same_as.attr],
                    0 if term.same_as is None else term.same_as.offset,
                )
                for term in template.terms
            ]
            for template in templates
        ]
        seeds = [get_string_id(f"{kind}:{template}") for template in templates]
        return Templates(seeds, terms, self.reader.words.n_columns, len(self.reader.token_attrs))
