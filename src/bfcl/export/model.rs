//! `Model`: the model's description in the leaderboard's tables.

use crate::error::{Error, Result, nearest};

/// A model as described in the official program's registry. Only the name is required.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Its name in the registry, such as `meta-llama/Llama-3.1-8B-Instruct-FC`.
    pub name: String,
    /// Its name in tables; the registry name if not set.
    pub display_name: Option<String>,
    /// URL of a page about it.
    pub url: Option<String>,
    /// Its vendor.
    pub organization: Option<String>,
    /// Its licence.
    pub license: Option<String>,
    /// US dollars per million input tokens.
    pub input_price: Option<f64>,
    /// US dollars per million output tokens.
    pub output_price: Option<f64>,
}

const FIELDS: [&str; 6] = [
    "display_name",
    "url",
    "organization",
    "license",
    "input_price",
    "output_price",
];

impl Model {
    /// A model with this name only.
    ///
    /// # Errors
    /// If the name cannot be used as a folder name.
    pub fn new(name: impl Into<String>) -> Result<Self> {
        let name = name.into();
        if name.trim().is_empty()
            || name.starts_with('.')
            || name.contains(is_odd)
            || name.contains('\\')
        {
            return Err(Error::usage(format!(
                "`{}` cannot be the name of a model",
                name.escape_debug()
            ))
            .hint("name it as the official program does: `--model-name gpt-4o-2024-11-20-FC`"));
        }
        Ok(Self {
            name,
            display_name: None,
            url: None,
            organization: None,
            license: None,
            input_price: None,
            output_price: None,
        })
    }

    /// Sets a field from `key=value`.
    pub fn set(&mut self, pair: &str) -> Result<()> {
        let (key, value) = pair.split_once('=').ok_or_else(|| {
            Error::usage(format!("`{pair}` is not `KEY=VALUE`"))
                .hint(format!("keys: `{}`", FIELDS.join("`, `")))
        })?;
        if value.contains(is_odd) {
            return Err(Error::usage(format!(
                "a value in a table cannot contain a comma or a line break: `{}`",
                pair.escape_debug()
            )));
        }
        let text = || Some(value.to_owned());
        let price = || match value.parse::<f64>() {
            Ok(price) if price.is_finite() && price >= 0.0 => Ok(Some(price)),
            _ => Err(Error::usage(format!("`{key}` is not a price: `{value}`"))
                .hint("write US dollars per million tokens: `input_price=2.5`")),
        };
        match key {
            "display_name" => self.display_name = text(),
            "url" => self.url = text(),
            "organization" => self.organization = text(),
            "license" => self.license = text(),
            "input_price" => self.input_price = price()?,
            "output_price" => self.output_price = price()?,
            _ => {
                let error = Error::usage(format!("a model has no field `{key}`"));
                return Err(match nearest(key, FIELDS) {
                    Some(near) => error.hint(format!("did you mean `{near}`?")),
                    None => error.hint(format!("fields: `{}`", FIELDS.join("`, `"))),
                });
            }
        }
        Ok(())
    }

    /// Name of its folder, without `/`.
    pub fn folder(&self) -> String {
        self.name.replace('/', "_")
    }

    /// Its name in tables.
    pub fn display_name(&self) -> &str {
        self.display_name.as_deref().unwrap_or(&self.name)
    }
}

/// Characters that would break a table, whose cells are not quoted.
fn is_odd(c: char) -> bool {
    c.is_control() || c == ','
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_becomes_a_folder() {
        let folder = |name: &str| Model::new(name).map(|model| model.folder());
        assert_eq!(folder("a/b-FC").unwrap(), "a_b-FC");
        for name in ["", " ", ".", "..", "../x", "a\\b", "a\nb", "a\0", "a,b"] {
            assert!(folder(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn fields_are_checked() {
        let mut model = Model::new("m").unwrap();
        model.set("display_name=The = Model").unwrap();
        assert_eq!(model.display_name(), "The = Model");
        let check = |pair: &str, expect: &str| {
            let error = Model::new("m").unwrap().set(pair).unwrap_err();
            assert!(error.to_string().contains(expect), "{error}");
        };
        check("url", "`url` is not `KEY=VALUE`");
        check("licence=MIT", "did you mean `license`?");
        check("input_price=-1", "is not a price: `-1`");
        check("input_price=NaN", "is not a price");
        check("url=a,b", "cannot contain a comma");
    }
}
