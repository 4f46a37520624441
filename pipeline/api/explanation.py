"""What `Run.explain` returns: text that prints in a terminal and renders in a notebook."""

from __future__ import annotations

from goodgain.pipeline.document.html import fragment_of
from goodgain.pipeline.document.model import Document
from goodgain.pipeline.document.terminal import text_of


class Explanation(str):
    """The outcome of each result of a conversation, and why, as text to print.

    Example:
      >>> import goodgain as gg
      >>> call = {"conversation_id": "c", "iteration": 1, "results": [{"gain": 3}]}
      >>> found: gg.Explanation = gg.evaluate([call]).explain("c")
      >>> found.splitlines()[0]
      'Conversation c'
    """

    _document: Document

    def __new__(cls, document: Document) -> Explanation:
        """Wrap the document of a conversation."""
        text = super().__new__(cls, text_of(document))
        text._document = document
        return text

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return fragment_of(self._document)
