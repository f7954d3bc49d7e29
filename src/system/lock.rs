//! `lock`: locks a mutex, ignoring poisoning.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex, even after a panic. A panicking agent or scorer must not end the whole run; users of this function
/// leave no inconsistent state when they panic.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::panics::catch;

    #[test]
    fn a_panic_does_not_keep_it() {
        let mutex = Mutex::new(1);
        let panicked = catch(|| {
            let _held = mutex.lock().unwrap();
            panic!("while it is held");
        });
        assert!(panicked.is_err() && mutex.is_poisoned());
        *lock(&mutex) += 1;
        assert_eq!(*lock(&mutex), 2);
    }
}
