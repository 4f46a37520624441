"""The commands of a page, for whoever follows them without starting a program for each."""

import re
import shlex

_FILE = re.compile(r"^cat > (\S+) <<'(\w+)'\n(.*?)^\2\n", re.DOTALL | re.MULTILINE)


def written(commands, folder):
    """Write the files that commands write (`cat > NAME <<'END'`); the other commands come back."""
    for file in _FILE.finditer(commands):
        (folder / file[1]).write_text(file[3], encoding="utf-8")
    return _FILE.sub("", commands)


def words_of(commands):
    """The words of each command after `goodgain`; others than `goodgain` are not expected."""
    for line in commands.splitlines():
        program, *words = shlex.split(line)
        assert program == "goodgain", line
        yield words
