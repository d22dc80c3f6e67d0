"""Files that are not what isthmus wrote, with checksums that are right."""

import hashlib
import json
import struct
from pathlib import Path

from isthmus.files.model_file import MAGIC, VERSION

ALIGNED = 64


def parts_of(path):
    """Return the parsed header and the bytes behind it."""
    raw = Path(path).read_bytes()
    length = struct.unpack_from("<Q", raw, 16)[0]
    return json.loads(raw[64 : 64 + length]), raw[64 + length :]


def write(path, header, rest, version=VERSION):
    """Write a file with any header, given as JSON or as bytes, and right checksums."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    text = text.ljust(-(-len(text) // ALIGNED) * ALIGNED)
    beginning = struct.pack("<12sIQQ", MAGIC, version, len(text), 64 + len(text) + len(rest))
    digest = hashlib.sha256(beginning + text).digest()
    Path(path).write_bytes(beginning + digest + text + rest)


def replace_array(header, rest, number, array):
    """Return a header and the bytes behind it with another array in place of one."""
    sections, offset = [], 0
    for description in header["arrays"]:
        size = 1
        for n in description["shape"]:
            size *= n
        size *= int(description["dtype"][2:])
        padded = -(-size // ALIGNED) * ALIGNED
        sections.append(rest[offset : offset + padded])
        offset += padded
    raw = array.tobytes()
    sections[number] = raw.ljust(-(-len(raw) // ALIGNED) * ALIGNED, b"\0")
    header["arrays"][number] = {
        "dtype": array.dtype.str,
        "shape": list(array.shape),
        "sha256": hashlib.sha256(sections[number]).hexdigest(),
    }
    return header, b"".join(sections)
