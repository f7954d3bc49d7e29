//! What judges will be asked, in words, before they are.

use evaltest::engine::figure::Usd;
use evaltest::engine::run::rescore::Foreseen;

/// What these judges will be asked; `each` says how often for each answer, where that is not once.
pub(super) fn told(foreseen: &Foreseen, judges: &str, each: &str) -> String {
    let Foreseen {
        calls,
        stored,
        most_calls,
        most_usd,
        ..
    } = foreseen;
    if *calls == 0 {
        return format!("{judges} said everything before: nobody is asked");
    }
    let before = match stored {
        0 => String::new(),
        _ => format!(", beside {stored} replies that are there already"),
    };
    let cost = match most_usd {
        Some(usd) => format!("at most {}", Usd(*usd)),
        None => "nobody knows at what cost: the judge's agent needs a `price` and `max_tokens`"
            .to_owned(),
    };
    format!(
        "{judges} is asked {calls} times{each}, and at most {most_calls} where replies cannot be read at first{before}; \
         {cost}"
    )
}
