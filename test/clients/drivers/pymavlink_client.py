"""What scripts on pymavlink do: pymavlink_client.py tcp|udp HOST:PORT ardupilot|px4 [camera] [short]"""

import math
import os
import sys
import tempfile
import time

os.environ["MAVLINK20"] = "1"

from pymavlink import mavftp, mavutil
from pymavlink.dialects.v20 import ardupilotmega as mav

from report import digest, say

TRANSPORT, ADDRESS, FIRMWARE = sys.argv[1:4]
CAMERA = "camera" in sys.argv
PX4 = FIRMWARE == "px4"
GUARDED = ("MIS_TAKEOFF_ALT", 8.0) if PX4 else ("WPNAV_SPEED", 450.0)
IDLE = ("COM_DISARM_PRFLT", 0.0) if PX4 else ("DISARM_DELAY", 0.0)
FILE = "/etc/extras/component_general.json.xz" if PX4 else "@PARAM/param.pck"
SMALL = os.path.join(os.path.dirname(__file__), "report.py")
NORTH = 1 / 111_319  # degrees of a metre
LIMIT = 10  # s

link = mavutil.mavlink_connection(f"{'udpout' if TRANSPORT == 'udp' else 'tcp'}:{ADDRESS}", source_system=250, source_component=190)
VEHICLE = [1, 1]  # system and component
beaten = 0.0


def beat():
    global beaten
    if time.monotonic() - beaten > 1:
        beaten = time.monotonic()
        link.mav.heartbeat_send(mav.MAV_TYPE_GCS, mav.MAV_AUTOPILOT_INVALID, 0, 0, mav.MAV_STATE_ACTIVE)


def hear(types, fits=lambda m: True, limit=LIMIT, component=1):
    """The next message of the vehicle that fits, None after the limit."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        beat()
        m = link.recv_match(type=types, blocking=True, timeout=0.1)
        if m is not None and m.get_srcComponent() == component and fits(m):
            return m
    return None


def call(name, act, detail=lambda result: None):
    """`act` answers a pair: the outcome, and the result."""
    start = time.monotonic()
    outcome, result = act()
    ms = round((time.monotonic() - start) * 1000)
    say(name, outcome, detail(result) if outcome == "ok" else None, None if act.__name__ == "transfer" else ms)
    return result


def heard(types, fits=lambda m: True, limit=LIMIT):
    def act():
        m = hear(types, fits, limit)
        return ("silence", None) if m is None else ("ok", m)

    return act


def result_of(value):
    return "ok" if value == mav.MAV_RESULT_ACCEPTED else mav.enums["MAV_RESULT"][value].name.removeprefix("MAV_RESULT_")


def acknowledged(command, component=1):
    while True:
        ack = hear("COMMAND_ACK", lambda m: m.command == command, component=component)
        if ack is None:
            return "silence", None
        if ack.result != mav.MAV_RESULT_IN_PROGRESS:
            return result_of(ack.result), ack


def long(command, *params, component=1):
    def act():
        filled = [*params, *[0] * (7 - len(params))]
        link.mav.command_long_send(VEHICLE[0], component, command, 0, *filled)
        return acknowledged(command, component)

    return act


def int_(command, frame, params, lat, lon, alt):
    def act():
        link.mav.command_int_send(*VEHICLE, frame, command, 0, 0, *params, round(lat * 1e7), round(lon * 1e7), alt)
        return acknowledged(command)

    return act


def mode(number, sub=0):
    if not PX4:
        return long(mav.MAV_CMD_DO_SET_MODE, 1, number)
    return long(mav.MAV_CMD_DO_SET_MODE, 1, number, sub)


def write(name, value, kind=mav.MAV_PARAM_TYPE_REAL32):
    """ok: the value came back; held: another one; else the vehicle's reason."""

    def act():
        link.mav.param_set_send(*VEHICLE, name.encode(), value, kind)
        m = hear(["PARAM_VALUE", "PARAM_ERROR"], lambda m: m.param_id == name, 3)
        if m is None:
            return "silence", None
        if m.get_type() == "PARAM_ERROR":
            hear("PARAM_VALUE", lambda m: m.param_id == name, 0.3)  # what holds follows, where there is such a parameter
            return mav.enums["MAV_PARAM_ERROR"][m.error].name.removeprefix("MAV_PARAM_ERROR_"), None
        return ("ok" if m.param_value == value else "held"), m.param_value

    return act


def read(name):
    def act():
        link.mav.param_request_read_send(*VEHICLE, name.encode(), -1)
        m = hear("PARAM_VALUE", lambda m: m.param_id == name, 3)
        return ("silence", None) if m is None else ("ok", m.param_value)

    return act


