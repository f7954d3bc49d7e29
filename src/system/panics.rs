//! Panics of code that is not ours: agents, scorers, benchmarks, a dataset reader.
//!
//! They are caught and become errors. The default hook would print them as well, with whatever the message
//! holds, in the middle of a test run's output; [`quiet`] keeps it from doing so, and only for those.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// How many of our `catch` calls this thread is in.
    static CATCHING: Cell<u32> = const { Cell::new(0) };
    /// Where the last caught panic happened.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs `work`; a panic is an error that says what and, if [`quiet`] was called, where.
pub(crate) fn catch<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    CATCHING.set(CATCHING.get() + 1);
    let done = catch_unwind(AssertUnwindSafe(work));
    CATCHING.set(CATCHING.get() - 1);
    done.map_err(|payload| {
        let message = message(&*payload);
        match PLACE.take() {
            Some(place) => format!("panicked at {place}: {message}"),
            None => format!("panicked: {message}"),
        }
    })
}

/// The text of a panic.
fn message(payload: &(dyn Any + Send)) -> &str {
    payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("(no message)")
}

/// Has caught panics print nothing, for the life of the process. All others print as before. For programs
/// that own the process: the test harness and the command.
pub fn quiet() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |panic| {
            if CATCHING.get() == 0 {
                return usual(panic);
            }
            let place = panic.location().map(ToString::to_string);
            // Nothing in a hook may panic, so a slot that is in use stays as it is.
            PLACE
                .with(|slot| slot.try_borrow_mut().map(|mut slot| *slot = place))
                .unwrap_or_default();
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error() {
        assert_eq!(catch(|| 1), Ok(1));
        let caught = catch(|| panic!("no {}", "way")).unwrap_err();
        assert!(
            caught.starts_with("panicked") && caught.ends_with("no way"),
            "{caught}"
        );
    }
}
