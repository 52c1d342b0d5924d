//! `sealion prove tour`: for people a lecture of 80 columns, for programs the schema `sealion/prove-tour/1`, and a page.

use clap::Args;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use prove_ops::tour::{Act, Chapter, Lesson, PARTS, Part, Tour, part, tour};
use report::shape::{PROVE_TOUR_SCHEMA_ID, ProveTourReport, TourAct, TourChapter, TourLesson, TourProgram};
use site::OpsError;

use crate::options::{Format, Global, TABLE_OR_JSON, formats};
use crate::show;

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    after_long_help = "Examples:
  sealion prove tour
  sealion prove tour --only stripping,rsa-key --html tour.html

It needs the servers of `sealion lab fetch galera-10.11` and `sealion lab fetch mysql-9.7`.

Exit codes: 0 every attack ended as it must, 1 one did not, 3 the tour cannot run here."
)]
pub struct ProveTourArgs {
    /// Only these parts (IDs), comma-separated; may be repeated
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Also write an HTML page for teaching to FILE
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Also write the JSON of `--format json` to FILE
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// The parts of these ids.
pub(super) fn named(ids: &[String]) -> Result<Vec<&'static Part>, OpsError> {
    let one = |id: &String| {
        part(id).ok_or_else(|| {
            let known: Vec<&str> = PARTS.iter().map(|part| part.id).collect();
            OpsError::usage(
                format!("unknown part \"{id}\""),
                "no part has this ID",
                format!("one of {}", known.join(" ")),
            )
        })
    };
    ids.iter().map(one).collect()
}

pub fn run(global: &Global, args: &ProveTourArgs) -> Result<u8, OpsError> {
    let mut parts = named(&args.only)?;
    if parts.is_empty() {
        parts = PARTS.to_vec();
    }
    for path in args.html.iter().chain(&args.out) {
        show::is_writable(path)?;
    }
    let now = || model::Clock::unix_ms(&model::SystemClock);
    let started_unix_ms = now();
    let is_table = global.format == Format::Table;
    // Ctrl-C ends the process, and with it, tied to it, the servers.
    let stop = AtomicBool::new(false);
    let mut number = 0;
    let tour = tour(&parts, &stop, &mut |word| show::progress(word), &mut |chapter| {
        number += 1;
        if is_table {
            print_chapter(number, chapter);
        }
    })?;
    let report = shape(&tour, started_unix_ms, now());
    if let Some(path) = &args.html {
        write(path, &report::html::render_tour_html(&report))?;
    }
    if let Some(path) = &args.out {
        write(path, &report.to_json())?;
    }
    if is_table {
        print_end(&tour);
    } else {
        show::out(&report.to_json());
    }
    Ok(u8::from(!tour.is_shown()))
}

fn write(path: &std::path::Path, text: &str) -> Result<(), OpsError> {
    std::fs::write(path, text).map_err(|error| {
        OpsError::usage(
            format!("cannot write {}", path.display()),
            error.to_string(),
            "choose a file that you may write",
        )
    })
}

fn act(one: &Act) -> TourAct {
    TourAct { command: one.command.clone(), saw: one.saw.clone(), succeeded: one.succeeded }
}

fn shape(tour: &Tour, started_unix_ms: u64, ended_unix_ms: u64) -> ProveTourReport {
    let lesson = |one: &Lesson| TourLesson {
        id: one.id.into(),
        title: one.title.into(),
        does: one.does.into(),
        attack: act(&one.attack),
        setting: one.setting.into(),
        again: act(&one.again),
        is_shown: one.is_shown(),
    };
    let chapter = |one: &Chapter| TourChapter {
        id: one.id.into(),
        title: one.title.into(),
        story: one.story.into(),
        is_shown: one.is_shown(),
        lessons: one.lessons.iter().map(lesson).collect(),
        notes: one.notes.iter().map(|&note| note.into()).collect(),
    };
    let program =
        |(name, version): &(String, String)| TourProgram { name: name.clone(), version: version.clone() };
    ProveTourReport {
        schema: PROVE_TOUR_SCHEMA_ID.into(),
        sealion_version: env!("CARGO_PKG_VERSION").into(),
        started_unix_ms,
        ended_unix_ms,
        is_complete: tour.is_complete,
        is_shown: tour.is_shown(),
        programs: tour.programs.iter().map(program).collect(),
        chapters: tour.chapters.iter().map(chapter).collect(),
    }
}

fn marked(mark: &str, text: &str) {
    show::out(&show::wrapped(mark, text));
}

fn print_act(title: &str, one: &Act) {
    marked(&format!("  {title:<8} "), &one.command);
    for line in &one.saw {
        marked("           - ", line);
    }
    let verdict =
        if one.succeeded { show::red("the attack succeeds") } else { show::green("the attack fails") };
    show::out(&format!("           => {verdict}"));
}

fn print_chapter(number: usize, chapter: &Chapter) {
    show::progress("");
    let title = format!("{number}. {}", chapter.title);
    show::out(&format!("{}\n{}", show::bold(&title), "=".repeat(title.chars().count())));
    marked("", chapter.story);
    for lesson in &chapter.lessons {
        show::out("");
        show::out(&show::bold(lesson.title));
        marked("  ", lesson.does);
        print_act("before", &lesson.attack);
        marked("  setting  ", lesson.setting);
        print_act("after", &lesson.again);
        if !lesson.is_shown() {
            show::out(&show::red("  Unexpected: the attack must first succeed, and then fail."));
        }
    }
    for note in &chapter.notes {
        show::out("");
        marked("Note: ", note);
    }
    show::out("");
}

fn print_end(tour: &Tour) {
    let lessons = || tour.chapters.iter().flat_map(|chapter| &chapter.lessons);
    let (all, shown) = (lessons().count(), lessons().filter(|one| one.is_shown()).count());
    let programs: Vec<String> =
        tour.programs.iter().map(|(name, version)| format!("{name} {version}")).collect();
    marked(
        "",
        &format!(
            "{shown} of {all} attacks succeeded and were then stopped. Tested with {}.",
            programs.join(", ")
        ),
    );
}
