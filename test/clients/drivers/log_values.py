"""The values of fields of a log, as pymavlink and pyulog read them: log_values.py KIND FILE MESSAGE FIELD ... > {"MESSAGE.FIELD": [[s, value], ...]}

MESSAGE is MAG[1] for the second sensor of dataflash and ULog, and ATTITUDE 1/1 for system and component of a telemetry log."""
import json
import re
import sys

from pymavlink import mavutil


def number(value):
    return float(value) if isinstance(value, (int, float)) else None


def field(row, name):
    plain, _, index = re.fullmatch(r"([^[]+)(\[(\d+)\])?", name).groups()
    value = getattr(row, plain)
    return number(value[int(index)] if index else value)


def dataflash(path, wanted):
    log, out = mavutil.mavlink_connection(path), {key: [] for key in wanted}
    while (m := log.recv_match()) is not None:
        for key, (message, name) in wanted.items():
            kind, _, sensor = re.fullmatch(r"(\w+)(\[(\d+)\])?", message).groups()
            if m.get_type() != kind or (sensor and getattr(m, m.fmt.instance_field) != int(sensor)):
                continue
            out[key].append([m.TimeUS / 1e6, field(m, name)])
    return out


def tlog(path, wanted):
    log, out = mavutil.mavlink_connection(path), {key: [] for key in wanted}
    while (m := log.recv_match()) is not None:
        sender = f"{m.get_type()} {m.get_srcSystem()}/{m.get_srcComponent()}"
        for key, (message, name) in wanted.items():
            if sender == message:
                out[key].append([m._timestamp, field(m, name)])
    return out


def ulog(path, wanted):
    from pyulog import ULog

    log, out = ULog(path), {}
    for key, (message, name) in wanted.items():
        topic, _, multi = re.fullmatch(r"(\w+)(\[(\d+)\])?", message).groups()
        data = log.get_dataset(topic, int(multi or 0)).data
        out[key] = [[int(t) / 1e6, float(v)] for t, v in zip(data["timestamp"], data[name])]
    return out


wanted = {f"{m}.{f}": (m, f) for m, f in zip(sys.argv[3::2], sys.argv[4::2])}
print(json.dumps({"tlog": tlog, "dataflash": dataflash, "ulog": ulog}[sys.argv[1]](sys.argv[2], wanted)))
