//! Switches the folder off, for tests.

use std::cell::Cell;
use std::fmt::Debug;

thread_local! {
    static IS_ON: Cell<bool> = const { Cell::new(true) };
}

pub(super) fn is_on() -> bool {
    IS_ON.get()
}

/// Does something without the shortcuts.
pub(super) fn without<T>(work: impl FnOnce() -> T) -> T {
    /// Also after a panic: a thread may have several tests.
    struct SwitchOn;
    impl Drop for SwitchOn {
        fn drop(&mut self) {
            IS_ON.set(true);
        }
    }
    let _on = SwitchOn;
    IS_ON.set(false);
    work()
}

/// What comes of it with the shortcuts, which has to show the same as what comes of it without them.
pub(crate) fn both_ways<T, S: Debug + PartialEq>(
    work: impl Fn() -> T,
    show: impl Fn(&T) -> S,
) -> T {
    let result = work();
    let expect = without(&work);
    assert_eq!(show(&result), show(&expect));
    result
}
