//! Switches the shortcuts off, for tests.

use std::cell::Cell;
use std::fmt::Debug;

thread_local! {
    static IS_ON: Cell<bool> = const { Cell::new(true) };
}

pub(super) fn is_on() -> bool {
    IS_ON.get()
}

/// Runs `work` without the shortcuts.
pub(super) fn without<T>(work: impl FnOnce() -> T) -> T {
    /// Runs also after a panic: a thread may run several tests.
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

/// The result with the shortcuts, which must display the same as the one without them.
pub(crate) fn both_ways<T, S: Debug + PartialEq>(
    work: impl Fn() -> T,
    show: impl Fn(&T) -> S,
) -> T {
    let result = work();
    let expect = without(&work);
    assert_eq!(show(&result), show(&expect));
    result
}
