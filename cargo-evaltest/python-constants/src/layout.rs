//! `format(value, spec)`, f-strings of constants, and `'{}'.format(…)`.

use ruff_python_ast::{ConversionFlag, ExprFString, FStringPart, InterpolatedStringElement};

use super::arithmetic::{spend, too_large};
use super::conversions::written;
use super::evaluate::Evaluator;
use super::fault::not_evaluated;
use super::fault::{DecodeFault, DecodeResult};
use super::half;
use super::text::py_repr_float;
use super::value::Value;
use super::{literal, percent};

/// Widths and precisions beyond this are refused.
const MAX_WIDTH: usize = 1 << 16;

impl Evaluator<'_> {
    /// The text of an f-string.
    pub(crate) fn interpolated(&mut self, node: &ExprFString, depth: usize) -> DecodeResult<Value> {
        let mut out = String::new();
        for part in node.value.as_slice() {
            match part {
                FStringPart::Literal(part) => out += &literal::text(part, self.source()),
                FStringPart::FString(part) => {
                    for element in &part.elements {
                        self.element(element, depth, &mut out)?;
                    }
                }
            }
        }
        Ok(Value::Str(out))
    }

    fn element(
        &mut self,
        element: &InterpolatedStringElement,
        depth: usize,
        out: &mut String,
    ) -> DecodeResult<()> {
        let field = match element {
            InterpolatedStringElement::Literal(text) => {
                // The parser has lost what half of a surrogate pair stood here.
                if text.value.contains(char::REPLACEMENT_CHARACTER) {
                    return Err(not_evaluated(
                        "such an escape is not evaluated in an f-string",
                    ));
                }
                *out += &half::encode(&text.value);
                return Ok(());
            }
            InterpolatedStringElement::Interpolation(field) => field,
        };
        let value = self.value(&field.expression, depth)?;
        if let Some(debug) = &field.debug_text {
            let text = [debug.leading(), debug.expression(), debug.trailing()].concat();
            *out += &half::encode(&text);
        }
        let mut spec = String::new();
        for element in field.format_spec.iter().flat_map(|spec| &spec.elements) {
            self.element(element, depth, &mut spec)?;
        }
        let has_debug = field.debug_text.is_some() && field.format_spec.is_none();
        let value = match field.conversion {
            ConversionFlag::Ascii => return Err(not_evaluated("`!a` is not evaluated")),
            ConversionFlag::Repr => Value::Str(written(&value)?),
            ConversionFlag::None if has_debug => Value::Str(written(&value)?),
            ConversionFlag::Str => Value::Str(format(&value, "", &mut self.fuel)?),
            ConversionFlag::None => value,
        };
        *out += &format(&value, &spec, &mut self.fuel)?;
        Ok(())
    }
}

/// What stands in front of the digits, the digits, whether there is a minus, and how many digits make a group.
type Digits = (&'static str, String, bool, usize);

struct FormatSpec<'a> {
    fill: &'a str,
    align: Option<char>,
    sign: Option<char>,
    /// What rounds to zero has no minus.
    positive_zero: bool,
    alternate: bool,
    width: usize,
    grouping: Option<char>,
    precision: Option<usize>,
    kind: Option<char>,
}

/// Python's `format(value, spec)`.
pub(crate) fn format(value: &Value, spec: &str, fuel: &mut u64) -> DecodeResult<String> {
    if spec.is_empty() {
        return match value {
            Value::Str(text) => Ok(text.clone()),
            value => written(value),
        };
    }
    let spec = FormatSpec::read(spec, matches!(value, Value::Str(_)))?;
    spend(fuel, (spec.width + spec.precision.unwrap_or(0)) as u64)?;
    match value {
        Value::Str(text) => spec.text(text),
        Value::Int(_) | Value::Bool(_) | Value::Float(_) => spec.number(value),
        Value::Complex(..) => Err(not_evaluated("such a format is not evaluated")),
        other => {
            let class = other.type_name();
            Err(DecodeFault::new(format!(
                "unsupported format string passed to {class}.__format__"
            )))
        }
    }
}

