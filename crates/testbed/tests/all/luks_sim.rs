//! `rotate disk` on a simulated cryptsetup, which dies at every moment: the last key that opens a volume is never lost, and whoever goes
//! on from there gets to the end that they wish.
//!
//! `SEALION_SEED=N` repeats a walk.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use change::Direction;
use change_ops::disk::{self, MovedKeys, Stage};
use providers::disk::Wish;
use providers::disk::cryptsetup::{Goes, KdfWish, Key, Removal, Volume, remove};
use site::OpsError;
use testbed::real::{is_deep, seed};
use testbed::sim::luks::{Form, Killed, SimCryptsetup};
use testbed::sim::rng::Rng;

const UUID: &str = "018b5f72-7288-4699-82b3-d624ac8c5f82";

#[derive(Debug, Clone, Copy)]
struct Shape {
    form: Form,
    /// Slots of other keys.
    others: u8,
    /// The old key stands in two slots.
    twice: bool,
    detached: bool,
    /// A token belongs to a slot of another key.
    token: bool,
}

const PLAIN: Shape = Shape { form: Form::Luks2, others: 0, twice: false, detached: false, token: false };
const SHAPES: [Shape; 7] = [
    Shape { form: Form::Luks1, ..PLAIN },
    PLAIN,
    Shape { form: Form::Luks1, others: 6, ..PLAIN },
    Shape { others: 7, ..PLAIN },
    Shape { others: 2, token: true, ..PLAIN },
    Shape { detached: true, ..PLAIN },
    Shape { twice: true, others: 1, ..PLAIN },
];

struct World {
    dir: tempfile::TempDir,
    tool: SimCryptsetup,
    wish: Wish,
    /// Of the old key.
    old_slots: Vec<u8>,
    /// All that were in use before.
    slots: Vec<u8>,
    others: u8,
}

#[derive(Debug)]
enum End {
    Killed,
    Done,
    Refused(String),
}

impl World {
    fn new(shape: Shape) -> Self {
        // Thousands of syncs, whose time is no part of what is tried.
        let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("tmp");
        let at = |name: &str| dir.path().join(name);
        fs::create_dir(at("escrow")).expect("fresh");
        let key_files: Vec<PathBuf> = ["old", "new", "third"]
            .into_iter()
            .map(str::to_owned)
            .chain((0..8).map(|n| format!("other{n}")))
            .map(|name| {
                let path = dir.path().join(&name);
                write_key(&path, &format!("the key of {name}"));
                path
            })
            .collect();
        let volume = Volume { device: at("image"), header: shape.detached.then(|| at("header")) };
        fs::write(&volume.device, b"data").expect("writable");
        let mut tool = SimCryptsetup::new(key_files);
        let place = volume.header_place().to_owned();
        let old = b"the key of old";
        tool.format(shape.form, &place, UUID, old, shape.detached);
        let mut old_slots = vec![0];
        if shape.twice {
            tool.add_by_hand(&place, 1, old);
            old_slots.push(1);
        }
        let first = u8::try_from(old_slots.len()).expect("small");
        for n in 0..shape.others {
            tool.add_by_hand(&place, first + n, format!("the key of other{n}").as_bytes());
        }
        if shape.token {
            SimCryptsetup::add_token(&place, "clevis", first);
        }
        let (old_key, new_key, backup_dir) = (at("old"), at("new"), at("escrow"));
        let wish = Wish { volume, old_key, new_key, backup_dir, kdf: KdfWish::default() };
        let slots = SimCryptsetup::slots(&place);
        Self { dir, tool, wish, old_slots, slots, others: shape.others }
    }

    fn place(&self) -> PathBuf {
        self.wish.volume.header_place().to_owned()
    }
    fn state(&self) -> PathBuf {
        self.dir.path().join("state")
    }
    fn opened_by(&self, name: &str) -> Vec<u8> {
        SimCryptsetup::opened_by(&self.place(), format!("the key of {name}").as_bytes())
    }

