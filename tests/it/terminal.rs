//! A terminal for commands that show something else there than in a pipe.

use std::process::Command;

/// Runs a command on a terminal of this width and writes on what it shows there.
const SCRIPT: &str = r#"
import fcntl, os, pty, struct, subprocess, sys, termios
ours, theirs = pty.openpty()
fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(sys.argv[1]), 0, 0))
child = subprocess.Popen(sys.argv[2:], stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
os.close(theirs)
while True:
    try:
        data = os.read(ours, 65536)
    except OSError:
        break
    if not data:
        break
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
child.wait()
"#;

/// What a command shows on a terminal that is so wide; needs `python3`.
pub(crate) fn on_terminal(command: &Command, width: usize) -> String {
    let mut python = Command::new("python3");
    python
        .args(["-c", SCRIPT, &width.to_string()])
        .arg(command.get_program())
        .args(command.get_args())
        .env("TERM", "xterm");
    if let Some(folder) = command.get_current_dir() {
        python.current_dir(folder);
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => python.env(name, value),
            None => python.env_remove(name),
        };
    }
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        python.env_remove(name);
    }
    let output = python.output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}
