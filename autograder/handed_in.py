"""The notebooks in what one student handed in, a zip, a folder or loose files: read as data, with a limit on everything."""

import io
import os
import stat
import zipfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from autograder.downloads import notebook_named
from autograder.files import MAX_BYTES, Rejected, read_file, said, shown

MOST_FILES, MOST_RATIO = 1000, 200
MOST_ZIP, MOST_TOTAL = 2 * MAX_BYTES, 3 * MAX_BYTES
MOST_LIST = 1000 * MOST_FILES  # bytes of a zip's list of members (its central directory): a member's name and the like
LOCAL_HEADER = 30  # bytes before a member's name and data, at the least
SMALL = 1_000_000  # bytes that may be packed as tight as can be
OTHER_ARCHIVES = (".7z", ".rar", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".zst")
DELETE = "delete the one that should not count"
PASSED_OVER = ("__MACOSX", ".ipynb_checkpoints")


class Contents:
    """Collects notebooks under their names in the course, one file each; `others` names what else was there.

    `source` is what is being read: the zip, the folder or the loose notebook, as it may be printed.
    """

    def __init__(self):
        self.notebooks: dict[str, bytes] = {}
        self.others: list[str] = []
        self.source = ""
        self._sources: dict[str, str] = {}
        self._files = self._bytes = 0

    def is_wanted(self, path: PurePosixPath) -> bool:
        """Whether a file is a notebook of the course. Rejected when there are too many files, or it should not be there."""
        self._files += 1
        if self._files > MOST_FILES:
            raise Rejected(f"it holds more than {MOST_FILES} files: ask for the notebooks only")
        if path.suffix.lower() in OTHER_ARCHIVES:
            raise Rejected(f"{shown(path.name)} is an archive, but no zip: unpack it, or ask for a zip")
        if notebook_named(path.name) and not path.name.startswith("."):
            return True
        self.others.append(path.name)
        return False

    def add(self, path: PurePosixPath, data: bytes):
        """Keep a notebook. Rejected when it is there already with other contents, or all together, copies too, is too much."""
        self._bytes += len(data)
        if self._bytes > MOST_TOTAL:
            raise Rejected(f"its notebooks have more than {MOST_TOTAL / 1e6:.0f} MB together, and copies count: "
                           "ask for one of each, without outputs")
        name = notebook_named(path.name)
        first = self._sources.setdefault(name, self.source)
        if self.notebooks.setdefault(name, data) != data:
            raise Rejected(f"it holds {name} twice, with different contents: {DELETE}"
                           if first == self.source else
                           f"{self.source} and {first} hold different {name}: {DELETE}")


class _Zip(io.BytesIO):
    """A zip's bytes. While it is being opened only MOST_LIST are read: zipfile reads as long a list as the zip claims to have."""

    left: int | None = MOST_LIST

    def read(self, size=-1):
        data = super().read(size)
        if self.left is not None:
            self.left -= len(data)
            if self.left < 0:
                raise Rejected(f"its list of files is longer than {MOST_FILES} files need: ask for the notebooks only")
        return data


def read_handed_in(paths: list[Path]) -> Contents:
    """All notebooks of a student's zips, folders and loose notebooks. Rejected, with a reason."""
    contents = Contents()
    for path in paths:
        contents.source = name = shown(path.name)
        try:
            _read(path, contents)
        except Rejected as error:
            reason = str(error) if str(error).startswith(name) else f"{name}: {error}"
            raise Rejected(reason + _others(path, paths) * (DELETE not in reason)) from None
        except Exception as error:  # whatever a stranger's file brings about, it is no fault of the class's
            raise Rejected(f"{name} cannot be read ({said(error)}): open it by hand, or ask for it again"
                           f"{_others(path, paths)}") from None
    return contents


