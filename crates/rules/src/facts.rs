//! What a rule over several facts reads: those that it has declared, and no others.

use model::{Fact, Observation, ObservationId, Observations, Value, Verdict};

/// The facts of one subject that a rule has declared.
pub struct Facts<'s> {
    declared: &'static [&'static Fact],
    /// In the order of `declared`.
    seen: Vec<Option<&'s Observation>>,
}

impl<'s> Facts<'s> {
    pub(crate) fn of(subject: &str, declared: &'static [&'static Fact], seen: &'s Observations) -> Self {
        Self { declared, seen: declared.iter().map(|fact| seen.newest(subject, fact)).collect() }
    }

    pub(crate) fn ids(&self) -> Vec<ObservationId> {
        self.seen.iter().flatten().map(|one| one.id).collect()
    }

    /// The value of a fact.
    ///
    /// # Errors
    /// `Unknown`: nobody noted it of this subject, or what was noted says why it could not be seen.
    pub fn value(&self, fact: &Fact) -> Result<&'s Value, Verdict> {
        let place = self.declared.iter().position(|one| *one == fact);
        let Some(seen) = place.and_then(|place| self.seen.get(place)).copied().flatten() else {
            return Err(Verdict::Unknown(format!("nothing was noted of {}", fact.name)));
        };
        match &seen.value {
            Value::Unknown(why) => Err(Verdict::Unknown(why.clone())),
            value => Ok(value),
        }
    }

    /// Of a fact that is yes or no.
    ///
    /// # Errors
    /// As [`Self::value`], and where it is neither.
    pub fn is(&self, fact: &Fact) -> Result<bool, Verdict> {
        match self.value(fact)? {
            Value::Bool(is) => Ok(*is),
            other => Err(crate::verdicts::unknown(other)),
        }
    }

    /// Of a fact that is a word.
    ///
    /// # Errors
    /// As [`Self::value`], and where it is none.
    pub fn word(&self, fact: &Fact) -> Result<&'s str, Verdict> {
        match self.value(fact)? {
            Value::Text(word) => Ok(word),
            other => Err(crate::verdicts::unknown(other)),
        }
    }

    /// Of a fact that counts.
    ///
    /// # Errors
    /// As [`Self::value`], and where it is no number.
    pub fn count(&self, fact: &Fact) -> Result<i64, Verdict> {
        match self.value(fact)? {
            Value::Number(number) => Ok(*number),
            other => Err(crate::verdicts::unknown(other)),
        }
    }

    /// What was found; `None` where nothing was.
    ///
    /// # Errors
    /// As [`Self::value`], and where it is neither.
    pub fn found(&self, fact: &Fact) -> Result<Option<&'s str>, Verdict> {
        match self.value(fact)? {
            Value::Text(what) => Ok(Some(what)),
            Value::Absent => Ok(None),
            other => Err(crate::verdicts::unknown(other)),
        }
    }
}
