"""`python -m spacy nonlocal compare`, in-process; and the configs and workflows that use it."""

import json
from pathlib import Path

import pytest
import spacy
import srsly
from spacy.tokens import Doc, DocBin
from spacy.training import Corpus
from spacy.util import load_config, load_model_from_config

from spacy_nonlocal.cli import nonlocal_cli
from spacy_nonlocal.cli.compare import HEADER, pipeline_names, render
from spacy_nonlocal.corpus import ColumnCorpus

from .test_cli import NEWS, run

ROOT = Path(__file__).parents[2]


def train(path, factory, target="ents"):
    nlp = spacy.blank("en")
    nlp.add_pipe(factory, config={"target": target})
    examples = list(ColumnCorpus(NEWS, ["orth", target], limit=20)(nlp))
    nlp.initialize(lambda: examples)
    for _ in range(3):
        nlp.update(examples)
    nlp.to_disk(path)


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Pipelines "local", "nonlocal" and "tags", and 15 other documents."""
    path = tmp_path_factory.mktemp("compare")
    train(path / "local", "local_tagger")
    train(path / "nonlocal", "nonlocal_reranker")
    train(path / "tags", "local_tagger", "tag")
    corpus = ColumnCorpus(NEWS, ["orth", "ents"], skip=20, limit=15)
    DocBin(docs=[eg.reference for eg in corpus(spacy.blank("en"))]).to_disk(path / "data.spacy")
    return path


def fails(*arguments, code):
    result = run("compare", *arguments)
    assert result.exit_code == 1, result.output
    assert code in result.output
    assert "Traceback" not in result.output
    return " ".join(result.output.split())


def test_rows_are_what_evaluate_gives(root, tmp_path):
    out = tmp_path / "new" / "table.json"
    models = (root / "local", root / "nonlocal")
    result = run("compare", root / "data.spacy", out, *models, "--n-best", "1,20,100,20")
    assert result.exit_code == 0, result.output
    table = json.loads(out.read_text(encoding="utf8"))
    assert [row["name"] for row in table["pipelines"]] == ["local", "nonlocal"]
    assert [row["n_best_predict"] for row in table["pipelines"]] == [None, 100]
    assert [(row["name"], row["n_best_predict"]) for row in table["n_best"]] == [
        ("nonlocal", 1),
        ("nonlocal", 20),
        ("nonlocal", 100),
    ]
    for row in (*table["pipelines"], *table["n_best"]):
        nlp = spacy.load(root / row["name"])
        if row["n_best_predict"]:
            nlp.get_pipe("nonlocal_reranker").learner.n_best_predict = row["n_best_predict"]
        scores = nlp.evaluate(list(Corpus(root / "data.spacy")(nlp)))
        for key in set(row) - {"name", "n_best_predict"}:
            assert row[key] == pytest.approx(scores.get(key), abs=1e-9), key
    one, twenty, hundred = table["n_best"]
    assert hundred == table["pipelines"][1]
    # With one candidate there is no choice.
    assert one["ents_f"] == one["ents_f_local"]
    assert one["ents_f"] != hundred["ents_f"]  # else the setting has no effect


def test_markdown(root, tmp_path):
    out = tmp_path / "table.md"
    models = (root / "local", root / "nonlocal")
    arguments = (root / "data.spacy", out, *models, "--n-best", "20", "--names", "a|b, c")
    result = run("compare", *arguments)
    assert result.exit_code == 0, result.output
    lines = out.read_text(encoding="utf8").splitlines()
    rows = [line for line in lines if line.startswith("|")]
    assert rows[0] == rows[4] == f"| {' | '.join(HEADER)} |"
    assert rows[2].startswith("| a\\|b |  | ")
    assert rows[3].startswith("| c | 100 | ")
    assert rows[6].startswith("| c | 20 | ")
    assert len(rows) == 7


def test_no_other_numbers(root, tmp_path):
    out = tmp_path / "table.md"
    result = run("compare", root / "data.spacy", out, root / "nonlocal", "--n-best", "")
    assert result.exit_code == 0, result.output
    assert out.read_text(encoding="utf8").count("---:") == len(HEADER) - 1


def test_scores_that_are_missing_leave_cells_empty():
    row = {"name": "a", "n_best_predict": None, "ents_p": 0.5, "ents_r": 0.25, "ents_f": 1 / 3}
    row |= dict.fromkeys(("ents_consistency", "ents_f_local", "ents_consistency_local"))
    text = render({"data": "d", "pipelines": [row], "n_best": []}, ".md")
    assert text.splitlines()[-1] == "| a |  | 50.00 | 25.00 | 33.33 |  |  |  |"


def test_names():
    assert pipeline_names(["x/a", "y/b/"], "") == ["a", "b"]
    same = ["x/model-best", "y/model-best"]
    assert pipeline_names(same, "") == same
    assert pipeline_names(same, "one, two") == ["one", "two"]


def test_errors(root, tmp_path):
    data, out, model = root / "data.spacy", tmp_path / "table.md", root / "local"
    fails(data, tmp_path / "table.txt", model, code="NL433")
    for value in ("0", "20,x", "20,,100", "-1"):
        fails(data, out, model, "--n-best", value, code="NL431")
    fails(data, out, model, "--names", "a,b", code="NL432")
    assert "local_tagger" in fails(data, out, root / "tags", code="NL430")
    fails(tmp_path / "missing.spacy", out, model, code="NL314")
    fails(tmp_path, out, model, code="NL315")
    fails(data, out, tmp_path / "missing", code="E050")
    text, broken, empty, bare = (
        tmp_path / name for name in ("a.txt", "b.spacy", "c.spacy", "d.spacy")
    )
    text.write_text("Anna", encoding="utf8")
    fails(text, out, model, code="NL424")
    broken.write_bytes(b"not a DocBin")
    fails(broken, out, model, code="NL424")
    DocBin().to_disk(empty)
    fails(empty, out, model, code="NL124")
    DocBin(docs=[Doc(spacy.blank("en").vocab, words=["Anna", "lives"])]).to_disk(bare)
    fails(bare, out, model, code="NL423")
    assert not out.exists()


# --- configs and workflows -----------------------------------------------------------------------


def config(name):
    found = load_config(ROOT / "configs" / f"{name}.cfg")
    found["paths"]["gazetteer"] = str(ROOT / "assets" / "gazetteer-places.txt")
    return found


@pytest.mark.parametrize("name", ["nonlocal", "kazama", "kazama-local"])
def test_configs_leave_nothing_to_be_filled_in(name):
    raw = config(name)
    filled = load_model_from_config(raw, auto_fill=True).config
    assert raw["components"] == load_config(ROOT / "configs" / f"{name}.cfg")["components"]
    for component, block in raw["components"].items():
        assert set(block) == set(filled["components"][component])
    # No setting is missing, so nothing has to be filled in.
    load_model_from_config(raw, auto_fill=False, validate=True)


def test_nonlocal_config_has_the_defaults():
    nlp = spacy.blank("en")
    default = nlp.add_pipe("nonlocal_reranker")
    written = load_model_from_config(config("nonlocal")).get_pipe("nonlocal_reranker")
    assert type(written.learner) is type(default.learner)
    for pipe in (written, default):
        assert list(pipe.nonlocal_features) == ["consistency"]
    settings = [
        {k: v for k, v in vars(pipe.learner).items() if k != "rule"} for pipe in (written, default)
    ]
    assert settings[0] == settings[1]
    # What is worked out later is not a setting; the rest has to be the same.
    blocks = [pipe.nonlocal_features["consistency"] for pipe in (written, default)]
    for key in ("_families", "_match", "_pairs", "_by_length", "connectives"):
        assert getattr(blocks[0], key) == getattr(blocks[1], key), key


def test_kazama_configs_differ_only_in_the_component():
    joint, local = config("kazama"), config("kazama-local")
    for section in ("paths", "system", "corpora", "training", "pretraining"):
        assert joint[section] == local[section], section
    models = [joint["components"]["nonlocal_reranker"]["model"]]
    models.append(local["components"]["local_tagger"]["model"])
    assert models[0] == models[1]
    ranker = joint["components"]["nonlocal_reranker"]["ranker"]
    margin = local["components"]["local_tagger"]["learner"]["margin"]
    assert ranker["margin_local"] == ranker["margin_total"] == margin


def test_project_commands_exist():
    project = srsly.read_yaml(ROOT / "project.yml")
    commands = {each["name"]: each for each in project["commands"]}
    assert project["workflows"]["all"] == ["convert", "train", "evaluate", "show"]
    for steps in project["workflows"].values():
        assert set(steps) <= set(commands)
    verbs = {each.name for each in nonlocal_cli.registered_commands}
    assert {"changes", "compare"} <= verbs
    for each in commands.values():
        for line in each["script"]:
            words = line.split()
            if words[3] == "nonlocal":
                assert words[4] in verbs
            configs = [word for word in words if word.endswith(".cfg") and "$" not in word]
            assert all((ROOT / name).is_file() for name in configs)


def test_candidate_and_proposed_are_not_the_same(tmp_path):
    """With a margin that is never reached they would be, and the table would compare a pipeline with itself."""
    weights = []
    for algorithm in ("candidate", "proposed"):
        raw = config("kazama")
        raw["components"]["nonlocal_reranker"]["ranker"]["algorithm"] = algorithm
        nlp = load_model_from_config(raw)
        examples = list(ColumnCorpus(ROOT / "assets" / "news-train.txt", ["orth", "ents"])(nlp))
        nlp.initialize(lambda examples=examples: examples)
        for _ in range(10):
            nlp.update(examples)
        weights.append(nlp.get_pipe("nonlocal_reranker").to_bytes())
    assert weights[0] != weights[1]
