"""Small wheels and npm tarballs."""

import io
import tarfile
import zipfile


def wheel(path, members):
    """A zip of {name: bytes}; returns `path`."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def tarball(path, members):
    """A .tgz of {name: bytes, or None for a link out of it}; returns `path`."""
    with tarfile.open(path, "w:gz") as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            if data is None:
                info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
                archive.addfile(info)
            else:
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
    return path
