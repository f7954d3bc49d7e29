//! The GAIA-shaped fixtures as tests, answered live by the demo agent.

fn main() -> evaltest::Result<evaltest::Conclusion> {
    evaltest::run(evaltest::Eval::all_from_yaml("fixtures/gaia/gaia.yaml")?)
}
