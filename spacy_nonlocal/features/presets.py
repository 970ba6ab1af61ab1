"""Ready-made lists of templates, by task."""

from __future__ import annotations

from typing import NamedTuple


class Preset(NamedTuple):
    nodes: tuple[str, ...]
    edges: tuple[str, ...] = ()


_AFFIXES = tuple(f"{side}{length}[0]" for side in ("prefix", "suffix") for length in (1, 2, 3, 4))

# Names: words, their shapes and affixes in a window of two, and the gazetteers that are configured.
NER = Preset(
    nodes=(
        "bias",
        "orth[-2..2]",
        "lower[-1..1]",
        *_AFFIXES,
        "suffix3[-1]",
        "suffix3[1]",
        "form[-2..2]",
        "shape_short[-2..2]",
        "shape[0]",
        "lower[-1]|lower[0]",
        "lower[0]|lower[1]",
        "shape_short[-1]|shape_short[0]",
        "shape_short[0]|shape_short[1]",
        "shape_short[-1]|shape_short[0]|shape_short[1]",
        "gazetteer:*[-1..1]",
    )
)

# Chunks: the template that comes with CRF++, for words with part-of-speech tags (He & Wang 2012, table 2).
CHUNK = Preset(
    nodes=(
        "orth[-2..2]",
        "orth[-1]|orth[0]",
        "orth[0]|orth[1]",
        "tag[-2..2]",
        "tag[-2]|tag[-1]",
        "tag[-1]|tag[0]",
        "tag[0]|tag[1]",
        "tag[1]|tag[2]",
        "tag[-2]|tag[-1]|tag[0]",
        "tag[-1]|tag[0]|tag[1]",
        "tag[0]|tag[1]|tag[2]",
    )
)

# Parts of speech: words, affixes, shapes (He & Wang 2012, table 2, with the shapes that unknown words need).
TAG = Preset(
    nodes=(
        "bias",
        "orth[-2..2]",
        "lower[0]",
        *_AFFIXES,
        "suffix3[-1]",
        "suffix3[1]",
        "form[-1..1]",
        "shape_short[0]",
        "lower[-1]|lower[0]",
        "lower[0]|lower[1]",
        "lower[-1]|lower[1]",
        "lower[-2]|lower[-1]",
        "suffix2[-1]|suffix3[0]",
        "suffix3[0]|suffix2[1]",
    )
)

# Chinese words from characters (He & Wang 2012, table 2).
SEGMENT = Preset(
    nodes=(
        "bias",
        "orth[-2..2]",
        "orth[-2]|orth[-1]",
        "orth[-1]|orth[0]",
        "orth[0]|orth[1]",
        "orth[1]|orth[2]",
        "orth[-1]|orth[1]",
        "orth[-2]==orth[-1]",
        "orth[-1]==orth[0]",
        "orth[0]==orth[1]",
        "orth[1]==orth[2]",
        "orth[-2]==orth[0]",
        "orth[-1]==orth[1]",
        "orth[0]==orth[2]",
        "form[-1..1]",
    )
)

# Kazama & Torisawa (2007), table 1: everything as node and as edge feature. Their chunk tags, where a corpus has them,
# are one more line in the config ("_.chunk[-2..2]").
_KAZAMA_UNIGRAMS = (
    "orth[-2..2]",
    "lower[-2..2]",
    "tag[-2..2]",
    *(f"{side}{n}[-2..2]" for side in ("prefix", "suffix") for n in (1, 2, 3, 4)),
    "form[-2..2]",
    "gazetteer:*[-2..2]",
)
_KAZAMA_BIGRAMS = tuple(
    f"{attr}[{i}]|{attr}[{i + 1}]" for attr in ("lower", "tag", "gazetteer:*") for i in (-2, -1, 0)
)
KAZAMA = Preset(
    nodes=("bias", *_KAZAMA_UNIGRAMS, *_KAZAMA_BIGRAMS),
    edges=("bias", *_KAZAMA_UNIGRAMS, *_KAZAMA_BIGRAMS),
)

PRESETS = {"ner": NER, "chunk": CHUNK, "tag": TAG, "segment": SEGMENT, "kazama": KAZAMA}
