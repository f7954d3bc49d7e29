//! Simulated agents: gates and alerts are red no more often than alpha for one that did not change, and as often as
//! promised for one that got worse.

mod alerts;
mod figures;
mod gates;
mod random;
