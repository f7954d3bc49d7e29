"""The functions of the installed official package `bfcl-eval` on the lines of `score --scorer bfcl`.

Only what decodes and checks is called; the table of models, which takes seconds to load, is replaced by the one
setting of it that counts.
"""

import json
import sys
import types
from pathlib import Path

TABLE = "bfcl_eval.constants.model_config"
sys.modules[TABLE] = types.ModuleType(TABLE)
sys.modules[TABLE].MODEL_CONFIG_MAPPING = {
    name: types.SimpleNamespace(underscore_to_dot=name == "underscore") for name in ("dot", "underscore")
}

from bfcl_eval.constants.enums import Language, ReturnFormat
from bfcl_eval.eval_checker.ast_eval.ast_checker import ast_checker
from bfcl_eval.model_handler.utils import default_decode_ast_prompting
from bfcl_eval.utils import is_empty_output, is_function_calling_format_output

ENTRIES = {}


def entries(data, category):
    if category not in ENTRIES:
        name = f"BFCL_v4_{category}.json"
        with open(data / name, encoding="utf-8") as lines:
            found = {entry["id"]: entry for entry in map(json.loads, lines)}
        if "relevance" not in category:
            with open(data / "possible_answer" / name, encoding="utf-8") as lines:
                for answer in map(json.loads, lines):
                    found[answer["id"]]["ground_truth"] = answer["ground_truth"]
        ENTRIES[category] = found
    return ENTRIES[category]


def decode(row, language):
    result = row["model_result"]
    if row["mode"] == "prompt":
        return default_decode_ast_prompting(result, language, False)
    calls = []
    for call in result:
        name = list(call.keys())[0]
        calls.append({name: json.loads(call[name])})
    return calls


def check(data, row):
    category = row["category"]
    entry = entries(data, category)[row["id"]]
    language = "python"
    for name in ("java", "javascript"):
        if name in category:
            language = name
    if "relevance" in category:
        language = "python"
    fault = None
    try:
        decoded = decode(row, ReturnFormat(language))
    except Exception as error:
        decoded, fault = None, f"Invalid syntax. Failed to decode AST. {error}"
    if "relevance" in category:
        has_call = fault is None and not is_empty_output(decoded)
        return {"valid": has_call != ("irrelevance" in category), "decoded": decoded}
    if fault is not None:
        return {"valid": False, "error": [fault], "error_type": "ast_decoder:decoder_failed"}
    if not is_function_calling_format_output(decoded):
        return {"valid": False, "error_type": "ast_decoder:decoder_wrong_output_format"}
    model = "underscore" if row["underscore_to_dot"] else "dot"
    verdict = ast_checker(
        entry["function"], decoded, entry["ground_truth"], Language(language), category, model
    )
    return {**verdict, "decoded": decoded}


def main():
    data = Path(sys.argv[2])
    with open(sys.argv[1], encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            row["score"] = check(data, row)
            sys.stdout.write(json.dumps(row, ensure_ascii=False, default=str) + "\n")


main()
