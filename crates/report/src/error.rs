use thiserror::Error;

/// Why something is not a report that this version can show.
#[derive(Debug, Error)]
pub enum ReportError {
    #[error(
        "this is not a demo report\n  why:  {source}\n  next: use the report.json that sealion demo wrote"
    )]
    NotAReport { source: serde_json::Error },
    #[error(
        "this report has the schema {found:?}\n  why:  this sealion can show only {known:?}\n  next: use the \
         sealion that wrote it, or a newer one"
    )]
    Unsupported { found: String, known: &'static str },
}