def guarded(when):
    name, value = GUARDED
    call(f"write a parameter {when}", write(name, value))
    call(f"read it {when}", read(name), float)


def parameters():
    link.param_fetch_all()
    values = {}
    missing = None
    rounds = 3  # of asking for what UDP has lost, as ground stations do
    while True:
        m = hear("PARAM_VALUE", limit=5)
        if m is None:
            if not missing or rounds == 0:
                return "silence", values
            rounds -= 1
            for index in missing:
                link.mav.param_request_read_send(*VEHICLE, b"", index)
            continue
        if m.param_index < 65535:
            # An integer of PX4 lies bytewise in the float.
            values[m.param_id] = [m.param_type, repr(m.param_value)]
            if missing is None:
                missing = set(range(m.param_count))
            missing.discard(m.param_index)
        if len(values) == m.param_count:
            return "ok", values


def upload(kind, items):
    def act():
        link.mav.mission_count_send(*VEHICLE, len(items), kind)
        while True:
            m = hear(["MISSION_REQUEST_INT", "MISSION_REQUEST", "MISSION_ACK"], lambda m: m.mission_type == kind)
            if m is None:
                return "silence", None
            if m.get_type() == "MISSION_ACK":
                if m.type == mav.MAV_MISSION_ACCEPTED:
                    return "ok", None
                return mav.enums["MAV_MISSION_RESULT"][m.type].name.removeprefix("MAV_MISSION_"), None
            frame, command, params, lat, lon, alt = items[m.seq]
            link.mav.mission_item_int_send(*VEHICLE, m.seq, frame, command, 0, 1, *params, round(lat * 1e7), round(lon * 1e7), alt, kind)

    return act


def download(kind):
    def act():
        link.mav.mission_request_list_send(*VEHICLE, kind)
        count = hear("MISSION_COUNT", lambda m: m.mission_type == kind)
        if count is None:
            return "silence", None
        items = []
        for seq in range(count.count):
            link.mav.mission_request_int_send(*VEHICLE, seq, kind)
            m = hear("MISSION_ITEM_INT", lambda m: m.seq == seq and m.mission_type == kind)
            if m is None:
                return "silence", None
            items.append([m.frame, m.command, m.param1, m.param2, m.param3, repr(m.param4), m.x, m.y, m.z])
        link.mav.mission_ack_send(*VEHICLE, mav.MAV_MISSION_ACCEPTED, kind)
        return "ok", items

    return act


def clear(kind):
    def act():
        link.mav.mission_clear_all_send(*VEHICLE, kind)
        m = hear("MISSION_ACK", lambda m: m.mission_type == kind)
        return ("silence", None) if m is None else ("ok" if m.type == 0 else str(m.type), None)

    return act


def logs():
    link.mav.log_request_list_send(*VEHICLE, 0, 0xFFFF)
    entries = {}
    while True:
        m = hear("LOG_ENTRY", limit=5)
        if m is None:
            return "silence", entries
        if m.num_logs == 0:
            return "ok", entries
        entries[m.id] = m.size
        if len(entries) == m.num_logs:
            return "ok", entries


def log(number, size):
    def act():
        pieces = {}
        end = time.monotonic() + 30
        while sum(map(len, pieces.values())) < size:
            if time.monotonic() > end:
                return "no end", None
            gap = next(ofs for ofs in range(0, size, 90) if ofs not in pieces)
            link.mav.log_request_data_send(*VEHICLE, number, gap, 0xFFFFFFFF)
            while (m := hear("LOG_DATA", lambda m: m.id == number, 1)) is not None:
                pieces[m.ofs] = bytes(m.data[: m.count])
                if m.ofs + m.count >= size:
                    break
        link.mav.log_request_end_send(1, 1)
        return "ok", b"".join(piece for _, piece in sorted(pieces.items()))

    return act


def ftp(act):
    def transfer():  # its class waits some seconds longer than it has to
        client = mavftp.MAVFTP(link, target_system=VEHICLE[0], target_component=1)
        code = act(client).error_code
        if code == 0:
            code = client.process_ftp_reply("what was asked", timeout=10).error_code
        return ("ok" if code == 0 else mavftp.FtpError(code).name if code in list(mavftp.FtpError) else str(code)), None

    return transfer


def go(lat, lon, alt):
    if PX4:
        return int_(mav.MAV_CMD_DO_REPOSITION, mav.MAV_FRAME_GLOBAL_INT, (-1, 1, 0, math.nan), lat, lon, alt)
    return int_(mav.MAV_CMD_DO_REPOSITION, mav.MAV_FRAME_GLOBAL_INT, (-1, 1, 0, 0), lat, lon, alt)


def near(lat):
    return heard("GLOBAL_POSITION_INT", lambda m: abs(m.lat / 1e7 - lat) < 2 * NORTH, 40)


