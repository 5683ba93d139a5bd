"""What a person changes in the work-list of a sweep."""

from pydantic import Field

from domain.value import Value


class ListChange(Value):
    """What a person changes in the list: items by their ids, or by enough of their beginning."""

    strike: tuple[str, ...] = Field(
        default=(), title="Strike", description="Ids of items that are not to be done."
    )
    first: tuple[str, ...] = Field(
        default=(), title="First", description="Ids of items to be done before all others."
    )
    last: tuple[str, ...] = Field(
        default=(), title="Last", description="Ids of items to be done after all others."
    )
    add: tuple[str, ...] = Field(
        default=(), title="Add", description="Places, as src/a.py:12, for the list of a sentence."
    )
    change: str = Field(
        default="", title="What is to be done there", description="Of the places that are added."
    )

    @property
    def nothing(self) -> bool:
        return not (self.strike or self.first or self.last or self.add)
