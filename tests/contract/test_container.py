"""A model file is read whole or refused, quickly and in bounded memory; it is written whole or not at all."""

import errno
import json
import os
import resource
import stat
import subprocess
import sys
import threading
import time
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineal.data.atomic import atomic_file
from lineal.errors import FileWriteError, LinealError, ModelFileError
from lineal.model import container
from lineal.model.header import (
    MAX_HEADER_BYTES,
    MAX_JSON_DEPTH,
    MAX_JSON_GROUPS,
    MAX_NAME_CHARACTERS,
    MAX_STRINGS,
    MAX_TENSORS,
    format_json,
    parse_json,
)

TENSORS = {"W": np.arange(6.0).reshape(2, 3), "codes": np.arange(5, dtype="u1"), "none": np.zeros((0, 3))}
METADATA = {"format": "lineal", "text": 'quotes " and ünïcode \n'}


def entry(shape=(1,), begin=0, end=1, dtype="U8"):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}


def file_of(header, data=b""):
    """A file with any header at all: bytes, text, or what JSON makes of an object."""
    if not isinstance(header, bytes | str):
        header = json.dumps(header)
    header = header.encode() if isinstance(header, str) else header
    return len(header).to_bytes(8, "little") + header + data


def one(text, data=b"\0"):
    """A header with one array, whose object is given as text."""
    return file_of('{"a":' + text + "}", data)


