import unittest

from cart import total


class CartTest(unittest.TestCase):
    def test_small_orders_pay_the_full_price(self):
        self.assertEqual(total([(1_000, 2), (250, 4)]), 3_000)

    def test_the_discount_begins_at_exactly_one_hundred(self):
        self.assertEqual(total([(10_000, 1)]), 9_000)

    def test_large_orders_get_ten_percent_off(self):
        self.assertEqual(total([(20_000, 1)]), 18_000)
