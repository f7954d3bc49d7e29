//! The machine: files, threads, processes, signals, the network. The only room that knows it.
//!
//! What differs between platforms is here, and nothing of evaluations.

pub(crate) mod file;
pub(crate) mod permission;

pub(crate) mod beside;
pub(crate) mod lock;
pub mod parallel;

pub(crate) mod cancel;
pub mod panics;

pub mod project;
pub(crate) mod variables;

pub(crate) mod pipe;
pub(crate) mod process;

pub mod sandbox;

pub mod orphans;

pub mod signal;

#[cfg(feature = "http")]
pub(crate) mod http;
