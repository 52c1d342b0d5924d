//! What a proxy keeps, and how it decides. Each decision is one transaction, on the disk before anybody hears of it.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension, Transaction, TransactionBehavior, params};
use rustix::fs::FlockOperation;
use zeroize::Zeroizing;

use super::log::{DONE, GRANT, LogHead, LogLine, PAGE_LINES_MAX};
use super::mark::Mark;
use super::protocol::{
    AuditAnswer, AuditWish, CAPSULES_MAX, Challenge, OpenAnswer, PutGrant, Reason, Refusal, SignedWish,
    StateAnswer, Wish, audit_text,
};
use crate::b64::{Blob, Fixed};
use crate::crypto::{self, HASH_BYTES, KEY_BYTES, NONCE_BYTES};
use crate::grant::{FRAGMENT_BYTES_MAX, GrantId, Policy, SHARE_BYTES_MAX, ScopeTerms, SignedGrant};
use crate::keys::PublicIdentity;
use crate::{ShareError, files, shown_time};

pub(super) const DATABASE: &str = "grants.sqlite";
const STORE_KEY: &str = "store.key";
/// A reader signs at once; two minutes are a slow network.
const CHALLENGE_S_MAX: i64 = 120;
/// In an hour, of one grant.
const REFUSALS_NOTED_MAX: u32 = 100;
const BUSY_WAIT: Duration = Duration::from_secs(5);

const TABLES: &str = "
CREATE TABLE IF NOT EXISTS grants (
  id BLOB PRIMARY KEY, policy BLOB NOT NULL, signature BLOB NOT NULL,
  share BLOB, opens INTEGER NOT NULL DEFAULT 0, revoked_unix_s INTEGER
) STRICT;
CREATE TABLE IF NOT EXISTS used_challenges (challenge BLOB PRIMARY KEY, unix_s INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS audit (
  number INTEGER PRIMARY KEY, unix_s INTEGER NOT NULL, wish TEXT NOT NULL, grant_id BLOB NOT NULL,
  answer TEXT NOT NULL, hash BLOB NOT NULL
) STRICT;";

/// A scheme in which a proxy makes, out of what an archive of a scope has, what its reader can open. It sees neither rows nor their key.
pub trait Reencryption: Send + Sync {
    /// # Errors
    /// It is not the owner's, or not for these keys.
    fn is_fragment(&self, scope: &ScopeTerms, fragment: &[u8]) -> Result<(), String>;

    /// # Errors
    /// The capsule is none.
    fn reencrypt(&self, scope: &ScopeTerms, fragment: &[u8], capsule: &[u8]) -> Result<Vec<u8>, String>;
}

pub struct Store {
    connection: Connection,
    owner: PublicIdentity,
    certificate: Fixed<HASH_BYTES>,
    /// Of the shares in the file.
    at_rest: Zeroizing<[u8; KEY_BYTES]>,
    /// Of this process: a challenge does not outlive it.
    challenges: Zeroizing<[u8; KEY_BYTES]>,
    mark: Option<Mark>,
    latest_unix_s: Cell<i64>,
    reencryption: Option<Arc<dyn Reencryption>>,
    /// Refusals that were noted of each grant, and of which hour that is.
    refusals: (i64, BTreeMap<GrantId, u32>),
    /// Held as long as this proxy runs on its directory.
    _alone: File,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Store({:?})", self.certificate)
    }
}

impl From<rusqlite::Error> for Refusal {
    fn from(error: rusqlite::Error) -> Self {
        // Its text may hold paths, which are nobody's business.
        eprintln!("sealion share proxy: the database says: {error}");
        Self::new(Reason::Internal, "the proxy cannot use its database")
    }
}

struct Kept {
    /// `None`: revoked before it came.
    policy: Option<Policy>,
    share: Option<Vec<u8>>,
    opens: u32,
    revoked_unix_s: Option<i64>,
}

