//! Signals: INT, TERM and HUP stop a run instead of killing it, so that agents are killed and answers are saved. The
//! second signal ends everything immediately, agents first.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use crate::system::cancel::Cancel;
use crate::system::process::orphans;
use crate::system::process::{group, native};

/// The signal that arrived.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicI32>);

impl Interrupt {
    /// Whether a signal arrived.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::SeqCst) != 0
    }
}

/// Installs signal handlers that cancel, for the life of the process.
pub fn cancel_on_signals(cancel: &Cancel) -> io::Result<Interrupt> {
    let interrupt = Interrupt::default();
    // Treat a file at its size limit like a full disk instead of dying.
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGXFSZ])?;
    // `nohup` ignores it, so that the run survives its terminal.
    if !native::is_ignored(SIGHUP) {
        signals.add_signal(SIGHUP)?;
    }
    let (flag, cancel) = (interrupt.clone(), cancel.clone());
    std::thread::Builder::new()
        .name("evaltest-signals".to_owned())
        .spawn(move || {
            for signal in signals.forever().filter(|&signal| signal != SIGXFSZ) {
                if flag.0.swap(signal, Ordering::SeqCst) != 0 {
                    group::kill_all();
                    orphans::kill_all();
                    let _ = emulate_default_handler(signal);
                }
                cancel.cancel();
            }
        })?;
    Ok(interrupt)
}

/// Interrupts a child, as Ctrl-C does.
pub fn interrupt(pid: u32) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    if let Some(pid) = pid {
        // It may be gone.
        let _ = kill_process(pid, Signal::INT);
    }
}

/// Starts a program in its own process group, so that Ctrl-C does not reach it.
pub fn shield(command: &mut Command) -> &mut Command {
    command.process_group(0)
}
