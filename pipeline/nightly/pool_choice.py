"""The option `pool` in the configuration of the nightly job."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

_KEYS = {"path", "update", "topic", "digest"}
_DIGEST = re.compile(r"[0-9a-f]{8,32}")
_EXAMPLES = "{path: pool, update: true} or {path: pool, digest: 1f0c94ab}"


class PoolChoice(Struct, frozen=True):
    """The pool that every night is scored with.

    Attributes:
      path: folder of the pool.
      digest: prefix of the digest of a pinned state; None if each night first adds its traces.
      topic: attribute that holds the topic, in case the first night creates the pool.
    """

    path: str
    digest: str | None = None
    topic: str | None = None

    @classmethod
    def parse(cls, written: Any) -> PoolChoice:
        """Read `{path: pool, update: true, topic: query_id}` or `{path: pool, digest: 1f0c94ab}`.

        Raises:
          ValueError: it is neither.
        """
        if isinstance(written, cls):
            return written
        if not isinstance(written, Mapping) or not written.get("path"):
            raise ValueError(f"must be like {_EXAMPLES}, not {written!r}")
        if unknown := sorted(set(map(str, written)) - _KEYS):
            raise ValueError(f"has no option {unknown[0]!r}; write it like {_EXAMPLES}")
        update, digest = written.get("update", False), written.get("digest")
        if not isinstance(update, bool) or update == (digest is not None):
            raise ValueError(
                "needs either update: true (updated every night) or digest: (pinned to the state "
                "with this digest, from its manifest.json)"
            )
        if digest is not None and not _DIGEST.fullmatch(str(digest)):
            raise ValueError(
                f"digest must be 8 to 32 hexadecimal digits in quotes, not {digest!r}; "
                "`goodgain pool show POOL --json` has it"
            )
        topic = written.get("topic")
        if topic is not None and not update:
            raise ValueError("topic needs update: true; a pinned pool has its own topic")
        return cls(str(written["path"]), None if digest is None else str(digest), topic)
