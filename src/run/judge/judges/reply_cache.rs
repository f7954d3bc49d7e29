//! `ReplyCache`: the cache of judges' replies across runs.
//!
//! The key identifies the judge completely: the identity of its agent (for an endpoint, its address too), the judge's
//! configuration, and the exact prompt. Nothing is cached for a judge that does not identify itself.

use std::sync::Arc;

use serde_json::Value;

use super::client::Subject;
use crate::data::{JudgeCall, Output};
use crate::eval::plan::Plan;
use crate::run::session::emitter::Emitter;
use crate::scorer::ask::client::JudgeRequest;
use crate::store::cache::CacheUse;
use crate::store::cache::answers::{AnswerCache, Notice};
use crate::system::file;
use crate::system::panics;
use crate::text::hash::Hasher;

/// A run's cache, as its judges use it.
pub(in crate::run) struct ReplyCache {
    answers: AnswerCache,
    usage: CacheUse,
    /// The name of this run for later runs that reuse its replies.
    requested_by: Option<String>,
    plan: Arc<Plan>,
    emitter: Arc<Emitter>,
}

impl ReplyCache {
    pub(in crate::run) fn new(
        answers: AnswerCache,
        usage: CacheUse,
        requested_by: Option<String>,
        (plan, emitter): (Arc<Plan>, Arc<Emitter>),
    ) -> Self {
        Self {
            answers,
            usage,
            requested_by,
            plan,
            emitter,
        }
    }

    /// The cached reply, if it may be used, with its original latency in seconds.
    pub(super) fn recall(
        &self,
        subject: &Subject<'_>,
        request: &JudgeRequest<'_>,
    ) -> Option<(Output, f64)> {
        // Confirming a flip needs a new reply, like the agent's new answer.
        if self.usage != CacheUse::On || subject.confirms {
            return None;
        }
        let (cached, notice) = self.answers.get(&key(subject, request)?);
        self.notify(notice);
        let cached = cached?;
        Some((cached.output, cached.latency_s))
    }

    /// Caches a reply, except one that confirms a flip (only the first counts) or contains a secret.
    pub(super) fn remember(
        &self,
        subject: &Subject<'_>,
        request: &JudgeRequest<'_>,
        call: &JudgeCall,
    ) {
        if subject.confirms {
            return;
        }
        if let (Some(key), Some(output)) = (key(subject, request), &call.output) {
            let mut secrets = 0;
            self.plan.redactor.output(&mut output.clone(), &mut secrets);
            if secrets > 0 {
                return;
            }
            let requested_by = self.requested_by.clone();
            let put = self.answers.put(&key, output, call.latency_s, requested_by);
            self.notify(put);
        }
    }

    fn notify(&self, notice: Notice) {
        if let Some(notice) = notice {
            self.emitter.notice(&notice);
        }
    }
}

/// The key of a reply; `None` if it is not known what may change it.
fn key(subject: &Subject<'_>, request: &JudgeRequest<'_>) -> Option<String> {
    let agent = panics::catch(|| request.agent.fingerprint()).ok()??;
    let mut hash = Hasher::default()
        .part("evaltest judge's reply")
        .part(agent)
        .part(&request.key)
        .part(request.form.as_str())
        .part(&request.prompt)
        .part(Value::Object((*request.options).clone()).to_string())
        .part(subject.id)
        .part(subject.epoch.to_le_bytes());
    for attached in request.files {
        let path = attached.resolve().ok()?;
        hash = hash.part(&attached.name).part(file::hash(&path).ok()?);
    }
    Some(hash.hex())
}