impl Store {
    /// `dir` has mode 0700; files that are not there are made, 0600.
    pub fn open(
        dir: &Path,
        owner: PublicIdentity,
        certificate: Fixed<HASH_BYTES>,
    ) -> Result<Self, ShareError> {
        let key_path = dir.join(STORE_KEY);
        if key_path.symlink_metadata().is_err() {
            let key = Zeroizing::new(crypto::random::<KEY_BYTES>()?);
            files::write_new(&key_path, &key[..], files::PRIVATE)?;
        }
        files::is_private(&key_path)?;
        let alone = File::open(&key_path).map_err(files::cannot("read", &key_path))?;
        if rustix::fs::flock(&alone, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Err(ShareError::usage(
                format!("{} is in use", dir.display()),
                "another proxy runs on it",
                "end that one, or give this one a directory of its own",
            ));
        }
        let key = Zeroizing::new(files::read_small(&key_path, KEY_BYTES as u64)?);
        if key.len() != KEY_BYTES {
            return Err(ShareError::usage(
                format!("{} is no key of a proxy", key_path.display()),
                format!(
                    "it has {} bytes, of {KEY_BYTES}: shares would be as good as in the clear",
                    key.len()
                ),
                "bring it back from a backup; or remove it together with the database, and have all grants given anew",
            ));
        }
        let path = dir.join(DATABASE);
        if path.symlink_metadata().is_err() {
            // SQLite would make it with the umask's mode.
            files::write_new(&path, b"", files::PRIVATE)?;
        }
        files::is_private(&path)?;
        let failed = |error: rusqlite::Error| {
            ShareError::usage(
                format!("cannot open {}", path.display()),
                error,
                "check that it is the database of a share proxy, and that no other proxy runs on it",
            )
        };
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let absolute = std::path::absolute(&path).unwrap_or_else(|_| path.clone());
        let connection = Connection::open_with_flags(absolute, flags).map_err(failed)?;
        connection.busy_timeout(BUSY_WAIT).map_err(failed)?;
        // A revoked share is overwritten in the file, not only unlinked.
        connection.pragma_update(None, "secure_delete", true).map_err(failed)?;
        connection.pragma_update(None, "synchronous", "EXTRA").map_err(failed)?;
        connection.execute_batch(TABLES).map_err(failed)?;
        // Those of another process have no key any more.
        connection.execute("DELETE FROM used_challenges", []).map_err(failed)?;
        Ok(Self {
            connection,
            owner,
            certificate,
            at_rest: crypto::derive(&certificate.0, &key, "shares of a proxy"),
            challenges: Zeroizing::new(crypto::random()?),
            mark: None,
            latest_unix_s: Cell::new(0),
            reencryption: None,
            refusals: (0, BTreeMap::new()),
            _alone: alone,
        })
    }

    /// Takes standing grants, too.
    #[must_use]
    pub fn reencrypting(mut self, by: Arc<dyn Reencryption>) -> Self {
        self.reencryption = Some(by);
        self
    }

    /// Nothing is kept of it until somebody with a key has used it.
    pub fn challenge(&self, now_unix_s: i64) -> Result<Challenge, Refusal> {
        let now_unix_s = self.latest(now_unix_s);
        let random: [u8; 16] =
            crypto::random().map_err(|_| Refusal::new(Reason::Internal, "the proxy has no random bytes"))?;
        let mut bytes = [0; super::protocol::CHALLENGE_BYTES];
        bytes[..16].copy_from_slice(&random);
        bytes[16..24].copy_from_slice(&now_unix_s.to_be_bytes());
        let mac = crypto::mac(&self.challenges, &bytes[..24]);
        bytes[24..].copy_from_slice(&mac);
        Ok(Fixed(bytes))
    }

