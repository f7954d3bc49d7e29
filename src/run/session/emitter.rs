//! `Emitter`: tells whoever watches what happens. Everything it tells is redacted.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use crate::data::task::Live;
use crate::eval::plan::Plan;
use crate::report::event::{Event, Observer};
use crate::system::lock::lock;

/// Hands events to the observer of a run, and keeps what people should know of it at its end.
pub(in crate::run) struct Emitter {
    plan: Arc<Plan>,
    observer: Arc<Observer<'static>>,
    /// Whether what agents print is told.
    stream: bool,
    /// Things about the dataset, the baseline and the run.
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
        // A reporter that panics must not take a paid answer with it.
        let _ = catch_unwind(AssertUnwindSafe(|| (self.observer)(event)));
    }

    /// The eval's name.
    pub(in crate::run) fn eval(&self) -> &str {
        &self.plan.eval.name
    }

    /// A text as it may be told.
    pub(in crate::run) fn redacted(&self, text: &str) -> String {
        self.plan.redactor.text(text, &mut 0).into_owned()
    }

    /// Keeps something that is known before the run starts, which is told when it does.
    pub(in crate::run) fn note(&self, notice: &str) {
        let notice = self.redacted(notice);
        lock(&self.notices).push(notice);
    }

    /// Tells something, at once and at the end.
    pub(in crate::run) fn notice(&self, notice: &str) {
        let notice = self.redacted(notice);
        self.emit(&Event::Notice {
            eval: self.eval(),
            notice: &notice,
        });
        lock(&self.notices).push(notice);
    }

    /// What people should know, so far.
    pub(in crate::run) fn notices(&self) -> Vec<String> {
        lock(&self.notices).clone()
    }

    /// Where what the agent prints of a sample goes, if someone watches.
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
