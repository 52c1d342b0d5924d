//! The tables, as the steps that made them. A step is never edited once released; a new one is appended.

/// `PRAGMA user_version` is the number of steps that were applied.
pub const MIGRATIONS: &[&str] = &[RUNS, REPORTS, SIGHTS_OF_CLIENTS, WATCH, WATCH_FLEETS];

/// The version of a store that this sealion writes.
#[allow(clippy::cast_possible_wrap)] // A handful.
pub const VERSION: i64 = MIGRATIONS.len() as i64;

/// `PRAGMA application_id`: "SLIO". Tells our file from another program's.
pub const APPLICATION_ID: i64 = 0x534c_494f;

const RUNS: &str = "
CREATE TABLE runs (
    id TEXT PRIMARY KEY,
    command TEXT NOT NULL,
    sealion_version TEXT NOT NULL,
    started_unix_ms INTEGER NOT NULL,
    ended_unix_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX runs_by_start ON runs (started_unix_ms);
CREATE INDEX runs_by_command ON runs (command, started_unix_ms);

CREATE TABLE phases (
    run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    phase INTEGER NOT NULL,
    name TEXT NOT NULL,
    started_unix_ms INTEGER NOT NULL,
    ended_unix_ms INTEGER NOT NULL,
    notes TEXT NOT NULL,
    PRIMARY KEY (run_id, phase)
) STRICT;

-- In the next three, `body` is the whole value as JSON; the columns are for questions in SQL.
CREATE TABLE observations (
    run_id TEXT NOT NULL,
    phase INTEGER NOT NULL,
    place INTEGER NOT NULL,
    subject TEXT NOT NULL,
    fact TEXT NOT NULL,
    source TEXT NOT NULL,
    at_unix_ms INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (run_id, phase, place),
    FOREIGN KEY (run_id, phase) REFERENCES phases (run_id, phase) ON DELETE CASCADE
) STRICT;
CREATE INDEX observations_by_fact ON observations (subject, fact, at_unix_ms);

CREATE TABLE findings (
    run_id TEXT NOT NULL,
    phase INTEGER NOT NULL,
    place INTEGER NOT NULL,
    rule TEXT NOT NULL,
    subject TEXT NOT NULL,
    severity TEXT NOT NULL,
    verdict TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (run_id, phase, place),
    FOREIGN KEY (run_id, phase) REFERENCES phases (run_id, phase) ON DELETE CASCADE
) STRICT;
CREATE INDEX findings_by_rule ON findings (rule, subject);

CREATE TABLE sights (
    run_id TEXT NOT NULL,
    phase INTEGER NOT NULL,
    place INTEGER NOT NULL,
    kind TEXT NOT NULL,
    a TEXT NOT NULL,
    b TEXT NOT NULL,
    seen TEXT NOT NULL,
    canaries INTEGER NOT NULL,
    payload_bytes INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (run_id, phase, place),
    FOREIGN KEY (run_id, phase) REFERENCES phases (run_id, phase) ON DELETE CASCADE
) STRICT;
";

const REPORTS: &str = "
CREATE TABLE reports (
    run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    json TEXT NOT NULL,
    PRIMARY KEY (run_id, kind)
) STRICT;
";

/// What a look said of clients is in the bodies of older stores as well, where it was seen.
const SIGHTS_OF_CLIENTS: &str = "
ALTER TABLE sights ADD COLUMN only_own_session INTEGER NOT NULL DEFAULT 0;
-- NULL: the server could not be asked.
ALTER TABLE sights ADD COLUMN tcp_sessions INTEGER;
-- A JSON list of names.
ALTER TABLE sights ADD COLUMN cleartext_clients TEXT NOT NULL DEFAULT '[]';
UPDATE sights SET
    only_own_session = coalesce(json_extract(body, '$.only_own_session'), 0),
    tcp_sessions = json_extract(body, '$.tcp_sessions'),
    cleartext_clients = coalesce(json_extract(body, '$.cleartext_clients'), '[]')
WHERE json_valid(body);
";

/// What `watch` sees, as changes: a row for each time in which something was in one state, not a copy for each look.
const WATCH: &str = "
CREATE TABLE watch_clusters (
    cluster TEXT PRIMARY KEY,
    -- When it was looked at, and what failed, as JSON.
    body TEXT NOT NULL
) STRICT;
CREATE TABLE watch_states (
    id INTEGER PRIMARY KEY,
    cluster TEXT NOT NULL REFERENCES watch_clusters (cluster) ON DELETE CASCADE,
    family TEXT NOT NULL,
    subject TEXT NOT NULL,
    state TEXT NOT NULL,
    first_seen_unix_ms INTEGER NOT NULL,
    last_seen_unix_ms INTEGER NOT NULL,
    is_current INTEGER NOT NULL,
    -- The whole value as JSON.
    body TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX watch_states_current ON watch_states (cluster, family, subject) WHERE is_current = 1;
CREATE INDEX watch_states_by_time ON watch_states (cluster, first_seen_unix_ms);
";

/// Of ten thousand servers: a look that changed nothing writes one row a cluster, and pages of all clusters read one kind of row.
const WATCH_FLEETS: &str = "
-- When the present rows of the cluster were last seen; each was seen then, or later.
ALTER TABLE watch_clusters ADD COLUMN seen_unix_ms INTEGER NOT NULL DEFAULT 0;
CREATE INDEX watch_states_by_family ON watch_states (family, state) WHERE is_current = 1;
";
