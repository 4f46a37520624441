"""What a Flex Template's launcher starts: `goodgain stream` with the template's parameters.

The launcher gives each parameter as --name=value, Beam's own options among them.
"""

import sys
from collections.abc import Sequence

from pipeline.__main__ import main
from pipeline.streaming.config import StreamConfig


def words(parameters: Sequence[str]) -> list[str]:
    """The command line of `goodgain` for the launcher's parameters.

    What is true or false becomes an option with or without `no-`; slices, of which an option takes
    one, are separated by semicolons.
    """
    found = ["stream"]
    for parameter in parameters:
        name, _, value = parameter.removeprefix("--").partition("=")
        field = StreamConfig.model_fields.get(name)
        if field is not None and field.annotation is bool:
            found.append(f"--{name}" if value.lower() == "true" else f"--no-{name}")
        elif name == "slice":
            found.extend(f"--slice={one}" for one in value.split(";"))
        else:
            found.append(parameter)
    return found


if __name__ == "__main__":
    sys.exit(main(words(sys.argv[1:])))