impl<'a> FormatSpec<'a> {
    fn read(text: &'a str, is_for_text: bool) -> DecodeResult<Self> {
        let is_align = |c: char| matches!(c, '<' | '>' | '=' | '^');
        // What fills is one letter for Python, and may be kept as two.
        let length = half::letters(text).next().map_or(0, str::len);
        let (first, second) = (text.chars().next(), text[length..].chars().next());
        let mut spec = Self {
            fill: " ",
            align: None,
            sign: None,
            positive_zero: false,
            alternate: false,
            width: 0,
            grouping: None,
            precision: None,
            kind: None,
        };
        let mut rest = text;
        let mut has_fill = false;
        if let Some(align) = second.filter(|&c| is_align(c)) {
            spec.fill = &text[..length];
            has_fill = true;
            spec.align = Some(align);
            rest = &text[length + 1..];
        } else if let Some(align) = first.filter(|&c| is_align(c)) {
            spec.align = Some(align);
            rest = &text[1..];
        }
        let mut take = |signs: &[char]| {
            let c = rest.chars().next().filter(|c| signs.contains(c))?;
            rest = &rest[1..];
            Some(c)
        };
        spec.sign = take(&['+', '-', ' ']);
        spec.positive_zero = take(&['z']).is_some();
        spec.alternate = take(&['#']).is_some();
        // A zero in front of the width fills, and puts the sign of a number first if nothing else is said.
        if take(&['0']).is_some() && !has_fill {
            spec.fill = "0";
            if !is_for_text {
                spec.align.get_or_insert('=');
            }
        }
        (spec.width, rest) = number(rest)?;
        if let Some(after) = rest.strip_prefix([',', '_']) {
            spec.grouping = rest.chars().next();
            rest = after;
        }
        if let Some(after) = rest.strip_prefix('.') {
            let (precision, after_digits) = number(after)?;
            if after_digits.len() == after.len() {
                return Err(DecodeFault::new("Format specifier missing precision"));
            }
            spec.precision = Some(precision);
            rest = after_digits;
        }
        let mut chars = rest.chars();
        spec.kind = chars.next();
        if chars.next().is_some() {
            return Err(DecodeFault::new("Invalid format specifier"));
        }
        Ok(spec)
    }

    fn text(&self, text: &str) -> DecodeResult<String> {
        let is_text = matches!(self.kind, None | Some('s'));
        let has_number = self.sign.is_some() || self.positive_zero || self.alternate;
        if !is_text || has_number || self.grouping.is_some() {
            return Err(DecodeFault::new("unknown format for a text"));
        }
        let align = match self.align {
            Some('=') => {
                return Err(DecodeFault::new(
                    "'=' alignment not allowed in string format specifier",
                ));
            }
            align => align.unwrap_or('<'),
        };
        let text: String = match self.precision {
            Some(precision) => half::letters(text).take(precision).collect(),
            None => text.to_owned(),
        };
        Ok(self.pad("", &text, align))
    }

    fn number(&self, value: &Value) -> DecodeResult<String> {
        let kind = match (self.kind, value) {
            (Some(kind), _) => kind,
            (None, Value::Float(_)) => '\0',
            (None, _) => 'd',
        };
        let is_whole = !matches!(value, Value::Float(_))
            && matches!(kind, 'b' | 'c' | 'd' | 'n' | 'o' | 'x' | 'X');
        if is_whole && self.positive_zero {
            return Err(DecodeFault::new(
                "Negative zero coercion (z) not allowed in integer format specifier",
            ));
        }
        let upper = kind.is_ascii_uppercase();
        let (prefix, digits, is_negative, group) = match (kind, value) {
            ('d' | 'b' | 'o' | 'x' | 'X', Value::Int(_) | Value::Bool(_)) => {
                self.whole(kind, value)?
            }
            ('d' | 'b' | 'o' | 'x' | 'X' | 'c' | 's', Value::Float(_)) | ('s', _) => {
                return Err(unknown_code());
            }
            ('e' | 'E' | 'f' | 'F' | 'g' | 'G' | '%' | '\0', _) => self.float(kind, value)?,
            ('c' | 'n', _) => return Err(not_evaluated("such a format is not evaluated")),
            _ => return Err(unknown_code()),
        };
        let mut digits = if upper { digits.to_uppercase() } else { digits };
        if let Some(mark) = self.grouping {
            let is_other_base = group == 4;
            if mark == ',' && is_other_base {
                return Err(DecodeFault::new("Cannot specify ',' with this format code"));
            }
            if self.align == Some('=') && self.fill == "0" && self.width > 0 {
                return Err(not_evaluated(
                    "groups of digits behind zeros are not evaluated",
                ));
            }
            digits = grouped(&digits, mark, group);
        }
        let sign = match (is_negative, self.sign) {
            (true, _) => "-",
            (false, Some('+')) => "+",
            (false, Some(' ')) => " ",
            _ => "",
        };
        Ok(self.pad(
            &format!("{sign}{prefix}"),
            &digits,
            self.align.unwrap_or('>'),
        ))
    }

