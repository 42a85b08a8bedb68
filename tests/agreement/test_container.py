"""Our model files and those of the safetensors library are the same files."""

import numpy as np
import pytest
import safetensors
import safetensors.numpy
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from lineal.model import container
from lineal.model.header import DTYPES

# Every type that both can hold: the library's NumPy side has no others.
TYPES = [dtype for name, dtype in DTYPES.items() if name != "C64"]
ARRAYS = st.sampled_from(TYPES).flatmap(
    lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4))
)
WORDS = st.text(st.characters(codec="utf-8"), max_size=20)
TENSORS = st.dictionaries(WORDS.filter(lambda name: name != "__metadata__"), ARRAYS, max_size=6)


def assert_same(found, expected):
    """The same names, types, shapes and bits."""
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        assert found[name].dtype == array.dtype
        assert found[name].shape == array.shape
        assert found[name].tobytes() == array.tobytes()


@given(TENSORS, st.dictionaries(WORDS, WORDS, max_size=3))
def test_the_library_reads_ours(tensors, metadata):
    """Names, types, shapes and bits survive the library's reader, and our own."""
    content = b"".join(container.encode(tensors, metadata))
    assert_same(safetensors.numpy.load(content), tensors)
    found = container.decode(content)
    assert_same(found.tensors, tensors)
    assert found.metadata == metadata
    assert found.n_bytes == len(content)


@given(TENSORS, st.dictionaries(WORDS, WORDS, max_size=3))
def test_we_read_the_librarys(tensors, metadata):
    """Names, types, shapes, strings and bits of the library's files survive our reader."""
    found = container.decode(safetensors.numpy.save(tensors, metadata=metadata or None))
    assert_same(found.tensors, tensors)
    assert found.metadata == metadata


def test_files_on_disk(tmp_path):
    """Both ways through a real file, by memory map."""
    tensors = {"W": np.arange(12.0).reshape(3, 4), "b": np.float32([1.5]), "starts": np.arange(3)}
    container.write(tmp_path / "ours", tensors, {"format": "lineal"})
    assert_same(safetensors.numpy.load_file(tmp_path / "ours"), tensors)
    with safetensors.safe_open(tmp_path / "ours", framework="np") as file:
        assert file.metadata() == {"format": "lineal"}
    safetensors.numpy.save_file(tensors, tmp_path / "theirs")
    assert_same(container.read(tmp_path / "theirs").tensors, tensors)


@given(TENSORS, st.randoms())
def test_equal_content_gives_equal_bytes(tensors, chance):
    """The order in which arrays are given, their byte order and their layout in memory leave no trace."""
    whole = b"".join(container.encode(tensors, {"a": "1", "b": "2"}))
    names = list(tensors)
    chance.shuffle(names)
    other = {
        name: np.array(tensors[name], order="F").astype(tensors[name].dtype.newbyteorder(">"))
        for name in names
    }
    assert b"".join(container.encode(other, {"b": "2", "a": "1"})) == whole


@given(TENSORS)
def test_arrays_are_aligned_views_that_cannot_be_written(tensors):
    """The native core may read them where they lie, and nobody can change the model."""
    for array in container.decode(b"".join(container.encode(tensors, {}))).tensors.values():
        assert array.flags.aligned
        assert array.flags.c_contiguous
        assert not array.flags.writeable


def test_arrays_at_odd_addresses_are_moved():
    """A writer that does not align is still read, into arrays that are."""
    header = (
        b'{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},'
        b'"b":{"dtype":"F64","shape":[1],"data_offsets":[1,9]}}'
    )
    content = len(header).to_bytes(8, "little") + header + b"\7" + np.float64(2.5).tobytes()
    found = container.decode(content).tensors
    assert found["a"].tolist() == [7]
    assert found["b"].tolist() == [2.5]
    assert found["b"].flags.aligned
    assert not found["b"].flags.writeable


def test_the_map_outlives_a_new_save(tmp_path):
    """A model in use keeps its numbers when its file is replaced, and a later read sees the new ones."""
    path = tmp_path / "model"
    container.write(path, {"W": np.zeros(100_000)}, {})
    old = container.read(path)
    container.write(path, {"W": np.ones(10)}, {})
    assert old.tensors["W"].sum() == 0.0
    assert container.read(path).tensors["W"].sum() == 10.0
    with pytest.raises(ValueError, match="read-only"):
        old.tensors["W"][0] = 1.0
