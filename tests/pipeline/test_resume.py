"""Training goes on where it stopped, and two runs are one."""

import pytest
import spacy
from spacy.training import Example

from .util import (
    CONFIG,
    ENTS,
    JOINT,
    LEARNERS,
    NAME,
    RERANKER,
    columns,
    features,
    files_of,
    iob,
    label,
    learner,
    make_examples,
    make_nlp,
    run,
    trained,
    update,
    write_config,
)

# More documents than a batch has, so that the order matters.
MORE = (
    *ENTS,
    ("Smith visits Anna Paris in York .", "B-PER O B-PER I-PER O B-LOC O"),
    ("New Rome is not Old York .", "B-LOC I-LOC O O B-LOC I-LOC O"),
    ("Paris Smith knows Bob .", "B-PER I-PER O B-PER O"),
    ("The New York of Anna", "O B-LOC I-LOC O B-PER"),
)
PARTLY = (
    ("Anna Smith lives in Paris .", "B-PER ? O ? B-LOC ?"),
    ("They met in Rome .", "? ? O B-LOC ?"),
)


def state(nlp):
    return nlp.get_pipe(NAME).to_bytes(exclude=["vocab"])


def reload(nlp, path):
    nlp.to_disk(path)
    return spacy.load(path)


def from_bytes(nlp, config):
    return make_nlp(**config).from_bytes(nlp.to_bytes())


@pytest.mark.parametrize("name", [*LEARNERS, *JOINT])
@pytest.mark.parametrize("way", ["disk", "bytes"])
def test_update_after_reload(name, way, tmp_path):
    config = learner(name)
    steady = trained(MORE, passes=2, **config)
    stopped = trained(MORE, passes=2, **config)
    stopped = reload(stopped, tmp_path) if way == "disk" else from_bytes(stopped, config)
    assert state(stopped) == state(steady)
    for nlp in (steady, stopped):
        update(nlp, make_examples(nlp, MORE[::-1]), passes=2)
    assert state(stopped) == state(steady)


@pytest.mark.parametrize(
    "config",
    [
        {
            "scheme": "BILUO",
            **features("orth[-1..1]", "shape[0]|shape[1]", edges=["bias", "lower[0]"]),
        },
        {"scheme": "IO", **features("lower_lexicon[0]", "suffix2[0]", min_count=2)},
        learner("MarginPerceptron", margin=2.0, average=False),
        learner("PassiveAggressive", C=0.3, average=False),
        learner("JointPerceptron", margin_local=2.0, n_best=3, average=False),
        {"scheme": "BILUO", **learner("JointPassiveAggressive", algorithm="candidate", C=0.3)},
    ],
)
def test_update_after_many_reloads(config, tmp_path):
    steady, stopped = (trained(MORE, passes=0, **config) for _ in range(2))
    for i in range(3):
        for nlp in (steady, stopped):
            update(nlp, make_examples(nlp, MORE), passes=1)
        stopped = reload(stopped, tmp_path / str(i))
    assert state(stopped) == state(steady)


@pytest.mark.parametrize("config", [{}, RERANKER], ids=["local_tagger", "nonlocal_reranker"])
def test_update_after_reload_from_partly_annotated_documents(config, tmp_path):
    steady, stopped = (trained(PARTLY, passes=1, **config) for _ in range(2))
    stopped = reload(stopped, tmp_path)
    for nlp in (steady, stopped):
        update(nlp, make_examples(nlp, PARTLY), passes=3)
    assert state(stopped) == state(steady)


@pytest.mark.parametrize("name", [*LEARNERS, *JOINT])
def test_averages_survive_reload(name, tmp_path):
    # Stopped early, raw and averaged weights differ most.
    nlp = trained(MORE, passes=1, **learner(name))
    other = reload(nlp, tmp_path)
    tagger, other_tagger = nlp.get_pipe(NAME), other.get_pipe(NAME)
    for text, _ in MORE:
        assert iob(label(nlp, text)) == iob(label(other, text))
        before, after = (
            each.model.predict([label(nlp, text)])[0] for each in (tagger, other_tagger)
        )
        assert before.node.tobytes() == after.node.tobytes()
        assert before.edge.tobytes() == after.edge.tobytes()


