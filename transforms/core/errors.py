"""The exceptions for mistakes of users, or in their data.

Every message tells the user what is wrong, where, and what to do about it.
"""

from io import UnsupportedOperation


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

    @property
    def message(self) -> str:
        """The message, a `Phrase` if it names options."""
        message: str = self.args[0] if self.args else ""
        return message


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


def missing_file(path: str, message: str, instead: str = "a file") -> UsageError:
    """The error for an input that is not there, by default with a given message.

    Other programs read standard input as `-`, so that is explained.

    Args:
      instead: what can be read in its place.
    """
    if path == "-":
        message = f"Standard input (-) is not read: write it to {instead}, and give its path."
    return UsageError(message)


def message_of(error: Exception) -> str:
    """The message of an error, of one of ours with the options that it names."""
    return error.message if isinstance(error, GoodGainError) else str(error)


def problem_of(error: Exception) -> str:
    """What went wrong, as a phrase without the number and the path that `OSError` contains."""
    if isinstance(error, UnsupportedOperation):
        return "it is a pipe, where a file is needed"
    return str(getattr(error, "strerror", None) or error).rstrip(".")
