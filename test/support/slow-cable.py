"""A cable of IP between two network namespaces that takes its time: python3 slow-cable.py MS NAMESPACE ADDRESS/LEN NAMESPACE ADDRESS/LEN

It is a TUN device in each namespace and this process between them, because not every kernel has netem. Both devices are called slow0.
Prints "up" when both can be used; ends with its standard input.
"""
import ctypes, fcntl, os, select, struct, subprocess, sys, time
from collections import deque

CLONE_NEWNET, TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x40000000, 0x400454CA, 0x0001, 0x1000
libc = ctypes.CDLL(None, use_errno=True)


def tun(namespace, address):
    with open(f"/run/netns/{namespace}") as file:
        if libc.setns(file.fileno(), CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns")
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH", b"slow0", IFF_TUN | IFF_NO_PI))
    for command in (["addr", "add", address, "dev", "slow0"], ["link", "set", "slow0", "up"]):
        subprocess.run(["ip", *command], check=True)
    return device


delay = float(sys.argv[1]) / 1000
one, other = tun(sys.argv[2], sys.argv[3]), tun(sys.argv[4], sys.argv[5])
print("up", flush=True)
# One queue for both ways: what came first leaves first. As long as a link of 100 Mbit/s fills in the delay.
waiting = deque()
while True:
    rest = None if not waiting else max(0, waiting[0][0] - time.monotonic())
    ready, _, _ = select.select([one, other, sys.stdin], [], [], rest)
    if sys.stdin in ready:
        break
    for device in (one, other):
        while device in ready and len(waiting) < 4000:
            try:
                packet = os.read(device, 65535)
            except BlockingIOError:
                break
            waiting.append((time.monotonic() + delay, other if device is one else one, packet))
    while waiting and waiting[0][0] <= time.monotonic():
        _, device, packet = waiting.popleft()
        try:
            os.write(device, packet)
        except OSError:
            pass  # the device is gone, or its queue is full: a lost packet
