"""The Python code in the documentation, page by page, as one program each; and what the README says it prints."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)
WITH_OUTPUT = re.compile(r"```python\n.*?```\n\n```\n(.*?)```", re.DOTALL)


@pytest.mark.parametrize("page", ["README.md", "docs/confidence.md", "docs/nonlocal_reranker.md"])
def test_code(page, tmp_path, monkeypatch, capsys):
    text = (ROOT / page).read_text(encoding="utf8")
    (tmp_path / "assets").symlink_to(ROOT / "assets")
    monkeypatch.chdir(tmp_path)
    program = "\n".join(PYTHON.findall(text))
    exec(compile(program, page, "exec"), {"__name__": "__main__"})  # noqa: S102
    printed = capsys.readouterr().out
    for output in WITH_OUTPUT.findall(text):
        assert output in printed
