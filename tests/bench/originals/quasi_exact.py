"""The rule of scorer `quasi_exact`, written anew from its description: a yardstick for speed."""

import re

from lines import score_lines

FLAGS = re.IGNORECASE | re.MULTILINE
MARKERS = [r"答案[：:]\s*(.+)", r"Final answer[：:]\s*(.+)", r"Answer[：:]\s*(.+)"]


def extract(response):
    found = re.search(r"FINAL ANSWER:\s*(.+?)(?:\n|$)", response, FLAGS)
    if found:
        return found.group(1).strip().strip("[]")
    for marker in MARKERS:
        found = re.search(marker, response, re.IGNORECASE)
        if found:
            return found.group(1).strip()
    lines = response.strip().split("\n")
    for line in reversed(lines):
        line = line.strip()
        if line and not line.startswith("#"):
            return line
    return response.strip()


def single(text):
    text = text.strip().lower()
    words = text.split()
    if words and words[0] in ("the", "a", "an"):
        text = " ".join(words[1:])
    for sign in "$%€£":
        text = text.replace(sign, "")
    text = re.sub(r"(\d),(\d)", r"\1\2", text)
    return " ".join(text.split()).rstrip(".,;:!?")


def normalize(text):
    if not text:
        return ""
    text = text.strip()
    if "," in text:
        return ",".join(sorted(single(part.strip()) for part in text.split(",")))
    return single(text)


def score(row):
    prediction = extract(row.get("prediction") or "")
    truth = row["ground_truth"]
    exact = partial = False
    if prediction and truth:
        left, right = normalize(prediction), normalize(truth)
        exact = left == right
        partial = left in right or right in left
        if not partial:
            given, expected = set(left.split()), set(right.split())
            partial = bool(expected) and len(given & expected) / len(expected) >= 0.7
    value = 1.0 if exact else 0.5 if partial else 0.0
    return {"value": value, "exact_match": exact, "partial_match": partial}


score_lines(score)
