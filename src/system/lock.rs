//! `lock`: a mutex whose holder panicked is taken all the same.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks. An agent or a scorer that panics must not end the whole run; whoever uses this leaves nothing half changed
/// that matters when it panics.
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
