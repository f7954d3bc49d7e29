//! `PromptWords`: the system prompts of `format_sensitivity` in parts, verbatim from
//! `bfcl_eval/constants/default_prompts.py` of bfcl-eval 2026.3.23, Apache-2.0.

use super::documents;
use crate::bfcl::form::PromptForm;
use serde_json::Value as Json;

/// The parts of a prompt in one of the two styles.
struct PromptWords {
    persona: &'static str,
    task: &'static str,
    /// How to write the calls, without and with a tag around them.
    calls: [&'static str; 2],
    turns: &'static str,
    functions: &'static str,
}

const CLASSIC: PromptWords = PromptWords {
    persona: "You are an expert in composing functions.",
    task: "You are given a question and a set of possible functions. Based on the question, you will need to make one \
           or more function/tool calls to achieve the purpose. If none of the functions can be used, point it out. If \
           the given question lacks the parameters required by the function, also point it out.",
    calls: [
        "You should only return the function calls in your response.\n\nIf you decide to invoke any of the function(s), \
         you MUST put it in the format of {calls}. {types} You SHOULD NOT include any other text in the response.",
        "You should only return the function calls in the <TOOLCALL> section. If you decide to invoke any of the \
         function(s), you MUST put it in the format of <TOOLCALL>{calls}</TOOLCALL>. {types} You SHOULD NOT include \
         any other text in the response.",
    ],
    turns: "At each turn, you should try your best to complete the tasks requested by the user within the current turn. \
            Continue to output functions to call until you have fulfilled the user's request to the best of your \
            ability. Once you have no more functions to call, the system will consider the current turn complete and \
            proceed to the next turn or task.",
    functions: "Here is a list of functions in {format} format that you can invoke.\n{functions}\n",
};

const EXPERIMENTAL: PromptWords = PromptWords {
    persona: "You are an expert in generating structured function calls.",
    task: "You are given a user query and a set of available functions. Your task is to produce one or more \
           function/tool calls to fulfill the user's request. If no suitable function exists, or required parameters \
           are missing, clearly indicate this.",
    calls: [
        "Respond with only the function calls.\n\nYou MUST format it exactly as {calls}. {types} Do NOT include any \
         other text.",
        "Return only the function calls enclosed in <TOOLCALL> tags.\n\nYou MUST format it exactly as \
         <TOOLCALL>{calls}</TOOLCALL>. {types} Do NOT include any other text.",
    ],
    turns: "At every turn, aim to complete the user's tasks within that turn. Continue emitting function calls until \
            the request is satisfied to the best of your ability. Once no more calls are needed, the system will \
            proceed to the next turn.",
    functions: "Below is a list of callable functions in the {format} style:\n{functions}\n",
};

const PLAIN: &str = "{persona}{task}\n\n{calls}\n\n{turns}\n\n{functions}";
const MARKDOWN: &str = "{persona}\n\n## Task\n{task}\n\n## Tool Call Format\n{calls}\n\n## Multi-turn Behavior\n\
                        {turns}\n\n## Available Tools\n{functions}";

const TYPES: &str = "The type fields of the parameters in your function calls must be one of: string, integer, float, \
                     boolean, array, dict, or tuple.";

/// The example of calls in a format, and the note on types.
fn example(return_format: &str) -> [&'static str; 2] {
    match return_format {
        "json" => [
            "```json\n[{\"function\":\"func_name1\",\"parameters\":{\"param1\":\"value1\",\"param2\":\"value2\"...}},\
             {\"function\":\"func_name2\",\"parameters\":{\"param\":\"value\"}}]\n```",
            "",
        ],
        "verbose_xml" => [
            "<functions><function name=\"func_name1\"><params><param name=\"param1\" value=\"value1\" \
             type=\"type1\"/><param name=\"param2\" value=\"value2\" type=\"type2\"/>...</params></function><function \
             name=\"func_name2\"><params><param name=\"param3\" value=\"value3\" type=\"type3\"/></params></function>\
             </functions>",
            TYPES,
        ],
        "concise_xml" => [
            "<functions><function name=\"func_name1\"><param name=\"param1\" type=\"type1\">value1</param><param \
             name=\"param2\" type=\"type2\">value2</param>...</function><function name=\"func_name2\"><param \
             name=\"param3\" type=\"type3\">value</param></function></functions>",
            TYPES,
        ],
        _ => [
            "[func_name1(params_name1=params_value1, params_name2=params_value2...), func_name2(params)]",
            "",
        ],
    }
}

/// The prompt of a format for these functions.
pub(super) fn instructions(form: PromptForm, functions: &Json) -> String {
    let words = if form.is_experimental() {
        EXPERIMENTAL
    } else {
        CLASSIC
    };
    let [example, types] = example(form.return_format());
    let calls = words.calls[usize::from(form.has_tool_call_tag())];
    let calls = calls.replace("{calls}", example).replace("{types}", types);
    let described = documents::write(functions, form.documents());
    let listed = words.functions.replace("{format}", form.documents());
    // Insert the documents last, so that placeholders inside them are not replaced.
    let template = if form.is_markdown() { MARKDOWN } else { PLAIN };
    template
        .replace("{persona}", words.persona)
        .replace("{task}", words.task)
        .replace("{calls}", &calls)
        .replace("{turns}", words.turns)
        .replace("{functions}", &listed)
        .replace("{functions}", &described)
}
