//! The operating system: files, threads, processes, signals, the network. The only module that depends on it.
//!
//! Contains all platform differences, and nothing about evaluations.

mod platform;

pub(crate) mod file;
pub(crate) mod lines;
pub(crate) mod permission;
pub(crate) mod remove;
pub(crate) mod shortage;
pub(crate) mod spill;
pub(crate) mod temporary_folder;

pub(crate) mod clock;
pub(crate) mod lock;
pub(crate) mod parallel;
pub(crate) mod spawn_scoped;

pub(crate) mod cancel;
pub(crate) mod panics;

pub(crate) mod project;
pub(crate) mod variables;

pub(crate) mod pipe;
pub(crate) mod printed;
pub(crate) mod process;

pub(crate) mod sandbox;

pub(crate) mod orphans;

#[cfg(feature = "command")]
pub(crate) mod loopback;
pub(crate) mod random;

pub(crate) mod signal;
pub(crate) mod terminal;

#[cfg(feature = "http")]
pub(crate) mod http;
