"""The rule of scorer `qa_f1`, written anew from its description: a yardstick for speed.

With the argument `format` after the file it is that of `qa_f1_format`.
"""

import re
import string
import sys
from collections import Counter

from lines import score_lines

PUNCTUATION = set(string.punctuation)
NOTHING = {"reward": 0.0, "f1": 0.0, "em": 0.0, "precision": 0.0, "recall": 0.0}
SPECIAL = ("yes", "no", "noanswer")


def normalize(text):
    text = "".join(c for c in text.lower() if c not in PUNCTUATION)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())


def f1(prediction, truth):
    if prediction != truth and (prediction in SPECIAL or truth in SPECIAL):
        return 0.0, 0.0, 0.0
    left, right = prediction.split(), truth.split()
    same = sum((Counter(left) & Counter(right)).values())
    if same == 0:
        return 0.0, 0.0, 0.0
    precision, recall = same / len(left), same / len(right)
    return (2 * precision * recall) / (precision + recall), precision, recall


def score(row):
    if sys.argv[2:] == ["format"]:
        calls = [message for message in row["trajectory"] if message["role"] == "tool"]
        if len(calls) < 2:
            return NOTHING
    prediction, truth = normalize(row.get("prediction") or ""), normalize(row["ground_truth"])
    value, precision, recall = f1(prediction, truth)
    em = 1.0 if prediction == truth else 0.0
    return {"reward": value, "f1": value, "em": em, "precision": precision, "recall": recall}


score_lines(score)