def moved(least):
    """Set-points ten times a second, until it is there."""
    for _ in range(400):
        link.mav.set_position_target_local_ned_send(0, *VEHICLE, mav.MAV_FRAME_LOCAL_NED, 0b110111000111, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0)
        m = hear("GLOBAL_POSITION_INT", limit=0.1)
        if m is not None and m.lat / 1e7 > least:
            return "ok", None
    return "did not move", None


def mission(lat, lon, alt):
    none = (0, 0, 0, 0)
    legs = [
        (6, mav.MAV_CMD_NAV_TAKEOFF, none, lat, lon, 10),
        (6, mav.MAV_CMD_NAV_WAYPOINT, none, lat + 40 * NORTH, lon, 12),
        (6, mav.MAV_CMD_NAV_WAYPOINT, none, lat + 40 * NORTH, lon + 40 * NORTH, 12),
        (6, mav.MAV_CMD_NAV_WAYPOINT, none, lat, lon + 40 * NORTH, 12),
    ]
    return legs if PX4 else [(0, mav.MAV_CMD_NAV_WAYPOINT, none, lat, lon, alt), *legs]


def main():
    VEHICLE[0] = call("connect", heard("HEARTBEAT")).get_srcSystem()
    # By default neither tells all that is looked at below as often as that.
    for name, number, hertz in (("position", 33, 10), ("state", 245, 2), ("system", 1, 5)):
        call(f"rate of the {name}", long(mav.MAV_CMD_SET_MESSAGE_INTERVAL, number, 1e6 / hertz))
    call("rate of the mission", long(mav.MAV_CMD_SET_MESSAGE_INTERVAL, 42, 2e5))  # none of PX4's streams
    link.mav.command_long_send(*VEHICLE, mav.MAV_CMD_REQUEST_MESSAGE, 0, 148, 0, 0, 0, 0, 0, 0)
    call("version", heard("AUTOPILOT_VERSION"), lambda m: m.flight_sw_version)
    call("ready", heard("SYS_STATUS", lambda m: m.onboard_control_sensors_health & mav.MAV_SYS_STATUS_PREARM_CHECK, 40))
    place = call("position", heard("GLOBAL_POSITION_INT", lambda m: m.lat != 0))
    lat, lon, alt = place.lat / 1e7, place.lon / 1e7, place.alt / 1000
    call("all parameters", parameters, digest)
    name, value = IDLE
    call("write a parameter", write(name, value, mav.MAV_PARAM_TYPE_REAL32))
    call("write an unknown parameter", write("NO_SUCH_NAME", 1.0))
    if "short" in sys.argv:
        return
    call("read it before arming", read(GUARDED[0]), float)

    call("mission up", upload(0, mission(lat, lon, alt)))
    call("mission down", download(0), lambda items: items)
    call("mission clear", clear(0))
    call("mission up again", upload(0, mission(lat, lon, alt)))
    corners = [(3, 5001, (3, 0, 0, 0), lat + n * NORTH, lon + e * NORTH, 0) for n, e in ((-300, -300), (-300, 300), (300, 0))]
    call("fence up", upload(1, corners))
    call("fence down", download(1), lambda items: items)
    call("fence clear", clear(1))
    call("rally up", upload(2, [(3, 5100, (0, 0, 0, 0), lat, lon, 20)]))
    call("rally down", download(2), lambda items: items)

    entries = call("logs", logs, lambda entries: entries)
    if entries:
        number, size = max(entries.items())
        call("log download", log(number, size), digest)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "file")
        call("file download", ftp(lambda client: client.cmd_get([FILE, path])))
        say("file", "ok" if os.path.exists(path) else "none", digest(open(path, "rb").read()) if os.path.exists(path) else None)
        call("file upload", ftp(lambda client: client.cmd_put([SMALL, "/new.txt"])))
        call("folder", ftp(lambda client: client.cmd_list(["/"])))

    call("gyro calibration", long(mav.MAV_CMD_PREFLIGHT_CALIBRATION, 1))
    if CAMERA:
        call("camera", long(mav.MAV_CMD_REQUEST_MESSAGE, 259, component=100))
        call("photo", long(mav.MAV_CMD_IMAGE_START_CAPTURE, 0, 0, 1, component=100))
    hear("STATUSTEXT", lambda m: "calibration done" in m.text, 8 if PX4 else 0)
    hear("NONE", limit=1)  # PX4 does not arm for a moment after a calibration

    call("take off before arming", long(mav.MAV_CMD_NAV_TAKEOFF, 0, 0, 0, math.nan if PX4 else 0, 0, 0, alt + 10 if PX4 else 10))
    call("mode", mode(4, 3) if PX4 else mode(4))
    call("arm", long(mav.MAV_CMD_COMPONENT_ARM_DISARM, 1))
    start = time.monotonic()
    for delay in (0, 0.1, 0.3, 0.6, 1.5, 3):
        hear("NONE", limit=max(0, start + delay - time.monotonic()))
        guarded(f"{delay} s after arming")
    call("gyro calibration while armed", long(mav.MAV_CMD_PREFLIGHT_CALIBRATION, 1))
    call("reboot while armed", long(mav.MAV_CMD_PREFLIGHT_REBOOT_SHUTDOWN, 1))
    call("disarm", long(mav.MAV_CMD_COMPONENT_ARM_DISARM, 0))
    call("arm again", long(mav.MAV_CMD_COMPONENT_ARM_DISARM, 1))

    call("take off", long(mav.MAV_CMD_NAV_TAKEOFF, 0, 0, 0, math.nan if PX4 else 0, *(math.nan if PX4 else 0,) * 2, alt + 10 if PX4 else 10))
    call("up", heard("GLOBAL_POSITION_INT", lambda m: m.relative_alt > 8000, 40))
    guarded("in the air")
    call("gyro calibration in the air", long(mav.MAV_CMD_PREFLIGHT_CALIBRATION, 1))
    call("take off in the air", long(mav.MAV_CMD_NAV_TAKEOFF, 0, 0, 0, 0, 0, 0, 10))
    call("disarm in the air", long(mav.MAV_CMD_COMPONENT_ARM_DISARM, 0))
    call("reset the parameters in the air", long(mav.MAV_CMD_PREFLIGHT_STORAGE, 2))
    call("file upload in the air", ftp(lambda client: client.cmd_put([SMALL, "/new.txt"])))

    there = lat + 30 * NORTH
    call("go", go(there, lon, alt + 15))
    call("there", near(there))
    call("go nowhere", int_(mav.MAV_CMD_DO_REPOSITION, mav.MAV_FRAME_GLOBAL_INT, (-1, 1, 0, 0), 95, 190, 15))
    call("go in a frame of the body", int_(mav.MAV_CMD_DO_REPOSITION, mav.MAV_FRAME_BODY_FRD, (-1, 1, 0, 0), lat, lon, 15))
    call("orbit", int_(mav.MAV_CMD_DO_ORBIT, mav.MAV_FRAME_GLOBAL_INT, (10, 2, 0, 0), there, lon, alt + 15))
    call("speed", long(mav.MAV_CMD_DO_CHANGE_SPEED, 1, 4, -1))
    call("turn", long(mav.MAV_CMD_CONDITION_YAW, 90, 20, 1, 0))
    call("region of interest", int_(mav.MAV_CMD_DO_SET_ROI_LOCATION, mav.MAV_FRAME_GLOBAL_INT, (0, 0, 0, 0), lat, lon, alt))
    call("no region of interest", long(mav.MAV_CMD_DO_SET_ROI_NONE))
    call("an unknown command", long(31_999))

    if PX4:
        for _ in range(10):
            link.mav.set_position_target_local_ned_send(0, *VEHICLE, mav.MAV_FRAME_LOCAL_NED, 0b110111000111, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0)
            hear("NONE", limit=0.05)
    call("offboard", mode(6) if PX4 else mode(4))
    call("offboard moves", lambda: moved(there + 10 * NORTH))

    call("mission from a number that it has not", long(mav.MAV_CMD_DO_SET_MISSION_CURRENT, 77))
    call("mission start", long(mav.MAV_CMD_MISSION_START, 0, 0))
    call("on its way", heard("MISSION_CURRENT", lambda m: m.seq >= 2, 40))
    call("mission pause", mode(4, 3) if PX4 else long(mav.MAV_CMD_DO_PAUSE_CONTINUE, 0))
    call("mission resume", mode(4, 4) if PX4 else long(mav.MAV_CMD_DO_PAUSE_CONTINUE, 1))
    call("pause as the other one does", long(mav.MAV_CMD_DO_PAUSE_CONTINUE, 0) if PX4 else long(mav.MAV_CMD_DO_REPOSITION, -1, 1, 0, 0, math.nan, math.nan, math.nan))
    call("return", long(mav.MAV_CMD_NAV_RETURN_TO_LAUNCH))
    call("home", near(lat))
    call("land", long(mav.MAV_CMD_NAV_LAND))
    call("down", heard("HEARTBEAT", lambda m: not m.base_mode & mav.MAV_MODE_FLAG_SAFETY_ARMED, 60))
    call("write a parameter afterwards", write(*GUARDED))
    call("a mode that it has not", mode(99))
    call("arm in a mode of return", lambda: (mode(4, 5) if PX4 else mode(6))())
    call("armed in it", long(mav.MAV_CMD_COMPONENT_ARM_DISARM, 1))


main()
