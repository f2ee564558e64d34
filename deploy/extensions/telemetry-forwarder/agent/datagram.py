import ipaddress
import json

MAX_BYTES = 1400  # fits into one packet on every link


def address_of(text):
    """("192.168.1.7", 9000) of "192.168.1.7:9000" or "[fe80::1]:9000". A name would need a resolver, which may block."""
    if not isinstance(text, str):
        raise ValueError('write the address as text, like "192.168.1.7:9000"')
    host, _, port = text.rpartition(":")
    try:
        address = ipaddress.ip_address(host.strip("[]"))
        number = int(port)
    except ValueError:
        raise ValueError('%r is no address: write it like "192.168.1.7:9000"' % text) from None
    if not 0 < number < 65536:
        raise ValueError("%d is no port" % number)
    return str(address), number


def datagram_of(telemetry):
    """One line of JSON. Without the parts that are lists where it would not fit into a packet, and None if it still does not."""
    for parts in (telemetry, {key: value for key, value in telemetry.items() if not isinstance(value, list)}):
        data = json.dumps(parts, separators=(",", ":"), default=str).encode() + b"\n"
        if len(data) <= MAX_BYTES:
            return data
    return None
