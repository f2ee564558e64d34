"""Sends the telemetry to the address in the configuration: {"address": "192.168.1.7:9000", "rate_hz": 5}."""

import socket
import sys

import svc_extension
from datagram import address_of, datagram_of

FIELDS = ["armed", "mode", "position", "velocity", "attitude", "battery", "gps"]


def main():
    node = svc_extension.connect()
    state = {"address": node.config.get("address"), "sent": 0, "failed": 0, "error": None}
    sockets = {}

    def on_telemetry(telemetry):
        state["address"] = node.config.get("address")  # it may be changed while this runs
        if state["address"] is None:
            state["error"] = "no address is configured"
            return
        try:
            target = address_of(state["address"])
            family = socket.AF_INET6 if ":" in target[0] else socket.AF_INET
            if family not in sockets:
                sockets[family] = socket.socket(family, socket.SOCK_DGRAM)
            data = datagram_of(telemetry)
            if data is None:
                raise ValueError("the telemetry does not fit into a packet")
            sockets[family].sendto(data, target)
            state["sent"] += 1
            state["error"] = None
        except (OSError, ValueError) as error:
            if state["error"] != str(error):
                print("not sent: %s" % error, file=sys.stderr, flush=True)
            state["failed"] += 1
            state["error"] = str(error)
        finally:
            if (state["sent"] + state["failed"]) % 10 == 1:
                node.publish_state("status", state)

    rate = node.config.get("rate_hz")
    rate = rate if isinstance(rate, (int, float)) and 0 < rate <= 10 else 5
    node.telemetry(on_telemetry, rate_hz=rate, fields=FIELDS)
    print("sending %s times a second to %s" % (rate, state["address"] or "nobody yet"), flush=True)
    node.run()


if __name__ == "__main__":
    main()
