"""A row of the table that `make bench` prints and stores."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One figure.

    Attributes:
      target: the goal, as text; "" if there is none.
    """

    name: str
    value: float
    unit: str
    target: str = ""

    def cells(self) -> list[str]:
        """The cells of the row in the table."""
        return [self.name, f"{self.value:.2f}", self.unit, self.target]