    pub fn put(&mut self, put: &PutGrant, now_unix_s: i64) -> Result<(), Refusal> {
        let no = |text: String| Refusal::new(Reason::NotAllowed, text);
        let policy = put.grant.by(&self.owner).map_err(no)?;
        let here = policy.proxies.iter().find(|proxy| proxy.url.certificate == self.certificate);
        let here = here.ok_or_else(|| no("the grant does not name this proxy".into()))?;
        let share = &put.share.0;
        if let Some(scope) = &policy.scope {
            let other =
                || no("this proxy does not re-encrypt: it is one of sealion, not of sealion-share".into());
            self.reencryption.as_ref().ok_or_else(other)?.is_fragment(scope, share).map_err(no)?;
        }
        let bytes_max = if policy.scope.is_some() { FRAGMENT_BYTES_MAX } else { SHARE_BYTES_MAX };
        if share.len() > bytes_max || crypto::sha256(&[share]) != here.share_sha256.0 {
            return Err(no("the share is not that which the grant names for this proxy".into()));
        }
        let sealed = seal_share(&self.at_rest, &policy.id.0, share)
            .map_err(|_| Refusal::new(Reason::Internal, "the proxy cannot encrypt"))?;
        let id = policy.id.0;
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let before: Option<(Vec<u8>, Option<i64>)> = transaction
            .query_row("SELECT policy, revoked_unix_s FROM grants WHERE id = ?1", [&id[..]], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .optional()?;
        let decided = match before {
            // The tombstone: whoever has kept the signed grant cannot bring it back.
            Some((_, Some(at))) => {
                Err(Refusal::new(Reason::Revoked, format!("this grant was revoked on {}", shown_time(at))))
            }
            // As after an answer that was lost.
            Some((bytes, None)) if bytes == put.grant.policy.0 => Ok(()),
            Some(_) => Err(Refusal::new(Reason::Conflict, "another grant has this id")),
            None => {
                transaction.execute(
                    "INSERT INTO grants (id, policy, signature, share) VALUES (?1, ?2, ?3, ?4)",
                    params![&id[..], put.grant.policy.0, &put.grant.signature.0[..], sealed],
                )?;
                // The others are not noted: the reader has the grant too, and could fill the log with it.
                note(&transaction, now_unix_s, GRANT, &policy.id, None)?;
                Ok(())
            }
        };
        transaction.commit()?;
        self.is_marked()?;
        decided
    }

    pub fn open_share(&mut self, wish: &SignedWish, now_unix_s: i64) -> Result<OpenAnswer, Refusal> {
        let (at_rest, reencryption) = (self.at_rest.clone(), self.reencryption.clone());
        self.decide(Wish::Open, wish, now_unix_s, |transaction, kept| {
            let living = kept.living(now_unix_s);
            if living.as_ref().is_err_and(|refusal| refusal.reason == Reason::Expired) {
                // Nothing brings it back, a clock that is set back neither.
                transaction.execute("UPDATE grants SET share = NULL WHERE id = ?1", [&wish.grant.0[..]])?;
            }
            let sealed = living?;
            let scope = kept.policy.as_ref().and_then(|policy| policy.scope.as_ref());
            let count = if scope.is_some() { wish.capsules.len() } else { 1 };
            if (scope.is_none() && !wish.capsules.is_empty()) || !(1..=CAPSULES_MAX).contains(&count) {
                let text = format!("it has {} capsules", wish.capsules.len());
                return Err(Refusal::new(Reason::BadRequest, text));
            }
            let opens = kept.opens.saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
            kept.has_left(opens)?;
            let share = open_share(&at_rest, &wish.grant.0, sealed)
                .ok_or_else(|| Refusal::new(Reason::Internal, "the proxy's copy of the share is damaged"))?;
            let mut answer = OpenAnswer { share: Blob(vec![]), opens, fragments: vec![] };
            match (scope, reencryption) {
                (None, _) => answer.share = Blob(share.to_vec()),
                (Some(_), None) => {
                    return Err(Refusal::new(Reason::Internal, "this proxy does not re-encrypt any more"));
                }
                (Some(scope), Some(reencryption)) => {
                    let made = wish.capsules.iter().map(|capsule| {
                        let made = reencryption.reencrypt(scope, &share, &capsule.0).map(Blob);
                        made.map_err(|why| Refusal::new(Reason::BadRequest, why))
                    });
                    answer.fragments = made.collect::<Result<_, _>>()?;
                }
            }
            let counted = transaction
                .execute("UPDATE grants SET opens = ?2 WHERE id = ?1", params![&wish.grant.0[..], opens])?;
            if counted != 1 {
                return Err(Refusal::new(Reason::Internal, "the proxy could not count"));
            }
            Ok(answer)
        })
    }

    /// The share goes, the grant stays as a tombstone. Twice is as once. One that is not here yet may be under way: it is not taken any more.
    pub fn revoke(&mut self, wish: &SignedWish, now_unix_s: i64) -> Result<StateAnswer, Refusal> {
        self.decide(Wish::Revoke, wish, now_unix_s, |transaction, kept| {
            transaction.execute(
                "INSERT INTO grants (id, policy, signature, revoked_unix_s) VALUES (?1, X'', X'', ?2) ON CONFLICT (id) \
                 DO UPDATE SET share = NULL, revoked_unix_s = COALESCE(revoked_unix_s, ?2)",
                params![&wish.grant.0[..], now_unix_s],
            )?;
            Ok(StateAnswer { is_revoked: true, ..kept.state() })
        })
    }

    pub fn state(&mut self, wish: &SignedWish, now_unix_s: i64) -> Result<StateAnswer, Refusal> {
        self.decide(Wish::State, wish, now_unix_s, |_, kept| Ok(kept.state()))
    }

    /// Signature, challenge, `answer` and the line of the log: all of it, or nothing.
    fn decide<T>(
        &mut self,
        kind: Wish,
        wish: &SignedWish,
        now_unix_s: i64,
        answer: impl FnOnce(&Transaction<'_>, &Kept) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        self.is_fresh(&wish.challenge, now_unix_s)?;
        let (owner, certificate) = (self.owner.clone(), self.certificate);
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let kept = match kept(&transaction, &owner, &wish.grant.0)? {
            Some(kept) => kept,
            None if kind == Wish::Revoke => {
                Kept { policy: None, share: None, opens: 0, revoked_unix_s: None }
            }
            None => return Err(Refusal::new(Reason::NoSuchGrant, "this proxy has no such grant")),
        };
        let who = match (kind, &kept.policy) {
            (Wish::Open, Some(policy)) => &policy.reader,
            // Whose it would have been is not known, so nothing is noted of who asks.
            (Wish::Open, None) => {
                return Err(Refusal::new(Reason::NoSuchGrant, "this proxy has no such grant"));
            }
            (Wish::Revoke | Wish::State | Wish::Audit, _) => &owner,
        };
        if kind != Wish::Open && !wish.capsules.is_empty() {
            return Err(Refusal::new(Reason::BadRequest, "it has capsules, which are for opening alone"));
        }
        let text = wish.text(kind, &certificate);
        // Nothing is written for somebody without a key: not even the log can be filled from outside.
        if !crypto::is_signed(&who.sign.0, &text, &wish.signature.0) {
            let whose = if kind == Wish::Open { "reader" } else { "owner" };
            let text = format!("the request is not signed by the grant's {whose}");
            return Err(Refusal::new(Reason::NotAllowed, text));
        }
        let latest_unix_s = self.latest_unix_s.get();
        // Older ones are refused by their time.
        transaction.execute(
            "DELETE FROM used_challenges WHERE unix_s < ?1",
            [latest_unix_s - 2 * CHALLENGE_S_MAX],
        )?;
        let is_new = transaction.execute(
            "INSERT OR IGNORE INTO used_challenges VALUES (?1, ?2)",
            params![&wish.challenge.0[..], latest_unix_s],
        )?;
        if is_new == 0 {
            return Err(Refusal::new(Reason::Challenge, "this request was answered before"));
        }
        let decided = answer(&transaction, &kept);
        // An archive each, as they are counted.
        for _ in 1..wish.capsules.len() {
            if decided.is_ok() {
                note(&transaction, now_unix_s, kind.name(), &wish.grant, None)?;
            }
        }
        if decided.is_ok() || is_noted(&mut self.refusals, wish.grant, now_unix_s / 3600) {
            note(&transaction, now_unix_s, kind.name(), &wish.grant, decided.as_ref().err())?;
        }
        transaction.commit()?;
        self.is_marked()?;
        decided
    }

    /// The latest time that this process has seen: of challenges alone, which a clock that is set back must not make fresh again.
    fn latest(&self, now_unix_s: i64) -> i64 {
        self.latest_unix_s.set(self.latest_unix_s.get().max(now_unix_s));
        self.latest_unix_s.get()
    }

    fn is_fresh(&self, challenge: &Challenge, now_unix_s: i64) -> Result<(), Refusal> {
        let now_unix_s = self.latest(now_unix_s);
        let (made, mac) = challenge.0.split_at(24);
        let at = made.get(16..).and_then(|bytes| bytes.try_into().ok()).map_or(0, i64::from_be_bytes);
        let is_ours = crypto::is_mac(&self.challenges, made, mac);
        if is_ours && now_unix_s.saturating_sub(at).unsigned_abs() <= CHALLENGE_S_MAX.unsigned_abs() {
            return Ok(());
        }
        Err(Refusal::new(Reason::Challenge, "the challenge is not of this proxy, or too old"))
    }

    /// Lines behind `wish.behind`, for the owner.
    pub fn audit(&self, wish: &AuditWish, now_unix_s: i64) -> Result<AuditAnswer, Refusal> {
        self.is_fresh(&wish.challenge, now_unix_s)?;
        let text = audit_text(wish.behind, &wish.challenge, &self.certificate);
        if !crypto::is_signed(&self.owner.sign.0, &text, &wish.signature.0) {
            return Err(Refusal::new(Reason::NotAllowed, "the request is not signed by the owner"));
        }
        let mut select = self.connection.prepare_cached(
            "SELECT number, unix_s, wish, grant_id, answer, hash FROM audit WHERE number > ?1 ORDER BY number LIMIT ?2",
        )?;
        let lines = select.query_map(params![wish.behind, PAGE_LINES_MAX], |row| {
            Ok(LogLine {
                number: row.get(0)?,
                unix_s: row.get(1)?,
                wish: row.get(2)?,
                grant: Fixed(row.get(3)?),
                answer: row.get(4)?,
                hash: Fixed(row.get(5)?),
            })
        })?;
        Ok(AuditAnswer { lines: lines.collect::<Result<_, _>>()?, last: head(&self.connection)?.number })
    }

    /// Sets the mark again with each line of the log. A mark that says otherwise is an error.
    pub fn marked(mut self, path: &Path, dir: &Path) -> Result<Self, ShareError> {
        self.mark = Some(Mark::of(path, dir, &self.connection)?);
        Ok(self)
    }

    /// Behind a commit, before anybody hears of it.
    fn is_marked(&mut self) -> Result<(), Refusal> {
        let Some(mark) = &mut self.mark else { return Ok(()) };
        mark.set(head(&self.connection)?, &self.connection).map_err(|error| {
            eprintln!("sealion share proxy: {error}");
            Refusal::new(Reason::Internal, "the proxy cannot write its mark")
        })
    }

    pub fn counts(&self) -> Result<Counts, Refusal> {
        let (grants, revoked, opens) = self.connection.query_row(
            "SELECT COUNT(*), COUNT(revoked_unix_s), COALESCE(SUM(opens), 0) FROM grants",
            [],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )?;
        Ok(Counts { grants, revoked, opens, log_lines: head(&self.connection)?.number })
    }
}

/// Of all grants together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    pub grants: i64,
    pub revoked: i64,
    pub opens: i64,
    pub log_lines: i64,
}

/// The end of the log.
pub(super) fn head(connection: &Connection) -> rusqlite::Result<LogHead> {
    let last = connection
        .query_row("SELECT number, hash FROM audit ORDER BY number DESC LIMIT 1", [], |row| {
            Ok(LogHead { number: row.get(0)?, hash: Fixed(row.get(1)?) })
        })
        .optional()?;
    Ok(last.unwrap_or(LogHead::START))
}

/// What the line of this number has; `None` if there is none.
pub(super) fn hash_at(connection: &Connection, number: i64) -> rusqlite::Result<Option<Fixed<HASH_BYTES>>> {
    if number == LogHead::START.number {
        return Ok(Some(LogHead::START.hash));
    }
    let hash = connection.query_row("SELECT hash FROM audit WHERE number = ?1", [number], |row| row.get(0));
    Ok(hash.optional()?.map(Fixed))
}

impl Kept {
    /// Whether so many opens are allowed.
    fn has_left(&self, opens: u32) -> Result<(), Refusal> {
        match &self.policy {
            Some(policy) if opens > policy.max_opens => {
                let text = format!("this grant is used up: it allows {} opens here", policy.max_opens);
                Err(Refusal::new(Reason::UsedUp, text))
            }
            _ => Ok(()),
        }
    }

