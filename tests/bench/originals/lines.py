"""Scores JSON lines with a function: what the yardsticks for speed have in common."""

import json
import sys


def score_lines(score):
    with open(sys.argv[1], encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            row["score"] = score(row)
            sys.stdout.write(json.dumps(row, ensure_ascii=False) + "\n")
