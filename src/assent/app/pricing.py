"""What models cost."""

from assent.models.prices import AS_OF, Prices

__all__ = (
    "AS_OF",
    "Prices",
)
