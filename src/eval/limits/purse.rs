//! `Purse`: what the variants of one spec have used up of the budget that they share.

use std::collections::BTreeMap;
use std::sync::Mutex;

use super::budget::Spent;
use crate::system::lock::lock;

/// What each variant of a spec has used up, and how many of its requests are in flight.
#[derive(Debug, Default)]
pub(crate) struct Purse {
    /// The names of the evals that share it.
    names: Vec<String>,
    shares: Mutex<BTreeMap<String, BudgetShare>>,
}

/// That of one variant.
#[derive(Clone, Debug, Default)]
pub(crate) struct BudgetShare {
    pub(crate) spent: Spent,
    /// Their cost is not known yet.
    pub(crate) in_flight: usize,
}

impl Purse {
    /// Of which nothing is used up.
    pub(crate) fn new(names: Vec<String>) -> Self {
        Self {
            names,
            shares: Mutex::default(),
        }
    }

    /// The evals that share it, without this one.
    pub(crate) fn others_of<'a>(&'a self, eval: &'a str) -> impl Iterator<Item = &'a str> {
        let names = self.names.iter().map(String::as_str);
        names.filter(move |name| *name != eval)
    }

    /// Has one act who knows what the others have, and says what it has itself then. Meanwhile nobody else may.
    pub(crate) fn act<T>(
        &self,
        eval: &str,
        act: impl FnOnce(&BudgetShare) -> (BudgetShare, T),
    ) -> T {
        let mut shares = lock(&self.shares);
        let mut others = BudgetShare::default();
        for (_, share) in shares.iter().filter(|(name, _)| *name != eval) {
            others.spent.join(&share.spent);
            others.in_flight += share.in_flight;
        }
        let (own, done) = act(&others);
        shares.insert(eval.to_owned(), own);
        done
    }

    /// What an eval used up that nobody in this program has told of.
    pub(crate) fn tell(&self, eval: &str, spent: Spent) {
        let share = BudgetShare {
            spent,
            in_flight: 0,
        };
        lock(&self.shares).entry(eval.to_owned()).or_insert(share);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_knows_what_the_others_have() {
        let purse = Purse::new(["e@a", "e@b", "e@c"].map(str::to_owned).to_vec());
        let share = |requests, in_flight| {
            let mut spent = Spent::default();
            spent.requests = requests;
            BudgetShare { spent, in_flight }
        };
        let seen = |eval: &str, own: BudgetShare| {
            purse.act(eval, |others| {
                (own, (others.spent.requests, others.in_flight))
            })
        };
        assert_eq!(seen("e@a", share(3, 1)), (0, 0));
        assert_eq!(seen("e@b", share(4, 0)), (3, 1));
        assert_eq!(seen("e@a", share(5, 0)), (4, 0));
        // What is known already is not told again.
        purse.tell("e@b", share(99, 0).spent);
        purse.tell("e@c", share(2, 0).spent);
        assert_eq!(seen("e@a", share(5, 0)), (6, 0));
        assert_eq!(purse.others_of("e@b").collect::<Vec<_>>(), ["e@a", "e@c"]);
    }
}