@pytest.mark.parametrize("config", [{}, RERANKER], ids=["local_tagger", "nonlocal_reranker"])
def test_predicting_while_training_changes_nothing(config):
    steady, curious = (trained(MORE, passes=0, **config) for _ in range(2))
    for data in MORE:
        for nlp in (steady, curious):
            nlp.update(make_examples(nlp, [data]))
        [label(curious, text) for text, _ in MORE]
        state(curious)
    assert state(curious) == state(steady)


def test_what_was_saved_is_predicted_whatever_is_left_out(tmp_path):
    """With the training state (one table) and without it (the other) scores are the same floats."""
    nlp = trained(MORE, passes=3)
    whole, slim = make_nlp(), make_nlp()
    whole.get_pipe(NAME).from_bytes(nlp.get_pipe(NAME).to_bytes())
    slim.get_pipe(NAME).from_bytes(nlp.get_pipe(NAME).to_bytes(exclude=["training"]))
    for text, _ in MORE:
        (a,), (b,) = (
            each.get_pipe(NAME).model.predict([label(nlp, text)]) for each in (whole, slim)
        )
        assert a.node.tobytes() == b.node.tobytes()
        assert a.edge.tobytes() == b.edge.tobytes()


def test_slim_models_say_that_they_cannot_be_trained_on(tmp_path):
    nlp = trained(MORE)
    slim = make_nlp()
    slim.get_pipe(NAME).from_bytes(nlp.get_pipe(NAME).to_bytes(exclude=["training"]))
    assert [iob(label(slim, text)) for text, _ in MORE] == [
        iob(label(nlp, text)) for text, _ in MORE
    ]
    before = state(slim)
    with pytest.raises(ValueError, match=r"\[NL408\].*'local_tagger'.*resumable = true"):
        slim.update(make_examples(slim, MORE))
    assert state(slim) == before
    # Saved once more, it is still the same model.
    again = reload(slim, tmp_path)
    assert state(again) == before


def test_resume_needs_the_training_state(tmp_path):
    nlp = trained(resumable=False)
    nlp.to_disk(tmp_path)
    other = make_nlp()
    examples = make_examples(other)
    with pytest.raises(ValueError, match=r"\[NL414\].*'local_tagger'.*\[NL408\]"):
        other.get_pipe(NAME).initialize(lambda: examples, nlp=other, resume=tmp_path)
    with pytest.raises(ValueError, match=r"\[NL414\].*nowhere.*\[NL412\]"):
        other.get_pipe(NAME).initialize(lambda: examples, nlp=other, resume=tmp_path / "nowhere")


def test_resume_refuses_another_learner(tmp_path):
    trained(**learner("Perceptron")).to_disk(tmp_path)
    other = make_nlp(**learner("AveragedPerceptron"))
    examples = make_examples(other)
    with pytest.raises(ValueError, match=r"\[NL414\].*\[NL413\].*Perceptron"):
        other.get_pipe(NAME).initialize(lambda: examples, nlp=other, resume=tmp_path)


def test_resume_passes_over_what_was_seen(tmp_path):
    steady = trained(MORE, passes=0)
    batches = [make_examples(steady, MORE[i : i + 2]) for i in (0, 2, 4, 6)] * 3
    checkpoint = None
    for i, batch in enumerate(batches):
        steady.update([Example(eg.predicted.copy(), eg.reference) for eg in batch])
        if i == 4:
            steady.to_disk(tmp_path / "checkpoint")
            checkpoint = state(steady)
    resumed = make_nlp()
    examples = make_examples(resumed, MORE)
    tagger = resumed.get_pipe(NAME)
    tagger.initialize(lambda: examples, nlp=resumed, resume=tmp_path / "checkpoint")
    assert state(resumed) == checkpoint
    for i, batch in enumerate(batches):
        resumed.update([Example(eg.predicted.copy(), eg.reference) for eg in batch])
        if i == 2:
            # Interrupted again while it still passes over examples.
            assert state(resumed) == checkpoint
    assert state(resumed) == state(steady)


