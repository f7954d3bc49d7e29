//! What Python says of expressions that have no value, and the names of classes in its words.

use ruff_python_ast::Expr;

use crate::calls::Value;
use crate::calls::fault::DecodeFault;

pub(super) fn unsupported(class: &str) -> DecodeFault {
    DecodeFault::new(format!("Unsupported AST type: <class '{class}'>"))
}

/// What Python might work out, and is not worked out here.
pub(super) fn not_evaluated(message: impl Into<String>) -> DecodeFault {
    DecodeFault::limited(message, "a constant expression is not worked out here")
}

pub(super) fn unhashable(key: &Value) -> DecodeFault {
    let inner = match key {
        Value::Tuple(items) => items.iter().find(|item| !item.is_hashable()).unwrap_or(key),
        key => key,
    };
    DecodeFault::new(format!("unhashable type: '{}'", inner.type_name()))
}

/// The name of the class in Python's `ast` module.
pub(super) fn class_name(expr: &Expr) -> &'static str {
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
