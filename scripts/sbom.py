#!/usr/bin/env python3
"""What the program contains, as a CycloneDX 1.5 document (JSON) on stdout.

  sbom.py [--static] VERSION EPOCH BINARY

Packages of Cargo.lock that the crate `cli` is built from on this processor's Linux, without what only tests use; the C code that
some of them bring (OpenSSL, SQLite, Zstandard); Rust's library; with --static also musl. `scope` is `required` for what is in the
program and `excluded` for what only ran while it was built. The same input gives the same bytes: the serial number is made of the
document itself, the time is EPOCH. Python 3.9 or newer, its standard library, and cargo.
"""
import datetime
import hashlib
import json
import os
import platform
import re
import subprocess
import sys
import uuid
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
CARGO = os.environ.get("CARGO") or "cargo"


def stop(what, next_step):
    sys.exit(f"sbom: {what}\n  next: {next_step}")


def run(*words):
    try:
        done = subprocess.run(words, cwd=HERE, capture_output=True, text=True, check=False)
    except OSError as error:
        stop(f"cannot run {words[0]}: {error}", "scripts/setup.sh build")
    if done.returncode != 0:
        stop(f"{' '.join(words)} failed\n  why:  {done.stderr.strip()}", "cargo fetch --locked")
    return done.stdout


def tree(target, edges):
    """Names of what is reached from `cli`, as (name, version), each with what it stands on."""
    text = run(CARGO, "tree", "--locked", "--package", "cli", "--edges", edges, "--target", target,
               "--prefix", "depth", "--format", " {p}", "--charset", "ascii")
    stands_on, path = {}, []
    for line in text.splitlines():
        found = re.match(r"(\d+) (\S+) v(\S+)", line)
        if not found:
            continue
        depth, package = int(found[1]), (found[2], found[3])
        del path[depth:]
        stands_on.setdefault(package, set())
        if path:
            stands_on[path[-1]].add(package)
        path.append(package)
    return stands_on


def checksums():
    """SHA-256 of each package's archive, which Cargo.lock keeps."""
    found = {}
    for block in (HERE / "Cargo.lock").read_text().split("[[package]]")[1:]:
        fields = dict(re.findall(r'^(name|version|checksum) = "(.*)"$', block, re.M))
        if "checksum" in fields:
            found[fields["name"], fields["version"]] = fields["checksum"]
    return found


def licences(package):
    if package.get("license"):
        # Old packages write MIT/Apache-2.0, which SPDX calls MIT OR Apache-2.0.
        return [{"expression": re.sub(r"\s*/\s*", " OR ", package["license"])}]
    return [{"license": {"name": f"see {package.get('license_file') or 'the package'}"}}]


def foreign(name, version, licence, cpe, what):
    return {
        "type": "library",
        "bom-ref": f"pkg:generic/{name}@{version}",
        "name": name,
        "version": version,
        "description": what,
        "scope": "required",
        "licenses": [{"expression": licence}],
        "cpe": f"cpe:2.3:a:{cpe}:{version}:*:*:*:*:*:*:*",
        "purl": f"pkg:generic/{name}@{version}",
    }


def first(text, pattern, what):
    found = re.search(pattern, text)
    if not found:
        stop(f"the version of {what} cannot be told", "see what changed in its package, and correct scripts/sbom.py")
    return found[1]


