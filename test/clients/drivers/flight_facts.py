"""What pymavlink and pyulog read of a log, as the facts of a flight report: python flight_facts.py tlog|dataflash|ulog FILE."""

import json
import math
import sys

from pymavlink import mavutil


class Facts:
    def __init__(self):
        self.t0 = self.t1 = None
        self.armed = None
        self.flown, self.since = 0, None
        self.last = self.home = None
        self.out = {
            "distance": None, "height": None, "speed": None, "from_home": None, "volts": None, "used": None,
            "cell": None, "satellites": None, "hdop": None, "vibration": None, "modes": [], "arming": [],
        }
        self.clips = {}
        self.first_used = None

    def time(self, t):
        self.t0 = t if self.t0 is None else self.t0
        self.t1 = t

    def most(self, key, value, pick=max):
        if self.armed is False or value is None:
            return
        old = self.out[key]
        self.out[key] = value if old is None else pick(old, value)

    def arm(self, t, armed):
        if armed == self.armed:
            return
        if armed or self.armed is not None:
            self.out["arming"].append(["armed" if armed else "disarmed", t - self.t0])
        if armed:
            self.since = self.t0 if self.armed is None else t
        elif self.armed:
            self.flown += t - self.since
        self.armed = armed
        self.last = None

    def mode(self, t, name):
        if not self.out["modes"] or self.out["modes"][-1][0] != name:
            self.out["modes"].append([name, t - self.t0])

    def position(self, lat, lon, height):
        if self.armed is False or (lat == 0 and lon == 0):
            return
        here = (lat, lon)
        self.home = self.home or here
        self.out["distance"] = (self.out["distance"] or 0) + (metres(self.last, here) if self.last else 0)
        self.last = here
        self.most("from_home", metres(self.home, here))
        self.most("height", height)

    def voltage(self, volts):
        if self.armed is not False and volts:
            self.out["volts"] = [self.out["volts"][0] if self.out["volts"] else volts, volts]

    def consumed(self, mah):
        if self.armed is not False and mah >= 0:
            self.first_used = mah if self.first_used is None else self.first_used
            self.out["used"] = mah - self.first_used

    def clip(self, sensor, count):
        if self.armed is not False:
            self.clips[sensor] = (self.clips.get(sensor, (count,))[0], count)

    def end(self, start):
        clips = sum(last - first for first, last in self.clips.values()) if self.clips else None
        # How long it was armed.
        flown = self.flown + (self.t1 - self.since if self.armed else 0)
        return {**self.out, "clips": clips, "start": start, "duration": flown}


def metres(a, b):
    p = math.pi / 180
    h = (math.sin((b[0] - a[0]) * p / 2) ** 2
         + math.cos(a[0] * p) * math.cos(b[0] * p) * math.sin((b[1] - a[1]) * p / 2) ** 2)
    return 2 * 6371000 * math.asin(math.sqrt(h))


def tlog(path):
    facts, log = Facts(), mavutil.mavlink_connection(path)
    while (m := log.recv_match()) is not None:
        t, kind = m._timestamp, m.get_type()
        facts.time(t)
        if m.get_srcComponent() != 1 or m.get_srcSystem() == 255:
            continue
        if kind == "HEARTBEAT":
            facts.arm(t, bool(m.base_mode & 128))
            facts.mode(t, log.flightmode)
        elif kind == "HOME_POSITION" and (m.latitude or m.longitude):
            facts.home = (m.latitude / 1e7, m.longitude / 1e7)
        elif kind == "GLOBAL_POSITION_INT" and (m.lat or m.lon):
            facts.position(m.lat / 1e7, m.lon / 1e7, m.relative_alt / 1000)
            facts.most("speed", math.hypot(m.vx, m.vy) / 100)
        elif kind == "GPS_RAW_INT":
            facts.most("satellites", m.satellites_visible, min)
            facts.most("hdop", m.eph / 100)
        elif kind == "SYS_STATUS":
            facts.voltage(m.voltage_battery / 1000)
        elif kind == "BATTERY_STATUS":
            facts.consumed(m.current_consumed)
            cells = [mv for mv in m.voltages if mv != 65535]
            if cells and all(mv <= 5000 for mv in cells):
                facts.most("cell", min(cells) / 1000, min)
        elif kind == "VIBRATION":
            facts.most("vibration", max(m.vibration_x, m.vibration_y, m.vibration_z))
            for sensor in range(3):
                facts.clip(sensor, getattr(m, f"clipping_{sensor}"))
    return facts.end(facts.t0)


