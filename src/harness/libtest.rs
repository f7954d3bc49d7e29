//! Flags of the real libtest that libtest-mimic rejects.
//!
//! IDEs, nextest and Bazel pass them, and cannot run a test binary that refuses them. They are removed without effect,
//! except several filters, which select what any of them selects.

/// Arguments split into those for libtest-mimic and our own.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Args {
    /// For libtest-mimic.
    pub(super) rest: Vec<String>,
    /// Positional filters.
    pub(super) filters: Vec<String>,
    /// `RUST_TEST_THREADS`, unless `--test-threads` is given.
    pub(super) threads: Option<usize>,
}

/// Flags with a separate value.
const VALUED: [&str; 5] = [
    "--test-threads",
    "--logfile",
    "--skip",
    "--color",
    "--format",
];
/// Flags of libtest that have no effect here.
const DROPPED: [&str; 7] = [
    "--report-time",
    "--ensure-time",
    "--shuffle",
    "--no-capture",
    "--exclude-should-panic",
    "--force-run-in-process",
    "--fail-fast",
];

/// Splits the arguments; an error is a message for people.
pub(super) fn parse(
    arguments: impl Iterator<Item = String>,
    rust_test_threads: Option<String>,
) -> Result<Args, String> {
    let mut args = Args::default();
    let mut arguments = arguments.peekable();
    let mut threads_given = false;
    while let Some(argument) = arguments.next() {
        let name = argument.split('=').next().unwrap_or_default();
        if argument == "--" {
            args.filters.extend(arguments.by_ref());
        } else if DROPPED.contains(&name) {
        } else if name == "--shuffle-seed" {
            if !argument.contains('=') {
                arguments.next();
            }
        } else if VALUED.contains(&name) || name == "-Z" {
            threads_given |= name == "--test-threads";
            let separate = argument == name;
            args.rest.push(argument);
            args.rest
                .extend(separate.then(|| arguments.next()).flatten());
        } else if argument.starts_with('-') && argument.len() > 1 {
            args.rest.push(argument);
        } else {
            args.filters.push(argument);
        }
    }
    if let Some(text) = rust_test_threads.filter(|_| !threads_given) {
        let threads = text.parse().ok().filter(|&threads| threads > 0);
        args.threads = Some(
            threads
                .ok_or_else(|| format!("RUST_TEST_THREADS is `{text}`, not a number above 0"))?,
        );
    }
    Ok(args)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(arguments: &str, rest: &[&str], filters: &[&str]) {
        let args = parse(arguments.split_whitespace().map(str::to_owned), None).unwrap();
        assert_eq!(args.rest, rest, "{arguments}");
        assert_eq!(args.filters, filters, "{arguments}");
    }

    #[test]
    fn sorts_what_mimic_knows_from_what_it_does_not() {
        check("a b --exact", &["--exact"], &["a", "b"]);
        check(
            "--skip a --test-threads 4 b",
            &["--skip", "a", "--test-threads", "4"],
            &["b"],
        );
        check(
            "--report-time=plain --no-capture --shuffle-seed 3 -q",
            &["-q"],
            &[],
        );
        check(
            "--format=json -Z unstable-options",
            &["--format=json", "-Z", "unstable-options"],
            &[],
        );
        check("-- -a", &[], &["-a"]);
    }

    #[test]
    fn the_variable_counts_unless_the_flag_is_given() {
        let parse = |arguments: &str, value: &str| {
            super::parse(
                arguments.split_whitespace().map(str::to_owned),
                Some(value.to_owned()),
            )
        };
        assert_eq!(parse("", "3").unwrap().threads, Some(3));
        assert_eq!(parse("--test-threads=2", "3").unwrap().threads, None);
        assert!(parse("", "0").is_err());
        assert!(parse("", "x").is_err());
    }
}
