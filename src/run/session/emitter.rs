//! `Emitter`: sends events, redacted, to the observer of a run.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use crate::data::task::Live;
use crate::eval::plan::Plan;
use crate::report::event::{Event, Observer};
use crate::system::lock;

/// Sends events to the observer of a run, and collects notices for its end.
pub(in crate::run) struct Emitter {
    plan: Arc<Plan>,
    observer: Arc<Observer<'static>>,
    /// Whether to emit the output of agents.
    stream: bool,
    /// Notices about the dataset, the baseline and the run.
    notices: Mutex<Vec<String>>,
}

impl Emitter {
    pub(in crate::run) fn new(
        plan: Arc<Plan>,
        observer: Arc<Observer<'static>>,
        stream: bool,
    ) -> Self {
        Self {
            notices: Mutex::new(plan.worth_knowing()),
            plan,
            observer,
            stream,
        }
    }

    pub(in crate::run) fn emit(&self, event: &Event<'_>) {
        // A reporter that panics must not lose a paid answer.
        let _ = catch_unwind(AssertUnwindSafe(|| (self.observer)(event)));
    }

    /// The eval's name.
    pub(in crate::run) fn eval(&self) -> &str {
        &self.plan.eval.name
    }

    /// A text with secrets redacted.
    pub(in crate::run) fn redacted(&self, text: &str) -> String {
        self.plan.redactor.text(text, &mut 0).into_owned()
    }

    /// Stores a notice before the run starts, to be reported when it does.
    pub(in crate::run) fn note(&self, notice: &str) {
        let notice = self.redacted(notice);
        lock(&self.notices).push(notice);
    }

    /// Reports a notice at once, and again at the end.
    pub(in crate::run) fn notice(&self, notice: &str) {
        let notice = self.redacted(notice);
        self.emit(&Event::Notice {
            eval: self.eval(),
            notice: &notice,
        });
        lock(&self.notices).push(notice);
    }

    /// The notices so far.
    pub(in crate::run) fn notices(&self) -> Vec<String> {
        lock(&self.notices).clone()
    }

    /// The channel for an agent's output on a sample, if streaming.
    pub(in crate::run) fn live(&self, id: &str) -> Option<Live> {
        if !self.stream {
            return None;
        }
        let (observer, redactor) = (Arc::clone(&self.observer), self.plan.redactor.clone());
        let id = id.to_owned();
        Some(Live(Arc::new(move |line: &str| {
            observer(&Event::AgentOutput {
                id: &id,
                line: &redactor.line(line),
            });
        })))
    }
}
