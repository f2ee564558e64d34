import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "agent"))
from height import height_of  # noqa: E402


class Height(unittest.TestCase):
    def test_is_not_known_without_a_position(self):
        self.assertIsNone(height_of({}))
        self.assertIsNone(height_of({"position": {"alt_rel": None}}))

    def test_is_rounded(self):
        self.assertEqual(height_of({"position": {"alt_rel": 12.34}}), 12.3)


if __name__ == "__main__":
    unittest.main()
