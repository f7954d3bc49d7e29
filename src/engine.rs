//! The interface that `cargo evaltest` is built on.
//!
//! Unstable: anything here may change in any release. The stable API is at the root of the crate.

pub mod doctor;
#[cfg(feature = "inspect")]
pub mod inspect;
#[cfg(feature = "bfcl")]
pub mod leaderboard;
#[cfg(feature = "inspect")]
pub mod traces;
pub mod view;

/// Text formatting, and parsers of answers.
pub mod text {
    pub use crate::error::nearest;
    pub use crate::text::json_cursor::{Cursor, JsonNumber, JsonWord, Raw, Unexpected};
    pub use crate::text::mcp::{McpReply, McpRequest, McpServer};
    pub use crate::text::near_copy::{NearCopies, NearCopy};
    pub use crate::text::redact::REDACTED;
    pub use crate::text::setting::Override;
    pub use crate::text::{clean, clean_lines, excerpt, shell_word};
    pub use crate::text::{escape_json, escape_line_ends, is_json_plain, unquoted};
}

/// Formatting of figures.
pub mod figure {
    pub use crate::figure::{
        CI95, Count, Interval, P, Points, Scale, Seconds, Share, Usd, counted, or_dash, part_of,
        with_minus,
    };
}

/// Statistics of gates: tests of two runs, intervals, power.
pub mod stats {
    pub use crate::stats::{
        AnswerCounts, ComparedSample, Rates, RunGroup, SampleDesign, SharesTest, SharesTestKind,
        Tested, WantedDrop, accuracy_interval, conditional_test, regression_p, shares_test,
        smallest_drop_at, whole_runs_test,
    };
}

/// Threads, signals, processes and the project's folder.
pub mod system {
    /// Atomic file writes, and the files beside a program.
    pub mod file {
        pub use crate::system::file::alongside::{Alongside, files_below, plain};
        pub use crate::system::file::{NewFile, write_atomically_by};
    }
    /// Processes that outlive a killed run.
    pub mod orphans {
        pub use crate::system::process::orphans::{adopt, kill_all, leave, watch_if_requested};
    }
    /// Locks that ignore poisoning.
    pub mod lock {
        pub use crate::system::lock;
    }
    /// Parallel work in order.
    pub mod parallel {
        pub use crate::system::parallel::detached;
    }
    /// Messages of panics.
    pub mod panics {
        pub use crate::system::panics::quiet;
    }
    /// The project's folder, and detection of CI.
    pub mod project {
        pub use crate::system::project::{
            commit_step, current_root, display, is_ci, repository, root, root_of, workspace,
        };
    }
    /// Sandboxes for agents.
    pub mod sandbox {
        pub use crate::system::sandbox::serve_if_requested;
    }
    /// Handling of Ctrl-C and similar signals.
    pub mod signal {
        pub use crate::system::process::signal::{Interrupt, cancel_on_signals, interrupt, shield};
    }
    /// Width of a terminal.
    pub mod terminal {
        pub use crate::system::columns;
    }
}

/// Local web servers for browsers on this machine.
pub mod serve {
    pub use crate::serve::{
        LocalServer, Served, ServedAnswer, ServedPage, ServedRequest, TOKEN_HEADER,
    };
}

/// Reviews of items by people.
pub mod review {
    pub use crate::data::labels::LabelChoice;
    pub use crate::data::reviews::{ReviewStatus, Verification};
    pub use crate::review::{
        Review, ReviewChoice, ReviewOnly, ReviewOptions, ReviewServed, reviewed_file,
    };
}

/// JSON as written by Python.
pub mod data {
    pub use crate::data::dataset::{exact_integers, python_json};
    pub use crate::data::{Shard, Variant, display_prediction};
}

/// The history of an eval.
pub mod history {
    pub use crate::data::history::{
        AnswerBits, AnswerRow, HISTORY_FILE, HISTORY_VERSION, History, HistoryAnswers, HistoryGate,
        HistoryKind, HistoryLatency, HistoryLine, HistorySlice, SkippedLine,
    };
    pub use crate::run::history::history_of_runs;
    pub use crate::snapshot::HistoryPatch;
}

/// Run directories and the answer cache.
pub mod store {
    pub use crate::store::{
        Carried, DEFAULT_OUTPUT_ROOT, Manifest, MergedPart, RunDir, RunPart, RunStatus, files,
        lost_runs_in, read_carried, read_records, runs_in, stamp, stamp_and_id, stamp_of,
    };
    /// The answer cache.
    pub mod cache {
        pub use crate::store::cache::{Cleared, Contents, FOLDER, clear, contents};
    }
}

/// Scorers by name.
pub mod scorers {
    pub use crate::eval::registry::agents::none::item_parts;
    pub use crate::eval::registry::scorers::{
        Context, by_name, entries, entry, from_value, names, small_specs, without_type,
    };
    pub use crate::scorer::extract::PAGE as EXTRACTIONS;
    pub use crate::scorer::{Entry, Example, GUIDE, SmallSpec};
}

/// Parsing of judges' replies, and analysis of judges from stored verdicts and labels.
pub mod judge {
    pub use regex::Regex;

