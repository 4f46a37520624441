"""A row of the table that `make bench` prints and stores."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One figure.

    Attributes:
      target: what it should be; "" when it is only reported.
    """

    name: str
    value: float
    unit: str
    target: str = ""

    def cells(self) -> list[str]:
        """As it stands in the table."""
        return [self.name, f"{self.value:.2f}", self.unit, self.target]
