"""Sequence labelling for spaCy that reads whole documents."""

from .about import __version__

__all__ = ["__version__"]
