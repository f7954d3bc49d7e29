//! `ReviewStore`: stores reviews on disk.
//!
//! Several windows and several programs may write at once. Each holds the lock of the folder while it writes, and first
//! reads what the others wrote. If somebody with the same reviewer name changed the review of an item after it was
//! displayed, a new review of it is logged in the journal but does not count until it is submitted again.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::SystemTime;
use std::{fs, io};

use super::item_file::{ItemFile, fill_in};
use super::journal::{ReviewJournal, ReviewedItem};
use super::labels::LabelSource;
use super::{ReviewPlaces, labels};
use crate::data::labels::LabelChoice;
use crate::data::reviews::{
    REVIEW_LINE_VERSION, REVIEW_VERSION, ReviewEvent, ReviewLine, ReviewStatus, ReviewedFigures,
    Verification, Verifications, refuse_foreign,
};
use crate::error::{Error, Result};
use crate::figure::Share;
use crate::stats::ratio;
use crate::system::clock::timestamp;
use crate::system::file::{remove_unfinished, write_atomically};
use crate::system::lock;
use crate::system::project::display;
use crate::text::json_line;

/// The item of a review, as it was displayed.
#[derive(Clone, Debug)]
pub(super) struct SeenItem<'a> {
    pub(super) id: &'a str,
    /// The hash of the content that was displayed.
    pub(super) hash: &'a str,
    pub(super) chosen: LabelChoice,
    pub(super) seed: Option<u64>,
    /// The version of the review that was displayed.
    pub(super) version: u64,
}

/// A review of an item.
#[derive(Clone, Debug)]
pub(super) struct ReviewWord {
    pub(super) scores: BTreeMap<String, u8>,
    pub(super) status: ReviewStatus,
    pub(super) comments: String,
    /// The expected answer, of a question.
    pub(super) answer: Option<String>,
}

/// The current reviews of an item.
#[derive(Clone, Debug)]
pub(super) struct CurrentReview {
    pub(super) version: u64,
    pub(super) mine: Option<Verification>,
    /// The latest review by each other reviewer.
    pub(super) others: Vec<Verification>,
}

/// The result of a submission.
#[derive(Debug)]
pub(super) enum ReviewOutcome {
    Saved,
    /// The review is in the journal, but the files derived from it could not be written; the next submission writes
    /// them.
    Journaled(Error),
    /// The review was changed meanwhile under the same reviewer name.
    Stale,
}

/// Stores reviews on disk.
#[derive(Debug)]
pub(super) struct ReviewStore {
    places: ReviewPlaces,
    reviewer: String,
    /// What is labelled, and in which order.
    source: LabelSource,
    state: Mutex<ClientState>,
}

#[derive(Debug, Default)]
struct ClientState {
    /// The journals by path.
    journals: BTreeMap<PathBuf, ReviewJournal>,
    /// The state of the verifications file when it was last read or written.
    seen: Option<FileMark>,
}

/// Size and modification time, which differ once another program has written the file.
type FileMark = (u64, Option<SystemTime>);

impl ReviewStore {
    /// Reads the existing reviews.
    ///
    /// # Errors
    /// If the files cannot be written, or contain something that no review wrote.
    pub(super) fn open(places: ReviewPlaces, reviewer: &str, source: LabelSource) -> Result<Self> {
        fs::create_dir_all(&places.journals)
            .map_err(|error| Error::io("create", &places.journals, &error))?;
        let store = Self {
            places,
            reviewer: reviewer.to_owned(),
            source,
            state: Mutex::default(),
        };
        let held = FileLock::of(&store.places.lock())?;
        let mut state = lock(&store.state);
        labels::check(&store.places.labels)?;
        // These files are written under the lock, so leftovers are those of a killed program.
        remove_unfinished(&store.places.verifications);
        remove_unfinished(&store.places.labels);
        store.refresh(&mut state)?;
        if state.journals.values().any(|one| !one.items.is_empty()) {
            store.write(&mut state)?;
        }
        drop(state);
        drop(held);
        Ok(store)
    }

