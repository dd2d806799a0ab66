"""A shopping cart: prices in cents."""


def subtotal(items):
    return sum(price * count for price, count in items)


def discount(amount):
    """Ten percent off orders of 100.00 or more."""
    return amount // 10 if amount > 10_000 else 0


def total(items):
    amount = subtotal(items)
    return amount - discount(amount)
