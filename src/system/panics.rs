//! Catches panics of foreign code: agents, scorers, benchmarks, a dataset reader.
//!
//! They become errors. The default hook would also print them, with arbitrary content, into the output of a test run;
//! [`quiet`] suppresses that, only for caught panics.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// Nesting depth of `catch` on this thread.
    static CATCHING: Cell<u32> = const { Cell::new(0) };
    /// Location of the last caught panic.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs `work`; a panic becomes an error with its message and, if [`quiet`] was called, its location.
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

/// Suppresses the output of caught panics for the life of the process. For programs that own the process: the test
/// harness and the command.
pub fn quiet() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |panic| {
            if CATCHING.get() == 0 {
                return usual(panic);
            }
            let place = panic.location().map(ToString::to_string);
            // A hook must not panic, so skip a cell that is already borrowed.
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