    pub(super) fn places(&self) -> &ReviewPlaces {
        &self.places
    }

    /// The journal of this reviewer.
    pub(super) fn journal(&self) -> PathBuf {
        self.places.journal(&self.reviewer)
    }

    pub(super) fn reviewer(&self) -> &str {
        &self.reviewer
    }

    /// Reads what other programs have written since.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(super) fn reload(&self) -> Result<()> {
        let _held = FileLock::of(&self.places.lock())?;
        self.refresh(&mut lock(&self.state))
    }

    /// Whether this reviewer has reviewed an item.
    pub(super) fn has_mine(&self, id: &str) -> bool {
        let state = lock(&self.state);
        state
            .mine(self)
            .is_some_and(|mine| mine.latest(id).is_some())
    }

    /// The hash of an item's content at this reviewer's latest review.
    pub(super) fn seen_hash(&self, id: &str) -> Option<String> {
        let state = lock(&self.state);
        let line = state.mine(self)?.latest(id)?;
        // Unknown for an adopted review, whose journal is missing.
        Some(line.item.clone()).filter(|hash| !hash.is_empty())
    }

    /// How far reviewers agree.
    pub(super) fn agreement(&self) -> ReviewersAgreement {
        let state = lock(&self.state);
        let items = state.journals.values().flat_map(|one| one.items.values());
        let lines = items.filter_map(|item| item.current.last());
        ReviewersAgreement::of(lines.filter_map(|line| line.verification.as_ref()))
    }

    /// The current reviews of an item.
    pub(super) fn current(&self, id: &str) -> CurrentReview {
        let state = lock(&self.state);
        let mine = self.places.journal(&self.reviewer);
        let latest = |journal: &ReviewJournal| journal.latest(id)?.verification.clone();
        let others = state.journals.values();
        let others = others.filter(|journal| journal.path() != mine);
        CurrentReview {
            version: state.mine(self).map_or(0, |mine| mine.version(id)),
            mine: state.mine(self).and_then(latest),
            others: others.filter_map(latest).collect(),
        }
    }

    /// Writes the answers of the latest reviews into the file of questions.
    ///
    /// # Errors
    /// If it cannot be read or written.
    pub(super) fn fill_in(&self, questions: &Path, undone: Option<&str>) -> Result<()> {
        let _held = FileLock::of(&self.places.lock())?;
        fill_in(questions, &self.answers(), undone)
    }

    /// The latest review of each item by anybody: its status and the expected answer.
    fn answers(&self) -> HashMap<String, (ReviewStatus, Option<String>)> {
        let state = lock(&self.state);
        let mut latest = HashMap::<&str, &ReviewLine>::new();
        let items = state.journals.values().flat_map(|one| one.items.values());
        for line in items.filter_map(|item| item.current.last()) {
            let there = latest.entry(&line.id).or_insert(line);
            if (&line.at, &line.reviewer) > (&there.at, &there.reviewer) {
                *there = line;
            }
        }
        let lines = latest
            .into_values()
            .filter_map(|line| line.verification.as_ref());
        let answer =
            |one: &Verification| (one.problem_id.clone(), (one.status, one.answer.clone()));
        lines.map(answer).collect()
    }

    /// Stores a review; it is on disk on return, even if it does not count.
    ///
    /// # Errors
    /// If it could not be written; then nothing was.
    pub(super) fn submit(&self, item: &SeenItem<'_>, word: ReviewWord) -> Result<ReviewOutcome> {
        self.add(item, Some(word))
    }

    /// Undoes the latest review of an item.
    ///
    /// # Errors
    /// As [`ReviewStore::submit`].
    pub(super) fn undo(&self, item: &SeenItem<'_>) -> Result<ReviewOutcome> {
        self.add(item, None)
    }

    fn add(&self, item: &SeenItem<'_>, word: Option<ReviewWord>) -> Result<ReviewOutcome> {
        let _held = FileLock::of(&self.places.lock())?;
        let mut state = lock(&self.state);
        self.refresh(&mut state)?;
        let path = self.places.journal(&self.reviewer);
        let mine = state.journals.entry(path);
        let mine = mine.or_insert_with_key(|path| ReviewJournal::new(path.clone()));
        let is_stale = mine.version(item.id) != item.version;
        let event = match (&word, is_stale) {
            (Some(_), false) => ReviewEvent::Submitted,
            (Some(_), true) => ReviewEvent::Refused,
            (None, false) if mine.latest(item.id).is_some() => ReviewEvent::Undone,
            // Nothing to undo, or not the review that was displayed.
            (None, _) => return Ok(ReviewOutcome::Stale),
        };
        let at = timestamp().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string();
        let verification = word.map(|word| Verification {
            problem_id: item.id.to_owned(),
            total_score: Verification::total_of(&word.scores),
            scores: word.scores,
            status: word.status,
            comments: word.comments,
            verified_at: at.clone(),
            reviewer: self.reviewer.clone(),
            answer: word.answer,
            format_version: REVIEW_VERSION,
        });
        mine.append(ReviewLine {
            event,
            id: item.id.to_owned(),
            reviewer: self.reviewer.clone(),
            at,
            item: item.hash.to_owned(),
            chosen: item.chosen,
            seed: item.seed,
            version: item.version,
            verification,
            format_version: REVIEW_LINE_VERSION,
            sum: None,
        })?;
        if event == ReviewEvent::Refused {
            return Ok(ReviewOutcome::Stale);
        }
        Ok(match self.write(&mut state) {
            Ok(()) => ReviewOutcome::Saved,
            Err(error) => ReviewOutcome::Journaled(error),
        })
    }

    /// Finds the journals that are there.
    fn find(&self, state: &mut ClientState) -> Result<()> {
        let folder = &self.places.journals;
        let io = |error: io::Error| Error::io("read", folder, &error);
        for entry in fs::read_dir(folder).map_err(io)? {
            let path = entry.map_err(io)?.path();
            if path.extension().is_some_and(|end| end == "jsonl") {
                let journal = state.journals.entry(path);
                journal.or_insert_with_key(|path| ReviewJournal::new(path.clone()));
            }
        }
        Ok(())
    }

    /// Reads the current content. The lock must be held.
    fn refresh(&self, state: &mut ClientState) -> Result<()> {
        self.find(state)?;
        state
            .journals
            .values_mut()
            .try_for_each(ReviewJournal::refresh)?;
        let mark = self.mark();
        if mark.is_some() && mark != state.seen {
            self.check(state)?;
            state.seen = mark;
        }
        Ok(())
    }

    /// Adopts reviews that are in the file but missing in the journals, as in another checkout. Refuses a file with
    /// entries that no reviewer wrote, since they would be overwritten.
    fn check(&self, state: &mut ClientState) -> Result<()> {
        let path = &self.places.verifications;
        let Some(found) = Verifications::read(path)? else {
            return Ok(());
        };
        let is_submitted = |state: &ClientState, entry: &Verification| {
            let items = state.journals.values();
            let mut items = items.filter_map(|journal| journal.items.get(&entry.problem_id));
            items.any(|item: &ReviewedItem| item.submitted.contains(entry))
        };
        let mut lost = Vec::new();
        for (line, entry) in found.0 {
            if is_submitted(state, &entry) {
                continue;
            }
            if !self.may_be_lost(state, &entry) {
                let message = format!(
                    "{}:{line}: `{}` differs from the reviewers' journals in `{}`",
                    display(path),
                    entry.problem_id,
                    display(&self.places.journals)
                );
                let hint = "the file is unchanged: undo the edit, or rename the file to have it rebuilt from \
                the journals";
                return Err(Error::usage(message).hint(hint));
            }
            lost.push(entry);
        }
        self.adopt(state, lost)
    }

    /// Whether a review that is in no journal may be one that a journal lost, rather than one that was edited.
    fn may_be_lost(&self, state: &ClientState, entry: &Verification) -> bool {
        let items = state.journals.values();
        let mut items = items.filter_map(|journal| journal.items.get(&entry.problem_id));
        let is_edited = items.any(|item| {
            let mut submitted = item.submitted.iter();
            submitted.any(|submitted| {
                submitted.verified_at == entry.verified_at
                    || submitted.reviewer == entry.reviewer
                        && submitted.verified_at > entry.verified_at
            })
        });
        let journal = state.journals.get(&self.places.journal(&entry.reviewer));
        !is_edited && journal.is_none_or(ReviewJournal::has_lost)
    }

    /// Adds lost reviews to our own journal and to journals that do not exist. Other journals are only completed in
    /// memory.
    fn adopt(&self, state: &mut ClientState, lost: Vec<Verification>) -> Result<()> {
        let own = self.places.journal(&self.reviewer);
        let mut new = BTreeMap::<PathBuf, Vec<u8>>::new();
        for submitted in lost {
            let path = self.places.journal(&submitted.reviewer);
            let journal = state.journals.get_mut(&path);
            let version = journal
                .as_ref()
                .map_or(0, |it| it.version(&submitted.problem_id));
            let line = ReviewLine {
                event: ReviewEvent::Submitted,
                id: submitted.problem_id.clone(),
                reviewer: submitted.reviewer.clone(),
                at: submitted.verified_at.clone(),
                item: String::new(),
                chosen: LabelChoice::Picked,
                seed: None,
                version,
                format_version: REVIEW_LINE_VERSION,
                verification: Some(submitted),
                sum: None,
            };
            let line = line.sealed();
            match journal {
                Some(journal) if path == own => journal.append(line)?,
                Some(journal) => journal.lend(line),
                None => {
                    let lines = new.entry(path).or_default();
                    lines.extend(json_line(&line).unwrap_or_default());
                    lines.push(b'\n');
                }
            }
        }
        // Written atomically: after half a journal, the rest of the file would belong to no reviewer.
        for (path, lines) in new {
            refuse_foreign(&path)?;
            write_atomically(&path, &lines)?;
            let journal = state.journals.entry(path);
            let journal = journal.or_insert_with_key(|path| ReviewJournal::new(path.clone()));
            journal.refresh()?;
        }
        Ok(())
    }

    fn mark(&self) -> Option<FileMark> {
        let about = self.places.verifications.metadata().ok()?;
        Some((about.len(), about.modified().ok()))
    }

    /// Writes the latest review of each item.
    fn write(&self, state: &mut ClientState) -> Result<()> {
        let items = state.journals.values().flat_map(|one| one.items.values());
        let current = items.filter_map(|item| item.current.last());
        let current: Vec<&ReviewLine> = current.collect();
        self.source.write(&self.places.labels, &current)?;
        let mut latest = HashMap::<&str, &ReviewLine>::new();
        for line in current {
            let there = latest.entry(&line.id).or_insert(line);
            if (&line.at, &line.reviewer) > (&there.at, &there.reviewer) {
                *there = line;
            }
        }
        let mut latest: Vec<_> = latest.into_iter().collect();
        let place = |id: &str| self.source.order.get(id).copied().unwrap_or(usize::MAX);
        latest.sort_by_key(|(id, _)| (place(id), *id));
        let entries = latest.into_iter();
        let entries = entries.filter_map(|(_, line)| line.verification.as_ref());
        Verifications::write(&self.places.verifications, entries)?;
        state.seen = self.mark();
        Ok(())
    }
}

