//! The effects of options, and the errors for wrong ones.

use super::*;

#[test]
fn fingerprints_hold_all_that_changes_a_verdict() {
    let specs = [
        json!({"type": "all", "scorers": ["gaia"]}),
        json!({"type": "all", "scorers": ["gaia", "gaia"]}),
        json!({"type": "all", "scorers": ["length", "gaia"]}),
        json!({"type": "all", "scorers": ["gaia", "length"]}),
        json!({"type": "any", "scorers": ["gaia", "length"]}),
        json!({"type": "weighted", "scorers": ["gaia", "length"]}),
        json!({"type": "weighted", "scorers": ["gaia", "length"], "threshold": 0.6}),
        json!({"type": "weighted", "scorers": ["gaia", "length"], "weights": [1, 2]}),
        json!({"type": "not", "scorer": "gaia"}),
        json!({"type": "any_of", "scorer": "gaia"}),
        json!({"type": "any_of", "scorer": "length"}),
        json!({"type": "list", "scorer": "gaia"}),
        json!({"type": "list", "ordered": false}),
        json!({"type": "list", "separator": ";"}),
        json!({"type": "list", "scorer": "length"}),
    ];
    let fingerprint = |spec: &Value| scorer(spec).unwrap().fingerprint();
    let all: HashSet<String> = specs.iter().map(fingerprint).collect();
    assert_eq!(all.len(), specs.len(), "{all:?}");
    // Explicit defaults make no difference.
    let same = |one: Value, other: Value| assert_eq!(fingerprint(&one), fingerprint(&other));
    same(
        json!("any_of"),
        json!({"type": "any_of", "scorer": "gaia", "name": "x"}),
    );
    same(
        json!("list"),
        json!({"type": "list", "ordered": true, "separator": ",", "scorer": null}),
    );
    // The extraction of a part counts: nothing else hashes it if the parts differ.
    let with = |extract: fn() -> Extract| {
        struct With(fn() -> Extract);
        impl Scorer for With {
            fn name(&self) -> &'static str {
                "with"
            }
            fn score(&self, _: &Answer<'_>) -> Result<Score> {
                Ok(Score::binary(true))
            }
            fn extract(&self) -> Option<Extract> {
                Some((self.0)())
            }
        }
        All::new([Arc::new(With(extract)), Arc::new(GaiaScorer)]).fingerprint()
    };
    assert_ne!(with(Extract::boxed), with(Extract::number));
}

#[test]
fn wrong_options_are_named() {
    check_error(
        &json!({"type": "all"}),
        "",
        "",
        "scorer `all` needs the option `scorers`, a list of scorers\n\nhint: write `{ type: all, scorers: … }`",
    );
    check_error(
        &json!({"type": "any", "scorers": []}),
        "",
        "",
        "scorer `any` needs the option `scorers`, a list of scorers\n\nhint: write `{ type: any, scorers: … }`",
    );
    check_error(
        &json!({"type": "not", "scorer": {"type": "list", "ordered": 1}}),
        "",
        "",
        "scorer `not`, option `scorer`: scorer `list`, option `ordered`: `1` is not true or false",
    );
    check_error(
        &json!({"type": "not", "scorers": "gaia"}),
        "",
        "",
        "scorer `not`: unknown option `scorers`, expected one of `scorer`\n\nhint: did you mean `scorer`?",
    );
    for weights in [
        json!([1]),
        json!([1, -1]),
        json!([0, 0]),
        json!(["1", 1]),
        json!(1),
        json!([1e308, 1e308]),
    ] {
        let message = format!(
            "scorer `weighted`, option `weights`: `{weights}` is not a list of 2 numbers from 0, not all 0"
        );
        let spec = json!({"type": "weighted", "scorers": ["gaia", "length"], "weights": weights});
        check_error(&spec, "", "", &message);
    }
    check_error(
        &json!({"type": "weighted", "scorers": ["gaia"], "threshold": 2}),
        "",
        "",
        "scorer `weighted`, option `threshold`: `2` is not a number from 0 to 1",
    );
    let error = Weighted::new([(f64::NAN, Arc::new(GaiaScorer))]).err();
    assert_eq!(
        error.map(|error| error.to_string()).as_deref(),
        Some(
            "[NaN] are not valid weights for scorer `weighted`\n\nhint: use numbers from 0, not all 0"
        ),
    );
}
