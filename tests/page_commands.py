"""Commands of a page, to run in one process instead of one process each."""

import re
import shlex

_FILE = re.compile(r"^cat > (\S+) <<'(\w+)'\n(.*?)^\2\n", re.DOTALL | re.MULTILINE)


def write_files(commands, folder):
    """Write the files that commands write (`cat > NAME <<'END'`), and return the other commands."""
    for file in _FILE.finditer(commands):
        (folder / file[1]).write_text(file[3], encoding="utf-8")
    return _FILE.sub("", commands)


def arguments_of(commands):
    """The arguments of each command, which must be `goodgain`."""
    for line in commands.replace("\\\n", " ").splitlines():
        program, *arguments = shlex.split(line, comments=True)
        assert program == "goodgain", line
        yield arguments