def c_code(packages, static, target):
    """C code in the program, with the package that brings it."""
    found = []
    for (name, version), package in packages.items():
        source = Path(package["manifest_path"]).parent
        if name == "openssl-src":
            number = first(version, r"\+(\d+\.\d+\.\d+)$", "OpenSSL")
            found.append((("openssl-sys", None), foreign(
                "openssl", number, "Apache-2.0", "openssl:openssl", f"linked statically, built by openssl-src {version}")))
        elif name == "libsqlite3-sys":
            number = first((source / "sqlite3/sqlite3.h").read_text(errors="replace"), r'#define SQLITE_VERSION\s+"([\d.]+)"', "SQLite")
            found.append(((name, version), foreign(
                "sqlite", number, "blessing", "sqlite:sqlite", f"linked statically, built by libsqlite3-sys {version}")))
        elif name == "zstd-sys":
            number = first(version, r"\+zstd\.([\d.]+)$", "Zstandard")
            found.append(((name, version), foreign(
                "zstd", number, "BSD-3-Clause", "facebook:zstandard", f"linked statically, built by zstd-sys {version}")))
    rustc = first(run("rustc", "--version"), r"^rustc (\d+\.\d+\.\d+)", "rustc")
    found.append((None, foreign("rust", rustc, "MIT OR Apache-2.0", "rust-lang:rust", "its standard library")))
    if static:
        library = Path(run("rustc", "--print", "sysroot").strip()) / "lib/rustlib" / target / "lib/self-contained/libc.a"
        if not library.is_file():
            stop("a static program contains musl, and Rust's copy of it is not here", "scripts/setup.sh static")
        number = first(library.read_bytes().decode("latin-1"), r"\0(1\.2\.\d+)\0", "musl")
        found.append((None, foreign("musl", number, "MIT", "musl-libc:musl", "C library, linked statically")))
    return found


def document(version, epoch, binary, static):
    processor = platform.machine()
    target = f"{processor}-unknown-linux-{'musl' if static else 'gnu'}"
    metadata = json.loads(run(CARGO, "metadata", "--locked", "--format-version", "1", "--filter-platform", target))
    known = {(one["name"], one["version"]): one for one in metadata["packages"]}
    everything = tree(target, "normal,build")
    # Build scripts and macros run while it is built; nothing of them is in the program.
    linked = set(tree(target, "normal,no-proc-macro"))
    ours = {package for package in everything if known[package]["source"] is None}
    theirs = {package: known[package] for package in everything if package not in ours}
    sums = checksums()

    def ref(package):
        return f"pkg:cargo/{package[0]}@{package[1]}"

    components, needs = [], {}
    for package, facts in theirs.items():
        component = {
            "type": "library",
            "bom-ref": ref(package),
            "name": package[0],
            "version": package[1],
            "scope": "required" if package in linked else "excluded",
            "licenses": licences(facts),
            "purl": ref(package),
        }
        if package in sums:
            component["hashes"] = [{"alg": "SHA-256", "content": sums[package]}]
        components.append(component)
        needs[ref(package)] = {ref(one) for one in everything[package] if one not in ours}
    root = f"pkg:generic/sealion@{version}"
    needs[root] = {ref(one) for package in ours for one in everything[package] if one not in ours}
    for brought_by, component in c_code(theirs, static, target):
        components.append(component)
        needs[component["bom-ref"]] = set()
        owners = [root] if brought_by is None else [
            ref(package) for package in theirs if package[0] == brought_by[0] and brought_by[1] in (None, package[1])]
        for owner in owners:
            needs[owner].add(component["bom-ref"])
    components.sort(key=lambda one: one["bom-ref"])

    made = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "lifecycles": [{"phase": "build"}],
            "component": {
                "type": "application",
                "bom-ref": root,
                "name": "sealion",
                "version": version,
                "description": "audits, verifies and enables encryption of MySQL and MariaDB",
                "licenses": [{"expression": "Apache-2.0 OR MIT"}],
                "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(Path(binary).read_bytes()).hexdigest()}],
                "purl": root,
            },
        },
        "components": components,
        "dependencies": [{"ref": one, "dependsOn": sorted(needs[one])} for one in sorted(needs)],
    }
    # A number of its own for each document, and the same for the same document.
    digest = hashlib.sha256(json.dumps(made, sort_keys=True).encode()).digest()
    serial = uuid.UUID(bytes=digest[:16], version=5)
    return {"bomFormat": made.pop("bomFormat"), "specVersion": made.pop("specVersion"), "serialNumber": f"urn:uuid:{serial}", **made}


if __name__ == "__main__":
    arguments = [word for word in sys.argv[1:] if word != "--static"]
    if len(arguments) != 3 or not arguments[1].isdigit():
        sys.exit("usage: sbom.py [--static] VERSION EPOCH BINARY")
    json.dump(document(arguments[0], int(arguments[1]), arguments[2], "--static" in sys.argv), sys.stdout, indent=1, ensure_ascii=False)
    print()
