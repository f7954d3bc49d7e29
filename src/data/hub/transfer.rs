//! Downloads the content of a file: streams it to disk, resumes after failures, and verifies the checksum.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;
use std::thread;
use std::time::Duration;

use ureq::Body;
use ureq::http::header::CONTENT_RANGE;
use ureq::http::{Response, StatusCode};

use super::refusal::{HubRefusal, HubSource};
use super::server::{Head, Server};
use crate::error::{Error, Result};
use crate::system::http::{Failure, Url};

/// Maximum size of a file, so that a faulty server cannot fill the disk.
const MAX_BYTES: u64 = 8 << 30;
/// Timeout of one request. Longer downloads continue with another request, and stalled ones are detected.
const TIME: Duration = Duration::from_mins(1);
/// Number of attempts with less than [`PROGRESS`] before giving up.
const TRIES: u32 = 5;
const PROGRESS: u64 = 64 << 10;
const PAUSE: Duration = Duration::from_millis(500);

/// Downloads a file's content to `path`, which may contain the beginning of it.
///
/// # Errors
/// If the download fails, or the checksum is wrong; the file is then removed.
pub(super) fn fetch(
    server: &Server,
    source: HubSource<'_>,
    url: &Url,
    head: &Head,
    path: &Path,
) -> Result<()> {
    if head.size.is_some_and(|size| size > MAX_BYTES) {
        let gibibytes = MAX_BYTES >> 30;
        return Err(Error::usage(format!(
            "`{}` is larger than {gibibytes} GiB",
            source.address
        )));
    }
    let was_started = length(path) > 0;
    download(server, source, url, head.size, path)?;
    let fits = |path: &Path| {
        let fits = head.checksum.fits(path);
        fits.map_err(|error| Error::io("read", path, &error))
    };
    if fits(path)? {
        return Ok(());
    }
    remove(path)?;
    if was_started {
        // The existing beginning may have been wrong.
        download(server, source, url, head.size, path)?;
        if fits(path)? {
            return Ok(());
        }
        remove(path)?;
    }
    Err(Error::infrastructure(format!(
        "`{}`: the download does not have the checksum `{}` that the Hub names, and was not kept",
        source.address,
        head.checksum.as_str()
    ))
    .hint("try again; if it persists, something between here and the Hub changes files"))
}

fn download(
    server: &Server,
    source: HubSource<'_>,
    url: &Url,
    size: Option<u64>,
    path: &Path,
) -> Result<()> {
    let (mut failures, mut most) = (0, length(path));
    loop {
        // Servers that cannot resume get more time in each attempt.
        let time = TIME * 2_u32.pow(failures);
        let Err(refusal) = part(server, source, url, size, path, time) else {
            return Ok(());
        };
        let has = length(path);
        if has >= most.saturating_add(PROGRESS) {
            (failures, most) = (0, has);
            continue;
        }
        failures += 1;
        let pause = refusal.pause(PAUSE * 2_u32.pow(failures - 1));
        match pause.filter(|_| failures < TRIES) {
            Some(pause) => thread::sleep(pause),
            None => return Err(refusal.error),
        }
    }
}

/// Sends one request and writes as much of the body as arrives.
fn part(
    server: &Server,
    source: HubSource<'_>,
    url: &Url,
    size: Option<u64>,
    path: &Path,
    time: Duration,
) -> Result<(), HubRefusal> {
    if size.is_some_and(|size| length(path) > size) {
        remove(path)?;
    }
    let has = length(path);
    if has > 0 && size == Some(has) {
        return Ok(());
    }
    let response = match server.body(source, url, has, time) {
        Err(refusal) if refusal.status == Some(416) && has > 0 => {
            // The remote file is shorter than the local part.
            remove(path)?;
            return Err(refusal.soon());
        }
        response => response?,
    };
    let goes_on = response.status() == StatusCode::PARTIAL_CONTENT;
    if goes_on && !begins_at(&response, has) {
        remove(path)?;
        return Err(source
            .garbled("answers with another part of the file")
            .soon());
    }
    let io = |error: &std::io::Error| HubRefusal::from(Error::io("write", path, error));
    let mut options = File::options();
    options.create(true).write(true);
    let options = if goes_on {
        options.append(true)
    } else {
        options.truncate(true)
    };
    let mut file = options.open(path).map_err(|error| io(&error))?;
    let mut has = if goes_on { has } else { 0 };
    let limit = size.unwrap_or(MAX_BYTES);
    let mut body = response.into_body().into_reader();
    let mut buffer = vec![0; 64 << 10];
    loop {
        let read = body.read(&mut buffer).map_err(|error| {
            let error = ureq::Error::from(error);
            source.failed(&Failure::of(&error, time))
        })?;
        if read == 0 {
            break;
        }
        has += read as u64;
        if has > limit {
            drop(file);
            remove(path)?;
            return Err(source.garbled(format_args!("sends more than {limit} bytes")));
        }
        file.write_all(&buffer[..read])
            .map_err(|error| io(&error))?;
    }
    match size {
        Some(size) if has < size => {
            let what = format!("broke off after {has} of {size} bytes");
            Err(source.garbled(what).soon())
        }
        _ => Ok(()),
    }
}

fn begins_at(response: &Response<Body>, from: u64) -> bool {
    let range = response.headers().get(CONTENT_RANGE);
    let range = range.and_then(|range| range.to_str().ok());
    range.is_some_and(|range| range.trim().starts_with(&format!("bytes {from}-")))
}

fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |found| found.len())
}

/// Removes an unfinished download in the cache; its name has the checksum, and it is locked.
fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::io("remove", path, &error))
        }
        _ => Ok(()),
    }
}
