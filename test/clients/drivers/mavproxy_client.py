"""What people at MAVProxy's prompt do: mavproxy_client.py tcp|udp HOST:PORT ardupilot|px4 [camera] [short]"""

import os
import re
import subprocess
import sys
import tempfile
import threading
import time

from report import digest, say

TRANSPORT, ADDRESS, FIRMWARE = sys.argv[1:4]
PX4 = FIRMWARE == "px4"
GUARDED = ("MIS_TAKEOFF_ALT", 8) if PX4 else ("WPNAV_SPEED", 450)
IDLE = "COM_DISARM_PRFLT" if PX4 else "DISARM_DELAY"
FILE = "/etc/extras/component_general.json.xz" if PX4 else "@PARAM/param.pck"
NORTH = 1 / 111_319  # degrees of a metre
NUMBER = r"(-?\d+\.?\d*)"


class Prompt:
    """MAVProxy with its prompt on pipes."""

    def __init__(self, folder):
        master = f"{'udpout' if TRANSPORT == 'udp' else 'tcp'}:{ADDRESS}"
        modules = "log,wp,ftp,param,arm,mode,calibration,misc,cmdlong"
        self.program = subprocess.Popen(
            [sys.executable, "-u", "-W", "ignore", "-m", "MAVProxy.mavproxy", "--master", master]
            + ["--state-basedir", folder, "--default-modules", modules],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self.text = ""
        self.more = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        while True:
            piece = os.read(self.program.stdout.fileno(), 65536)
            if not piece:
                return
            with self.more:
                self.text += piece.decode(errors="replace")
                self.more.notify_all()

    def say(self, line):
        """@returns where the answer begins"""
        mark = len(self.text)
        if line is not None:
            self.program.stdin.write(f"{line}\n".encode())
            self.program.stdin.flush()
        return mark

    def answer(self, mark, pattern, limit):
        """The first match of what it says from there on, None after the limit."""
        end = time.monotonic() + limit
        with self.more:
            while True:
                match = re.compile(pattern).search(self.text, mark)
                left = end - time.monotonic()
                if match is not None or left <= 0:
                    return match
                self.more.wait(left)

    def end(self):
        self.program.kill()
        self.program.wait()


def main(folder):
    prompt = Prompt(folder)

    def call(name, line, pattern, limit=10, detail=lambda match: None, outcome=lambda match: "ok"):
        start = time.monotonic()
        match = prompt.answer(prompt.say(line), pattern, limit)
        word = "silence" if match is None else outcome(match)
        quiet = match is None and line is not None and line.startswith("param set")
        say(name, "ok" if quiet else word, None if match is None else detail(match), round((time.monotonic() - start) * 1000))
        return match

    def ordered(name, line, command, limit=10):
        word = lambda match: "ok" if match.group(1) == "ACCEPTED" else match.group(1)
        call(name, line, rf"Got COMMAND_ACK: {command}: (\w+)", limit, outcome=word)

    def mode(name, mode, px4=(4, 3)):
        """By its number on PX4: there MAVProxy stumbles over its own `mode`."""
        if PX4:
            ordered(name, f"long DO_SET_MODE 1 {px4[0]} {px4[1]}", "DO_SET_MODE")
        else:
            ordered(name, f"mode {mode}", "DO_SET_MODE")

    def state(name, message, fits, limit=60):
        """Asks for a message of the vehicle until it fits."""
        end = time.monotonic() + limit
        while time.monotonic() < end:
            match = prompt.answer(prompt.say(f"status {message}"), rf"{message} {{(.*)}}", 2)
            values = dict(re.findall(rf"(\w+) : {NUMBER}", match.group(1))) if match else {}
            if fits({key: float(value) for key, value in values.items()}):
                say(name, "ok")
                return values
            time.sleep(0.1)
        say(name, "no end")
        return {}

    def write(name, parameter, value):
        """It says nothing of a write that it sees done. As long as another value comes back it asks again, twice, a second apart."""
        given_up = rf"Failed to set {parameter} to \S+ \((.*) \S+\)"
        call(name, f"param set {parameter} {value}", given_up, 5, outcome=lambda match: match.group(1))

    def read(name, parameter):
        call(name, f"param fetch {parameter}", rf"{parameter} = {NUMBER}", detail=lambda match: float(match.group(1)))

    def guarded(when):
        write(f"write a parameter {when}", *GUARDED)
        read(f"read it {when}", GUARDED[0])

    call("connect", None, "online system 1", 30)
    call("all parameters", None, r"Received (\d+) parameters", 30, lambda match: match.group(1))
    state("ready", "SYS_STATUS", lambda m: int(m.get("onboard_control_sensors_health", 0)) & 0x10000000)
    place = state("position", "GLOBAL_POSITION_INT", lambda m: m.get("lat", 0) != 0)
    lat, lon, alt = float(place["lat"]) / 1e7, float(place["lon"]) / 1e7, float(place["alt"]) / 1000
    prompt.say(f"param set {IDLE} 0")
    time.sleep(1)
    read("write a parameter", IDLE)
    call("write an unknown parameter", "param set NO_SUCH_NAME 1", "Unable to find parameter")
    if "short" in sys.argv:
        return prompt.end()
    read("read it before arming", GUARDED[0])

    home = [] if PX4 else [(0, 16, lat, lon, alt)]
    legs = [(3, 22, lat, lon, 10), (3, 16, lat + 40 * NORTH, lon, 12), (3, 16, lat + 40 * NORTH, lon + 40 * NORTH, 12)]
    lines = [
        f"{i}\t{int(i == 0)}\t{frame}\t{command}\t0\t0\t0\t0\t{y:.7f}\t{x:.7f}\t{z}\t1"
        for i, (frame, command, y, x, z) in enumerate([*home, *legs])
    ]
    with open(os.path.join(folder, "plan.txt"), "w") as plan:
        plan.write("\n".join(["QGC WPL 110", *lines, ""]))
    call("mission up", "wp load plan.txt", r"Got MISSION_ACK: TYPE_MISSION: (\w+)", outcome=lambda m: "ok" if m.group(1) == "ACCEPTED" else m.group(1))
    call("mission down", "wp save down.txt", r"Saved \d+ waypoints to down.txt")
    path = os.path.join(folder, "down.txt")
    say("mission file", "ok" if os.path.exists(path) else "none", os.path.exists(path) and open(path).read())
    call("mission clear", "wp clear", r"Got MISSION_ACK: TYPE_MISSION: (\w+)|IGN CLEAR CMD: (Busy)", outcome=lambda m: "ok" if m.group(1) == "ACCEPTED" else m.group(1) or m.group(2))
    call("mission up again", "wp load plan.txt", r"Got MISSION_ACK: TYPE_MISSION: (\w+)", outcome=lambda m: "ok" if m.group(1) == "ACCEPTED" else m.group(1))

    found = call("logs", "log list", r"Log (\d+)  numLogs (\d+) lastLog (\d+) size (\d+)", detail=lambda m: m.groups())
    if found:
        call("log download", f"log download {found.group(1)} one.log", "Finished downloading one.log", 20)
        path = os.path.join(folder, "one.log")
        say("log file", "ok" if os.path.exists(path) else "none", os.path.exists(path) and digest(open(path, "rb").read()))
    call("folder", "ftp list /", r"Total size|LIST: OP.*opcode:129", outcome=lambda m: "ok" if m.group(0).startswith("Total") else "NAK")
    call("file download", f"ftp get {FILE} file", r"Wrote \d+ bytes to file|FileNotFound|OP seq.*opcode:129", outcome=lambda m: "ok" if "Wrote" in m.group(0) else "NAK")
    ordered("gyro calibration", "gyrocal", "PREFLIGHT_CALIBRATION", 20)
    if PX4:
        call("calibrated", None, "calibration done", 20)
        time.sleep(1)

    mode("mode", "GUIDED")
    ordered("arm", "arm throttle", "COMPONENT_ARM_DISARM")
    guarded("after arming")
    ordered("gyro calibration while armed", "gyrocal", "PREFLIGHT_CALIBRATION")
    ordered("reboot while armed", "reboot", "PREFLIGHT_REBOOT_SHUTDOWN")
    # Its `takeoff` means above home; PX4 takes that for above sea level.
    ordered("take off", f"long NAV_TAKEOFF 0 0 0 nan nan nan {alt + 10}" if PX4 else "takeoff 10", "NAV_TAKEOFF")
    state("up", "GLOBAL_POSITION_INT", lambda m: m.get("relative_alt", 0) > 8000)
    guarded("in the air")
    ordered("gyro calibration in the air", "gyrocal", "PREFLIGHT_CALIBRATION")
    there = lat + 30 * NORTH
    ordered("go", f"guided {there:.7f} {lon:.7f} 15", "DO_REPOSITION")
    if not PX4:
        state("there", "GLOBAL_POSITION_INT", lambda m: abs(m.get("lat", 0) / 1e7 - there) < 2 * NORTH)
        prompt.say("velocity 3 0 0")
        state("velocity", "GLOBAL_POSITION_INT", lambda m: abs(m.get("lat", 0) / 1e7 - there) > 4 * NORTH)
    ordered("orbit", f"long DO_ORBIT 10 2 0 0 {there:.7f} {lon:.7f} {alt + 15}", "DO_ORBIT")
    mode("mission start", "AUTO", (4, 4))
    state("on its way", "MISSION_CURRENT", lambda m: m.get("seq", 0) >= (1 if PX4 else 2))
    ordered("mission pause", "pause", "DO_PAUSE_CONTINUE")
    ordered("mission resume", "resume", "DO_PAUSE_CONTINUE")
    mode("return", "RTL", (4, 5))
    state("home", "GLOBAL_POSITION_INT", lambda m: abs(m.get("lat", 0) / 1e7 - lat) < 3 * NORTH)
    mode("land", "LAND", (4, 6))
    state("down", "HEARTBEAT", lambda m: m.get("autopilot") in (3, 12) and not int(m["base_mode"]) & 128)
    write("write a parameter afterwards", *GUARDED)
    read("read it afterwards", GUARDED[0])
    prompt.end()


with tempfile.TemporaryDirectory() as scratch:
    main(scratch)
