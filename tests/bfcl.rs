//! The function-calling fixtures as tests, with recorded answers.

fn main() -> evaltest::Result<evaltest::Conclusion> {
    evaltest::run([evaltest::Eval::from_yaml("fixtures/bfcl/bfcl.yaml")?])
}
