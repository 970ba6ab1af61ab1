"""Compare the local tagger with python-crfsuite, and with spaCy's own components, on one corpus.

    python benchmarks/local_tagger.py DIRECTORY

Both learn from the same sequences with the same features in the same number of passes, python-crfsuite with its
averaged perceptron ("ap"). Trainers run one after the other, each in a forked process of its own, so that memory can be
told apart. spaCy's tokenizer and its `ner` (or `tagger`) are there for their speed alone.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from itertools import chain, cycle, islice
from pathlib import Path
from typing import Any

import crfsuite_peer
import spacy
import srsly
from common import (
    FORMATS,
    PACKAGES,
    WARM_UP,
    Corpus,
    check_learners,
    count_tokens,
    describe_run,
    find_format,
    load_corpus,
    make_pipeline,
    say,
    score,
    training,
    words_of,
)
from measuring import PeakMemory, Speed, Timer, best_run, in_child, measure_speed, memory_note
from report import PEER, number_table, ratio_table, raw, scaling_table
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import minibatch
from spacy.vocab import Vocab

NER_TOKENS = 20_000  # for spaCy's own component, whose speed does not depend on its quality
LENGTHS = (25_000, 50_000, 100_000)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path, help="directory of a corpus, with train.* and dev.*")
    parser.add_argument("--format", choices=list(FORMATS), help="default: the directory's name")
    parser.add_argument("--passes", type=int, default=10)
    parser.add_argument(
        "--learner",
        nargs="+",
        default=["AveragedPerceptron"],
        help="one or more, with settings if need be: MarginPerceptron:margin=100",
    )
    parser.add_argument("--unit", choices=["doc", "sent"], default="doc", help="one sequence")
    parser.add_argument("--seed", type=int, default=0, help="how documents are shuffled")
    parser.add_argument(
        "--runs", type=int, default=3, help="seeds: quality is the mean, time the shortest"
    )
    parser.add_argument("--preset", help="feature templates; default: by corpus")
    parser.add_argument("--min-count", type=int, default=1, help="not known to the peer")
    parser.add_argument("--repeats", type=int, default=5, help="of each measurement of speed")
    parser.add_argument(
        "--clock", choices=["wall", "cpu"], default="wall", help="cpu: on a busy machine"
    )
    parser.add_argument("--no-ner", action="store_true", help="leave out spaCy's own component")
    parser.add_argument("--scaling", action="store_true", help="also: half the corpus, long texts")
    parser.add_argument("--json", type=Path, help="write the raw numbers to this file")
    args = parser.parse_args()
    if min(args.passes, args.runs, args.repeats, args.min_count) < 1:
        parser.error("--passes, --runs, --repeats and --min-count have to be at least 1.")
    check_learners(parser, args.learner)
    return args


# --- this tagger ---------------------------------------------------------------------------------


def train_ours(
    args: argparse.Namespace, examples: list[Example], learner: str, directory: Path, seed: int
) -> dict[str, Any]:
    """Train through `nlp.update` and save what tagging needs.

    RETURNS (Dict[str, Any]): Times and memory.
    """
    vocab = examples[0].reference.vocab
    run_passes(make_pipeline(args, vocab, learner), examples[:WARM_UP], 1, seed)
    nlp = make_pipeline(args, vocab, learner)
    memory = PeakMemory()
    features, passes = run_passes(nlp, examples, args.passes, seed)
    peak = memory.growth()
    with Timer() as saving:
        nlp.get_pipe("local_tagger").to_disk(directory, exclude=["training", "vocab"])
    used = memory.growth()
    # What spaCy does around any component: copying documents, mostly.
    _, around = run_passes(type(nlp)(vocab=vocab), examples, args.passes, seed)
    return {
        "features": features,
        "passes": passes,
        "around": around,
        "training": features + passes,
        "saving": saving,
        "memory": used,
        "memory_alone": peak,
        "size": (directory / "model").stat().st_size,
    }


def run_passes(
    nlp: Language, examples: list[Example], passes: int, seed: int
) -> tuple[Timer, Timer]:
    features, *rest = training(nlp, examples, passes, seed)
    return features, sum(rest, Timer())


def load_ours(args: argparse.Namespace, vocab: Vocab, learner: str, directory: Path) -> Any:
    """RETURNS (LocalTagger): A trained tagger with cold caches."""
    tagger = make_pipeline(args, vocab, learner).get_pipe("local_tagger")
    return tagger.from_disk(directory, exclude=["vocab"])


def measure_ours(
    args: argparse.Namespace, corpus: Corpus, learner: str, directory: Path
) -> dict[str, Any]:
    """RETURNS (Dict[str, Any]): All numbers of one learner."""
    runs = []
    for run in range(args.runs):
        say(f"{learner}: training ({run + 1} of {args.runs}) …")
        runs.append(in_child(train_ours, args, corpus.train, learner, directory, args.seed + run))
        tagger = load_ours(args, corpus.dev[0].reference.vocab, learner, directory)
        docs = list(tagger.pipe(eg.predicted.copy() for eg in corpus.dev))
        runs[-1]["quality"] = score(corpus.dev, docs, corpus.target)
    say(f"{learner}: tagging …")
    tagger = load_ours(args, corpus.dev[0].reference.vocab, learner, directory)
    return {**best_run(runs, args.clock), "speed": pipe_speed(args, tagger, corpus.dev)}


def pipe_speed(args: argparse.Namespace, component: Any, examples: list[Example]) -> Speed:
    return measure_speed(
        lambda docs: list(component.pipe(docs)),
        lambda: [eg.predicted.copy() for eg in examples],
        count_tokens(examples),
        args.repeats,
        args.clock,
    )


# --- spaCy ----------------------------------------------------------------------------------------


def measure_spacy(args: argparse.Namespace, corpus: Corpus) -> Speed:
    """RETURNS (Speed): Of spaCy's own component for the task."""
    name = "tagger" if corpus.target == "tag" else "ner"
    say(f"spaCy's {name}: training and tagging …")
    nlp = spacy.util.get_lang_class("en")(vocab=corpus.train[0].reference.vocab)
    component = nlp.add_pipe(name)
    examples, n = [], 0
    for eg in corpus.train:
        if n < NER_TOKENS:
            examples.append(eg)
            n += len(eg.reference)
    nlp.initialize(lambda: examples)
    for batch in minibatch(examples, 4):
        nlp.update(batch)
    return pipe_speed(args, component, corpus.dev)


