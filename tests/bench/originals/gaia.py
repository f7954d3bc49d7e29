"""The rule of scorer `gaia`, written anew from its description: a yardstick for speed."""

import re
import string

from lines import score_lines

PUNCTUATION = str.maketrans("", "", string.punctuation)


def is_float(text):
    try:
        float(text)
        return True
    except ValueError:
        return False


def number(text):
    for sign in "$%,":
        text = text.replace(sign, "")
    try:
        return float(text)
    except ValueError:
        return float("inf")


def plain(text, punctuation=True):
    text = re.sub(r"\s", "", text).lower()
    return text.translate(PUNCTUATION) if punctuation else text


def is_correct(prediction, truth):
    prediction = "None" if prediction is None else prediction
    if is_float(truth):
        return number(prediction) == float(truth)
    if "," in truth or ";" in truth:
        truths = re.split("[,;]", truth)
        predictions = re.split("[,;]", prediction)
        if len(truths) != len(predictions):
            return False
        return all(
            number(left) == float(right)
            if is_float(right)
            else plain(left, False) == plain(right, False)
            for left, right in zip(predictions, truths)
        )
    return plain(prediction) == plain(truth)


score_lines(lambda row: {"correct": is_correct(row.get("prediction"), row["ground_truth"])})