impl ClientState {
    fn mine(&self, store: &ReviewStore) -> Option<&ReviewJournal> {
        self.journals.get(&store.places.journal(&store.reviewer))
    }
}

/// How far several reviewers of the same items agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ReviewersAgreement {
    /// Items that several people reviewed.
    items: u64,
    /// Those with the same status from all of them.
    same_status: u64,
    /// Pairs of scores by two people in one dimension of an item.
    pairs: u64,
    /// Pairs that differ by at most one point.
    near: u64,
}

impl ReviewersAgreement {
    /// From the latest review of each item by each person.
    pub(super) fn of<'a>(words: impl Iterator<Item = &'a Verification>) -> Self {
        let mut items = BTreeMap::<&str, Vec<&Verification>>::new();
        for word in words {
            items.entry(&word.problem_id).or_default().push(word);
        }
        let mut found = Self::default();
        for words in items.values().filter(|words| words.len() > 1) {
            found.items += 1;
            found.same_status += u64::from(words.windows(2).all(|it| it[0].status == it[1].status));
            for (place, one) in words.iter().enumerate() {
                for other in &words[place + 1..] {
                    for (name, score) in &one.scores {
                        let Some(other) = other.scores.get(name) else {
                            continue;
                        };
                        found.pairs += 1;
                        found.near += u64::from(score.abs_diff(*other) <= 1);
                    }
                }
            }
        }
        found
    }

    /// The agreement in one line; `None` if no two people reviewed the same item.
    pub(super) fn summary(&self) -> Option<String> {
        let status = ratio(self.same_status, self.items)?;
        let (items, were) = match self.items {
            1 => ("item", "was"),
            _ => ("items", "were"),
        };
        let near = ratio(self.near, self.pairs);
        let near = near.map(|near| format!(", scores within one point in {}", Share(near)));
        Some(format!(
            "{} {items} {were} reviewed by several people: the same status on {} ({}){}",
            self.items,
            self.same_status,
            Share(status),
            near.unwrap_or_default()
        ))
    }
}

