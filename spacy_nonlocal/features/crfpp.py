"""Read the template files of CRF++ as our own feature templates."""

import re
from pathlib import Path

from ..errors import Errors
from ..text_files import read_lines

# What a template that looks at no text is called here.
BIAS = "bias"
# A column that no template may look at.
UNUSED = "_"

# Whatever follows a "%" is shown in messages; only the form with both numbers is a macro.
_MACRO = re.compile(r"%(?:x\[(-?[0-9]{1,4}),([0-9]{1,4})\]|[^%]{0,12})")


def read_template(path: str | Path, columns: list[str]) -> tuple[list[str], list[str]]:
    """Read a CRF++ template file.

    Text between macros only keeps them apart, and ids ("U01:") only count them: a template here is
    told from another by what it looks at. So two that differ in nothing but their ids become one
    (CRF++ would have the same feature twice), and those that share an id stay apart (CRF++ would
    make one feature of them).

    path (Union[str, Path]): The file, also .gz or .xz.
    columns (List[str]): The attribute that is meant by each column of CRF++, such as
        ["orth", "tag"]; "_" for a column that may not be used.
    RETURNS (Tuple[List[str], List[str]]): Node templates (U) and edge templates (B).
    """
    templates: dict[str, list[str]] = {"U": [], "B": []}
    for number, line in read_lines(path):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        if text[0] not in templates:
            raise ValueError(Errors.NL136.format(path=path, line=number, text=text))
        template = BIAS if len(text) == 1 else _translate(path, number, text, columns)
        # The first of two that are the same keeps its place.
        if template not in templates[text[0]]:
            templates[text[0]].append(template)
    if not any(templates.values()):
        raise ValueError(Errors.NL124.format(path=path, what="templates"))
    return templates["U"], templates["B"]


def _translate(path: str | Path, number: int, text: str, columns: list[str]) -> str:
    terms = []
    for macro in _MACRO.finditer(text):
        if macro[1] is None:
            raise ValueError(Errors.NL137.format(path=path, line=number, text=macro[0]))
        offset, column = int(macro[1]), int(macro[2])
        where = {"path": path, "line": number, "macro": macro[0], "column": column}
        if column >= len(columns):
            raise ValueError(Errors.NL138.format(**where, columns=len(columns)))
        if columns[column] == UNUSED:
            raise ValueError(Errors.NL130.format(**where))
        terms.append(f"{columns[column]}[{offset}]")
    if not terms:
        raise ValueError(Errors.NL139.format(path=path, line=number, text=text, letter=text[0]))
    return "|".join(terms)
