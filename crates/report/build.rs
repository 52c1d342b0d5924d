//! Packs the matrix of drivers: 870 KB that are nearly all repetition, in a program that is copied to every host of a cluster.

use std::path::{Path, PathBuf};

const MATRIX: &str = "../../docs/src/reference/clients.json";
const LEVEL: u8 = 9;

fn main() {
    println!("cargo::rerun-if-changed={MATRIX}");
    println!("cargo::rerun-if-changed=build.rs");
    let text = std::fs::read(Path::new(MATRIX)).expect("the matrix is in the book");
    let packed = miniz_oxide::deflate::compress_to_vec_zlib(&text, LEVEL);
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo names it"));
    std::fs::write(out.join("clients.json.z"), packed).expect("the directory is cargo's");
}
