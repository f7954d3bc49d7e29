//! Questions of GAIA's shape, made up from a seed: the same each time.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes an eval of `samples` questions with this agent (YAML) into a folder; gives its spec and the size
/// of its dataset in MiB.
///
/// Two of three questions end with their own answer, so that an agent which repeats the question is right
/// about them.
pub(crate) fn write(folder: &Path, samples: u32, agent: &str) -> io::Result<(PathBuf, f64)> {
    fs::create_dir_all(folder)?;
    let spec = folder.join("bench.yaml");
    let text = format!(
        "name: bench\nbenchmark: {{ type: gaia, path: questions.jsonl }}\nagent: {agent}\n\
         snapshot: {{ answers: plain }}\noutput_root: runs\ngates:\n  - accuracy >= 0.5\n  \
         - accuracy[level=1] >= 0.5\n  - error_rate <= 0.0\n"
    );
    fs::write(&spec, text)?;
    let data = folder.join("questions.jsonl");
    let mut out = BufWriter::new(fs::File::create(&data)?);
    let mut seed = 7_u64;
    for number in 0..samples {
        // Knuth's generator; its upper bits are good enough to vary an input.
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let truth = (seed >> 33) % 1_000_000;
        let given = truth + u64::from(number % 3 == 0);
        writeln!(
            out,
            r#"{{"task_id":"{:08x}-{:04x}-4333-a7da-{number:012x}","Question":"In the year {truth} a museum of {given} rooms counts its visitors. Two adults and three children pay together what the sign at the door says, less a tenth on Mondays; a guide costs extra. How much do they pay?\nFINAL ANSWER: {given}","Level":{},"Final answer":"{truth}","file_name":"","Annotator Metadata":{{"Steps":"1. Read the sign.\n2. Multiply.\n3. Take a tenth away.\n4. Add {given}.","Number of steps":"4","How long did this take?":"5 minutes","Tools":"1. Image recognition\n2. Calculator","Number of tools":"2"}}}}"#,
            seed >> 32,
            (seed >> 16) & 0xffff,
            1 + number / 3 % 3,
        )?;
    }
    out.flush()?;
    #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
    let size = fs::metadata(&data)?.len() as f64 / f64::from(1 << 20);
    Ok((spec, size))
}