# --- spacy train ---------------------------------------------------------------------------------


def write_training(path, *, max_steps, patience=0, name="AveragedPerceptron", extra=""):
    (path / "corpus.txt").write_text(columns(MORE), encoding="utf8")
    (path / "dev.txt").write_text(columns(MORE), encoding="utf8")
    config = CONFIG.format(target="ents", score="ents_f")
    config = config.replace("max_steps = 40", f"max_steps = {max_steps}")
    config = config.replace("patience = 0", f"patience = {patience}")
    config = config.replace(
        "[corpora]\n",
        f'[components.local_tagger.learner]\n@misc = "spacy-nonlocal.{name}.v1"\n\n[corpora]\n\n',
        1,
    )
    config += extra
    config += """
[training.batcher]
@batchers = "spacy.batch_by_sequence.v1"
size = 3
"""
    write_config(path / "config.cfg", config)


def train(path, out, **settings):
    write_training(path, **settings)
    paths = ["--paths.train", path / "corpus.txt", "--paths.dev", path / "dev.txt"]
    run("train", path / "config.cfg", "--output", path / out, *paths)
    return path / out


def resume_from(path):
    return f'\nresume = "{path}"\n'


def trained_files(path):
    """The component's own files."""
    files = files_of(path / NAME)
    assert set(files) == {"cfg", "model", "training"}
    return files


@pytest.mark.parametrize("name", LEARNERS)
def test_two_runs_with_one_seed_are_identical(name, tmp_path):
    first = train(tmp_path, "first", max_steps=12, name=name)
    second = train(tmp_path, "second", max_steps=12, name=name)
    for which in ("model-best", "model-last"):
        assert trained_files(first / which) == trained_files(second / which)


@pytest.mark.parametrize("stop", [10, 20])
def test_an_interrupted_run_that_is_resumed_equals_one_that_was_not(stop, tmp_path):
    whole = train(tmp_path, "whole", max_steps=30)
    cut = train(tmp_path, "cut", max_steps=stop)
    assert trained_files(cut / "model-last") != trained_files(whole / "model-last")
    resumed = train(tmp_path, "resumed", max_steps=30, extra=resume_from(cut / "model-last"))
    assert trained_files(resumed / "model-last") == trained_files(whole / "model-last")


def test_resuming_may_be_interrupted_too(tmp_path):
    whole = train(tmp_path, "whole", max_steps=30)
    cut = train(tmp_path, "cut", max_steps=20)
    again = train(tmp_path, "again", max_steps=10, extra=resume_from(cut / "model-last"))
    assert trained_files(again / "model-last") == trained_files(cut / "model-last")
    resumed = train(tmp_path, "resumed", max_steps=30, extra=resume_from(again / "model-last"))
    assert trained_files(resumed / "model-last") == trained_files(whole / "model-last")


def test_patience_does_not_end_a_resumed_run_early(tmp_path):
    """While a resumed run passes over examples its score stands still, and spaCy takes the earliest of equal scores."""
    whole = train(tmp_path, "whole", max_steps=60, patience=25)
    cut = train(tmp_path, "cut", max_steps=30, patience=25)
    assert trained_files(cut / "model-last") != trained_files(whole / "model-last")
    resumed = train(
        tmp_path, "resumed", max_steps=60, patience=25, extra=resume_from(cut / "model-last")
    )
    assert trained_files(resumed / "model-last") == trained_files(whole / "model-last")
