import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "agent"))
from datagram import MAX_BYTES, address_of, datagram_of  # noqa: E402


class Datagram(unittest.TestCase):
    def test_reads_addresses(self):
        self.assertEqual(address_of("192.168.1.7:9000"), ("192.168.1.7", 9000))
        self.assertEqual(address_of("[fe80::1]:9000"), ("fe80::1", 9000))

    def test_refuses_what_is_none(self):
        for text in ["", "localhost:1", "1.2.3.4", "1.2.3.4:0", "1.2.3.4:x", 7, None]:
            with self.assertRaises(ValueError):
                address_of(text)

    def test_is_one_line_that_fits_into_a_packet(self):
        data = datagram_of({"armed": False, "mode": "AUTO", "traffic": [{"a": "x" * 100}] * 50})
        self.assertLessEqual(len(data), MAX_BYTES)
        self.assertEqual(json.loads(data), {"armed": False, "mode": "AUTO"})
        self.assertTrue(data.endswith(b"\n"))


if __name__ == "__main__":
    unittest.main()