def dataflash(path):
    facts, log, start = Facts(), mavutil.mavlink_connection(path), None
    while (m := log.recv_match()) is not None:
        kind = m.get_type()
        if not hasattr(m, "TimeUS"):
            continue
        t = m.TimeUS / 1e6
        facts.time(t)
        if kind == "EV" and m.Id in (10, 11):
            if m.Id == 10:
                facts.armed = False
            facts.arm(t, m.Id == 10)
        elif kind == "MODE":
            facts.mode(t, log.flightmode)
        elif kind == "ORGN" and m.Type == 1:
            facts.home = (m.Lat, m.Lng)
        elif kind == "POS":
            facts.position(m.Lat, m.Lng, m.RelHomeAlt)
        elif kind == "GPS" and m.I == 0:
            facts.most("satellites", m.NSats, min)
            facts.most("hdop", m.HDop)
            if m.Status >= 3:
                facts.most("speed", m.Spd)
                start = start or m._timestamp - (t - facts.t0)
        elif kind == "BAT" and m.Inst == 0:
            facts.voltage(m.Volt)
            if hasattr(m, "CurrTot"):
                facts.consumed(m.CurrTot)
        elif kind == "BCL" and m.Instance == 0:
            cells = [getattr(m, f"V{n}") for n in range(1, 13)]
            facts.most("cell", min(mv for mv in cells if 0 < mv < 65535) / 1000, min)
        elif kind == "VIBE":
            if m.IMU == 0:
                facts.most("vibration", max(m.VibeX, m.VibeY, m.VibeZ))
            facts.clip(m.IMU, m.Clip)
    return facts.end(start)


def ulog(path):
    from pyulog import ULog

    log, facts, rows = ULog(path), Facts(), []
    for data in log.data_list:
        for i, t in enumerate(data.data["timestamp"]):
            rows.append((int(t), data.name, data.multi_id, {k: v[i].item() for k, v in data.data.items()}))
    order = {"vehicle_status": 0}
    rows.sort(key=lambda row: (row[0], order.get(row[1], 1)))
    start, base = None, None
    for micros, name, multi, row in rows:
        t = micros / 1e6
        facts.time(t)
        if name == "vehicle_status":
            facts.arm(t, row["arming_state"] == 2)
            facts.mode(t, row["nav_state"])
        elif name == "vehicle_global_position":
            base = row["alt"] if base is None else base
            facts.position(row["lat"], row["lon"], row["alt"] - base)
        elif name == "vehicle_local_position":
            facts.most("speed", math.hypot(row["vx"], row["vy"]))
        elif name == "vehicle_gps_position":
            facts.most("satellites", row["satellites_used"], min)
            facts.most("hdop", row.get("hdop"))
            if row["fix_type"] >= 3 and start is None:
                start = row["time_utc_usec"] / 1e6 - (t - facts.t0)
        elif name == "battery_status":
            facts.voltage(row["voltage_v"])
            facts.consumed(row.get("discharged_mah", -1))
            cells = [v for k, v in row.items() if k.startswith("voltage_cell_v") and v > 0]
            facts.most("cell", min(cells) if cells else None, min)
        elif name == "vehicle_imu_status":
            facts.most("vibration", row["accel_vibration_metric"])
            facts.clip(multi, sum(row[f"accel_clipping[{axis}]"] for axis in range(3)))
    return facts.end(start)


print(json.dumps({"tlog": tlog, "dataflash": dataflash, "ulog": ulog}[sys.argv[1]](sys.argv[2])))