HUGE = 2**63
BAD = {
    "nothing": b"",
    "seven bytes": b"\0" * 7,
    "no header": b"\0" * 8,
    "header past the end": (100).to_bytes(8, "little") + b"{}",
    "header longer than all memory": b"\xff" * 16,
    "header over the limit": (MAX_HEADER_BYTES + 1).to_bytes(8, "little") + b" " * 64,
    "not UTF-8": file_of(b'{"\xff": 1}'),
    "UTF-16": file_of("{}".encode("utf-16")),
    "a list": file_of("[]"),
    "a number": file_of("1"),
    "a space before the brace": file_of(" {}"),
    "two objects": file_of("{}{}"),
    "text behind": file_of("{} x"),
    "no end": file_of('{"a":'),
    "string without end": file_of('{"a'),
    "control sign in a name": file_of('{"a\n":{}}'),
    "half a surrogate pair": file_of('{"\\ud800":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}', b"\0"),
    "bad escape": file_of('{"\\q":{}}'),
    "a comma too many": one('{"dtype":"U8","shape":[1],"data_offsets":[0,1],}'),
    "single quotes": file_of("{'a':{}}"),
    "data without an array": file_of("{}", b"\0"),
    "name twice": file_of('{"a":%s,"a":%s}' % ((json.dumps(entry((0,), 0, 0)),) * 2)),
    "metadata twice": file_of('{"__metadata__":{},"__metadata__":{}}'),
    "string twice": file_of('{"__metadata__":{"a":"","a":""}}'),
    "property twice": one('{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}'),
    "a property more": one('{"dtype":"U8","shape":[1],"data_offsets":[0,1],"code":"x"}'),
    "no shape": one('{"dtype":"U8","data_offsets":[0,1]}'),
    "no dtype": one('{"shape":[1],"data_offsets":[0,1]}'),
    "no range": one('{"dtype":"U8","shape":[1]}'),
    "array is null": one("null"),
    "array is a list": one("[]"),
    "metadata of numbers": file_of('{"__metadata__":{"a":1}}'),
    "metadata of objects": file_of('{"__metadata__":{"a":{}}}'),
    "metadata is a list": file_of('{"__metadata__":[]}'),
    "unknown dtype": one('{"dtype":"O","shape":[1],"data_offsets":[0,1]}'),
    "dtype is code": one('{"dtype":"__import__(\'os\')","shape":[1],"data_offsets":[0,1]}'),
    "dtype is a number": one('{"dtype":1,"shape":[1],"data_offsets":[0,1]}'),
    "shape is a number": one('{"dtype":"U8","shape":1,"data_offsets":[0,1]}'),
    "five dimensions": file_of({"a": entry((1, 1, 1, 1, 1))}, b"\0"),
    "a million dimensions": file_of({"a": entry((1,) * 1_000_000)}, b"\0"),
    "one offset": one('{"dtype":"U8","shape":[1],"data_offsets":[0]}'),
    "three offsets": one('{"dtype":"U8","shape":[1],"data_offsets":[0,1,1]}'),
    "range runs backwards": file_of({"a": entry((1,), 1, 0)}, b"\0"),
    "too few bytes for the shape": file_of({"a": entry((2,), 0, 1)}, b"\0"),
    "too many bytes for the shape": file_of({"a": entry((1,), 0, 2)}, b"\0\0"),
    "no bytes for a shape": file_of({"a": entry((3,), 0, 0)}),
    "bytes for an empty shape": file_of({"a": entry((0,), 0, 1)}, b"\0"),
    "range past the end": file_of({"a": entry((9,), 0, 9)}, b"\0"),
    "range far past the end": file_of({"a": entry((HUGE - 1,), 0, HUGE - 1)}, b"\0"),
    "range begins past the end": file_of({"a": entry((1,), 10**15, 10**15 + 1)}, b"\0"),
    "product of sides is 0 modulo 2**64": file_of({"a": entry((2**32, 2**32), 0, 0)}),
    "product of sides is 1 modulo 2**64": file_of({"a": entry((HUGE - 1, HUGE - 1), 0, 1)}, b"\0"),
    "bytes overflow, sides do not": file_of({"a": entry((2**61,), 0, 0, dtype="F64")}),
    "an empty side hides an overflow": file_of({"a": entry((0, 2**40, 2**40), 0, 0)}),
    "overlap": file_of({"a": entry((2,), 0, 2), "b": entry((2,), 1, 3)}, b"\0" * 3),
    "the same range twice": file_of({"a": entry((2,), 0, 2), "b": entry((2,), 0, 2)}, b"\0" * 2),
    "inside another": file_of({"a": entry((3,), 0, 3), "b": entry((1,), 1, 2)}, b"\0" * 3),
    "an empty range inside another": file_of({"a": entry((3,), 0, 3), "b": entry((0,), 1, 1)}, b"\0" * 3),
    "hole before": file_of({"a": entry((1,), 1, 2)}, b"\0" * 2),
    "hole between": file_of({"a": entry((1,), 0, 1), "b": entry((1,), 2, 3)}, b"\0" * 3),
    "bytes behind": file_of({"a": entry()}, b"\0" * 2),
    "truth values of 2": file_of({"a": entry(dtype="BOOL")}, b"\2"),
    "empty name is fine, its shape not": file_of({"": entry((2,), 0, 1)}, b"\0"),
    "long name": file_of({"a" * (MAX_NAME_CHARACTERS + 1): entry()}, b"\0"),
    "long name of a string": file_of({"__metadata__": {"a" * (MAX_NAME_CHARACTERS + 1): ""}}),
    "nested a hundred thousand times": file_of('{"a":' * 100_000 + "1" + "}" * 100_000),
    "lists nested a hundred thousand times": one("[" * 100_000 + "]" * 100_000),
    "a hundred thousand arrays": file_of({f"t{k}": entry((0,), 0, 0) for k in range(100_000)}),
    "one array too many": file_of({f"t{k}": entry((0,), 0, 0) for k in range(MAX_TENSORS + 1)}),
    "too many, strings among them": file_of(
        {**{f"t{k}": entry((0,), 0, 0) for k in range(MAX_TENSORS + 1)}, "__metadata__": {}}
    ),
    "one string too many": file_of({"__metadata__": {f"t{k}": "" for k in range(MAX_STRINGS + 1)}}),
    "sixteen megabytes of lists": file_of('{"a":[' + "[]," * 5_000_000),
    "sixteen megabytes of quotes": file_of('{"a":' + '"' * 15_000_000),
    "sixteen megabytes of spaces": file_of("{" + " " * 15_000_000),
    "a whole number of fifteen million digits": one('{"shape":[' + "1" * 15_000_000 + "]}"),
}
NUMBERS = {
    "NaN": "NaN",
    "Infinity": "Infinity",
    "minus infinity": "-Infinity",
    "negative": "-1",
    "minus zero": "-0",
    "a float": "1.0",
    "an exponent": "1e0",
    "true": "true",
    "null": "null",
    "text": '"1"',
    "a list": "[1]",
    "leading zero": "01",
    "hexadecimal": "0x1",
    "twenty digits": "1" + "0" * 19,
    "a thousand digits": "1" * 1000,
    "Arabic digits": "١",
    "a plus": "+1",
}
for title, number in NUMBERS.items():
    BAD[f"{title} in a shape"] = one('{"dtype":"U8","shape":[' + number + '],"data_offsets":[0,1]}')
    BAD[f"{title} in a range"] = one('{"dtype":"U8","shape":[1],"data_offsets":[0,' + number + "]}")


