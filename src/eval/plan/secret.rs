//! What of an eval is secret, and what must not be.

use std::sync::Arc;

use super::item::Packed;
use crate::error::{Error, Result};
use crate::eval::Eval;
use crate::scorer::Scorer;
use crate::text::quoted;
use crate::text::redact::Redactor;

/// Blanks the secrets of an eval's agent and of its scorers, in all that is told of it.
///
/// # Errors
/// When a pattern of the eval is none.
pub(crate) fn redactor(eval: &Eval, scorers: &[Arc<dyn Scorer>]) -> Result<Redactor> {
    let mut secrets = eval.secrets.clone();
    secrets.extend(eval.agent.secrets());
    secrets.extend(scorers.iter().flat_map(Scorer::secrets));
    let mut variables = eval.agent.secret_variables();
    variables.extend(scorers.iter().flat_map(Scorer::secret_variables));
    Redactor::with_variables(&eval.redact, &secrets, &variables)
}

/// An error of an eval that cannot be loaded, without what is secret: a dataset may hold it, or a server repeat it.
pub(super) fn clean(eval: &Eval, error: Error) -> Error {
    match redactor(eval, &super::scorers(eval)) {
        Ok(redactor) => redactor.error(error),
        Err(_) => error,
    }
}

/// Refuses samples whose names hold a secret: they are names of tests and of files, and cannot be blanked.
pub(super) fn check_names(redactor: &Redactor, items: &[Packed]) -> Result<()> {
    let mut all = items.iter().enumerate().flat_map(|(place, item)| {
        let id = std::iter::once(("id", &*item.id));
        let slices = item.slices.iter();
        let slices = slices.map(|(dimension, value)| (&**dimension, &**value));
        id.chain(slices)
            .map(move |(what, name)| (place, what, name))
    });
    let is_secret = |name: &str| redactor.text(name, &mut 0) != name;
    let Some((place, what, name)) = all.find(|(_, _, name)| is_secret(name)) else {
        return Ok(());
    };
    let name = redactor.text(name, &mut 0);
    let message = format!(
        "the {what} of sample {} holds a secret: `{}`",
        place + 1,
        name.escape_debug()
    );
    let hint = "call it otherwise, for it is the name of a test and of a file; if it is the value of a variable and no \
                secret, name that in `plain_env:`";
    Err(Error::usage(message).hint(hint))
}

/// Says whose values were blanked in more than one sample.
pub(super) fn often_blanked(redactor: &Redactor) -> Option<String> {
    let names = redactor.often_blanked();
    let first = names.first()?;
    Some(format!(
        "the value of {} was blanked in more than one sample: if it is no secret, write `plain_env: [{first}]` beside `env:`",
        quoted(names.iter().map(String::as_str))
    ))
}
