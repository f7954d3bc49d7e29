//! Why a text has no value, in the words of Python, and the names of classes in them.

use ruff_python_ast::Expr;

use super::value::Value;

/// Why an answer holds no calls: the text of the exception in the official program, or close to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeFault {
    message: String,
    limit: Option<&'static str>,
}

impl DecodeFault {
    /// One with this message.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            limit: None,
        }
    }

    /// The official program may go on where this one does not.
    pub fn limited(message: impl Into<String>, limit: &'static str) -> Self {
        Self {
            limit: Some(limit),
            ..Self::new(message)
        }
    }

    /// The message.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What was too much to go on, in words.
    pub fn limit(&self) -> Option<&'static str> {
        self.limit
    }
}

/// What a text is read as.
pub type DecodeResult<T> = std::result::Result<T, DecodeFault>;

/// What is no call stands among the calls: an `assert` without a message.
pub fn no_call() -> DecodeFault {
    DecodeFault::new("")
}

pub(crate) fn unsupported(class: &str) -> DecodeFault {
    DecodeFault::new(format!("Unsupported AST type: <class '{class}'>"))
}

/// What Python might work out, and is not worked out here.
pub(crate) fn not_evaluated(message: impl Into<String>) -> DecodeFault {
    DecodeFault::limited(message, "a constant expression is not worked out here")
}

pub(crate) fn unhashable(key: &Value) -> DecodeFault {
    let inner = match key {
        Value::Tuple(items) => items.iter().find(|item| !item.is_hashable()).unwrap_or(key),
        key => key,
    };
    DecodeFault::new(format!("unhashable type: '{}'", inner.type_name()))
}

/// The name of the class in Python's `ast` module.
pub(crate) fn class_name(expr: &Expr) -> &'static str {
    match expr {
        Expr::BoolOp(_) => "BoolOp",
        Expr::Named(_) => "NamedExpr",
        Expr::BinOp(_) => "BinOp",
        Expr::UnaryOp(_) => "UnaryOp",
        Expr::Lambda(_) => "Lambda",
        Expr::If(_) => "IfExp",
        Expr::Dict(_) => "Dict",
        Expr::Set(_) => "Set",
        Expr::ListComp(_) => "ListComp",
        Expr::SetComp(_) => "SetComp",
        Expr::DictComp(_) => "DictComp",
        Expr::Generator(_) => "GeneratorExp",
        Expr::Await(_) => "Await",
        Expr::Yield(_) => "Yield",
        Expr::YieldFrom(_) => "YieldFrom",
        Expr::Compare(_) => "Compare",
        Expr::Call(_) => "Call",
        Expr::FString(_) => "JoinedStr",
        Expr::TString(_) => "TemplateStr",
        Expr::Attribute(_) => "Attribute",
        Expr::Subscript(_) => "Subscript",
        Expr::Starred(_) => "Starred",
        Expr::Name(_) => "Name",
        Expr::List(_) => "List",
        Expr::Tuple(_) => "Tuple",
        Expr::Slice(_) => "Slice",
        _ => "Constant",
    }
}