@pytest.mark.parametrize("title", BAD)
def test_hostile_files_are_refused_quickly_in_little_memory(title):
    """Whatever a file says, it is refused by one sentence, in far less than its size in objects."""
    content = BAD[title]
    begin = time.process_time()
    with pytest.raises(ModelFileError) as error:
        container.decode(content, "broken.lineal")
    seconds = time.process_time() - begin
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError):
            container.decode(content)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    message = str(error.value)
    assert message.startswith("broken.lineal is no model file, or is damaged: ")
    assert len(message) < 500
    assert "\n" not in message
    # The header twice, as bytes and as text, and 4096 small entries; a parser of JSON would need a gigabyte.
    assert peak < 2.5 * min(len(content), MAX_HEADER_BYTES) + 4e6
    assert seconds < 10  # what grows with the square of a header would take hours


def test_a_file_with_hostile_header_costs_the_process_little(tmp_path):
    """The peak of the whole process grows by tens of megabytes at most, though the file claims exabytes."""
    for number, title in enumerate(("a hundred thousand arrays", "sixteen megabytes of lists")):
        (tmp_path / f"{number}").write_bytes(BAD[title])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for number in range(2):
        with pytest.raises(ModelFileError):
            container.read(tmp_path / f"{number}")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64_000  # kilobytes


def test_every_truncation_is_refused(tmp_path):
    """No file cut short at any byte passes for a whole one, nor one with a byte more."""
    path = tmp_path / "whole"
    container.write(path, TENSORS, METADATA)
    content = path.read_bytes()
    for n_bytes in range(len(content)):
        path.write_bytes(content[:n_bytes])
        with pytest.raises(ModelFileError):
            container.read(path)
    with pytest.raises(ModelFileError, match="follow the header"):
        container.decode(content + b"\0")


@given(st.data())
def test_any_bytes_are_read_or_refused(data):
    """Bytes with a flaw anywhere give arrays or a ModelFileError, nothing else."""
    whole = b"".join(container.encode(TENSORS, METADATA))
    place = data.draw(st.integers(0, len(whole) - 1))
    piece = data.draw(st.binary(max_size=9))
    content = whole[:place] + piece + whole[place + data.draw(st.integers(0, 9)) :]
    try:
        found = container.decode(content)
    except ModelFileError:
        return
    for array in found.tensors.values():
        assert array.tobytes() is not None
        assert array.flags.aligned
        assert not array.flags.writeable


def test_what_cannot_be_read_is_not_written(tmp_path):
    """Each limit of the reader is met by the writer before it touches the old file."""
    path = tmp_path / "model"
    path.write_bytes(b"old")
    number = np.zeros(1)
    for tensors, metadata in (
        ({"a" * (MAX_NAME_CHARACTERS + 1): number}, {}),
        ({f"t{k}": number for k in range(MAX_TENSORS + 1)}, {}),
        ({"a": np.array(["text"])}, {}),
        ({"a": np.array([None])}, {}),
        ({"a": np.zeros((1, 1, 1, 1, 1))}, {}),
        ({"a": np.zeros(1, "datetime64[s]")}, {}),
        ({"__metadata__": number}, {}),
        ({1: number}, {}),
        ({"\ud800": number}, {}),
        ({}, {"a": "\ud800"}),
        ({}, {"a": 1}),
        ({}, {"a": "x" * MAX_HEADER_BYTES}),
        ({}, {f"t{k}": "" for k in range(MAX_STRINGS + 1)}),
    ):
        with pytest.raises(ModelFileError):
            container.write(path, tensors, metadata)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["model"]