    /// An integer without its sign.
    fn whole(&self, kind: char, value: &Value) -> DecodeResult<Digits> {
        if self.precision.is_some() {
            return Err(DecodeFault::new(
                "Precision not allowed in integer format specifier",
            ));
        }
        let int = value.as_integer().ok_or_else(unknown_code)?;
        let (radix, prefix, group) = match kind {
            'b' => (2, "0b", 4),
            'o' => (8, "0o", 4),
            'x' => (16, "0x", 4),
            'X' => (16, "0X", 4),
            _ => (10, "", 3),
        };
        let text = if radix == 10 {
            int.to_text().ok_or_else(too_large)?
        } else {
            int.big().to_str_radix(radix)
        };
        let is_negative = text.starts_with('-');
        let digits = text.trim_start_matches('-').to_owned();
        let prefix = if self.alternate { prefix } else { "" };
        Ok((prefix, digits, is_negative, group))
    }

    /// A number as a float, without its sign.
    fn float(&self, kind: char, value: &Value) -> DecodeResult<Digits> {
        if self.alternate {
            return Err(not_evaluated("`#` is not evaluated for a float"));
        }
        let float = match value {
            Value::Float(float) => *float,
            other => {
                let int = other.as_integer().ok_or_else(unknown_code)?;
                int.to_f64()
                    .ok_or_else(|| DecodeFault::new("int too large to convert to float"))?
            }
        };
        let text = match (kind, self.precision) {
            _ if float.is_nan() => "nan".to_owned(),
            _ if float.is_infinite() => if kind == '%' { "inf%" } else { "inf" }.to_owned(),
            ('\0', None) => py_repr_float(float.abs()),
            ('\0', Some(precision)) => {
                let text = percent::general(float.abs(), precision, false);
                // A float is told from an integer.
                if text.contains(['.', 'e']) {
                    text
                } else {
                    with_point(&text, precision, float)
                }
            }
            ('e' | 'E', precision) => percent::exponent(float.abs(), precision.unwrap_or(6)),
            ('f' | 'F', precision) => format!("{:.*}", precision.unwrap_or(6), float.abs()),
            ('%', precision) => {
                format!("{:.*}%", precision.unwrap_or(6), float.abs() * 100.0)
            }
            (_, precision) => percent::general(float.abs(), precision.unwrap_or(6), false),
        };
        let is_zero = float.is_finite() && {
            let digits = text.split('e').next().unwrap_or_default();
            !digits.contains(|c: char| matches!(c, '1'..='9'))
        };
        let is_negative =
            float.is_sign_negative() && !float.is_nan() && !(self.positive_zero && is_zero);
        Ok(("", text, is_negative, 3))
    }

    fn pad(&self, sign: &str, text: &str, align: char) -> String {
        let missing = self.width.saturating_sub(sign.len() + half::count(text));
        let fill = |count: usize| self.fill.repeat(count);
        match align {
            '<' => format!("{sign}{text}{}", fill(missing)),
            '>' => format!("{}{sign}{text}", fill(missing)),
            '=' => format!("{sign}{}{text}", fill(missing)),
            _ => format!(
                "{}{sign}{text}{}",
                fill(missing / 2),
                fill(missing - missing / 2)
            ),
        }
    }
}

fn unknown_code() -> DecodeFault {
    DecodeFault::new("unknown format code")
}

/// `5` as a float is `5.0`, unless the precision has no room for it.
fn with_point(text: &str, precision: usize, float: f64) -> String {
    if text.len() < precision.max(1) {
        format!("{text}.0")
    } else {
        percent::without_zeros(&percent::exponent(float.abs(), precision.max(1) - 1))
    }
}

/// Digits in groups, up to the point.
fn grouped(digits: &str, mark: char, size: usize) -> String {
    let end = digits
        .find(|c: char| !c.is_ascii_alphanumeric())
        .unwrap_or(digits.len());
    let end = if size == 3 {
        digits
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(digits.len())
    } else {
        end
    };
    let mut out = String::new();
    for (place, c) in digits[..end].chars().enumerate() {
        if place > 0 && (end - place).is_multiple_of(size) {
            out.push(mark);
        }
        out.push(c);
    }
    out + &digits[end..]
}

fn number(text: &str) -> DecodeResult<(usize, &str)> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = &text[..text.len() - rest.len()];
    if digits.is_empty() {
        return Ok((0, rest));
    }
    let number = digits.parse().ok().filter(|&number| number <= MAX_WIDTH);
    Ok((number.ok_or_else(too_large)?, rest))
}
