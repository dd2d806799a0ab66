"""What models cost."""

from assent.models.model_facts import Prices, price_date

__all__ = ("Prices", "price_date")
