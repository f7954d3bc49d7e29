//! When `ast.unparse` writes parentheses.

use ruff_python_ast::{BoolOp, Expr, Operator, UnaryOp};

/// How tightly an expression must bind to stand without parentheses, loosest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Precedence {
    Named,
    Tuple,
    Yield,
    Test,
    Or,
    And,
    Not,
    Compare,
    BitOr,
    BitXor,
    BitAnd,
    Shift,
    Sum,
    Term,
    Factor,
    Power,
    Await,
    Atom,
}

impl Precedence {
    const ALL: [Self; 18] = [
        Self::Named,
        Self::Tuple,
        Self::Yield,
        Self::Test,
        Self::Or,
        Self::And,
        Self::Not,
        Self::Compare,
        Self::BitOr,
        Self::BitXor,
        Self::BitAnd,
        Self::Shift,
        Self::Sum,
        Self::Term,
        Self::Factor,
        Self::Power,
        Self::Await,
        Self::Atom,
    ];

    pub(crate) fn next(self) -> Self {
        let next = self as usize + 1;
        Self::ALL.get(next).copied().unwrap_or(Self::Atom)
    }

    /// Of an expression, if it ever needs parentheses.
    pub(crate) fn of(expr: &Expr) -> Option<Self> {
        match expr {
            Expr::Named(_) => Some(Self::Named),
            Expr::Yield(_) | Expr::YieldFrom(_) => Some(Self::Yield),
            Expr::If(_) | Expr::Lambda(_) => Some(Self::Test),
            Expr::BoolOp(node) if node.op == BoolOp::Or => Some(Self::Or),
            Expr::BoolOp(_) => Some(Self::And),
            Expr::UnaryOp(node) if node.op == UnaryOp::Not => Some(Self::Not),
            Expr::UnaryOp(_) => Some(Self::Factor),
            Expr::Compare(_) => Some(Self::Compare),
            Expr::BinOp(node) => Some(Self::of_operator(node.op)),
            Expr::Await(_) => Some(Self::Await),
            Expr::Tuple(tuple) if !tuple.elts.is_empty() => Some(Self::Tuple),
            _ => None,
        }
    }

    pub(crate) fn of_operator(op: Operator) -> Self {
        match op {
            Operator::BitOr => Self::BitOr,
            Operator::BitXor => Self::BitXor,
            Operator::BitAnd => Self::BitAnd,
            Operator::LShift | Operator::RShift => Self::Shift,
            Operator::Add | Operator::Sub => Self::Sum,
            Operator::Mult
            | Operator::MatMult
            | Operator::Div
            | Operator::Mod
            | Operator::FloorDiv => Self::Term,
            Operator::Pow => Self::Power,
        }
    }
}
