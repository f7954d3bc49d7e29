"""Runs the simulators of the Function Calling Leaderboard for its multi-turn categories, a JSON line each way.

Nothing that an agent writes is evaluated: a call is parsed, its name has to be a method of a class that the entry
involves, and its arguments literals or further such calls. The simulators themselves are those of `bfcl-eval`, which
the user has installed.
"""

import sys

# Modules beside the spec are not those of Python.
sys.path[:] = [folder for folder in sys.path if folder]

import ast
import copy
import functools
import importlib
import inspect
import json
import os
import re
import types
import warnings

PACKAGE = "bfcl_eval.eval_checker.multi_turn_eval.func_source_code"
MODULES = {
    "GorillaFileSystem": "gorilla_file_system",
    "MathAPI": "math_api",
    "MessageAPI": "message_api",
    "TicketAPI": "ticket_api",
    "TradingBot": "trading_bot",
    "TravelAPI": "travel_booking",
    "TwitterAPI": "posting_api",
    "VehicleControlAPI": "vehicle_control",
}
# Without a state of their own.
STATELESS = {"MathAPI"}
# Names that the official program refuses before it looks for them.
REFUSED = {"kill", "exit", "quit", "remove", "unlink", "popen", "Popen", "run"}
# A name before a parenthesis, also within a text: the official program puts the object's name before it there, too.
CALLED = re.compile(r"\b([a-zA-Z_]\w*)\s*(?=\()")
LITERALS = {ast.List: list, ast.Tuple: tuple, ast.Set: set}


class Refused(Exception):
    """What is neither a literal nor a call of a method."""


class Simulators:
    """The objects of one party in one conversation: the agent's, or those of the expected calls."""

    def __init__(self, party, entry):
        self.objects = {}
        self.names = {}
        self.methods = {}
        self.owners = {}
        self.defaults = []
        for name in entry["classes"]:
            kind = getattr(importlib.import_module(f"{PACKAGE}.{MODULES[name]}"), name)
            simulator = kind()
            if name not in STATELESS:
                config = copy.deepcopy(entry["config"].get(name, {}))
                simulator._load_scenario(config, long_context=entry["long_context"])
            variable = re.sub(r"[-./:]", "_", f"{party}_{entry['id']}_{name}_instance")
            self.objects[name] = simulator
            self.names[variable] = simulator
            for method, bound in inspect.getmembers(simulator, predicate=inspect.ismethod):
                if not method.startswith("_"):
                    self.methods[method] = bound
                    self.owners[method] = variable
            self.defaults += copy.deepcopy(default_lists(kind))

    def execute(self, call):
        """The result of a call as a text, and whether it is an error."""
        text = CALLED.sub(self.with_owner, call)
        try:
            name = text.split("(")[0] if "(" in text else text
            name = name.split(".")[1] if "." in name else name
            if name in REFUSED:
                raise Refused(f"Function call {name} is not allowed.")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                compile(text, "<string>", "eval")
                parsed = ast.parse(text, "<string>", "eval")
            for function, values in self.defaults:
                function.__defaults__ = values
            result = self.value(parsed.body)
            if isinstance(result, str):
                return result, False
            if type(result) is not dict:
                return str(result), False
            try:
                return json.dumps(result), "error" in result
            except Exception:
                return str(result), "error" in result
        except Exception as error:
            return f"Error during execution: {error}", True

    def with_owner(self, found):
        name = found.group(1)
        return f"{self.owners[name]}.{name}" if name in self.owners else name

    def value(self, node):
        if isinstance(node, ast.Constant):
            return node.value
        if type(node) in LITERALS:
            return LITERALS[type(node)](self.value(item) for item in node.elts)
        if isinstance(node, ast.Dict) and None not in node.keys:
            return {self.value(key): self.value(value) for key, value in zip(node.keys, node.values)}
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self.value(node.operand)
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
            # As Python writes complex numbers.
            left, right = self.value(node.left), self.value(node.right)
            if isinstance(right, complex) and isinstance(left, (int, float)):
                return left + right if isinstance(node.op, ast.Add) else left - right
        if isinstance(node, ast.Call):
            method = self.method(node.func)
            arguments = [self.value(argument) for argument in node.args]
            named = {}
            for keyword in node.keywords:
                if keyword.arg is None:
                    raise Refused("name '**' is not defined")
                named[keyword.arg] = self.value(keyword.value)
            return method(*arguments, **named)
        raise self.unknown(node)

    def method(self, node):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if self.owners.get(node.attr) == node.value.id:
                return self.methods[node.attr]
        raise self.unknown(node)

    def unknown(self, node):
        name = node
        while isinstance(name, (ast.Attribute, ast.Call, ast.Subscript)):
            name = name.func if isinstance(name, ast.Call) else name.value
        name = name.id if isinstance(name, ast.Name) else ast.unparse(node)
        if name in self.names and isinstance(node, ast.Attribute):
            name = node.attr
        return Refused(f"name '{name}' is not defined")

    def state(self):
        """The public attributes, of which a verdict is made."""
        return {name: public(simulator) for name, simulator in self.objects.items()}


