#!/usr/bin/env python3
"""Writes an image of a static program, without a daemon: an OCI image layout in one tar file.

  oci-image.py [--fast] VERSION ARCH EPOCH BINARY DOCUMENT... OUT

The image has the program, the documents (licences), a directory for temporary files and one to work in, and nothing else: no shell,
no C library. It runs as user 65532. `podman load`, `skopeo copy oci-archive:` and `ctr image import` read the layout; `docker load`
reads it too, older ones by the file manifest.json. The same input gives the same bytes. --fast hardly compresses (for tests).
Python 3.9 or newer, its standard library.
"""
import datetime
import gzip
import hashlib
import io
import json
import sys
import tarfile
from pathlib import Path

USER = 65532  # What images without a distribution call "nonroot".
HOME = "/home/sealion"


def entry(name, kind, mode, epoch, size=0, owner=0):
    info = tarfile.TarInfo(name)
    info.type, info.mode, info.mtime, info.size, info.uid, info.gid = kind, mode, epoch, size, owner, owner
    return info


def tar(entries):
    """`entries`: (TarInfo, bytes or None), in the order in which they are written."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for info, content in entries:
            archive.addfile(info, io.BytesIO(content) if content is not None else None)
    return buffer.getvalue()


def layer(epoch, binary, documents):
    entries = []

    def directory(name, mode=0o755, owner=0):
        entries.append((entry(name, tarfile.DIRTYPE, mode, epoch, owner=owner), None))

    def file(name, content, mode=0o644):
        entries.append((entry(name, tarfile.REGTYPE, mode, epoch, len(content)), content))

    directory("etc")
    # Programs ask who they are, and where their home is.
    file("etc/group", f"root:x:0:\nsealion:x:{USER}:\n".encode())
    file("etc/passwd", f"root:x:0:0:root:/root:/sbin/nologin\nsealion:x:{USER}:{USER}:sealion:{HOME}:/sbin/nologin\n".encode())
    directory("home")
    directory(HOME[1:], 0o700, USER)
    directory("tmp", 0o1777)
    for name in ("usr", "usr/bin"):
        directory(name)
    file("usr/bin/sealion", Path(binary).read_bytes(), 0o755)
    for name in ("usr/share", "usr/share/doc", "usr/share/doc/sealion"):
        directory(name)
    for path in sorted(documents, key=lambda one: Path(one).name):
        file(f"usr/share/doc/sealion/{Path(path).name}", Path(path).read_bytes())
    return tar(entries)


def image(version, arch, epoch, binary, documents, level):
    blobs = {}

    def blob(content, kind):
        digest = hashlib.sha256(content).hexdigest()
        blobs[digest] = content
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{digest}", "size": len(content)}

    def as_json(value):
        return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()

    plain = layer(epoch, binary, documents)
    packed = io.BytesIO()
    # Without a name and with a fixed time: a header of gzip has both.
    with gzip.GzipFile(filename="", mode="wb", compresslevel=level, fileobj=packed, mtime=epoch) as stream:
        stream.write(plain)
    labels = {
        "org.opencontainers.image.title": "sealion",
        "org.opencontainers.image.description": "audits, verifies and enables encryption of MySQL and MariaDB",
        "org.opencontainers.image.version": version,
        "org.opencontainers.image.licenses": "Apache-2.0 OR MIT",
    }
    created = datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    rootfs = blob(packed.getvalue(), "layer.v1.tar+gzip")
    config = blob(as_json({
        "architecture": arch,
        "os": "linux",
        "created": created,
        "config": {
            "User": f"{USER}:{USER}",
            "Entrypoint": ["/usr/bin/sealion"],
            "Cmd": ["--help"],
            "Env": ["PATH=/usr/bin", f"HOME={HOME}"],
            "WorkingDir": HOME,
            "Labels": labels,
        },
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(plain).hexdigest()}"]},
        "history": [{"created": created, "created_by": "scripts/oci-image.py", "comment": "one static program"}],
    }), "config.v1+json")
    manifest = blob(as_json({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": config,
        "layers": [rootfs],
        "annotations": labels,
    }), "manifest.v1+json")
    # Without "localhost", a machine that has not loaded it would ask a public registry for somebody else's image of this name.
    name = f"localhost/sealion:{version}"
    index = {
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [{
            **manifest,
            "platform": {"architecture": arch, "os": "linux"},
            "annotations": {"io.containerd.image.name": name, "org.opencontainers.image.ref.name": version},
        }],
    }

    def place(one):
        return f"blobs/sha256/{one['digest'].split(':')[1]}"

    files = {
        "oci-layout": as_json({"imageLayoutVersion": "1.0.0"}),
        "index.json": as_json(index),
        "manifest.json": as_json([{"Config": place(config), "RepoTags": [name], "Layers": [place(rootfs)]}]),
        **{f"blobs/sha256/{digest}": content for digest, content in sorted(blobs.items())},
    }
    entries = [(entry(name, tarfile.DIRTYPE, 0o755, epoch), None) for name in ("blobs", "blobs/sha256")]
    entries += [(entry(name, tarfile.REGTYPE, 0o644, epoch, len(content)), content) for name, content in files.items()]
    return tar(entries)


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--fast"]
    if len(words) < 5 or not words[2].isdigit():
        sys.exit("usage: oci-image.py [--fast] VERSION ARCH EPOCH BINARY DOCUMENT... OUT")
    tag, machine, moment, program, *licence_files, out = words
    Path(out).write_bytes(image(tag, machine, int(moment), program, licence_files, 1 if "--fast" in sys.argv else 9))