    /// Carries something out, to its end or to its death.
    fn run(
        &mut self,
        until: Option<u32>,
        work: impl FnOnce(&Path, &mut SimCryptsetup, &Wish) -> Result<(), OpsError>,
    ) -> End {
        let (state, wish) = (self.state(), self.wish.clone());
        self.tool.moments = 0;
        self.tool.killed_after(until);
        let tool = &mut self.tool;
        let end = match catch_unwind(AssertUnwindSafe(|| work(&state, tool, &wish))) {
            Ok(Ok(())) => End::Done,
            Ok(Err(error)) => End::Refused(error.to_string()),
            Err(payload) if payload.is::<Killed>() => End::Killed,
            Err(payload) => std::panic::resume_unwind(payload),
        };
        self.tool.killed_after(None);
        assert_eq!(self.tool.lost, None);
        end
    }

    fn rotate(&mut self, until: Option<u32>) -> End {
        self.run(until, |state, tool, wish| {
            let plan = disk::plan(tool, wish)?;
            disk::begin(state, tool, wish, &plan, &mut |_| {})
        })
    }

    fn go_on(&mut self, until: Option<u32>, back: bool) -> End {
        let wish = back.then_some(Direction::Back);
        self.run(until, |state, tool, _| disk::go_on(state, tool, &MovedKeys::default(), wish, &mut |_| {}))
    }

    fn is_open(&self) -> bool {
        matches!(disk::known(&self.state()), Ok(Some((_, Stage::Open(_)))))
    }

    fn assert_rotated(&self, told: &str) {
        assert_eq!((self.opened_by("old"), self.opened_by("new").len()), (vec![], 1), "{told}");
        let slots = SimCryptsetup::slots(&self.place()).len();
        assert_eq!(slots, self.slots.len() - self.old_slots.len() + 1, "{told}");
        self.assert_others(told);
    }

    /// What was there is there, and nothing else.
    fn assert_undone(&self, told: &str) {
        assert_eq!(
            (self.opened_by("old"), self.opened_by("new")),
            (self.old_slots.clone(), vec![]),
            "{told}"
        );
        self.assert_others(told);
    }

    fn assert_others(&self, told: &str) {
        for n in 0..self.others {
            let slots = self.opened_by(&format!("other{n}"));
            assert_eq!(slots.len(), 1, "{told}: other{n} in {slots:?}");
        }
    }
}

fn write_key(path: &Path, text: &str) {
    fs::write(path, text).expect("writable");
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).expect("ours");
}

fn done(end: &End, told: &str) {
    assert!(matches!(end, End::Done), "{told}: {end:?}");
}

#[test]
fn killed_at_every_moment_a_rotation_is_finished_or_taken_back() {
    for (number, shape) in SHAPES.into_iter().enumerate() {
        let mut world = World::new(shape);
        done(&world.rotate(None), "whole");
        world.assert_rotated("whole");
        let moments = world.tool.moments;
        assert!(moments > 40, "{moments}");
        // Each way on is tried from each moment of some shape; of every one in `make deep`.
        for at in 0..moments {
            for back in [false, true] {
                if !is_deep() && (2 * u32::from(back) + at) % 4 != u32::try_from(number % 4).expect("small") {
                    continue;
                }
                let told = format!("{shape:?} killed at {at}, back {back}");
                let mut world = World::new(shape);
                assert!(matches!(world.rotate(Some(at)), End::Killed), "{told}");
                if world.is_open() {
                    done(&world.go_on(None, back), &told);
                } else if !back {
                    done(&world.rotate(None), &told);
                }
                if back { world.assert_undone(&told) } else { world.assert_rotated(&told) }
            }
        }
    }
}

#[test]
fn killed_at_every_moment_an_undo_is_finished_or_turned_round_and_a_finished_one_is_reverted() {
    for (number, shape) in SHAPES.into_iter().enumerate() {
        let mut world = World::new(shape);
        done(&world.rotate(None), "forward");
        done(&world.go_on(None, true), "back");
        world.assert_undone("whole");
        let moments = world.tool.moments;
        for at in 0..moments {
            if !is_deep() && at % 3 != u32::try_from(number % 3).expect("small") {
                continue;
            }
            let told = format!("{shape:?} undo killed at {at}");
            let mut world = World::new(shape);
            done(&world.rotate(None), &told);
            assert!(matches!(world.go_on(Some(at), true), End::Killed), "{told}");
            done(&world.go_on(None, false), &told);
            world.assert_undone(&told);
            // And it can be begun anew.
            done(&world.rotate(None), &told);
            world.assert_rotated(&told);
        }
    }
}

