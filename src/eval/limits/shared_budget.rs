//! `SharedBudget`: the budget shared by the variants of one spec.

use std::collections::BTreeMap;
use std::sync::Mutex;

use super::budget::Spent;
use crate::system::lock::lock;

/// What each variant of a spec has used up, and its requests in flight.
#[derive(Debug, Default)]
pub(crate) struct SharedBudget {
    /// The names of the evals that share it.
    names: Vec<String>,
    shares: Mutex<BTreeMap<String, BudgetShare>>,
}

/// The share of one variant.
#[derive(Clone, Debug, Default)]
pub(crate) struct BudgetShare {
    pub(crate) spent: Spent,
    /// Requests whose cost is not known yet.
    pub(crate) in_flight: usize,
}

impl SharedBudget {
    /// With nothing used up.
    pub(crate) fn new(names: Vec<String>) -> Self {
        Self {
            names,
            shares: Mutex::default(),
        }
    }

    /// The other evals that share it.
    pub(crate) fn others_of<'a>(&'a self, eval: &'a str) -> impl Iterator<Item = &'a str> {
        let names = self.names.iter().map(String::as_str);
        names.filter(move |name| *name != eval)
    }

    /// Calls `act` with the total of the others and stores the new share that it returns, with the lock held.
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

    /// Sets what an eval used up outside this program, unless it is known already.
    pub(crate) fn report(&self, eval: &str, spent: Spent) {
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
        let shared_budget = SharedBudget::new(["e@a", "e@b", "e@c"].map(str::to_owned).to_vec());
        let share = |requests, in_flight| {
            let mut spent = Spent::default();
            spent.requests = requests;
            BudgetShare { spent, in_flight }
        };
        let seen = |eval: &str, own: BudgetShare| {
            shared_budget.act(eval, |others| {
                (own, (others.spent.requests, others.in_flight))
            })
        };
        assert_eq!(seen("e@a", share(3, 1)), (0, 0));
        assert_eq!(seen("e@b", share(4, 0)), (3, 1));
        assert_eq!(seen("e@a", share(5, 0)), (4, 0));
        // Known shares are not overwritten.
        shared_budget.report("e@b", share(99, 0).spent);
        shared_budget.report("e@c", share(2, 0).spent);
        assert_eq!(seen("e@a", share(5, 0)), (6, 0));
        assert_eq!(
            shared_budget.others_of("e@b").collect::<Vec<_>>(),
            ["e@a", "e@c"]
        );
    }
}
