//! `KeptReplies`: what judges said to earlier runs.
//!
//! The key holds who the judge is to the last setting: its agent as that describes itself, which for an endpoint is its
//! address, too; the configured judge; the very prompt. A judge that does not say what it is has nothing kept.

use std::sync::Arc;

use serde_json::Value;

use super::desk::Subject;
use crate::data::{JudgeCall, Output};
use crate::eval::plan::Plan;
use crate::run::session::emitter::Emitter;
use crate::scorer::ask::desk::JudgeRequest;
use crate::store::cache::CacheUse;
use crate::store::cache::answers::{AnswerCache, Notice};
use crate::system::file;
use crate::system::panics;
use crate::text::hash::Hasher;

/// The cache of a run, as its judges use it.
pub(in crate::run) struct KeptReplies {
    answers: AnswerCache,
    usage: CacheUse,
    /// The run, as it is called where its replies are taken later.
    asked_by: Option<String>,
    plan: Arc<Plan>,
    emitter: Arc<Emitter>,
}

impl KeptReplies {
    pub(in crate::run) fn new(
        answers: AnswerCache,
        usage: CacheUse,
        asked_by: Option<String>,
        (plan, emitter): (Arc<Plan>, Arc<Emitter>),
    ) -> Self {
        Self {
            answers,
            usage,
            asked_by,
            plan,
            emitter,
        }
    }

    /// The reply that was given before, if it may be taken, with the seconds that it took then.
    pub(super) fn recall(
        &self,
        subject: &Subject<'_>,
        request: &JudgeRequest<'_>,
    ) -> Option<(Output, f64)> {
        // A look at a flip is one of its own, as the agent's answer is.
        if self.usage != CacheUse::On || subject.confirms {
            return None;
        }
        let (kept, notice) = self.answers.get(&key(subject, request)?);
        self.tell(notice);
        let kept = kept?;
        Some((kept.output, kept.latency_s))
    }

    /// Keeps a reply, but for one that only confirms, where the first alone counts, and one with a secret in it.
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
            let asked_by = self.asked_by.clone();
            let put = self.answers.put(&key, output, call.latency_s, asked_by);
            self.tell(put);
        }
    }

    fn tell(&self, notice: Notice) {
        if let Some(notice) = notice {
            self.emitter.notice(&notice);
        }
    }
}

/// The key of a reply; `None` where nobody knows what may change it.
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
