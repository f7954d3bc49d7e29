//! A folder of small files by key, split into subfolders by the first two digits, because folders with tens of
//! thousands of files are slow on some systems.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::system::file::write_atomically;

/// A folder of files by key.
#[derive(Debug)]
pub(crate) struct Buckets {
    pub(crate) folder: PathBuf,
    /// The extension of the files, without the dot.
    extension: &'static str,
    /// The longest file, in bytes; a longer one is not ours.
    pub(crate) longest: u64,
}

impl Buckets {
    pub(crate) fn new(folder: PathBuf, extension: &'static str, longest: u64) -> Self {
        Self {
            folder,
            extension,
            longest,
        }
    }

    /// The file of a key, which is a hash in hex.
    pub(crate) fn path(&self, key: &str) -> PathBuf {
        let bucket = key.get(..2).unwrap_or("00");
        self.folder
            .join(bucket)
            .join(format!("{key}.{}", self.extension))
    }

    /// The content of the file of a key; `None` if there is none.
    ///
    /// # Errors
    /// When it cannot be read, is too long, or is not a regular file.
    pub(crate) fn read(&self, key: &str) -> io::Result<Option<Vec<u8>>> {
        let path = self.path(key);
        let about = match fs::metadata(&path) {
            Ok(about) => about,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        // Reading a pipe would never end.
        if !about.is_file() || about.len() > self.longest {
            return Err(io::Error::other("it is too long, or no file"));
        }
        let mut content = Vec::new();
        let file = match File::open(&path) {
            Ok(file) => file,
            // Cleared meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        file.take(self.longest + 1).read_to_end(&mut content)?;
        if content.len() as u64 > self.longest {
            return Err(io::Error::other("it is too long"));
        }
        Ok(Some(content))
    }

    /// Writes a file atomically.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub(crate) fn write(&self, key: &str, content: &[u8]) -> Result<()> {
        let path = self.path(key);
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(|error| Error::io("make", folder, &error))?;
        write_atomically(&path, content)
    }
}
