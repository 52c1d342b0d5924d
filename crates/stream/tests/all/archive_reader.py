"""Reads archives of sealion. Written from docs/src/reference/archive-format.md alone; it shares no code with sealion.

archive_reader.py (--key-file FILE | --identity FILE) ARCHIVE --into DIR
archive_reader.py --vectors PAGE
"""
import hashlib, hmac, os, re, struct, sys

P = 2**255 - 19


def hkdf(salt, secret, info):
    prk = hmac.new(salt or bytes(32), secret, hashlib.sha256).digest()
    return hmac.new(prk, info + b"\x01", hashlib.sha256).digest()


# Slow and short: whoever has no library can read an archive, too.
def chacha_block(key, counter, nonce):
    def rotate(value, count):
        return ((value << count) | (value >> (32 - count))) & 0xFFFFFFFF

    state = list(struct.unpack("<16I", b"expand 32-byte k" + key + struct.pack("<I", counter) + nonce))
    work = state[:]
    for _ in range(10):
        for a, b, c, d in ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
                           (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)):
            for x, y, z, count in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
                work[x] = (work[x] + work[y]) & 0xFFFFFFFF
                work[z] = rotate(work[z] ^ work[x], count)
    return struct.pack("<16I", *((x + y) & 0xFFFFFFFF for x, y in zip(work, state)))


