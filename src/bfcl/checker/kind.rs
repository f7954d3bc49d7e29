//! The types of values and of parameters, and the kinds of checks.

use crate::calls::Value;

/// An exact Python type: `bool` is not an `int` here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PythonType {
    None,
    Bool,
    Int,
    Float,
    Complex,
    Str,
    Bytes,
    List,
    Tuple,
    Set,
    Dict,
    Ellipsis,
}

impl PythonType {
    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::None => Self::None,
            Value::Bool(_) => Self::Bool,
            Value::Int(_) => Self::Int,
            Value::Float(_) => Self::Float,
            Value::Complex(..) => Self::Complex,
            Value::Str(_) => Self::Str,
            Value::Bytes(_) => Self::Bytes,
            Value::List(_) => Self::List,
            Value::Tuple(_) => Self::Tuple,
            Value::Set(_) => Self::Set,
            Value::Dict(_) => Self::Dict,
            Value::Ellipsis => Self::Ellipsis,
        }
    }

    /// The type of the first option that is not `""`.
    pub(super) fn of_options(options: &[Value]) -> Option<Self> {
        options
            .iter()
            .find(|option| !option.is_empty_text())
            .map(Self::of)
    }

    /// Python's `str(type)`, for the types that parameters have.
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Bool => "<class 'bool'>",
            Self::Int => "<class 'int'>",
            Self::Float => "<class 'float'>",
            Self::List => "<class 'list'>",
            Self::Set => "<class 'set'>",
            Self::Dict => "<class 'dict'>",
            _ => "<class 'str'>",
        }
    }
}

/// The language of a category, which determines the meaning of parameter types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Python,
    Java,
    JavaScript,
}

impl Language {
    pub(super) fn of_category(category: &str) -> Self {
        if !category.as_bytes().contains(&b'j') {
            Self::Python
        } else if category.contains("javascript") {
            Self::JavaScript
        } else if category.contains("java") {
            Self::Java
        } else {
            Self::Python
        }
    }

    /// The Python type for a type name in a document.
    pub(super) fn kind(self, name: &str) -> Option<PythonType> {
        use Language::{Java, JavaScript, Python};
        Some(match (self, name) {
            (_, "any")
            | (Python, "string")
            | (Java, "char" | "String")
            | (JavaScript, "String") => PythonType::Str,
            (_, "integer") | (Java, "byte" | "short" | "long") | (JavaScript, "Bigint") => {
                PythonType::Int
            }
            (_, "float") | (Java, "double") => PythonType::Float,
            (Python | Java, "boolean") | (JavaScript, "Boolean") => PythonType::Bool,
            (Python, "array" | "tuple")
            | (Java, "Array" | "ArrayList" | "Queue" | "Stack")
            | (JavaScript, "array") => PythonType::List,
            (Python | JavaScript, "dict") | (Java, "HashMap" | "Hashtable") => PythonType::Dict,
            (Java, "Set") => PythonType::Set,
            _ => return None,
        })
    }

    /// Whether the type has an item type.
    pub(super) fn has_items(self, name: &str) -> bool {
        match self {
            Self::Python => matches!(name, "array" | "tuple"),
            Self::Java | Self::JavaScript => matches!(name, "Array" | "ArrayList" | "array"),
        }
    }
}

/// How the answers of a category are checked. The official program searches the category's name for these words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Check {
    /// There must be no call.
    Irrelevance,
    /// There must be a call.
    Relevance,
    /// Several calls in any order.
    Parallel,
    /// One call, of one of several functions.
    Multiple,
    /// One call, of the only function.
    Simple,
}

impl Check {
    pub(super) fn of_category(category: &str) -> Self {
        match category {
            // Shortcut: this runs for every line, and searching for words is slower than most checks.
            "simple_python" | "live_simple" => Self::Simple,
            "multiple" | "live_multiple" => Self::Multiple,
            "parallel" | "parallel_multiple" => Self::Parallel,
            "irrelevance" | "live_irrelevance" => Self::Irrelevance,
            other => Self::of_words(other),
        }
    }

    fn of_words(category: &str) -> Self {
        if category.contains("irrelevance") {
            Self::Irrelevance
        } else if category.contains("relevance") {
            Self::Relevance
        } else if category.contains("parallel") {
            Self::Parallel
        } else if category.contains("multiple") {
            Self::Multiple
        } else {
            Self::Simple
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Check, Language};
    use crate::bfcl::data::Category;

    #[test]
    fn the_words_of_a_category_decide() {
        for category in Category::official() {
            let name = &category.name;
            assert_eq!(Check::of_category(name), Check::of_words(name), "{name}");
        }
        let check = |category: &str, check, language| {
            assert_eq!(Check::of_category(category), check, "{category}");
            assert_eq!(Language::of_category(category), language, "{category}");
        };
        check("my_irrelevance", Check::Irrelevance, Language::Python);
        check("relevance_in_java", Check::Relevance, Language::Java);
        check("multiple_in_parallel", Check::Parallel, Language::Python);
        check(
            "my_multiple_javascript",
            Check::Multiple,
            Language::JavaScript,
        );
        check("judge", Check::Simple, Language::Python);
    }
}
