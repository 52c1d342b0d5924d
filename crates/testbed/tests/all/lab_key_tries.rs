//! Every kind of table on one real server: the right keys are never called wrong, and the wrong ones never right.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use testbed::real::{lab_slot, need_servers, sealion, short_dir};

use crate::lab_rest::Alone;

/// A line a statement, of the layout of today; then the same tables in that of before MariaDB 10.5.
const TABLES: &[(&str, &str)] = &[
    ("plain_rows", "ENGINE=InnoDB"),
    ("pcomp", "ENGINE=InnoDB PAGE_COMPRESSED=1"),
    ("pcomp9", "ENGINE=InnoDB PAGE_COMPRESSED=1 PAGE_COMPRESSION_LEVEL=9"),
    ("two", "ENGINE=InnoDB ENCRYPTED=YES ENCRYPTION_KEY_ID=2"),
    ("two_pcomp", "ENGINE=InnoDB PAGE_COMPRESSED=1 ENCRYPTED=YES ENCRYPTION_KEY_ID=2"),
    ("redundant", "ENGINE=InnoDB ROW_FORMAT=REDUNDANT"),
    ("zip1", "ENGINE=InnoDB ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=1"),
    ("zip8", "ENGINE=InnoDB ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=8"),
    ("parts", "ENGINE=InnoDB PARTITION BY HASH(a) PARTITIONS 3"),
    ("übung", "ENGINE=InnoDB"),
    ("aria", "ENGINE=Aria"),
    ("aria_übung", "ENGINE=Aria"),
    ("aria_unsummed", "ENGINE=Aria PAGE_CHECKSUM=0"),
    ("aria_loose", "ENGINE=Aria TRANSACTIONAL=0"),
];
const DEFINITION: &str = "(a INT PRIMARY KEY, b VARCHAR(250), KEY (a, b(20)))";

fn statements() -> Vec<String> {
    let mut all = Vec::new();
    for (schema, checksum) in [("today", "full_crc32"), ("former", "crc32")] {
        all.push(format!("SET GLOBAL innodb_checksum_algorithm={checksum}"));
        all.push(format!("CREATE DATABASE {schema}"));
        for (name, engine) in TABLES {
            all.push(format!("CREATE TABLE {schema}.`{name}` {DEFINITION} {engine}"));
            all.push(format!("CREATE TABLE {schema}.`{name}_empty` {DEFINITION} {engine}"));
            all.push(format!(
                "INSERT INTO {schema}.`{name}` SELECT seq, CONCAT(REPEAT('row ', 40), seq) FROM mysql.seq_1_to_2000"
            ));
        }
        // Freed pages, an index page that was changed in its form at once, a spatial and a full-text index, a sequence.
        for sql in [
            "DELETE FROM pcomp WHERE a BETWEEN 300 AND 1800",
            "DELETE FROM plain_rows WHERE a BETWEEN 300 AND 1800",
            "ALTER TABLE redundant ADD COLUMN c INT FIRST, ALGORITHM=INSTANT",
            "CREATE TABLE points (a INT PRIMARY KEY, p POINT NOT NULL, SPATIAL INDEX (p)) ENGINE=InnoDB",
            "INSERT INTO points SELECT seq, POINT(seq, seq) FROM mysql.seq_1_to_2000",
            "CREATE TABLE texts (a INT PRIMARY KEY, b TEXT, FULLTEXT (b)) ENGINE=InnoDB",
            "INSERT INTO texts SELECT a, b FROM pcomp",
            "CREATE SEQUENCE numbers",
        ] {
            all.push(format!("USE {schema}"));
            all.push(sql.to_owned());
        }
    }
    all
}

/// By name of a key, what became of it, and on how many files.
fn diagnosed(datadir: &Path, keys: &Path, code: i32) -> (Value, BTreeMap<(String, String), u64>) {
    let said = Command::new(sealion())
        .args(["diagnose", "--format", "json", "--datadir"])
        .arg(datadir)
        .arg("--key-file")
        .arg(keys)
        .output()
        .expect("it runs");
    let whole: Value = serde_json::from_slice(&said.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&said.stderr)));
    assert_eq!(said.status.code(), Some(code), "{whole:#}");
    let mut rows = BTreeMap::new();
    for row in whole["keys"].as_array().expect("a list") {
        let text = |key: &str| row[key].as_str().expect("text").to_owned();
        *rows.entry((text("name"), text("result"))).or_default() += row["files"].as_u64().expect("a number");
    }
    (whole, rows)
}

fn count(rows: &BTreeMap<(String, String), u64>, key: &str, result: &str) -> u64 {
    rows.get(&(key.to_owned(), result.to_owned())).copied().unwrap_or(0)
}

