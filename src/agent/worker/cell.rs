//! The sandbox of a process, and how the files of its tasks get into it.
//!
//! A process in a sandbox sees one changing folder of the outside: its own. The attachments of a task are copied there
//! during the task, so that processes do not see each other's.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::agent::command::Input;
use crate::agent::command::absolute;
use crate::agent::program::{Confinement, Program};
use crate::data::{AgentError, FailureKind, Task, TaskFile};
use crate::system;
use crate::system::process::launch::NotStarted;
use crate::system::process::worker::WorkerProcess;
use crate::system::sandbox::{Inmate, Sandbox, Used};

/// Variables of a process.
type Vars = BTreeMap<OsString, OsString>;

/// Starts a process.
pub(in crate::agent) type Begin = Box<dyn FnOnce() -> Result<WorkerProcess, NotStarted> + Send>;

/// The folder of one sandboxed process.
pub(in crate::agent) struct Cell {
    folder: PathBuf,
    /// The program's folder for temporary files.
    temporary: PathBuf,
    /// The number of tasks with files so far.
    count: AtomicU64,
}

/// The files of a task, removed on drop.
pub(in crate::agent) struct Delivery(PathBuf);

impl Confinement {
    /// How to start a program that stays, with these variables too, and the cell of its sandbox. The sandbox hides these
    /// paths.
    pub(in crate::agent) fn begin(
        &self,
        program: &Program,
        hidden: &[PathBuf],
        more: Vars,
    ) -> Result<(Begin, Option<Cell>), AgentError> {
        let folder = absolute(&program.folder)?;
        let vars = program.environment.vars().into_iter();
        let vars = vars.map(|(name, value)| (name.into(), value));
        let mut vars: Vars = vars.chain(more).collect();
        let (mut args, mut cell) = (program.argv.clone(), None);
        if !self.is_none() {
            // The confinement's own error would only say that it cannot run something.
            let file = program.file()?;
            (args, cell) = self.wrap(&file, &program.argv[1..], &folder, hidden)?;
        }
        if let Some(cell) = &cell {
            cell.set(&mut vars);
        }
        let begin = move || {
            let vars = vars.iter().map(|(name, value)| (&**name, value.clone()));
            WorkerProcess::start(&args, &folder, vars.collect())
        };
        Ok((Box::new(begin), cell))
    }

    /// The arguments that run a program confined, with the cell of its sandbox.
    fn wrap(
        &self,
        program: &Path,
        args: &[String],
        folder: &Path,
        hidden: &[PathBuf],
    ) -> Result<(Vec<String>, Option<Cell>), AgentError> {
        let refused =
            |reason: crate::Error| AgentError::of(FailureKind::NotStarted, reason.to_string());
        let used = self.sandbox.as_ref().map(Sandbox::used).transpose();
        let sandbox = match used.map_err(refused)? {
            None | Some(Used::Nothing) => None,
            Some(used) => self.sandbox.as_ref().zip(Some(used)),
        };
        let Some((sandbox, used)) = sandbox else {
            let mut confined = self.ulimits.wrapper();
            confined.push(program.to_string_lossy().into_owned());
            confined.extend_from_slice(args);
            return Ok((confined, None));
        };
        let cell = Cell::new(used).map_err(|reason| {
            let message = format!("cannot make a folder for its files: {reason}");
            AgentError::of(FailureKind::NotStarted, message)
        })?;
        let inmate = Inmate {
            program,
            args,
            cwd: folder,
            folder,
            scratch: &cell.home(),
            files: &[&cell.files()],
            hidden,
        };
        let confined = sandbox.wrap(&inmate, self.ulimits);
        Ok((confined.map_err(refused)?, Some(cell)))
    }
}

impl Cell {
    fn new(used: &Used) -> io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let folder = loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let name = format!("evaltest-worker-{}-{count}", std::process::id());
            let folder = std::env::temp_dir().join(name);
            // Private to us. Its content is for the sandbox's own user.
            match system::make_private_folder(&folder) {
                Ok(()) => break folder,
                // Left by a process that was killed.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        };
        let mut cell = Self {
            folder,
            temporary: PathBuf::from("/tmp"),
            count: AtomicU64::new(0),
        };
        if *used == Used::Landlock {
            // There is none in memory, and `/tmp` is public.
            system::make_private_folder(&cell.home())?;
            cell.temporary = cell.home();
        }
        system::make_open_folder(&cell.files())?;
        Ok(cell)
    }

    /// Its home and working folder; in memory with bubblewrap.
    pub(in crate::agent) fn home(&self) -> PathBuf {
        self.folder.join("home")
    }

    fn files(&self) -> PathBuf {
        self.folder.join("files")
    }

    /// Changes variables for a process in the sandbox.
    fn set(&self, vars: &mut Vars) {
        vars.insert("HOME".into(), self.home().into_os_string());
        vars.insert("TMPDIR".into(), self.temporary.clone().into());
    }

    /// Copies the files of a task in, and returns the task that names the copies.
    pub(in crate::agent) fn deliver(&self, task: &Task) -> Result<(Delivery, Task), AgentError> {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let folder = self.files().join(number.to_string());
        let delivery = Delivery(folder.clone());
        let copied = || -> io::Result<Vec<TaskFile>> {
            system::make_open_folder(&folder)?;
            let copy = |file: &TaskFile| {
                let name = file.path.file_name().unwrap_or(file.name.as_ref());
                let path = folder.join(name);
                fs::copy(&file.path, &path)?;
                system::let_all_read(&path)?;
                Ok(TaskFile {
                    name: file.name.clone(),
                    path,
                })
            };
            task.files().iter().map(copy).collect()
        };
        let files = copied().map_err(|reason| {
            let message = format!("its files cannot be copied for the sandbox: {reason}");
            AgentError::of(FailureKind::Attachment, message)
        })?;
        let task = Task {
            files,
            // It is outside.
            scratch: None,
            ..task.clone()
        };
        Ok((delivery, task))
    }

    /// The line for a task, and its files if it has any.
    pub(super) fn line(
        &self,
        task: &Task,
        line: &Arc<Vec<u8>>,
    ) -> Result<(Option<Delivery>, Arc<Vec<u8>>), AgentError> {
        if task.files().is_empty() {
            return Ok((None, Arc::clone(line)));
        }
        let (delivery, task) = self.deliver(task)?;
        Ok((Some(delivery), Arc::new(Input::Json.encode(&task)?)))
    }
}

impl Drop for Cell {
    fn drop(&mut self) {
        // `new` made it, under a new name.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Drop for Delivery {
    fn drop(&mut self) {
        // It is in the cell, which is ours, and numbered.
        let _ = fs::remove_dir_all(&self.0);
    }
}
