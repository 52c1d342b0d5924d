//! Versions and suites that clients are let in with: what a step brings a server to, and how it is seen from outside.

use change::{Direction, StepError};
use model::{NodeName, TlsProfile};
use serde::{Deserialize, Serialize};
use server::{NodeView, OfferAnswer, SqlPort, TlsOffer, TlsRules, WriteNode};

use crate::draft::NodeDraft;
use crate::edit::Edit;
use crate::steps::fail;
use crate::world::World;

/// Of the running server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RulesChange {
    pub before: TlsRules,
    pub after: TlsRules,
}

impl RulesChange {
    pub fn wanted(&self, direction: Direction) -> &TlsRules {
        if direction == Direction::Forward { &self.after } else { &self.before }
    }

    pub fn changes_nothing(&self) -> bool {
        self.before == self.after
    }
}

/// What a step wants, if it is about that.
pub fn wanted(rules: Option<&RulesChange>, direction: Direction) -> Option<&TlsRules> {
    rules.map(|rules| rules.wanted(direction))
}

/// Why the running server is not as wished; `None`: it is, or the step does not say.
pub fn differs(rules: Option<&RulesChange>, view: &NodeView, direction: Direction) -> Option<String> {
    TlsRules::in_use(view).differs_from(wanted(rules, direction)?)
}

/// The lines of a profile, and what they change of the server as it is planned for.
pub fn plan(draft: &mut NodeDraft, profile: Option<TlsProfile>) -> (Vec<Edit>, Option<RulesChange>) {
    let Some(profile) = profile else { return (vec![], None) };
    let after = TlsRules::of(profile, draft.view.capabilities().flavour);
    let edits = after.iter().map(|(option, value)| draft.set(option, value.to_owned())).collect();
    let before = std::mem::replace(&mut draft.rules, after.clone());
    (edits, Some(RulesChange { before, after }))
}

/// Removes the lines of a profile; what somebody else has set stays.
pub fn without_profile(draft: &NodeDraft) -> Vec<Edit> {
    let flavour = draft.view.capabilities().flavour;
    let file = formats::optfile::OptionFile::parse(&draft.bytes, "");
    let is_ours = |option: &String| {
        let item = file.as_ref().ok().and_then(|file| file.get(&[&draft.group], option));
        item.and_then(|item| item.value)
            .is_some_and(|value| TlsRules::is_of_a_profile(flavour, option, value))
    };
    TlsRules::names(flavour).into_iter().filter(is_ours).map(|option| draft.unset(&option)).collect()
}

/// What a title adds.
pub fn in_words(profile: Option<TlsProfile>) -> String {
    profile.map_or_else(String::new, |profile| format!(", by the profile {profile} ({})", profile.meaning()))
}

/// What a plan says of it for those who agree to it.
pub fn told(profile: Option<TlsProfile>) -> Vec<String> {
    let Some(profile) = profile else { return vec![] };
    let on_what = match profile {
        TlsProfile::Modern => "which TLS 1.2 clients cannot speak",
        TlsProfile::Intermediate => "so that older versions and suites without forward secrecy are refused",
    };
    vec![format!(
        "afterwards, clients and replicas are let in with {}, {on_what}; sessions that are open stay as they are until they connect anew",
        profile.meaning()
    )]
}

enum NotHeld {
    CannotTell(String),
    NoTls,
    Otherwise(String),
}

impl std::fmt::Display for NotHeld {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::CannotTell(why) => write!(f, "whether it holds from outside cannot be told: {why}"),
            Self::NoTls => f.write_str("offers no TLS"),
            Self::Otherwise(what) => f.write_str(what),
        }
    }
}

fn holds(node: &mut dyn WriteNode, profile: TlsProfile, port: SqlPort) -> Result<(), NotHeld> {
    let mut ask = |offer: &TlsOffer| {
        node.client_takes(offer)
            .map_err(|error| NotHeld::CannotTell(format!("{offer}: {}", error.first_line())))
    };
    for offer in TlsOffer::taken_by(profile, port) {
        match ask(&offer)? {
            OfferAnswer::Taken(_) => {}
            OfferAnswer::Refused(alert) => {
                return Err(NotHeld::Otherwise(format!("refuses {offer}, which is of it: {alert}")));
            }
            OfferAnswer::NoTls => return Err(NotHeld::NoTls),
        }
    }
    let offer = TlsOffer::refused_by(profile, port);
    match ask(&offer)? {
        OfferAnswer::Refused(_) => Ok(()),
        OfferAnswer::NoTls => Err(NotHeld::NoTls),
        OfferAnswer::Taken(_) => Err(NotHeld::Otherwise(format!("still takes {offer} from a client"))),
    }
}

/// A handshake with what the profile has, and one with what it has not; on the admin port too, where that follows the main one.
///
/// # Errors
/// One went otherwise than it must, or cannot be told.
pub fn seen_from_outside(
    world: &mut World<'_>,
    name: &NodeName,
    rules: Option<&TlsRules>,
) -> Result<String, StepError> {
    let Some(profile) = rules.and_then(TlsRules::profile) else { return Ok(String::new()) };
    let node = world.node(name)?;
    let view = node.view().map_err(fail)?;
    holds(node, profile, SqlPort::Main)
        .map_err(|error| fail(format!("{name} has the profile {profile}, and {error}")))?;
    let mut also = String::new();
    if view.admin_follows_main() {
        also = match holds(node, profile, SqlPort::Admin) {
            Ok(()) => ", on its admin port too".into(),
            Err(NotHeld::NoTls) => "; its admin port offers no TLS".into(),
            Err(NotHeld::CannotTell(why)) => format!("; of its admin port that cannot be told ({why})"),
            Err(error) => {
                return Err(fail(format!("{name} has the profile {profile}, and on its admin port {error}")));
            }
        };
    }
    let refused = TlsOffer::refused_by(profile, SqlPort::Main);
    Ok(format!("; it has the profile {profile}: seen from outside, {refused} is refused{also}"))
}