/// Released when dropped, or when the process ends in any way.
#[derive(Debug)]
pub(super) struct FileLock {
    _file: File,
}

impl FileLock {
    /// Waits for the lock.
    pub(super) fn of(path: &Path) -> Result<Self> {
        let io = |error: std::io::Error| Error::io("lock", path, &error);
        // Opening a pipe would block until somebody reads from it.
        refuse_foreign(path)?;
        let file = OpenOptions::new().create(true).append(true).open(path);
        let file = file.map_err(io)?;
        file.lock().map_err(io)?;
        Ok(Self { _file: file })
    }
}

/// The reviews of the items of a file, from the verifications file next to it; `None` if there are none. `judged` says
/// whether a judge passes the item with an id.
///
/// # Errors
/// With the line that is not an item, or not a verification.
pub fn reviewed_file(
    items: &Path,
    judged: &dyn Fn(&str) -> Option<bool>,
) -> Result<Option<ReviewedFigures>> {
    let places = ReviewPlaces::for_items(items)?;
    if !places.verifications.exists() {
        return Ok(None);
    }
    let (_, listed) = ItemFile::open(items)?;
    let ids: HashSet<String> = listed.into_iter().map(|item| item.id).collect();
    ReviewedFigures::read(&places.verifications, &ids, judged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::reviews::ReviewStatus::{self, Approved, Rejected};

    #[test]
    fn people_agree_on_what_several_of_them_saw() {
        let word = |id: &str, status: ReviewStatus, score: u8| Verification {
            problem_id: id.to_owned(),
            scores: [("clarity".to_owned(), score)].into(),
            total_score: f64::from(score),
            status,
            comments: String::new(),
            verified_at: String::new(),
            reviewer: String::new(),
            answer: None,
            format_version: 1,
        };
        let words = [
            word("a", Approved, 5),
            word("b", Approved, 5),
            word("a", Approved, 4),
            word("b", Rejected, 1),
            word("c", Approved, 5),
        ];
        assert_eq!(
            ReviewersAgreement::of(words.iter()).summary().unwrap(),
            "2 items were reviewed by several people: the same status on 1 (50.0 %), scores within one point in \
             50.0 %"
        );
        assert_eq!(ReviewersAgreement::of(words[4..].iter()).summary(), None);
    }
}
