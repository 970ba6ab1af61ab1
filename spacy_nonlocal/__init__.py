"""Sequence labelling for spaCy that reads whole documents."""

from .about import __version__
from .extensions import register

register()

__all__ = ["__version__"]