/// Whatever is done, in whatever order, and killed wherever: some key that somebody has opens the volume, and it ends as wished once
/// the key files are back.
#[test]
fn a_walk_of_commands_kills_and_lost_files_never_loses_the_last_key() {
    let first = seed();
    let walks = if is_deep() { 2000 } else { 60 };
    for walk in 0..walks {
        let number = first.wrapping_add(walk);
        let mut rng = Rng::new(number);
        let shape = rng.choose(&SHAPES).expect("there are some");
        let mut world = World::new(shape);
        let mut log = vec![format!("seed {number} {shape:?}")];
        let mut is_alone = true;
        for _ in 0..rng.between(4, 14) {
            let until = rng.percent(60).then(|| u32::try_from(rng.between(0, 160)).expect("small"));
            let name = rng.choose(&["old", "new"]).expect("two");
            let what = match rng.between(0, 9) {
                0..=2 => format!("rotate {until:?}: {:?}", world.rotate(until)),
                3..=4 => format!("resume {until:?}: {:?}", world.go_on(until, false)),
                5..=6 => format!("undo {until:?}: {:?}", world.go_on(until, true)),
                7 => {
                    // A key file is gone, or another key lies there; the key itself somebody has elsewhere.
                    let path = world.dir.path().join(name);
                    match rng.between(0, 2) {
                        0 => drop(fs::remove_file(&path)),
                        1 => write_key(&path, "the key of third"),
                        _ => write_key(&path, &format!("the key of {name}")),
                    }
                    format!("key file {name}: {:?}", fs::read_to_string(&path).ok())
                }
                8 => {
                    let files: Vec<PathBuf> = fs::read_dir(world.dir.path().join("escrow"))
                        .expect("there")
                        .map(|entry| entry.expect("readable").path())
                        .collect();
                    let gone = rng.between(0, files.len() as u64);
                    if let Some(path) = files.get(usize::try_from(gone).expect("small")) {
                        fs::remove_file(path).expect("ours");
                        is_alone = false;
                    }
                    format!("removed file {gone} of the escrow")
                }
                _ => {
                    // Somebody else puts a key where there is room.
                    let slots = SimCryptsetup::slots(&world.place());
                    let free = (0..8).find(|slot| !slots.contains(slot));
                    if let Some(free) = free {
                        let place = world.place();
                        world.tool.add_by_hand(&place, free, b"the key of other7");
                        is_alone = false;
                    }
                    format!("by hand into slot {free:?}")
                }
            };
            log.push(what);
            let opens = ["old", "new", "third", "other0", "other7"]
                .iter()
                .any(|name| !world.opened_by(name).is_empty());
            assert!(opens, "{log:#?}");
        }
        let back = rng.percent(50);
        let mut ends = Vec::new();
        // Which keys it was begun with only those know who have them.
        for (old, new) in [("old", "new"), ("old", "third"), ("third", "new")] {
            if world.is_open() {
                write_key(&world.wish.old_key, &format!("the key of {old}"));
                write_key(&world.wish.new_key, &format!("the key of {new}"));
                ends.push(format!("{:?}", world.go_on(None, back)));
            }
        }
        log.push(format!("at last, back {back}: {ends:#?}"));
        // What others have put there or taken away may forbid it.
        assert!(!world.is_open() || !is_alone, "{log:#?}");
        // The key of `third` may have been rotated to.
        let opens = ["old", "new", "third"].iter().any(|name| !world.opened_by(name).is_empty());
        assert!(opens, "{log:#?}");
    }
}

#[test]
fn what_would_lose_a_key_is_refused_in_the_plan() {
    let refused = |shape: Shape, spoil: &dyn Fn(&mut World), wanted: &str| {
        let mut world = World::new(shape);
        spoil(&mut world);
        let before = fs::read(world.place()).expect("there");
        let End::Refused(why) = world.rotate(None) else { panic!("{wanted}") };
        assert!(why.contains(wanted), "{why}");
        assert_eq!(fs::read(world.place()).expect("there"), before, "{wanted}");
    };
    let write = |name: &'static str, text: &'static str| {
        move |world: &mut World| write_key(&world.dir.path().join(name), text)
    };
    refused(PLAIN, &write("new", "the key of old"), "the new key is the old one");
    refused(PLAIN, &write("old", "the key of third"), "opens no slot");
    refused(PLAIN, &write("new", ""), "it is empty");
    refused(PLAIN, &|world| fs::remove_file(&world.wish.new_key).expect("there"), "a key cannot be read");
    let open = fs::Permissions::from_mode(0o644);
    refused(
        PLAIN,
        &|world| fs::set_permissions(&world.wish.new_key, open.clone()).expect("ours"),
        "read by others",
    );
    refused(
        PLAIN,
        &|world| SimCryptsetup::add_token(&world.place(), "systemd-tpm2", 0),
        "belongs to systemd-tpm2 (token 0)",
    );
    refused(PLAIN, &|world| fs::remove_dir(&world.wish.backup_dir).expect("empty"), "is no directory");
    refused(PLAIN, &|world| fs::write(world.place(), [0; 99]).expect("ours"), "has no LUKS header");
    let full = Shape { form: Form::Luks1, others: 7, ..PLAIN };
    refused(full, &|_| {}, "has no free slot");
    refused(
        PLAIN,
        &|world| {
            let mut bytes = fs::read(world.place()).expect("there");
            bytes[5000] ^= 1;
            fs::write(world.place(), bytes).expect("ours");
        },
        "the header is not whole",
    );
}

