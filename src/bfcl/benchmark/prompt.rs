//! Instructions for agents that write calls as text.

mod documents;
mod words;

use serde_json::Value as Json;

use super::tools::with_hints;
use crate::bfcl::form::PromptForm;
use crate::calls::Value;
use crate::data::Sample;

/// The system prompt of the leaderboard's protocol, word for word: the default format (`plaintext`, `classic`, Python
/// calls, no tag) of `bfcl_eval/constants/default_prompts.py` in bfcl-eval 2026.3.23, Apache-2.0.
pub(super) const TEMPLATE: &str = "\
You are an expert in composing functions.You are given a question and a set of possible functions. Based on the \
question, you will need to make one or more function/tool calls to achieve the purpose. If none of the functions can \
be used, point it out. If the given question lacks the parameters required by the function, also point it out.

You should only return the function calls in your response.

If you decide to invoke any of the function(s), you MUST put it in the format of \
[func_name1(params_name1=params_value1, params_name2=params_value2...), func_name2(params)].  You SHOULD NOT include \
any other text in the response.

At each turn, you should try your best to complete the tasks requested by the user within the current turn. Continue \
to output functions to call until you have fulfilled the user's request to the best of your ability. Once you have no \
more functions to call, the system will consider the current turn complete and proceed to the next turn or task.

Here is a list of functions in json format that you can invoke.
{functions}
";

/// The instructions of a sample, with its function documents.
pub(crate) fn instructions(sample: &Sample) -> String {
    let part = |key| sample.metadata.get(key).unwrap_or(&Json::Null);
    let category = part("category").as_str().unwrap_or_default();
    let functions = with_hints(part("function"), category);
    let Some(form) = part("form").as_str().and_then(PromptForm::named) else {
        return default_instructions(&functions);
    };
    // The official program adds the hints a second time here.
    words::instructions(form, &with_hints(&functions, category))
}

/// The instructions in the default format with these documents.
pub(crate) fn default_instructions(functions: &Json) -> String {
    TEMPLATE.replace("{functions}", &documents::python_dump(functions))
}

/// The question: the texts of the messages.
pub(crate) fn question(messages: &Value) -> String {
    let messages = messages.as_list().unwrap_or_default().iter();
    let text = |message: &Value| {
        message
            .as_dict()?
            .get_str("content")?
            .as_str()
            .map(str::to_owned)
    };
    let texts: Vec<String> = messages.filter_map(text).collect();
    texts.join("\n\n")
}

#[cfg(test)]
mod tests;
