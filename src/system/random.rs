//! Unpredictable random numbers.

use std::fs::File;
use std::io::{self, Read};

/// 128 bits from the operating system, as 32 hex digits.
pub(crate) fn token() -> io::Result<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(crate::text::hash::hex(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_differ() {
        let [one, other] = [token().unwrap(), token().unwrap()];
        assert_eq!((one.len(), other.len()), (32, 32));
        assert_ne!(one, other);
    }
}