    fn state(&self) -> StateAnswer {
        StateAnswer {
            opens: self.opens,
            is_revoked: self.revoked_unix_s.is_some(),
            was_never_held: self.policy.is_none(),
        }
    }

    fn living(&self, now_unix_s: i64) -> Result<&[u8], Refusal> {
        let never = || Refusal::new(Reason::NoSuchGrant, "this proxy has no such grant");
        let policy = self.policy.as_ref().ok_or_else(never)?;
        if let Some(at) = self.revoked_unix_s {
            let text = format!("the owner has revoked this grant on {}", shown_time(at));
            return Err(Refusal::new(Reason::Revoked, text));
        }
        if now_unix_s > policy.until_unix_s {
            let text = format!("this grant ended on {}", shown_time(policy.until_unix_s));
            return Err(Refusal::new(Reason::Expired, text));
        }
        self.has_left(self.opens.saturating_add(1))?;
        let ended = || Refusal::new(Reason::Expired, "this grant has ended before, by this proxy's clock");
        self.share.as_deref().ok_or_else(ended)
    }
}

/// A file that somebody has edited grants nothing: the owner's signature is looked at each time.
fn kept(transaction: &Transaction<'_>, owner: &PublicIdentity, id: &[u8]) -> Result<Option<Kept>, Refusal> {
    let row = transaction
        .query_row(
            "SELECT policy, signature, share, opens, revoked_unix_s FROM grants WHERE id = ?1",
            [id],
            |row| {
                let policy: Vec<u8> = row.get(0)?;
                let signature: Vec<u8> = row.get(1)?;
                let revoked_unix_s: Option<i64> = row.get(4)?;
                Ok((policy, signature, row.get(2)?, row.get(3)?, revoked_unix_s))
            },
        )
        .optional()?;
    let Some((policy, signature, share, opens, revoked_unix_s)) = row else { return Ok(None) };
    if policy.is_empty() && signature.is_empty() && revoked_unix_s.is_some() {
        return Ok(Some(Kept { policy: None, share: None, opens, revoked_unix_s }));
    }
    let damaged = || Refusal::new(Reason::Internal, "the proxy's copy of the grant is damaged");
    let signature = signature.try_into().map(Fixed).map_err(|_| damaged())?;
    let policy = SignedGrant { policy: Blob(policy), signature }.by(owner).map_err(|_| damaged())?;
    if policy.id.0 != *id {
        return Err(damaged());
    }
    Ok(Some(Kept { policy: Some(policy), share, opens, revoked_unix_s }))
}

/// A reader who may not open any more could fill the log with that.
fn is_noted((hour, counts): &mut (i64, BTreeMap<GrantId, u32>), grant: GrantId, now_hour: i64) -> bool {
    if *hour != now_hour {
        *hour = now_hour;
        counts.clear();
    }
    let count = counts.entry(grant).or_default();
    *count += 1;
    *count <= REFUSALS_NOTED_MAX
}

fn note(
    transaction: &Transaction<'_>,
    now_unix_s: i64,
    wish: &str,
    grant: &GrantId,
    refusal: Option<&Refusal>,
) -> Result<(), Refusal> {
    let answer = refusal.map_or(DONE, |refusal| refusal.text.as_str());
    let line = head(transaction)?.line(now_unix_s, wish, *grant, answer);
    transaction.execute(
        "INSERT INTO audit VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![line.number, line.unix_s, line.wish, &line.grant.0[..], line.answer, &line.hash.0[..]],
    )?;
    Ok(())
}

fn seal_share(key: &[u8; KEY_BYTES], id: &[u8], share: &[u8]) -> Result<Vec<u8>, ShareError> {
    let nonce: [u8; NONCE_BYTES] = crypto::random()?;
    Ok([&nonce[..], &crypto::seal(key, &nonce, id, share)?].concat())
}

fn open_share(key: &[u8; KEY_BYTES], id: &[u8], sealed: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let (nonce, sealed) = sealed.split_first_chunk::<NONCE_BYTES>()?;
    crypto::open(key, nonce, id, sealed)
}