def _others(path, paths):
    """What to do where a student has more than this one: zips and folders stand for the whole, loose notebooks do not."""
    others = [shown(other.name) for other in paths if other != path and not _is_loose(other)]
    return "" if _is_loose(path) or not others else f"; there is {_few(others)} of the same student: {DELETE}"


def _is_loose(path):
    return path.suffix.lower() == ".ipynb"


def _few(names):
    return " and ".join(names[:2]) if len(names) < 3 else f"{names[0]} and {len(names) - 1} more"


def _read(path, contents):
    kind = os.lstat(path).st_mode
    if stat.S_ISLNK(kind):
        raise Rejected("it is a link")
    if stat.S_ISDIR(kind):
        _read_folder(path, contents)
    elif path.suffix.lower() == ".zip":
        _read_zip(read_file(path, MOST_ZIP), contents)
    elif contents.is_wanted(path):
        contents.add(path, read_file(path))


def _read_folder(folder, contents):
    def fail(error):
        raise error

    for place, folders, files in os.walk(folder, onerror=fail):
        folders[:] = sorted(name for name in folders if name not in PASSED_OVER)
        for name in [*folders, *sorted(files)]:
            path = Path(place, name)
            if path.is_symlink():
                raise Rejected(f"{shown(name)} in it is a link")
            if name in files:
                _read(path, contents)


def _read_zip(data, contents):
    file = _Zip(data)
    try:
        with zipfile.ZipFile(file) as archive:
            file.left = None
            if len(archive.infolist()) > MOST_FILES:
                raise Rejected(f"it holds more than {MOST_FILES} files: ask for the notebooks only")
            _refuse_overlaps(archive.infolist())
            for member in archive.infolist():
                _read_member(archive, member, contents)
    except (Rejected, MemoryError):
        raise
    except Exception as error:  # zipfile and zlib raise a dozen kinds, IndexError and OverflowError among them
        raise Rejected(f"it is no zip that can be read ({said(error)}): ask for it again") from None


def _refuse_overlaps(members: Iterable[zipfile.ZipInfo]):
    """Rejected where two members share bytes: a small zip could so hold any amount of work."""
    end = 0
    for member in sorted(members, key=lambda member: member.header_offset):
        if member.header_offset < end:
            raise Rejected("members in it share the same bytes, as in no ordinary zip: ask for an ordinary one")
        end = member.header_offset + LOCAL_HEADER + member.compress_size


def _read_member(archive, member, contents):
    path, kind = PurePosixPath(member.filename.replace("\\", "/")), stat.S_IFMT(member.external_attr >> 16)
    if path.is_absolute() or ".." in path.parts or ":" in (path.parts or ("",))[0]:
        raise Rejected(f"{shown(str(path))} in it leads out of its folder: ask for an ordinary zip")
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise Rejected(f"{shown(str(path))} in it is a link or a device: ask for an ordinary zip")
    if member.is_dir() or set(PASSED_OVER) & set(path.parts):
        return
    if path.suffix.lower() == ".zip":
        raise Rejected(f"it holds another zip, {shown(path.name)}: unpack it once, and hand in its notebooks")
    if not contents.is_wanted(path):
        return
    if member.flag_bits & 1:
        raise Rejected("it is encrypted: ask for it again without a password")
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):  # others take gigabytes to unpack a little
        raise Rejected("it is packed by a method that is not taken: ask for an ordinary zip")
    if member.file_size > MAX_BYTES:
        raise Rejected(f"{shown(path.name)} has {member.file_size / 1e6:.0f} MB unpacked, more than {MAX_BYTES / 1e6:.0f}: "
                       "ask for it without outputs")
    if member.file_size > SMALL and member.file_size > MOST_RATIO * member.compress_size:
        raise Rejected(f"{shown(path.name)} is packed more than {MOST_RATIO} to 1, as no notebook is: ask for it again")
    with archive.open(member) as packed:  # what is really in it, whatever its header says
        contents.add(path, packed.read(MAX_BYTES))