def measure_tokenizer(args: argparse.Namespace, corpus: Corpus) -> Speed:
    """RETURNS (Speed): Of spaCy's tokenizer, in the corpus's tokens, on its words with spaces between them."""
    say("spaCy's tokenizer …")
    tokenizer = spacy.blank("en").tokenizer
    texts = [" ".join(words_of(eg.reference)) for eg in corpus.dev]
    n = count_tokens(corpus.dev)
    return measure_speed(
        lambda given: list(tokenizer.pipe(given)), lambda: texts, n, args.repeats, args.clock
    )


# --- scaling -------------------------------------------------------------------------------------


def measure_scaling(
    args: argparse.Namespace, corpus: Corpus, learner: str, directory: Path
) -> dict[str, Any]:
    """RETURNS (Dict[str, Any]): Training on half the corpus and on all of it; labelling of long texts."""
    examples = random.Random(args.seed).sample(corpus.train, len(corpus.train))
    total, n, half = count_tokens(examples), 0, []
    for eg in examples:
        if n < total / 2:
            half.append(eg)
            n += len(eg.reference)
    training = []
    for part in (half, examples):
        say(f"{learner}: training on {count_tokens(part):,} tokens …")
        result = in_child(train_ours, args, part, learner, directory, args.seed)
        seconds = result["training"].seconds(args.clock)
        training.append(
            {"tokens": count_tokens(part), "seconds": seconds, "memory": result["memory"]}
        )
    vocab = corpus.dev[0].reference.vocab
    labelling = []
    for length in LENGTHS:
        say(f"{learner}: labelling one document of {length:,} tokens …")
        tagger = load_ours(args, vocab, learner, directory)
        labelling.append(in_child(label_long, args, tagger, long_doc(corpus, length)))
    return {"training": training, "labelling": labelling}


def long_doc(corpus: Corpus, length: int) -> Doc:
    """RETURNS (Doc): The development documents, one after the other, again and again."""
    tokens = chain.from_iterable(cycle([eg.predicted for eg in corpus.dev]))
    pairs = [(token.text, bool(token.is_sent_start)) for token in islice(tokens, length)]
    words, starts = zip(*pairs, strict=True)
    return Doc(corpus.dev[0].reference.vocab, words=list(words), sent_starts=list(starts))


def label_long(args: argparse.Namespace, tagger: Any, doc: Doc) -> dict[str, Any]:
    tagger(doc[:1000].as_doc())
    memory = PeakMemory()
    tagger(doc.copy())
    growth = memory.growth()
    speed = measure_speed(tagger, doc.copy, len(doc), args.repeats, args.clock)
    return {"tokens": len(doc), "seconds": len(doc) / speed.warm, "memory": growth}


# --- all of it -----------------------------------------------------------------------------------


def measure(args: argparse.Namespace, corpus: Corpus, directory: Path) -> dict[str, Any]:
    """RETURNS (Dict[str, Any]): All numbers, by what was measured."""
    results: dict[str, Any] = {PEER: crfsuite_peer.measure(args, corpus, directory)}
    for number, learner in enumerate(args.learner):
        results[learner] = measure_ours(args, corpus, learner, directory / str(number))
    results["spacy"] = None if args.no_ner else measure_spacy(args, corpus)
    results["tokenizer"] = measure_tokenizer(args, corpus)
    if args.scaling:
        results["scaling"] = measure_scaling(args, corpus, args.learner[0], directory / "scaling")
    return results


def main() -> None:
    args = parse_arguments()
    name, format_ = find_format(args.data, args.format)
    args.target, args.preset = format_.target, args.preset or format_.preset
    say(f"{name}: reading …")
    corpus = load_corpus(args.data, name, spacy.blank("en"))
    sample = corpus.dev[:50]
    n_features = crfsuite_peer.check_features(args.preset, [eg.predicted for eg in sample])
    with tempfile.TemporaryDirectory() as directory:
        results = measure(args, corpus, Path(directory))
    lines = [*describe_run(PACKAGES, args.data), memory_note(), f"time: {args.clock}"]
    lines.append(f"features agree: {n_features:,} distinct ones in {len(sample)} documents")
    sizes = [f"{count_tokens(part):,} / {len(part):,}" for part in (corpus.train, corpus.dev)]
    print(f"\n{name}, {args.passes} passes; tokens / documents: {sizes[0]} train, {sizes[1]} dev")
    print(ratio_table(args, results), number_table(args, results), sep="\n", end="\n")
    if args.scaling:
        print(scaling_table(results["scaling"]))
    print("\n".join(lines))
    if args.json:
        srsly.write_json(args.json, {"about": lines, "corpus": name, "results": raw(results)})


if __name__ == "__main__":
    main()
