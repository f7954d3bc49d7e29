//! Selects the implementation for Linux, or the one for all other systems.
//!
//! A debug build on Linux has both, so that the portable one can be tested without another build:
//! `EVALTEST_PORTABLE=1 cargo test`.

#[cfg(all(target_os = "linux", debug_assertions))]
use std::sync::LazyLock;

/// Whether to use the portable implementation on Linux, for tests.
#[cfg(all(target_os = "linux", debug_assertions))]
pub(super) fn is_portable() -> bool {
    static IS_PORTABLE: LazyLock<bool> =
        LazyLock::new(|| std::env::var_os("EVALTEST_PORTABLE").is_some_and(|value| value == "1"));
    *IS_PORTABLE
}

/// Functions implemented by two modules: the first for Linux, the second for all other systems.
macro_rules! by_platform {
    ($linux:ident, $other:ident; $(
        $(#[$doc:meta])* $vis:vis fn $name:ident($($argument:ident: $type:ty),*) $(-> $returned:ty)?;
    )*) => {$(
        $(#[$doc])*
        $vis fn $name($($argument: $type),*) $(-> $returned)? {
            #[cfg(all(target_os = "linux", debug_assertions))]
            if $crate::system::platform::is_portable() {
                return $other::$name($($argument),*);
            }
            #[cfg(target_os = "linux")]
            return $linux::$name($($argument),*);
            #[cfg(not(target_os = "linux"))]
            $other::$name($($argument),*)
        }
    )*};
}
pub(super) use by_platform;
