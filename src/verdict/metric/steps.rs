//! Steps of right answers, and their bounds if every sample had a verdict.

use super::figures::Figures;
use super::measured::Measured;
use crate::stats;
use crate::verdict::summary::StepFigures;

impl Figures<'_> {
    /// The mean of steps, or of their ratio to annotated ones: that mean, of how many answers, and the most. A sample without
    /// a verdict may be right, in no step at all or in as many as the longest of the scored answers took: an outage does not
    /// make an agent take more.
    pub(super) fn steps(
        &self,
        of: fn(StepFigures) -> (Option<f64>, u64, f64),
        what: &str,
    ) -> Result<Measured, String> {
        let none = |why: &str| self.nothing_scored().unwrap_or_else(|| why.to_owned());
        if self.group.correct == 0 {
            return Err(none("no answer is correct"));
        }
        let figures = self.group.steps.ok_or_else(|| {
            none("no answer tells its steps: agents reply with `steps`, or with `messages`")
        })?;
        let (mean, count, most) = of(figures);
        let Some(mean) = mean else {
            return Err(format!("no correct answer tells its {what}"));
        };
        let (seen, more) = (stats::as_f64(count), stats::as_f64(self.unknown()));
        let with = |each: f64| (mean * seen + more * each) / (seen + more);
        let [low, high] = if more > 0.0 {
            [with(0.0), with(most)]
        } else {
            [mean, mean]
        };
        Ok(Measured {
            value: mean,
            low,
            high,
            from: format!(
                "over {count} of {} correct answers, those that tell",
                self.group.correct
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::data::{Record, Status};
    use crate::verdict::facts::Facts;
    use crate::verdict::gate::Gate;
    use crate::verdict::result::Verdict::{Failed, Inconclusive, Passed};
    use crate::verdict::result::{GateResult, Verdict};
    use crate::verdict::summary::Summary;
    use crate::verdict::summary::tests::record;

    fn answer(correct: bool, level: &str, steps: Option<u64>, annotated: Option<u64>) -> Record {
        let mut record = record("a", Status::Scored, correct, level);
        record.result.steps = steps;
        record.annotated_steps = annotated;
        record
    }

    fn checked(gate: &str, records: &[Record]) -> GateResult {
        let gate: Gate = gate.parse().unwrap();
        gate.check(&Facts::of(Summary::of("test", records)))
    }

    #[test]
    fn steps_are_of_right_answers_and_errors_may_take_none_or_the_most() {
        let mut records = vec![
            answer(true, "1", Some(4), Some(2)),
            answer(true, "1", Some(6), Some(6)),
            answer(true, "2", Some(8), None),
            answer(true, "2", None, Some(3)),
            answer(false, "2", Some(30), Some(3)),
        ];
        let check = |records: &[Record], gate: &str, verdict: Verdict, value: Option<f64>| {
            let result = checked(gate, records);
            assert_eq!(
                (result.verdict, result.value),
                (verdict, value),
                "{gate}: {}",
                result.message
            );
            result.message
        };
        let message = check(&records, "steps <= 6", Passed, Some(6.0));
        assert!(message.contains("over 3 of 4 correct answers"), "{message}");
        check(&records, "steps < 6", Failed, Some(6.0));
        check(&records, "steps[level=1] <= 5", Passed, Some(5.0));
        check(&records, "steps_ratio <= 1.5", Passed, Some(1.5));
        check(&records, "steps_ratio[level=1] < 1.5", Failed, Some(1.5));
        check(&records, "steps_ratio[level=2] <= 2", Inconclusive, None);
        records.push(record("e", Status::TimedOut, false, "1"));
        // At most (4 + 6 + 8 + 30) / 4, at least (4 + 6 + 8) / 4.
        let message = check(&records, "steps <= 6", Inconclusive, Some(6.0));
        assert!(message.contains("between 4.5 and 12"), "{message}");
        check(&records, "steps <= 12", Passed, Some(6.0));
        check(&records, "steps < 4.5", Failed, Some(6.0));
        check(&records, "steps_ratio <= 5", Passed, Some(1.5));
        check(&records, "steps_ratio <= 4", Inconclusive, Some(1.5));
        check(&records, "steps[level=2] <= 8", Passed, Some(8.0));
    }

    #[test]
    fn no_steps_no_figure() {
        let check = |records: &[Record], expect: &str| {
            let result = checked("steps <= 8", records);
            assert_eq!(result.verdict, Inconclusive);
            assert!(result.message.contains(expect), "{}", result.message);
        };
        check(
            &[answer(true, "1", None, None)],
            "no answer tells its steps",
        );
        check(&[answer(false, "1", Some(3), None)], "no answer is correct");
        let wrong_tells = [
            answer(true, "1", None, None),
            answer(false, "1", Some(3), None),
        ];
        check(&wrong_tells, "no correct answer tells its steps");
        check(
            &[record("e", Status::TimedOut, false, "1")],
            "no sample was scored",
        );
    }
}