@functools.cache
def default_lists(kind):
    """The methods of a class with lists as default values, which would carry what one conversation puts there into
    another; found before the first call."""
    functions = [function for function in vars(kind).values() if isinstance(function, types.FunctionType)]
    defaults = [(function, copy.deepcopy(function.__defaults__ or ())) for function in functions]
    return [(function, values) for function, values in defaults if any(isinstance(value, list) for value in values)]


def public(simulator):
    return {name: value for name, value in vars(simulator).items() if not name.startswith("_")}


def as_json(value):
    """A value with marks for what JSON does not have."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else {"$float": str(value)}
    if isinstance(value, list):
        return [as_json(item) for item in value]
    if isinstance(value, dict):
        if all(isinstance(key, str) for key in value):
            return {key: as_json(item) for key, item in value.items()}
        return {"$pairs": [[as_json(key), as_json(item)] for key, item in value.items()]}
    if isinstance(value, tuple):
        return {"$tuple": [as_json(item) for item in value]}
    if isinstance(value, (set, frozenset)):
        return {"$set": sorted((as_json(item) for item in value), key=json.dumps)}
    if type(value).__name__ == "Directory":
        return {"$dir": value.name, "contents": as_json(value.contents)}
    if type(value).__name__ == "File":
        return {"$file": value.content, "name": value.name}
    return str(value)


def judge(entry, turns):
    """The official verdict on the calls of an agent, turn by turn and step by step."""
    model, expected = Simulators("model_eval", entry), Simulators("model_ground_truth_eval", entry)
    results = []
    for turn, truth in enumerate(entry["truth"]):
        steps = turns[turn]
        results += [model.execute(call)[0] for step in steps for call in step]
        wanted = [expected.execute(call)[0] for call in truth]
        if not truth:
            continue
        wrong = {"first_wrong_turn": turn + 1, "valid": False}
        if not steps or steps == [[]]:
            message = f"Model response list is empty for turn {turn}"
            return wrong | {"error_type": "empty_turn_model_response", "error_message": message}
        for name, simulator in expected.objects.items():
            found = model.objects[name]
            differ = [key for key, value in public(simulator).items() if not is_same(getattr(found, key), value)]
            if differ:
                message = f"Model instance for {name} does not match the state with ground truth instance."
                differences = {
                    key: [brief(value) for value in (getattr(simulator, key), getattr(found, key))]
                    for key in differ
                }
                return wrong | {
                    "error_type": "instance_state_mismatch",
                    "error_message": message,
                    "differs": {name: differences},
                }
        left, missing = list(results), []
        for result in wanted:
            if result in left:
                left.remove(result)
            else:
                missing.append(result)
        if missing:
            message = (
                "Model response execution results so far does not contain all the ground truth response execution "
                f"results for turn {turn}."
            )
            return wrong | {
                "error_type": "execution_response_mismatch",
                "error_message": message,
                "missing": [brief(result) for result in missing],
            }
    return {"valid": True}


def is_same(one, other):
    try:
        return one == other
    except RecursionError:
        # An agent can put a value into itself; no expected call does.
        return False


def brief(value):
    """The beginning of a value as a text."""
    try:
        text = value if isinstance(value, str) else json.dumps(as_json(value), ensure_ascii=False)
    except Exception as error:
        # Numbers of more digits than Python writes, values that contain themselves.
        text = f"({error})"
    return text if len(text) <= 300 else text[:300] + "…"


SESSIONS = {}


def answer(request):
    operation = request["op"]
    if operation == "judge":
        return judge(request["entry"], request["turns"])
    session = request["session"]
    if operation == "open":
        sample = request["sample"]
        SESSIONS[session] = Simulators("model", {"id": sample["id"]} | sample["initial_state"])
        return {"tools": []}
    if operation == "call":
        text, is_error = SESSIONS[session].execute(request["name"])
        return {"error" if is_error else "result": text}
    if operation == "state":
        try:
            state = as_json(SESSIONS[session].state())
            json.dumps(state)
        except Exception as error:
            # The state of an agent that put a value into itself, or a number of too many digits.
            state = {"error": str(error)}
        return {"state": state}
    if operation == "close":
        SESSIONS.pop(session, None)
    return {}


def serve():
    # The lines have the pipes for themselves: what a simulator reads and prints is none of them.
    requests = os.fdopen(os.dup(0), encoding="utf-8")
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    for line in requests:
        request = json.loads(line)
        try:
            reply = json.dumps({"id": request["id"]} | answer(request))
        except Exception as error:
            reply = json.dumps({"id": request["id"], "error": f"{type(error).__name__}: {error}"})
        replies.write(reply + "\n")
        replies.flush()


if __name__ == "__main__":
    serve()
