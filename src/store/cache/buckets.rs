//! A folder of small files by key, spread over folders by the first two digits: folders of tens of thousands of
//! files are slow in places.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::system::file::write_atomically;

/// A folder of files by key.
#[derive(Debug)]
pub(crate) struct Buckets {
    pub(crate) folder: PathBuf,
    /// What the names of files end with, without the dot.
    extension: &'static str,
    /// No file is longer, in bytes; what is longer is none of ours.
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

    /// What the file of a key holds; `None` if there is none.
    ///
    /// # Errors
    /// When it cannot be read, is longer than a file of ours, or is no file.
    pub(crate) fn read(&self, key: &str) -> io::Result<Option<Vec<u8>>> {
        let path = self.path(key);
        let about = match fs::metadata(&path) {
            Ok(about) => about,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        // A pipe would never end.
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

    /// Puts a file there, whole or not at all.
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
