"""What models cost, and how to write it."""

from assent.agent.spending import Spending
from assent.models.model_facts import Prices, price_date

__all__ = ("Prices", "Spending", "cost_words", "money", "price_date")


def money(dollars: float | None) -> str:
    if dollars is None:
        return "unknown"
    return f"${dollars:.4f}" if dollars < 1 else f"${dollars:,.2f}"


def cost_words(spent: Spending) -> str:
    """A short form for lists; empty if nothing was used."""
    if spent.unpriced:
        return f"{money(spent.dollars)}+?" if spent.dollars else "?"
    return money(spent.dollars) if spent.dollars else ""