    pub use crate::data::calibration::{
        CalibratedAnswer, Calibration, CalibrationKappa, LabelledValue,
    };
    pub use crate::data::labels::{ItemLabels, LabelChoice, LabelClass, read_labels};
    pub use crate::run::judge::calibrate::{JudgeComparison, JudgeOfRun, LabelPlan};
    pub use crate::scorer::ask::judge::reading::{
        ReadStatus, Reading, Unread, choices, helloagents_judge, helloagents_winner, pattern,
        patterns, rating, rubric,
    };
    pub use crate::verdict::judged::agreement::{
        AgreementFigures, ClassFigures, JudgeAgreement, LabelledItem,
    };
    pub use crate::verdict::judged::calibrated::CalibratedJudge;
    pub use crate::verdict::judged::calibration::{
        CalibrationStatus, CorrectedFigure, JudgeCalibration,
    };
    pub use crate::verdict::judged::correct::{
        CorrectedMean, GradedItem, JudgeCorrection, PlainMean,
    };
    pub use crate::verdict::judged::pairs::{JudgedPair, Outcome, PairsSummary};
    pub use crate::verdict::judged::winrate::{
        ComparedAnswers, LogprobPreference, OrdersWinRate, PreferenceWinRate, Preferred,
    };
    pub use crate::verdict::judged::{InputLine, parse_input_line};
}

/// Gates, and the agreement of answers and verdicts.
pub mod verdict {
    pub use crate::verdict::agreement::{
        Agreement, Ballot, Leniency, ScorerFigures, ScorerPair, Vote,
    };
    pub use crate::verdict::alert::{Alert, AlertJudge, AlertResult, AlertVerdict, Alerts};
    pub use crate::verdict::baseline::figures::AnswerFigures;
    pub use crate::verdict::baseline::marks::Marks;
    pub use crate::verdict::baseline::{
        Baseline, BaselineRow, BaselineRun, BaselineSample, BaselineSamples, CurrentRow,
        CurrentSample, CurrentSamples,
    };
    pub use crate::verdict::check::{ComparedVerdict, ErrorBounds, PairedFigures, SeenDrop};
    pub use crate::verdict::compare::RunsComparison;
    pub use crate::verdict::compare::{PairedMean, PairedRatio};
    pub use crate::verdict::facts::{Facts, Stop};
    pub use crate::verdict::gate::{Slice, check_unique};
    pub use crate::verdict::groups::{
        DisagreementGroup, ErrorGroup, FailureGroups, FlakyEpochs, FlakySamples, GroupedFailures,
        SampleFigure, SliceFailures, WrongGroup,
    };
    pub use crate::verdict::metric::{GATE_OPTIONS, METRICS};
    pub use crate::verdict::result::InterimAnalysis;
    pub use crate::verdict::summary::Subject;
    pub use crate::verdict::summary::account::{Account, AccountRow, Decides, Decision};
    pub use crate::verdict::trend::{Trend, TrendChange, TrendEntry, TrendLine, TrendMark};
}

/// Accepts a run as the baseline.
pub mod snapshot {
    pub use crate::snapshot::{ATTRIBUTES, ATTRIBUTES_FILE, Acceptance, Accepted, accept};
}

/// Events, and reports of runs: one module per format, which is public here as soon as it exists.
pub mod report {
    pub use crate::report::event::Event;
    pub use crate::report::*;
}

/// Specs, and the kinds they use.
pub mod eval {
    pub use crate::eval::registry::{BuiltIn, agents, benchmarks};
    /// Reading specs.
    pub mod spec {
        #[cfg(feature = "schema")]
        pub use crate::eval::spec::schema::{OwnKinds, schema, schema_text};
        pub use crate::eval::spec::{
            is_other, is_spec, likely_names, load, load_all, load_any, load_of, names, of_config,
            of_flags, parse, parse_all, spec_of_run,
        };
    }
}

/// Runs evals like the command, and rescores stored answers.
pub mod run {
    pub use crate::run::{drive, listing};
    /// Verifies the files of a run, and rebuilds them from its journal.
    pub mod restored {
        pub use crate::run::record::readable::{Readable, readable, readable_so_far};
        pub use crate::run::record::repaired::{Repaired, repair};
    }
    /// Parts of runs left by nextest.
    pub mod parts {
        pub use crate::run::shard::trial_parts::gather_abandoned;
    }

    /// Merges shards into one run.
    pub mod merge {
        pub use crate::run::shard::merge::{FoundParts, MergeOptions, found_parts, merge};
    }
    /// Rescores stored answers.
    pub mod rescore {
        pub use crate::run::record::reload::{reload, reload_original};
        pub use crate::run::rescore::{
            AnswerPrice, BaselineAnswers, Evidence, Foreseen, Origin, Rescore, Versus,
            VersusScorer, evidence, extraction_of, foresee, rescore, scorers_of, scorers_of_spec,
        };
    }
}

/// Results of the benchmark `generate`: file of items, statistics and report.
pub mod generate {
    pub use crate::generate::*;
}

/// What the readers of replies know, for the book.
#[cfg(feature = "http")]
pub mod replies {
    pub use crate::agent::reply::book::{ReplyTable, reply_tables};
}

/// Flows: generate items, judge them, compare them with real ones and report.
pub mod flow {
    pub use crate::flow::figures::{
        ComparedItems, CountedShare, DimensionPoints, FlowBasics, FlowFigures, FlowGate,
        FlowPlaces, FlowStage, GeneratedItems, ItemCheckCount, ItemPoints, JudgeWorth, PointMean,
        ReviewedItems, StageCost, StageFigures, TopicCount,
    };
    #[cfg(feature = "schema")]
    pub use crate::flow::flow_schema;
    pub use crate::flow::{
        Flow, FlowEnd, FlowFlags, FlowHost, FlowNews, FlowPlan, FlowState, READY_FLOW, StageState,
        StageStatus,
    };
}
