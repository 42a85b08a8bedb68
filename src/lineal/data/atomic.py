"""Files that are written whole or not at all.

Every file that Lineal leaves behind (models, reports, tables) is written by :func:`atomic_file`, so that a
full disk, a crash or Ctrl-C in the middle leaves what was there before.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Literal

from lineal.errors import FileWriteError

_DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS)
_MAX_NAME_BYTES = 255  # of one name in a folder, on every file system in use


@contextmanager
def atomic_file(path: str | os.PathLike[str], mode: Literal["w", "wb"] = "wb") -> Iterator[IO[Any]]:
    """A file to write to, which takes the place of ``path`` when the block ends without an exception.

    What is written goes to a hidden file in the same folder, is forced to the disk and then renamed: whoever
    opens ``path`` at any moment, even after kill -9 or a power cut, finds the old content or the new, whole.
    After any exception, Ctrl-C included, the hidden file is removed and ``path`` is as it was. After kill -9
    the hidden file ``.name.xxxx.part`` stays and may be deleted.

    The permission bits of a file that is replaced are kept, and a read-only one is refused. A symbolic link
    stays a link: the file it names is replaced. A device or a pipe (``/dev/null``, ``/dev/stdout``) cannot be
    renamed over and is written to as it goes.

    Parameters
    ----------
    path
        Where the file shall be.
    mode
        ``"wb"`` for bytes, ``"w"`` for text, which is written as UTF-8 with line ends as they are given.

    Raises
    ------
    FileWriteError
        The folder is missing or closed, the disk is full, the path is a folder.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_file(Path(folder) / "answer.txt", "w") as file:
    ...         _ = file.write("42")
    ...     [(found.name, found.read_text()) for found in Path(folder).iterdir()]
    [('answer.txt', '42')]
    """
    named = Path(path)
    with _explained(named):
        target = _target(named)
        old = _status(target)
    _check(named, target, old)
    if old is not None and not stat.S_ISREG(old.st_mode):
        with _opened(named, os.open(target, os.O_WRONLY), mode) as file:
            yield file
        return
    part = target.with_name(_part_name(target.name))
    try:
        with _explained(named):
            descriptor = _create(part, old)
        with _opened(named, descriptor, mode) as file:
            yield file
            with _explained(named):
                file.flush()
                os.fsync(file.fileno())
        with _explained(named):
            os.replace(part, target)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise
    _sync_folder(target.parent)


def _check(named: Path, target: Path, old: os.stat_result | None) -> None:
    if old is None:
        return
    if stat.S_ISDIR(old.st_mode):
        raise FileWriteError(f"{named} is a folder: name a file in it.")
    if not os.access(target, os.W_OK):
        raise FileWriteError(f"{named} is read-only. Make it writable, or write to another file.")


def _target(path: Path) -> Path:
    """The file that a link names, so that the rename replaces that and not the link."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _part_name(name: str) -> str:
    """Hidden, in the same folder (a rename does not cross file systems), and not too long."""
    ending = f".{secrets.token_hex(6)}.part"
    kept = os.fsencode(name)[: _MAX_NAME_BYTES - len(ending) - 1]
    return "." + os.fsdecode(kept) + ending


def _create(part: Path, old: os.stat_result | None) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
    if old is None:
        return os.open(part, flags, 0o666)  # less the process's umask, as for every new file
    # Never readable by more people than the file it replaces, not even for a moment.
    descriptor = os.open(part, flags, 0o600)
    try:
        if hasattr(os, "fchmod"):
            with suppress(PermissionError):  # only root may give a file to its old owner
                os.fchown(descriptor, old.st_uid, old.st_gid)
            os.fchmod(descriptor, stat.S_IMODE(old.st_mode))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


@contextmanager
def _opened(named: Path, descriptor: int, mode: str) -> Iterator[IO[Any]]:
    options: dict[str, Any] = {} if mode == "wb" else {"encoding": "utf-8", "newline": ""}
    file = os.fdopen(descriptor, mode, **options)
    try:
        yield file
    except BaseException as flaw:
        with suppress(OSError):  # what could not be written before cannot be now; the first error counts
            file.close()
        # Other errors of the block, of a file that it reads say, are the caller's own.
        if isinstance(flaw, OSError) and flaw.filename is None and flaw.errno in _DISK_ERRORS:
            raise _explanation(named, flaw) from flaw
        raise
    with _explained(named):
        file.close()


@contextmanager
def _explained(named: Path) -> Iterator[None]:
    try:
        yield
    except OSError as flaw:
        raise _explanation(named, flaw) from flaw


def _explanation(named: Path, flaw: OSError) -> FileWriteError:
    if named.parent.is_dir() and isinstance(flaw, FileNotFoundError):
        reason = f"the folder {named.parent} takes no new files."
    elif isinstance(flaw, FileNotFoundError | NotADirectoryError):
        reason = f"there is no folder {named.parent}. Make it first."
    else:
        reason = f"{flaw.strerror or flaw}. What was there before is unchanged."
    error = FileWriteError(f"{named} cannot be written: {reason}")
    error.errno = flaw.errno
    return error


def _sync_folder(folder: Path) -> None:
    """Makes the rename itself last; some file systems have no such thing, and are left alone."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
