"""Started by a Flex Template's launcher; runs `goodgain run` or `stream` with its parameters.

The launcher passes each parameter as --name=value, including Beam's own options. The parameter
`command` is `run` or `stream`; the metadata of each template allow only one of them.
"""

import sys
from collections.abc import Sequence
from typing import get_origin

from goodgain.pipeline.__main__ import main
from goodgain.pipeline.settings.option_fields import is_flag
from goodgain.pipeline.settings.run_config import RunConfig
from goodgain.pipeline.settings.stream_config import StreamConfig

_CONFIGS = {"run": RunConfig, "stream": StreamConfig}
_COMMAND = "--command="


def words(parameters: Sequence[str]) -> list[str]:
    """The command line of `goodgain` for the launcher's parameters.

    Flags become options with or without `no-`; several values, like slices, are separated by
    semicolons.
    """
    found = [
        parameter.removeprefix(_COMMAND)
        for parameter in parameters
        if parameter.startswith(_COMMAND)
    ]
    fields = _CONFIGS[found[0]].model_fields if found and found[0] in _CONFIGS else {}
    for parameter in parameters:
        name, _, value = parameter.removeprefix("--").partition("=")
        field = fields.get(name)
        if field and is_flag(field):
            found.append(f"--{name}" if value.lower() == "true" else f"--no-{name}")
        elif field and get_origin(field.annotation) is tuple:
            flag = (field.json_schema_extra or {}).get("flag", name)
            found.extend(f"--{flag}={part}" for part in value.split(";"))
        elif not parameter.startswith(_COMMAND):
            found.append(parameter)
    return found


if __name__ == "__main__":
    sys.exit(main(words(sys.argv[1:])))
