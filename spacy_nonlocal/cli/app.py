"""The place in spaCy's command line where our verbs hang."""

from collections.abc import Iterator
from contextlib import contextmanager

import typer
from spacy.cli._util import app
from wasabi import msg

nonlocal_cli = typer.Typer(
    name="nonlocal", help="Sequence labelling that reads whole documents.", no_args_is_help=True
)
app.add_typer(nonlocal_cli)


@nonlocal_cli.callback()
def nonlocal_callback() -> None:
    """Sequence labelling that reads whole documents."""


@contextmanager
def plain_errors() -> Iterator[None]:
    """Say what is wrong in one message, without a traceback, and exit with 1."""
    try:
        yield
    except (ValueError, OSError) as error:
        msg.fail(str(error), exits=1)
