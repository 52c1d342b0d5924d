//! What is weak in a LUKS header: pure, one function over what it says.
//!
//! Whether a key file has 512 random bits or is a word of a dictionary stands in no header: where that decides, the text says so.

use formats::luks::{Claim, Header, Kdf, Priority, Slot, Version};
use model::Severity;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weakness {
    /// A stable word: `null-cipher`, `pbkdf2`, …
    pub name: &'static str,
    pub severity: Severity,
    /// What was seen, and why it is weak.
    pub text: String,
    pub remedy: String,
}

/// OWASP Password Storage Cheat Sheet, 2023: PBKDF2 with each hash.
const ITERATIONS_MIN: [(&str, u32); 3] = [("sha1", 1_300_000), ("sha256", 600_000), ("sha512", 210_000)];
/// There, too: Argon2id with 19 MiB takes two passes; less memory takes more of them.
const ARGON2_MEMORY_KIB_TIMES_PASSES_MIN: u64 = 2 * 19 * 1024;
/// XTS splits the key in two halves; AES-128 in each is the least.
const XTS_KEY_BITS_MIN: u32 = 256;

/// Kinds of tokens that a person opens a volume with, when all hardware and servers are gone.
const RECOVERY_TOKENS: [&str; 1] = ["systemd-recovery"];

/// The worst first.
pub fn weaknesses(header: &Header) -> Vec<Weakness> {
    let mut found = Vec::new();
    let mut add = |name, severity, text: String, remedy: &str| {
        found.push(Weakness { name, severity, text, remedy: remedy.to_owned() });
    };
    match header.claim() {
        Claim::Plain(why) => add(
            "not-encrypted",
            Severity::Critical,
            format!("its data are not encrypted though it has a LUKS header: {why}"),
            "move the data to a volume with aes-xts-plain64, or cryptsetup reencrypt",
        ),
        Claim::Encrypted | Claim::Unclear(_) => {}
    }
    if let Some(why) = &header.reencryption {
        add(
            "reencryption",
            Severity::High,
            format!("a reencryption is under way, or was cut short: {why}"),
            "cryptsetup reencrypt --resume-only, with a backup of data and header at hand",
        );
    }
    if let Some(why) = header.half_written() {
        add(
            "half-written",
            Severity::High,
            format!("the header was only half written, or a part of it was overwritten: {why}"),
            "back the header up, then cryptsetup repair",
        );
    }
    for cipher in header.ciphers().filter(|cipher| !cipher.is_null()) {
        let mode = cipher.to_string().to_ascii_lowercase();
        let is_integral = header.segments.iter().any(|one| one.is_current() && one.integrity.is_some());
        if mode.contains("ecb") {
            add("ecb", Severity::Critical, format!("{cipher}: equal blocks stay equal"), REENCRYPT);
        } else if mode.contains("cbc") && !mode.contains("essiv") {
            add(
                "cbc-plain",
                Severity::High,
                format!("{cipher}: CBC with an IV that can be foretold lets files be recognised"),
                REENCRYPT,
            );
        } else if !mode.contains("xts") && !is_integral && !mode.contains("adiantum") {
            add(
                "not-xts",
                Severity::Medium,
                format!("{cipher}: not XTS, which disks are encrypted with today"),
                REENCRYPT,
            );
        }
        if mode.contains("xts") && header.key_bits > 0 && header.key_bits < XTS_KEY_BITS_MIN {
            let half = header.key_bits / 2;
            add(
                "short-key",
                Severity::High,
                format!("{cipher} with {} bits: two halves of {half} bits", header.key_bits),
                REENCRYPT,
            );
        }
    }
    if header.version == Version::One {
        add(
            "luks1",
            Severity::Low,
            "LUKS1 has one copy of its header and no argon2id".into(),
            "back the header up, then cryptsetup convert --type luks2 (the volume closed)",
        );
    }
    of_slots(header, &mut add);
    found.sort_by_key(|one| std::cmp::Reverse(one.severity));
    found
}

const REENCRYPT: &str =
    "cryptsetup reencrypt --cipher aes-xts-plain64 --key-size 512, with a backup of data and header at hand";

