"""What can be read off a word alone: affixes, word-form class, collapsed shape."""

from __future__ import annotations

import re

# Kazama & Torisawa (2007), table 1, as one class per word: the first that fits.
_FORMS = (
    ("two-digits", re.compile(r"\d\d")),
    ("four-digits", re.compile(r"\d{4}")),
    ("digits-letters", re.compile(r"(?=.*\d)(?=.*[^\W\d_])\w+")),
    ("digits-hyphen", re.compile(r"(?=.*\d)[\w-]*-[\w-]*")),
    ("digits-slash", re.compile(r"(?=.*\d)[\w/]*/[\w/]*")),
    ("digits-comma", re.compile(r"(?=.*\d)[\d.,]*,[\d.,]*")),
    ("digits-period", re.compile(r"(?=.*\d)[\d.]*\.[\d.]*")),
    ("number", re.compile(r".*\d.*", re.DOTALL)),
)


def word_form(text: str) -> str:
    """RETURNS (str): The word-form class: digits and how they are mixed, or how the word is capitalised."""
    if any(char.isdigit() for char in text):
        return next((name for name, pattern in _FORMS if pattern.fullmatch(text)), "number")
    if len(text) == 2 and text[0].isupper() and text[1] == ".":
        return "capital-period"
    if text.isupper():
        return "all-capitals" if len(text) > 1 else "one-capital"
    if text[:1].isupper():
        return "initial-capital"
    if text.islower():
        return "lower"
    return "other"


def short_shape(text: str) -> str:
    """RETURNS (str): Letters as A and a, digits as 0, runs of one kind as one: G.M. is A.A., Animal is Aa."""
    out: list[str] = []
    for char in text:
        kind = "A" if char.isupper() else "a" if char.isalpha() else "0" if char.isdigit() else char
        if not out or out[-1] != kind:
            out.append(kind)
    return "".join(out)


def affix(text: str, side: str, length: int) -> str:
    """RETURNS (str): The first or last so many characters; nothing if the word has fewer."""
    if len(text) < length:
        return ""
    return text[:length] if side == "prefix" else text[-length:]