def chacha_open(key, nonce, sealed):
    body, tag = sealed[:-16], sealed[-16:]
    one_time = chacha_block(key, 0, nonce)
    r = int.from_bytes(one_time[:16], "little") & 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF
    s = int.from_bytes(one_time[16:32], "little")
    text = body + bytes(-len(body) % 16) + struct.pack("<QQ", 0, len(body))
    sum = 0
    for at in range(0, len(text), 16):
        sum = (sum + int.from_bytes(text[at:at + 16] + b"\x01", "little")) * r % (2**130 - 5)
    if not hmac.compare_digest(((sum + s) % 2**128).to_bytes(16, "little"), tag):
        raise ValueError("a tag is wrong")
    return b"".join(
        bytes(x ^ y for x, y in zip(body[at:at + 64], chacha_block(key, 1 + at // 64, nonce)))
        for at in range(0, len(body), 64))


try:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305

    def aead_open(cipher, key, nonce, sealed):
        return (AESGCM if cipher == 1 else ChaCha20Poly1305)(key).decrypt(nonce, sealed, b"")
except ImportError:
    def aead_open(cipher, key, nonce, sealed):
        if cipher == 1:
            raise ValueError("AES needs the module cryptography")
        return chacha_open(key, nonce, sealed)


def x25519(scalar, u):
    k = int.from_bytes(scalar, "little") & ~7 & ~(128 << 248) | (64 << 248)
    u = int.from_bytes(u, "little") & ~(1 << 255)
    x1, x2, z2, x3, z3 = u, 1, 0, u, 1
    for bit in range(254, -1, -1):
        one = k >> bit & 1
        if one:
            x2, x3, z2, z3 = x3, x2, z3, z2
        a, b, c, d = x2 + z2, x2 - z2, x3 + z3, x3 - z3
        aa, bb, da, cb = a * a % P, b * b % P, d * a % P, c * b % P
        x3, z3 = (da + cb) ** 2 % P, x1 * (da - cb) ** 2 % P
        e = aa - bb
        x2, z2 = aa * bb % P, e * (aa + 121665 * e) % P
        if one:
            x2, x3, z2, z3 = x3, x2, z3, z2
    return (x2 * pow(z2, P - 2, P) % P).to_bytes(32, "little")


def bech32(text):
    letters = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
    values = [letters.index(letter) for letter in text.lower().rsplit("1", 1)[1]][:-6]
    number = 0
    for value in values:
        number = number << 5 | value
    return (number >> (len(values) * 5 - 256)).to_bytes(32, "big")


def base64_of(text):
    import base64
    return base64.b64decode(text + "=" * (-len(text) % 4))


def age_open(identity, sealed):
    """The X25519 stanzas of https://age-encryption.org/v1, as the page says."""
    head, _, rest = sealed.partition(b"\n--- ")
    mac, _, body = rest.partition(b"\n")
    base = bytearray(32)
    base[0] = 9
    public = x25519(identity, bytes(base))
    lines = head.decode().split("\n")
    for at, line in enumerate(lines):
        if not line.startswith("-> X25519 "):
            continue
        ephemeral = base64_of(line.split(" ")[2])
        key = hkdf(ephemeral + public, x25519(identity, ephemeral), b"age-encryption.org/v1/X25519")
        try:
            file_key = chacha_open(key, bytes(12), base64_of(lines[at + 1]))
        except ValueError:
            continue
        found = hmac.new(hkdf(b"", file_key, b"header"), head + b"\n---", hashlib.sha256).digest()
        if not hmac.compare_digest(found, base64_of(mac.decode())):
            raise ValueError("the MAC of the age file is wrong")
        return chacha_open(hkdf(body[:16], file_key, b"payload"), bytes(11) + b"\x01", body[16:])
    return None


def read_archive(archive, key_file=None, identity=None):
    if archive[:8] != b"SEALARC\x01":
        raise ValueError("no archive")
    length, = struct.unpack(">I", archive[8:12])
    id = archive[12:28]
    cipher, content = archive[28], archive[29]
    chunk_bytes, slots = struct.unpack(">IH", archive[30:36])
    at, data_key = 36, None
    for _ in range(slots):
        kind, size = struct.unpack(">BH", archive[at:at + 3])
        slot, at = archive[at + 3:at + 3 + size], at + 3 + size
        if kind == 1 and identity and not data_key:
            data_key = age_open(identity, slot)
        if kind == 2 and key_file and not data_key:
            data_key = chacha_open(hkdf(id, key_file, b"sealion archive 1 key file"), bytes(12), slot)
    if not data_key or at != length - 32:
        raise ValueError("no slot opens")
    mac = hmac.new(hkdf(id, data_key, b"sealion archive 1 head"), archive[:at], hashlib.sha256).digest()
    if not hmac.compare_digest(mac, archive[at:length]):
        raise ValueError("the head was changed")
    key, prefix = hkdf(id, data_key, b"sealion archive 1 chunks"), hkdf(id, data_key, b"sealion archive 1 nonce")[:7]
    at, number, plain = length, 0, []
    while True:
        chunk = archive[at:at + chunk_bytes + 16]
        at += len(chunk)
        nonce = prefix + struct.pack(">IB", number, 1 if at == len(archive) else 0)
        plain.append(aead_open(cipher, key, nonce, chunk))
        if at == len(archive):
            return content, b"".join(plain)
        number += 1


def records(plain):
    at = 0
    while at < len(plain):
        kind, length = struct.unpack(">BI", plain[at:at + 5])
        body = plain[at + 5:at + 5 + length]
        if len(body) != length:
            raise ValueError("a record is cut short")
        yield kind, body
        at += 5 + length


def entries_of(body):
    at = 0
    while at < len(body):
        kind, mode, uid, gid, seconds, nanos, size = struct.unpack(">BIIIqIQ", body[at:at + 33])
        at += 33
        path_bytes, = struct.unpack(">H", body[at:at + 2])
        path, at = body[at + 2:at + 2 + path_bytes], at + 2 + path_bytes
        target_bytes, = struct.unpack(">H", body[at:at + 2])
        target, at = body[at + 2:at + 2 + target_bytes], at + 2 + target_bytes
        yield kind, mode, seconds, nanos, size, path, target


def extract(content, plain, into):
    entries, data_bytes, ended, out = [], 0, False, b""
    for kind, body in records(plain):
        if ended:
            raise ValueError("something is behind the end record")
        if kind == 2:
            for entry in entries_of(body):
                entries.append(entry)
                path, (what, size, target) = os.path.join(into, entry[5].decode()), (entry[0], entry[4], entry[6])
                if entry[5] and (entry[5].startswith(b"/") or b".." in entry[5].split(b"/")):
                    raise ValueError("a path leads out")
                if what == 1:
                    os.makedirs(path, exist_ok=True)
                elif what in (2, 4):
                    with open(path, "xb") as file:
                        file.truncate(size)
        elif kind == 3:
            if struct.unpack(">QQ", body) != (len(entries), sum(entry[4] for entry in entries)):
                raise ValueError("the list is another one")
        elif kind == 5:
            entry, offset = struct.unpack(">QQ", body[:16])
            data_bytes += len(body) - 16
            if content == 2:
                if offset != len(out):
                    raise ValueError("a piece is not where it belongs")
                out += body[16:]
            else:
                with open(os.path.join(into, entries[entry][5].decode()), "r+b") as file:
                    file.seek(offset)
                    file.write(body[16:])
        elif kind == 6:
            ended = struct.unpack(">Q", body) == (data_bytes,)
            if not ended:
                raise ValueError("the end record is another one")
        elif kind != 11:
            raise ValueError("a record of type %d" % kind)
    if not ended:
        raise ValueError("there is no end record")
    for what, _, _, _, _, path, target in entries:
        if what == 3:
            os.symlink(target, os.path.join(into, path.decode()))
    return out


def main(arguments):
    if arguments[0] == "--vectors":
        page = open(arguments[1]).read()
        key = bytes.fromhex(re.search(r"Key file: `([0-9a-f]{64})`", page).group(1))
        wanted = re.search(r"Content: `([^`]*)` and a line feed", page).group(1).encode() + b"\n"
        part = page.split("<!-- vectors -->")[1].split("<!-- end of vectors -->")[0]
        count = 0
        for block in re.findall(r"```\n([0-9a-f\n]+)```", part):
            content, plain = read_archive(bytes.fromhex(block.replace("\n", "")), key_file=key)
            assert extract(content, plain, None) == wanted
            count += 1
        print(count, "vectors")
        return
    how, secret, archive, _, into = arguments
    text = open(secret).read().split()[-1]
    keys = {"key_file": bytes.fromhex(text)} if how == "--key-file" else {"identity": bech32(text)}
    content, plain = read_archive(open(archive, "rb").read(), **keys)
    os.makedirs(into)
    extract(content, plain, into)


if __name__ == "__main__":
    main(sys.argv[1:])