fn plays(algorithm: &str) {
    let home = short_dir();
    let file = |name: &str, bytes: [&str; 2]| {
        let path = home.path().join(name);
        let lines = format!("1;{}\n2;{}\n", bytes[0].repeat(32), bytes[1].repeat(32));
        std::fs::write(&path, lines).expect("it is written");
        path
    };
    let (right, wrong) = (file("right", ["1f", "2e"]), file("wrong", ["9f", "9e"]));
    let (first, second) = (file("first", ["1f", "9e"]), home.path().join("second"));
    std::fs::write(&second, format!("1;{}\n", "1f".repeat(32))).expect("it is written");
    let options: Vec<String> = [
        "--plugin-load-add=file_key_management",
        "--innodb-encrypt-tables=ON",
        "--innodb-encrypt-log=ON",
        "--innodb-encryption-threads=1",
        "--aria-encrypt-tables=ON",
        "--encrypt-binlog=ON",
        "--log-bin=binlog",
        "--innodb-buffer-pool-size=32M",
    ]
    .map(str::to_owned)
    .into_iter()
    .chain([
        format!("--file-key-management-filename={}", right.display()),
        format!("--file-key-management-encryption-algorithm={algorithm}"),
    ])
    .collect();
    let server = Alone::start("galera-10.11", &home.path().join("s"), &lab::bundle::cache_dir(), &options);
    let all = statements();
    server.run(&all.iter().map(String::as_str).collect::<Vec<_>>());
    let data = server.data();
    // In good order, so that all of it is written.
    drop(server);

    let (whole, rows) = diagnosed(&data, &right, 0);
    assert_eq!(whole["problems"], Value::Array(vec![]), "{whole:#}");
    assert!(rows.keys().all(|(_, result)| result == "opens" || result == "not_tried"), "{rows:?}");
    // Files on which none can be tried: redo log, two zipped tables and their empty ones in each schema, tables of Aria without a page or a
    // checksum. All others tell.
    let (opened, untried) = (count(&rows, "1", "opens"), count(&rows, "1", "not_tried"));
    assert!(opened >= 60 && count(&rows, "2", "opens") >= 8, "{rows:?}");
    let (whole, rows) = diagnosed(&data, &wrong, 1);
    assert_eq!(count(&rows, "1", "opens") + count(&rows, "2", "opens"), 0, "{whole:#}");
    // Each is told, of Aria that damage would look the same.
    // The two bytes of zlib are right by chance on one page in 16 thousand: of that table nothing is told then.
    let by_chance = count(&rows, "1", "not_tried") - untried;
    assert_eq!(
        count(&rows, "1", "wrong") + count(&rows, "1", "does_not_open") + by_chance,
        opened,
        "{rows:?}"
    );
    assert!(by_chance <= 1, "{rows:?}");
    assert!(count(&rows, "1", "does_not_open") >= 6, "{rows:?}");
    let (_, rows) = diagnosed(&data, &first, 1);
    assert_eq!((count(&rows, "1", "wrong"), count(&rows, "1", "opens")), (0, opened), "{rows:?}");
    assert!(count(&rows, "2", "wrong") >= 8 && count(&rows, "2", "opens") == 0, "{rows:?}");
    let (whole, rows) = diagnosed(&data, &second, 1);
    assert!(count(&rows, "2", "absent") >= 8, "{rows:?}");
    assert_eq!(whole["problems"][0]["kind"], "key_missing", "{whole:#}");

    // What is damaged is not called a wrong key: a torn page, pages of zeros, a file that was cut off, one whose page 0 is gone.
    let page = 16_384;
    let damage = |name: &str, change: &dyn Fn(&mut Vec<u8>)| {
        let path = data.join(name);
        let mut bytes = std::fs::read(&path).expect("it is there");
        change(&mut bytes);
        std::fs::write(&path, bytes).expect("it is written");
    };
    damage("today/plain_rows.ibd", &|bytes| bytes[3 * page + 8000..4 * page].fill(b'x'));
    damage("today/pcomp.ibd", &|bytes| bytes[3 * page..6 * page].fill(0));
    damage("former/redundant.ibd", &|bytes| bytes.truncate(4 * page + 100));
    damage("former/pcomp.ibd", &|bytes| bytes[4 * page + 60..5 * page].fill(b'y'));
    damage("today/aria.MAD", &|bytes| bytes[8192 + 4000..8192 + 4100].fill(b'z'));
    let (whole, rows) = diagnosed(&data, &right, 0);
    assert!(rows.keys().all(|(_, result)| result != "wrong"), "{rows:?}");
    assert!(whole["notes"].to_string().contains("today/aria.MAI"), "{whole:#}");
    damage("today/parts#P#p1.ibd", &|bytes| bytes[..4 * page].fill(0));
    let (whole, _) = diagnosed(&data, &right, 3);
    assert!(whole["unknown"].to_string().contains("today/parts#P#p1.ibd"), "{whole:#}");
}

#[test]
fn right_keys_are_never_called_wrong_whatever_the_table() {
    need_servers();
    let _alone = lab_slot();
    for algorithm in ["aes_cbc", "aes_ctr"] {
        plays(algorithm);
    }
}
