"""The exceptions for mistakes of users, or in their data.

Every message tells the user what is wrong, where, and what to do about it.
"""


class GoodGainError(Exception):
    """Base class of errors whose message is for the user.

    Example:
      >>> import goodgain as gg
      >>> try:
      ...     gg.evaluate("no/such/file.avro")
      ... except gg.GoodGainError as error:
      ...     print(str(error)[:28])
      No file matches no/such/file
    """


class UsageError(GoodGainError):
    """A wrong option, configuration or input pattern; commands exit with code 2.

    Example:
      >>> import goodgain as gg
      >>> try:
      ...     gg.evaluate([], metrics=["ndgc@10"])
      ... except gg.UsageError as error:
      ...     print("ndcg@10" in str(error))
      True
    """


class RulesError(UsageError):
    """A rules file that cannot be used; the message lists every mistake with its line."""


class RecordError(GoodGainError):
    """One trace record that cannot be used (SPEC 3, `rejected`).

    Attributes:
      reason: what is wrong, in one sentence.
      field: path of the bad field, like `results[3].gain`; None if the whole record is bad.
      conversation_id: the conversation of the record, if readable.
    """

    def __init__(
        self, reason: str, field: str | None = None, conversation_id: str | None = None
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.field = field
        self.conversation_id = conversation_id


class BalanceError(GoodGainError):
    """Records were lost or counted twice: the balance of SPEC 3 does not hold."""


def problem_of(error: Exception) -> str:
    """What went wrong, without the number and the path that messages of `OSError` contain."""
    return getattr(error, "strerror", None) or str(error)
