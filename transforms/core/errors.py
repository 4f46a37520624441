"""The exceptions that Good Gain raises for what a user or the data did wrong.

Every message is one sentence for a person: what is wrong, where, and what to do about it.
"""


class GoodGainError(Exception):
    """Base of every error whose message is meant for the user."""


class UsageError(GoodGainError):
    """A wrong option, configuration or pattern; the command line exits with 2."""


class RulesError(UsageError):
    """A rules file that cannot be used; the message lists every mistake with its line."""


class RecordError(GoodGainError):
    """One trace record that cannot be used (SPEC 3, `rejected`).

    Attributes:
      reason: what is wrong, one sentence.
      field: path of the field at fault, like `results[3].gain`; None when the whole record is.
      conversation_id: the conversation the record belongs to, when that much was readable.
    """

    def __init__(
        self, reason: str, field: str | None = None, conversation_id: str | None = None
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.field = field
        self.conversation_id = conversation_id


class BalanceError(GoodGainError):
    """Records went missing or were counted twice: SPEC 3's sum does not hold."""
