//! The function-calling fixtures as tests, answered live by the demo agent.

fn main() -> evaltest::Result<evaltest::Conclusion> {
    evaltest::run([evaltest::Eval::from_yaml("fixtures/bfcl/bfcl.yaml")?])
}