def test_the_limits_themselves_are_allowed(tmp_path):
    """As many arrays, and names as long, as the limits say."""
    tensors = {f"{k:0{MAX_NAME_CHARACTERS}}": np.array([k]) for k in range(MAX_TENSORS)}
    metadata = {f"{k}": "x" for k in range(MAX_STRINGS)}
    container.write(tmp_path / "model", tensors, metadata)
    found = container.read(tmp_path / "model")
    assert found.metadata == metadata
    assert {name: int(array[0]) for name, array in found.tensors.items()} == {
        name: int(array[0]) for name, array in tensors.items()
    }


def test_what_is_no_file_is_refused_without_waiting(tmp_path):
    """A folder, a pipe nobody writes to, a device without end, a missing file, one that may not be read."""
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", "/dev/zero", tmp_path / "missing", tmp_path / "missing" / "x"):
        with pytest.raises(ModelFileError):
            container.read(path)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(ModelFileError):
        container.read(tmp_path / "loop")


JSON = {
    "no JSON": "{",
    "NaN": "NaN",
    "infinity": "[-Infinity]",
    "a float that overflows": "1e999",
    "a key twice": '{"a":{"b":1,"b":2}}',
    "too many digits": "1" * 5000,
    "past 64 bits": str(2**64),
    "nested too deeply": "[" * (MAX_JSON_DEPTH + 1) + "]" * (MAX_JSON_DEPTH + 1),
    "nested a million times": "[" * 1_000_000,
    "nested almost too deeply for Python": "[" * 900 + "]" * 900,
    "a million lists": "[" + "[]," * 1_000_000 + "1]",
    "millions of numbers": "[" + "0," * 5_000_000 + "1]",
}


@pytest.mark.parametrize("title", JSON)
def test_hostile_json_is_refused(title):
    """Texts inside a model are bounded in depth and number; their numbers are finite, their keys unique."""
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError):
            parse_json(JSON[title])
        assert tracemalloc.get_traced_memory()[1] < 2e6
    finally:
        tracemalloc.stop()


LEAVES = st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(st.characters(codec="utf-8"))
VALUES = st.recursive(
    LEAVES | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner),
    max_leaves=8,
)


@given(VALUES)
def test_json_comes_back(value):
    """parse_json(format_json(value)) is the value, floats to the last bit."""
    assert parse_json(format_json(value)) == value


def test_json_that_could_not_be_read_is_not_written():
    """NaN, objects of Python, depth and number are refused when a model is saved."""
    deep: list = []
    for _ in range(MAX_JSON_DEPTH + 1):
        deep = [deep]
    for value in (float("nan"), object(), {1, 2}, deep, [[]] * (MAX_JSON_GROUPS + 1)):
        with pytest.raises(ModelFileError):
            format_json(value)


FORKED_SAVES = """
import os, random, signal, sys, time
import numpy as np
from lineal.model import container
path, chance, n_partial = sys.argv[1], random.Random(7), 0

def save(number):
    child = os.fork()
    if child == 0:
        container.write(path, {"W": np.full(300_000, float(number))}, {"number": str(number)})
        os._exit(0)
    return child

began = time.perf_counter()
os.waitpid(save(0), 0)
seconds = min(time.perf_counter() - began, 0.02)  # so that kills fall into saves on any machine
for attempt in range(1, 151):
    child = save(attempt)
    time.sleep(chance.uniform(0.0, 1.2 * seconds))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    found = container.read(path)
    assert np.unique(found.tensors["W"]).tolist() == [float(found.metadata["number"])], attempt
    parts = [name for name in os.listdir(os.path.dirname(path)) if name.endswith(".part")]
    n_partial += len(parts)
    for name in parts:
        os.unlink(os.path.join(os.path.dirname(path), name))
print(n_partial, found.metadata["number"])
"""


def test_a_hundred_and_fifty_kills_during_a_save(tmp_path):
    """Killed anywhere between the first byte and the rename, a save leaves the old model or the new one."""
    result = subprocess.run(
        [sys.executable, "-c", FORKED_SAVES, str(tmp_path / "model")],
        capture_output=True,
        text=True,
        check=True,
    )
    n_partial, _ = map(int, result.stdout.split())
    assert n_partial > 0  # some kills came in the middle, so the test has met what it is about


FULL_DISK = """
import resource, sys
import numpy as np
from lineal.errors import FileWriteError
from lineal.model import container
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    container.write(sys.argv[1], {"W": np.ones(100_000)}, {})
except FileWriteError as error:
    print(error)
"""


