"""The one place that knows the version."""

__title__ = "spacy-nonlocal"
__version__ = "0.1.0"
