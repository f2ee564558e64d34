#!/usr/bin/env python3
"""Runs $DEAF_PROGRAM with these arguments, so that it hears nothing of addresses that come and go.

Chromium ends all of its connections whenever an address of the machine changes (ERR_NETWORK_CHANGED), and what a page was loading
is lost. Other tests lay cables all the time. It is told by a netlink socket, which it gets none of here; that of getaddrinfo and
getifaddrs, which the C library opens with SOCK_CLOEXEC, is another one.
"""

import ctypes
import errno
import os
import platform
import struct
import sys

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
AF_NETLINK, SOCK_CLOEXEC = 16, 0x80000
ALLOW, FAIL = 0x7FFF0000, 0x00050000 | errno.EAFNOSUPPORT
# seccomp_data: the number of the call, and the lower half of its first and second argument.
NUMBER, FAMILY, KIND = 0, 16, 24
SOCKET = {"x86_64": 41, "aarch64": 198}[platform.machine()]
LOAD, EQUAL, HAS, RETURN = 0x20, 0x15, 0x45, 0x06

# Each: code, how many to skip if true, if false, operand (bpf(4)).
FILTER = [
    (LOAD, 0, 0, NUMBER),
    (EQUAL, 0, 5, SOCKET),
    (LOAD, 0, 0, FAMILY),
    (EQUAL, 0, 3, AF_NETLINK),
    (LOAD, 0, 0, KIND),
    (HAS, 1, 0, SOCK_CLOEXEC),
    (RETURN, 0, 0, FAIL),
    (RETURN, 0, 0, ALLOW),
]


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


code = b"".join(struct.pack("HBBI", *each) for each in FILTER)
program = Program(len(FILTER), code)
prctl = ctypes.CDLL(None).prctl
# Where a container allows no filter, it hears as before.
if prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0:
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0)
os.execv(os.environ["DEAF_PROGRAM"], sys.argv)
