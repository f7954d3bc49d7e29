//! Calls as source: Python, Java or JavaScript.

use super::fill::{ArgumentValue, FilledArguments};
use super::function::{Function, Parameter};

/// The language in which calls are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallLanguage {
    Python,
    Java,
    JavaScript,
}

impl CallLanguage {
    /// That of the functions of a category.
    pub(super) fn of(category: &str) -> Self {
        if category.contains("javascript") {
            Self::JavaScript
        } else if category.contains("java") {
            Self::Java
        } else {
            Self::Python
        }
    }

    pub(super) fn calls(self, calls: &[(&Function, FilledArguments)]) -> String {
        let calls: Vec<String> = calls
            .iter()
            .map(|(function, arguments)| self.call(function, arguments))
            .collect();
        let calls = calls.join(", ");
        match self {
            Self::Python => format!("[{calls}]"),
            Self::Java | Self::JavaScript => calls,
        }
    }

    fn call(self, function: &Function, arguments: &FilledArguments) -> String {
        let pairs = function.parameters.iter().zip(arguments);
        let given = pairs.filter_map(|(parameter, value)| {
            let value = self.value(value.as_ref()?, Some(parameter));
            Some(format!("{}={value}", parameter.name))
        });
        let given: Vec<String> = given.collect();
        format!("{}({})", function.name, given.join(", "))
    }

    fn value(self, value: &ArgumentValue, parameter: Option<&Parameter>) -> String {
        let type_name = parameter.map_or("", |parameter| &parameter.type_name);
        match value {
            ArgumentValue::Number(digits) if matches!(type_name, "string" | "String") => {
                self.text(digits, type_name)
            }
            ArgumentValue::Number(digits) => format!("{digits}{}", self.suffix(type_name)),
            // Texts are wanted for texts; a variable has no meaning in Python.
            ArgumentValue::Code(source) if self == Self::Python || type_name != "any" => {
                self.text(source, type_name)
            }
            ArgumentValue::Code(source) => source.clone(),
            ArgumentValue::Text(text) => self.text(text, type_name),
            ArgumentValue::Flag(flag) if self == Self::Python => {
                if *flag { "True" } else { "False" }.into()
            }
            ArgumentValue::Flag(flag) => flag.to_string(),
            ArgumentValue::List(items) => self.list(items, parameter),
            ArgumentValue::Dict(entries) => self.dict(entries, parameter),
        }
    }

    fn suffix(self, type_name: &str) -> &'static str {
        match (self, type_name) {
            (Self::Java, "long") => "L",
            (Self::Java, "float") => "f",
            (Self::JavaScript, "Bigint") => "n",
            _ => "",
        }
    }

    fn text(self, text: &str, type_name: &str) -> String {
        let quote = if self == Self::Python || type_name == "char" {
            '\''
        } else {
            '"'
        };
        let mut written = String::from(quote);
        for c in text.chars() {
            match c {
                '\n' => written.push_str("\\n"),
                '\r' => written.push_str("\\r"),
                '\0' => written.push_str("\\0"),
                _ => {
                    if c == quote || c == '\\' {
                        written.push('\\');
                    }
                    written.push(c);
                }
            }
        }
        written.push(quote);
        written
    }

    fn list(self, items: &[ArgumentValue], parameter: Option<&Parameter>) -> String {
        let item = parameter.and_then(|parameter| parameter.items.as_deref());
        let items: Vec<String> = items.iter().map(|value| self.value(value, item)).collect();
        let items = items.join(", ");
        let of = item.map_or("", |item| &item.type_name);
        match (self, parameter.map(|parameter| &*parameter.type_name)) {
            (Self::Java, Some("ArrayList")) => {
                let class = match of {
                    "integer" => "Integer",
                    "float" => "Float",
                    "double" => "Double",
                    "boolean" => "Boolean",
                    _ => "String",
                };
                format!("new ArrayList<{class}>(Arrays.asList({items}))")
            }
            (Self::Java, _) => {
                let class = if of == "integer" { "int" } else { of };
                format!("new {class}[]{{{items}}}")
            }
            (Self::Python, Some("tuple")) => format!("({items},)"),
            (Self::Python | Self::JavaScript, _) => format!("[{items}]"),
        }
    }

    fn dict(self, entries: &[(String, ArgumentValue)], parameter: Option<&Parameter>) -> String {
        let fields = parameter.map_or(&[][..], |parameter| &parameter.fields);
        let entries = entries.iter().map(|(name, value)| {
            let field = fields.iter().find(|field| field.name == *name);
            let value = self.value(value, field);
            match self {
                Self::Python => format!("{}: {value}", self.text(name, "")),
                Self::Java => format!("put({}, {value});", self.text(name, "")),
                Self::JavaScript => format!("{name}: {value}"),
            }
        });
        let entries: Vec<String> = entries.collect();
        match self {
            Self::Python | Self::JavaScript => format!("{{{}}}", entries.join(", ")),
            Self::Java => format!(
                "new HashMap<String, Object>() {{{{ {} }}}}",
                entries.join(" ")
            ),
        }
    }
}
