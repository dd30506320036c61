#!/usr/bin/env python3
"""Makes the data and tiny models that public examples expect where they run: example_data.py KIND... Kinds: mnist:DIR and
fashion:DIR (torchvision's files, of noise around ten patterns), bert (a folder
'bert-base-cased', the metric 'glue', and MRPC as CSV), preferences (a folder 'pairs' of chosen and rejected answers)."""
import json
import os
import random
import struct
import sys

WORDS = "a an the cat dog bird tree house river runs sleeps sees likes finds old young small big red blue not and".split()


def digits(count, seed):
    rng = random.Random(seed)
    patterns = [[random.Random(digit).choice((0, 200)) for _ in range(784)] for digit in range(10)]
    labels = [rng.randrange(10) for _ in range(count)]
    return b"".join(bytes(value + rng.randrange(56) for value in patterns[label]) for label in labels), bytes(labels)


def torchvision(folder, kind):
    folder = f"{folder}/{kind}/raw"
    os.makedirs(folder, exist_ok=True)
    for name, count in ("train", 4096), ("t10k", 512):
        pixels, labels = digits(count, count)
        with open(f"{folder}/{name}-images-idx3-ubyte", "wb") as file:
            file.write(struct.pack(">iiii", 0x803, count, 28, 28) + pixels)
        with open(f"{folder}/{name}-labels-idx1-ubyte", "wb") as file:
            file.write(struct.pack(">ii", 0x801, count) + labels)


def sentence(rng):
    return " ".join(rng.choice(WORDS) for _ in range(8))


def bert():
    from transformers import BertConfig, BertModel, BertTokenizerFast

    os.makedirs("bert-base-cased")
    with open("bert-base-cased/vocab.txt", "w") as file:
        file.write("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]) + "\n")
    BertTokenizerFast("bert-base-cased/vocab.txt", model_max_length=32, eos_token="[SEP]").save_pretrained("bert-base-cased")
    config = BertConfig(vocab_size=len(WORDS) + 5, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                        intermediate_size=32, max_position_embeddings=32, pad_token_id=0)
    BertModel(config).save_pretrained("bert-base-cased")
    rng = random.Random(1)
    os.makedirs("tests/test_samples/MRPC")
    for name, count in ("train", 64), ("dev", 16):
        with open(f"tests/test_samples/MRPC/{name}.csv", "w") as file:
            file.write("label,sentence1,sentence2\n")
            for _ in range(count):
                file.write(f"{rng.choice(('equivalent', 'not_equivalent'))},{sentence(rng)},{sentence(rng)}\n")
    os.makedirs("glue")
    with open("glue/glue.py", "w") as file:
        file.write("""import datasets
import evaluate
class Glue(evaluate.Metric):
    def _info(self):
        features = datasets.Features({"predictions": datasets.Value("int64"), "references": datasets.Value("int64")})
        return evaluate.MetricInfo(description="", citation="", inputs_description="", features=features)
    def _compute(self, predictions, references):
        same = sum(p == r for p, r in zip(predictions, references)) / len(predictions)
        both = sum(p == r == 1 for p, r in zip(predictions, references))
        return {"accuracy": same, "f1": 2 * both / max(1, sum(predictions) + sum(references))}
""")


def preferences():
    rng = random.Random(2)
    os.makedirs("pairs")
    for name, count in ("train", 48), ("test", 16):
        with open(f"pairs/{name}.jsonl", "w") as file:
            for _ in range(count):
                prompt = sentence(rng) + " "
                file.write(json.dumps({"prompt": prompt, "chosen": "the cat runs", "rejected": sentence(rng)}) + "\n")


KINDS = {"mnist": lambda at: torchvision(at, "MNIST"), "fashion": lambda at: torchvision(at, "FashionMNIST"),
         "bert": lambda _: bert(), "preferences": lambda _: preferences()}
for word in sys.argv[1:]:
    kind, _, place = word.partition(":")
    KINDS[kind](place)