#[test]
fn a_header_backup_that_the_old_key_opens_is_named_before_and_after() {
    let mut world = World::new(PLAIN);
    done(&world.rotate(None), "first");
    let mut told = Vec::new();
    world.wish.old_key = world.dir.path().join("new");
    world.wish.new_key = world.dir.path().join("third");
    let (state, wish) = (world.state(), world.wish.clone());
    let plan = disk::plan(&mut world.tool, &wish).expect("it can be");
    let opens =
        |lines: &[String]| lines.iter().filter(|line| line.contains("opens with the old key")).count();
    // That of after, which has both keys, and not that of before.
    assert_eq!(opens(&plan.impact), 1, "{:#?}", plan.impact);
    disk::begin(&state, &mut world.tool, &wish, &plan, &mut |progress| {
        if let change_ops::roll::Progress::Line(line) = progress {
            told.push(line);
        }
    })
    .expect("it goes well");
    assert_eq!(opens(&told), 3, "{told:#?}");
    for entry in fs::read_dir(world.dir.path().join("escrow")).expect("there") {
        let path = entry.expect("readable").path();
        let mode = fs::metadata(&path).expect("there").permissions().mode() & 0o777;
        assert!(mode == 0o400 || mode == 0o600, "{}", path.display());
        let text = fs::read(&path).expect("ours");
        assert!(!text.windows(10).any(|part| part == b"the key of"), "{}", path.display());
    }
    let journal = fs::read_to_string(world.state().join("rotation.journal")).expect("there");
    assert!(!journal.contains("the key of"), "{journal}");
}

/// The steps look before; this is the place that counts where somebody comes in between.
#[test]
fn a_slot_goes_only_beside_another_whose_key_was_tried() {
    let mut world = World::new(Shape { others: 1, ..PLAIN });
    let key = |name: &str| Key::read(&world.dir.path().join(name)).expect("a key");
    let (old, new, other) = (key("old"), key("new"), key("other0"));
    let (volume, place) = (world.wish.volume.clone(), world.place());
    let before = fs::read(&place).expect("there");
    let tool = &mut world.tool;
    let mut removes =
        |slot, goes, stays, stays_key| remove(tool, &volume, UUID, &Removal { slot, goes, stays, stays_key });
    for (slot, goes, stays, stays_key, wanted) in [
        (0, Goes::Key(&old), 1, &new, "does not open slot 1"),
        (0, Goes::Key(&new), 1, &other, "another key than the one that is to go"),
        (0, Goes::Key(&old), 0, &old, "the key that stays is the one that goes"),
        (0, Goes::Key(&old), 1, &old, "the key that stays is the one that goes"),
        (0, Goes::Remains { salt: "another" }, 1, &other, "a key was put there since"),
        (1, Goes::Key(&other), 5, &old, "cannot be told"),
        (7, Goes::Key(&old), 1, &other, "cannot be told"),
    ] {
        let why = removes(slot, goes, stays, stays_key).expect_err(wanted);
        assert!(why.contains(wanted), "{why}");
        assert_eq!(fs::read(&place).expect("there"), before, "{wanted}");
    }
    removes(0, Goes::Key(&old), 1, &other).expect("the other one stays");
    assert!(removes(1, Goes::Key(&other), 0, &old).is_err());
    assert_eq!(SimCryptsetup::opened_by(&place, b"the key of other0"), [1]);
}
