"""Reads archives of sealion share. Written from docs/src/reference/share-format.md alone; only what any library of ciphers has (X25519,
ChaCha20-Poly1305, HKDF) is taken from the reader of the other archive.

share_reader.py ARCHIVE SECRET_JSON OWNER_JSON
"""
import base64, hashlib, hmac, json, os, struct, sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../stream/tests/all"))
from archive_reader import chacha_block, x25519

Q, L = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, Q - 2, Q) % Q


def mac(key, *parts):
    return hmac.new(key, b"".join(parts), hashlib.sha256).digest()


def expand(prk, info, count):
    return mac(prk, info, b"\x01")[:count]


def add(p, r):
    (x1, y1), (x2, y2) = p, r
    t = D * x1 * x2 * y1 * y2
    return ((x1 * y2 + x2 * y1) * pow(1 + t, Q - 2, Q) % Q, (y1 * y2 + x1 * x2) * pow(1 - t, Q - 2, Q) % Q)


def times(p, n):
    out = (0, 1)
    for bit in bin(n)[2:]:
        out = add(out, out)
        if bit == "1":
            out = add(out, p)
    return out


def point(bytes32):
    y = int.from_bytes(bytes32, "little")
    sign, y = y >> 255, y & ~(1 << 255)
    xx = (y * y - 1) * pow(D * y * y + 1, Q - 2, Q) % Q
    x = pow(xx, (Q + 3) // 8, Q)
    if (x * x - xx) % Q:
        x = x * pow(2, (Q - 1) // 4, Q) % Q
    if (x * x - xx) % Q:
        raise ValueError("no point of the curve")
    return (x if x & 1 == sign else Q - x, y)


BASE = point(((4 * pow(5, Q - 2, Q)) % Q).to_bytes(32, "little"))


def is_signed(public, text, signature):
    s = int.from_bytes(signature[32:], "little")
    k = int.from_bytes(hashlib.sha512(signature[:32] + public + text).digest(), "little") % L
    return s < L and times(BASE, s) == add(point(signature[:32]), times(point(public), k))


def chacha(key, nonce, aad, sealed):
    body, tag = sealed[:-16], sealed[-16:]
    one = chacha_block(key, 0, nonce)
    r = int.from_bytes(one[:16], "little") & 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF
    text = aad + bytes(-len(aad) % 16) + body + bytes(-len(body) % 16) + struct.pack("<QQ", len(aad), len(body))
    sum = 0
    for at in range(0, len(text), 16):
        sum = (sum + int.from_bytes(text[at:at + 16] + b"\x01", "little")) * r % (2**130 - 5)
    sum = (sum + int.from_bytes(one[16:32], "little")) % 2**128
    if not hmac.compare_digest(sum.to_bytes(16, "little"), tag):
        raise ValueError("a tag is wrong")
    blocks = (chacha_block(key, 1 + at // 64, nonce) for at in range(0, len(body), 64))
    return bytes(x ^ y for x, y in zip(body, b"".join(blocks)))


def hpke_open(secret, public, info, aad, sealed):
    """RFC 9180, base mode, suite 0x0020, 0x0001, 0x0003."""
    def labeled(suite):
        extract = lambda salt, label, ikm: mac(salt, b"HPKE-v1" + suite + label + ikm)
        grow = lambda prk, label, what, n: expand(prk, struct.pack(">H", n) + b"HPKE-v1" + suite + label + what, n)
        return extract, grow
    enc, text = sealed[:32], sealed[32:]
    extract, grow = labeled(b"KEM\x00\x20")
    shared = grow(extract(b"", b"eae_prk", x25519(secret, enc)), b"shared_secret", enc + public, 32)
    extract, grow = labeled(b"HPKE\x00\x20\x00\x01\x00\x03")
    context = b"\x00" + extract(b"", b"psk_id_hash", b"") + extract(b"", b"info_hash", info)
    secret = extract(shared, b"secret", b"")
    return chacha(grow(secret, b"key", context, 32), grow(secret, b"base_nonce", context, 12), aad, text)


def read(archive, me, owner):
    if archive[:8] != b"SEALSHR\x01":
        raise ValueError("no archive of version 1")
    core_length, slots_length = struct.unpack("<II", archive[8:16])
    if core_length > 65536 or slots_length > 1 << 20:
        raise ValueError("a length is out of bounds")
    core, at = archive[16:16 + core_length], 16 + core_length
    slots, at = json.loads(archive[at:at + slots_length]), at + slots_length
    commitment, tag, signature = archive[at:at + 32], archive[at + 32:at + 64], archive[at + 64:at + 128]
    signed = b"sealion share header v1\0" + hashlib.sha256(archive[:at + 64]).digest()
    if not is_signed(base64.b64decode(owner["sign"]), signed, signature):
        raise ValueError("it is not signed by the owner")
    core_hash = hashlib.sha256(b"sealion share core v1\0" + core).digest()
    said = json.loads(core)
    kind, info = ("owner", "owner") if me["role"] == "owner" else ("hpke", "hpke")
    mine = [slot for slot in slots if slot["kind"] == kind and slot["to"] == me["public"]["seal"]]
    secret, public = bytes.fromhex(me["seal"]), base64.b64decode(me["public"]["seal"])
    info = b"sealion share v1 slot " + info.encode()
    key = hpke_open(secret, public, info, core_hash, base64.b64decode(mine[0]["sealed"]))
    salt = base64.b64decode(said["archive"])
    derive = lambda purpose, n: expand(mac(salt, key), b"sealion share v1 " + purpose, n)
    if mac(derive(b"commitment", 32), core_hash) != commitment or mac(derive(b"header", 32), archive[:at + 32]) != tag:
        raise ValueError("commitment or MAC are not of this key")
    chunk_key, nonce = derive(b"chunk key", 32), derive(b"chunk nonce", 7)
    chunks, out, number = archive[at + 128:], [], 0
    while True:
        sealed, chunks = chunks[:65536 + 16], chunks[65536 + 16:]
        out.append(chacha(chunk_key, nonce + struct.pack(">IB", number, not chunks), core_hash, sealed))
        number += 1
        if not chunks:
            return b"".join(out)


if __name__ == "__main__":
    archive, me, owner = (open(path, "rb").read() for path in sys.argv[1:4])
    sys.stdout.buffer.write(read(archive, json.loads(me), json.loads(owner)))