fn of_slots(header: &Header, add: &mut impl FnMut(&'static str, Severity, String, &str)) {
    let openers: Vec<&Slot> = header.openers().collect();
    if openers.is_empty() {
        add(
            "no-slot",
            Severity::Critical,
            "no slot opens the volume: once it is closed its data are gone".into(),
            "while it is open: copy the data elsewhere; or restore a header backup (cryptsetup luksHeaderRestore)",
        );
        return;
    }
    for slot in &openers {
        let id = slot.id;
        match &slot.kdf {
            Some(Kdf::Pbkdf2 { hash, iterations }) => {
                let name = hash.to_ascii_lowercase();
                if name == "sha1" || slot.stripes_hash.eq_ignore_ascii_case("sha1") {
                    add("sha1", Severity::Medium, format!("slot {id} is derived with SHA-1"), CONVERT);
                }
                let least = ITERATIONS_MIN
                    .iter()
                    .find(|(hash, _)| *hash == name)
                    .map_or(210_000, |(_, least)| *least);
                if *iterations < least {
                    add(
                        "few-iterations",
                        Severity::Medium,
                        format!(
                            "slot {id} has {iterations} iterations of PBKDF2-{hash}; {least} is the least for a passphrase (a random \
                             key file needs none)"
                        ),
                        CONVERT,
                    );
                }
                if header.version == Version::Two {
                    add(
                        "pbkdf2",
                        Severity::Low,
                        format!(
                            "slot {id} has PBKDF2 where LUKS2 has argon2id, which costs a guesser memory, too"
                        ),
                        CONVERT,
                    );
                }
            }
            Some(Kdf::Argon2 { variant, time, memory_kib, .. }) => {
                if u64::from(*time) * u64::from(*memory_kib) < ARGON2_MEMORY_KIB_TIMES_PASSES_MIN {
                    add(
                        "few-iterations",
                        Severity::Medium,
                        format!(
                            "slot {id} has {variant} with {memory_kib} KiB and time {time}; 19456 KiB and time 2 is the least for a passphrase"
                        ),
                        CONVERT,
                    );
                }
            }
            Some(Kdf::Other(_)) | None => {}
        }
    }
    let has_person =
        |slot: &&&Slot| header.tokens_of(slot.id).all(|token| RECOVERY_TOKENS.contains(&token.kind.as_str()));
    if !header.tokens.is_empty() && openers.iter().find(has_person).is_none() {
        let mut kinds: Vec<&str> = header.tokens.iter().map(|token| token.kind.as_str()).collect();
        kinds.dedup();
        add(
            "no-recovery-slot",
            Severity::High,
            format!(
                "every slot belongs to a token ({}): without that hardware or server nobody opens the volume",
                kinds.join(", ")
            ),
            "add a passphrase or a recovery key (cryptsetup luksAddKey, systemd-cryptenroll --recovery-key) and keep it elsewhere",
        );
    }
    let tried = openers.iter().filter(|slot| slot.priority != Priority::Ignored).count();
    if openers.len() == 1 {
        add(
            "one-slot",
            Severity::Medium,
            format!(
                "slot {} is the only one: with its key, or its 250 KiB on the disk, the data are gone",
                openers[0].id
            ),
            "add a second key and keep it elsewhere: cryptsetup luksAddKey; keep a header backup",
        );
    } else if tried == 0 {
        add(
            "ignored-slots",
            Severity::Low,
            "every slot has priority \"ignored\": none is tried unless it is named".into(),
            "cryptsetup config --priority normal --key-slot N",
        );
    }
}

const CONVERT: &str = "cryptsetup luksConvertKey --pbkdf argon2id --key-slot N (LUKS2), or sealion rotate disk, which adds a new slot";

#[cfg(test)]
mod tests {
    use formats::luks::{Parsed, parse, parse_json};

    use super::*;

    const JSON: &str = r#"{"keyslots":{"0":{"type":"luks2","key_size":64,"af":{"type":"luks1","stripes":4000,"hash":"sha256"},"area":{"type":"raw","offset":"32768","size":"258048","encryption":"aes-xts-plain64","key_size":64},"kdf":{"type":"argon2id","time":4,"memory":1048576,"cpus":4,"salt":"x"}},"1":{"type":"luks2","key_size":64,"af":{"type":"luks1","stripes":4000,"hash":"sha256"},"area":{"type":"raw","offset":"290816","size":"258048","encryption":"aes-xts-plain64","key_size":64},"kdf":{"type":"argon2id","time":4,"memory":1048576,"cpus":4,"salt":"x"}}},"tokens":{},"segments":{"0":{"type":"crypt","offset":"16777216","size":"dynamic","iv_tweak":"0","encryption":"aes-xts-plain64","sector_size":512}},"digests":{"0":{"type":"pbkdf2","keyslots":["0","1"],"segments":["0"],"hash":"sha256","iterations":1000,"salt":"x","digest":"x"}},"config":{"json_size":"12288","keyslots_size":"16744448"}}"#;

    fn names(header: &Header) -> Vec<&'static str> {
        weaknesses(header).iter().map(|one| one.name).collect()
    }

    #[test]
    fn a_sound_header_has_none_and_each_weakness_is_found_alone() {
        let with = |changes: &[(&str, &str)]| {
            let mut text = JSON.to_owned();
            for (old, new) in changes {
                assert!(text.contains(old), "{old}");
                text = text.replacen(old, new, 1);
            }
            names(&parse_json(text.as_bytes()).expect("a header"))
        };
        let data = r#""encryption":"aes-xts-plain64","sector_size""#;
        let cipher = |name: &str| format!(r#""encryption":"{name}","sector_size""#);
        let argon = r#""kdf":{"type":"argon2id","time":4,"memory":1048576,"cpus":4,"salt":"x"}"#;
        let none: [&str; 0] = [];
        assert_eq!(with(&[]), none);
        assert_eq!(with(&[(data, &cipher("cipher_null-ecb"))]), ["not-encrypted"]);
        assert_eq!(with(&[(data, &cipher("capi:ecb(cipher_null)-plain"))]), ["not-encrypted"]);
        assert_eq!(with(&[(data, &cipher("aes-ecb"))]), ["ecb"]);
        assert_eq!(with(&[(data, &cipher("aes-cbc-plain64"))]), ["cbc-plain"]);
        assert_eq!(with(&[(data, &cipher("aes-cbc-essiv:sha256"))]), ["not-xts"]);
        assert_eq!(with(&[(data, &cipher("xchacha12,aes-adiantum-plain64"))]), none);
        assert_eq!(with(&[(r#""key_size":64,"af""#, r#""key_size":16,"af""#)]), ["short-key"]);
        assert_eq!(with(&[(r#""type":"crypt""#, r#""type":"linear""#)]), ["not-encrypted"]);
        assert_eq!(with(&[(r#""keyslots":["0","1"]"#, r#""keyslots":["0"]"#)]), ["one-slot"]);
        assert_eq!(with(&[(r#""keyslots":["0","1"]"#, r#""keyslots":[]"#)]), ["no-slot"]);
        let weak = r#""kdf":{"type":"argon2id","time":4,"memory":32,"cpus":1,"salt":"x"}"#;
        assert_eq!(with(&[(argon, weak)]), ["few-iterations"]);
        let pbkdf2 = |hash: &str, count: u32| {
            format!(r#""kdf":{{"type":"pbkdf2","hash":"{hash}","iterations":{count},"salt":"x"}}"#)
        };
        assert_eq!(with(&[(argon, &pbkdf2("sha256", 600_000))]), ["pbkdf2"]);
        assert_eq!(with(&[(argon, &pbkdf2("sha512", 209_999))]), ["few-iterations", "pbkdf2"]);
        assert_eq!(with(&[(argon, &pbkdf2("sha1", 2_000_000))]), ["sha1", "pbkdf2"]);
        let tokens =
            |kind: &str, slots: &str| format!(r#""tokens":{{"0":{{"type":"{kind}","keyslots":[{slots}]}}}}"#);
        let empty = r#""tokens":{}"#;
        assert_eq!(with(&[(empty, &tokens("systemd-tpm2", r#""1""#))]), none);
        assert_eq!(with(&[(empty, &tokens("systemd-tpm2", r#""0","1""#))]), ["no-recovery-slot"]);
        assert_eq!(with(&[(empty, &tokens("systemd-recovery", r#""0","1""#))]), none);
        let ignored = r#""key_size":64,"priority":0,"af""#;
        let both = r#""key_size":64,"af""#;
        assert_eq!(with(&[(both, ignored), (both, ignored)]), ["ignored-slots"]);
        assert_eq!(
            with(&[(r#""config":{"#, r#""config":{"requirements":{"mandatory":["online-reencrypt-v2"]},"#)]),
            ["reencryption"]
        );
    }

    #[test]
    fn what_cryptsetup_wrote_is_as_weak_as_it_was_told_to_make_it() {
        let bytes = include_bytes!("../../formats/testdata/luks/luks1-slots-0-2.bin");
        let Parsed::Header(mut header) = parse(bytes, true) else { panic!("no header") };
        assert_eq!(names(&header), ["few-iterations", "few-iterations", "luks1"]);
        let mut torn = bytes.to_vec();
        torn[4..6].copy_from_slice(b"\xde\xad");
        let Parsed::Header(again) = parse(&torn, true) else { panic!("no header") };
        assert_eq!(names(&again)[0], "reencryption");
        header.slots.truncate(1);
        assert!(names(&header).contains(&"one-slot"));
        let mut bytes = include_bytes!("../../formats/testdata/luks/luks2-label.bin").to_vec();
        bytes[5000] ^= 1;
        let Parsed::Header(header) = parse(&bytes, true) else { panic!("no header") };
        assert_eq!(names(&header)[0], "half-written");
    }
}