def test_a_full_disk_leaves_the_old_file(tmp_path):
    """When a file can grow no further, the error names it and says so; nothing else is left behind."""
    path = tmp_path / "model"
    container.write(path, {"W": np.zeros(3)}, {})
    old = path.read_bytes()
    result = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(path)], capture_output=True, text=True, check=True
    )
    assert result.stdout.startswith(f"{path} cannot be written: File too large.")
    assert path.read_bytes() == old
    assert os.listdir(tmp_path) == ["model"]


def test_a_device_that_is_full():
    """/dev/full is written to directly, and its refusal is reported as any other."""
    with (
        pytest.raises(FileWriteError, match="No space left on device") as error,
        atomic_file("/dev/full") as file,
    ):
        file.write(b"x" * 1_000_000)
    assert error.value.errno == errno.ENOSPC
    assert isinstance(error.value, LinealError)
    assert isinstance(error.value, OSError)


@pytest.mark.parametrize("raised", [ValueError, KeyboardInterrupt, SystemExit])
def test_any_exception_leaves_the_old_file(tmp_path, raised):
    """An exception of the writer's block, Ctrl-C included, comes out unchanged and leaves no trace."""
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(raised), atomic_file(path, "w") as file:  # noqa: PT012
        file.write("new" * 100_000)
        raise raised
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]


def test_errors_of_the_block_are_the_callers_own(tmp_path):
    """A file that the block fails to read is not reported as one that cannot be written."""
    with pytest.raises(FileNotFoundError, match="other") as error, atomic_file(tmp_path / "file"):
        (tmp_path / "other").read_bytes()
    assert not isinstance(error.value, FileWriteError)
    assert os.listdir(tmp_path) == []


def test_permissions_are_kept_and_links_stay_links(tmp_path):
    """The bits of a replaced file stay; a new file has those of the umask; a link's target is replaced."""
    (tmp_path / "store").mkdir()
    secret, link = tmp_path / "store" / "secret", tmp_path / "link"
    secret.write_text("old")
    secret.chmod(0o640)
    link.symlink_to(secret)
    with atomic_file(link, "w") as file:
        file.write("new")
    assert link.is_symlink()
    assert secret.read_text() == "new"
    assert stat.S_IMODE(secret.stat().st_mode) == 0o640
    (tmp_path / "dangling").symlink_to(tmp_path / "later")
    with atomic_file(tmp_path / "dangling", "w") as file:
        file.write("there")
    assert (tmp_path / "later").read_text() == "there"
    plain = tmp_path / "plain"
    plain.write_text("")
    assert stat.S_IMODE((tmp_path / "later").stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


def test_what_cannot_be_written_is_said_before_work(tmp_path):
    """A folder, a missing folder, a file in place of a folder, a loop of links: one sentence each."""
    (tmp_path / "plain").write_text("")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for path, words in (
        (tmp_path, "is a folder"),
        (tmp_path / "missing" / "x", "there is no folder"),
        (tmp_path / "plain" / "x", "there is no folder"),
        (tmp_path / "loop", "Too many levels"),
        (tmp_path / ("x" * 300), "too long"),
    ):
        began = False
        with pytest.raises(FileWriteError, match=words), atomic_file(path):
            began = True
        assert not began


@pytest.mark.skipif(os.getuid() == 0, reason="root may write to read-only files")
def test_a_read_only_file_is_refused(tmp_path):
    """A rename could replace a read-only file; whoever made it read-only did not want that."""
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(0o444)
    with pytest.raises(FileWriteError, match="read-only"), atomic_file(path):
        pass
    assert path.read_text() == "old"


def test_long_names_and_pipes(tmp_path):
    """A name of 255 bytes leaves no room for the hidden file's, and works; a pipe is written through."""
    path = tmp_path / ("ü" * 127)
    with atomic_file(path, "w") as file:
        file.write("x\r\n")
    assert path.read_bytes() == b"x\r\n"
    pipe, heard = tmp_path / "pipe", []
    os.mkfifo(pipe)
    listener = threading.Thread(target=lambda: heard.append(pipe.read_bytes()))
    listener.start()
    with atomic_file(pipe) as file:
        file.write(b"through")
    listener.join()
    assert heard == [b"through"]
