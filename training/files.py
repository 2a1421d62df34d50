"""Files that are never half there."""

import os
from pathlib import Path


def write_file(path: Path, content: bytes) -> None:
    """Write a file so that a crash leaves either the old or the new one."""
    beside = path.with_name(path.name + ".tmp")
    with open(beside, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
