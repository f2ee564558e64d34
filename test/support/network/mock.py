"""python-dbusmock's NetworkManager with what nmcli 1.42 and svc-helper also call: one Wi-Fi card, three access points, one wired card.
A connection is loaded from its file, as the real daemon does. A wrong passphrase or a network that is not there fails with the
real daemon's words. Usage: python3 -m dbusmock --system --template mock.py"""
import configparser
import os
import re
import time

import dbus
import dbusmock
from dbusmock.templates import networkmanager as nm
from dbusmock.templates.networkmanager import *  # noqa: F401,F403 (the mock takes the methods by their names)

BUS_NAME, MAIN_OBJ, MAIN_IFACE = nm.BUS_NAME, nm.MAIN_OBJ, getattr(nm, "MAIN_IFACE", nm.MANAGER_IFACE)
SYSTEM_BUS, IS_OBJECT_MANAGER = True, True

POINTS = (
    ("ap1", b"HomeNet", "00:23:F8:7E:12:BB", 5180, 82, 0x100),
    ("ap2", b"Open Cafe", "00:23:F8:7E:12:BC", 2437, 40, 0),
    ("ap3", b"weird:ssid\\x", "00:23:F8:7E:12:BD", 2412, 55, 0x100),
    ("ap4", b"100% Kaffee/\xe4", "00:23:F8:7E:12:BE", 2412, 30, 0),
    ("ap6", b"100% Kaffee", "00:23:F8:7E:12:C0", 2412, 30, 0),
    ("ap5", b"eduroam", "00:23:F8:7E:12:BF", 2412, 30, 0x200),
)
PASSPHRASES = {b"HomeNet": "correct horse", b"weird:ssid\\x": " back\\slash: #; "}
REASON = nm.MANAGER_IFACE + ".Failed"


def unescape(text):
    return re.sub(r"\\(.)", lambda found: {"s": " ", "n": "\n", "t": "\t", "r": "\r"}.get(found[1], found[1]), text)


def settings_of(path):
    parser = configparser.RawConfigParser(delimiters=("=",), comment_prefixes=("#",), strict=True)
    parser.optionxform = str
    with open(path, encoding="utf-8") as file:
        parser.read_file(file)
    con = parser["connection"]
    wired = con["type"] == "ethernet"
    out = {
        "connection": {
            "id": unescape(con["id"]),
            "uuid": con["uuid"],
            "type": "802-3-ethernet" if wired else "802-11-wireless",
            "interface-name": con["interface-name"],
            "timestamp": dbus.UInt64(0),
        }
    }
    psk = None
    if not wired:
        wifi = parser["wifi"]
        ssid = bytes(int(byte) for byte in wifi["ssid"].split(";") if byte)
        out["802-11-wireless"] = {"ssid": dbus.ByteArray(ssid), "mode": wifi["mode"]}
        if "channel" in wifi:
            out["802-11-wireless"]["band"] = wifi["band"]
            out["802-11-wireless"]["channel"] = dbus.UInt32(int(wifi["channel"]))
        if "wifi-security" in parser:
            out["802-11-wireless"]["security"] = "802-11-wireless-security"
            out["802-11-wireless-security"] = {"key-mgmt": parser["wifi-security"]["key-mgmt"]}
            psk = unescape(parser["wifi-security"]["psk"])
    return out, con.getboolean("autoconnect"), psk


def load_connections(settings, paths):
    failed = []
    for path in paths:
        try:
            values, autoconnect, psk = settings_of(path)
        except (OSError, KeyError, ValueError, configparser.Error):
            failed.append(path)
            continue
        known = [c for c in settings.ListConnections() if dbusmock.get_object(c).settings["connection"]["uuid"] == values["connection"]["uuid"]]
        if known:
            connection = known[0]
            dbusmock.get_object(connection).settings = values
        else:
            connection = settings.SettingsAddConnection(values)
            rig(connection)
        made = dbusmock.get_object(connection)
        made.settings["connection"]["autoconnect"] = dbus.Boolean(autoconnect)
        made.psk, made.file = psk, path
        made.EmitSignal(nm.CSETTINGS_IFACE, "Updated", "", [])
    return (not failed, dbus.Array(failed, signature="s"))


def rig(connection):
    made = dbusmock.get_object(connection)
    made.psk, made.file = None, None
    delete = made.ConnectionDelete

    def with_file(self):
        if self.file is not None and os.path.exists(self.file):
            os.unlink(self.file)
        delete(self)

    made.ConnectionDelete = with_file
    for name, arguments, answer, code in (
        ("Update2", "a{sa{sv}}ua{sv}", "a{sv}", 'self.ConnectionUpdate(self, args[0]) if args[0] else None; ret = dbus.Dictionary({}, signature="sv")'),
        ("Save", "", "", ""),
        ("ClearSecrets", "", "", ""),
    ):
        made.AddMethod(nm.CSETTINGS_IFACE, name, arguments, answer, code)


def activate(self, conn, dev, ap):
    made = dbusmock.get_object(conn)
    device = dbusmock.get_object(dev)
    wifi = made.settings.get("802-11-wireless")
    point = dbus.ObjectPath("/")
    if wifi is not None and str(wifi.get("mode", "infrastructure")) != "ap":
        ssid = bytes(bytearray(wifi["ssid"]))
        found = [p for p in device.access_points if bytes(bytearray(dbusmock.get_object(p).Get(nm.ACCESS_POINT_IFACE, "Ssid"))) == ssid]
        if not found:
            raise dbus.exceptions.DBusException("The Wi-Fi network could not be found", name=REASON)
        if made.psk is not None and made.psk != PASSPHRASES.get(ssid):
            # As the real one: whatever was active is gone already.
            clear(device, dev)
            raise dbus.exceptions.DBusException("Secrets were required, but not provided.", name=REASON)
        point = dbus.ObjectPath(found[0])
    clear(device, dev)
    path = nm_activate(self, conn, dev, point)
    if wifi is not None:
        change(device, "ActiveAccessPoint", point)
    return path


def change(device, name, value):
    # UpdateProperties of dbusmock fails with an object path.
    device._set_property(nm.WIRELESS_DEVICE_IFACE, name, value)
    changed = dbus.Dictionary({name: value}, signature="sv")
    device.EmitSignal(dbus.PROPERTIES_IFACE, "PropertiesChanged", "sa{sv}as", [nm.WIRELESS_DEVICE_IFACE, changed, dbus.Array([], signature="s")])


def look_around(device):
    # nmcli waits until this is later than its own start.
    change(device, "LastScan", dbus.Int64(time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000))


def clear(device, dev):
    active = device.props[nm.DEVICE_IFACE].get("ActiveConnection", "/")
    if str(active) != "/":
        nm.RemoveActiveConnection(dbusmock.get_object(nm.MANAGER_OBJ), dev, active)


nm_activate = nm.activate_connection
nm.activate_connection = activate


def disconnect(device, dev):
    if str(device.props[nm.DEVICE_IFACE].get("ActiveConnection", "/")) == "/":
        raise dbus.exceptions.DBusException("This device is not active", name=nm.DEVICE_IFACE + ".NotActive")
    clear(device, dev)


def deactivate(self, active):
    for dev in dbusmock.get_object(nm.MANAGER_OBJ).GetDevices():
        device = dbusmock.get_object(dev)
        if device.props[nm.DEVICE_IFACE].get("ActiveConnection") == active:
            made = dbusmock.get_object(active)
            made.UpdateProperties(nm.ACTIVE_CONNECTION_IFACE, {"State": dbus.UInt32(4)})
            made.EmitSignal(nm.ACTIVE_CONNECTION_IFACE, "StateChanged", "uu", [dbus.UInt32(4), dbus.UInt32(2)])
            clear(device, dev)


nm.deactivate_connection = deactivate


@dbus.service.method(nm.MOCK_IFACE, in_signature="", out_signature="")
def Rig(self):
    """Called once, when the mock is there."""
    wlan = self.AddWiFiDevice("mock_WiFi1", "wlan0", 30)
    device = dbusmock.get_object(wlan)
    device.AddProperty(nm.WIRELESS_DEVICE_IFACE, "ActiveAccessPoint", dbus.ObjectPath("/"))
    device.AddProperty(nm.WIRELESS_DEVICE_IFACE, "LastScan", dbus.Int64(0))
    device.look_around = lambda: look_around(device)
    device.AddMethod(nm.WIRELESS_DEVICE_IFACE, "RequestScan", "a{sv}", "", "self.look_around()")
    for name, ssid, mac, frequency, strength, security in POINTS:
        point = self.AddAccessPoint(wlan, name, ssid.decode(errors="replace"), mac, dbus.UInt32(2), dbus.UInt32(frequency), dbus.UInt32(54000), dbus.Byte(strength), dbus.UInt32(security))
        dbusmock.get_object(point).props[nm.ACCESS_POINT_IFACE]["Ssid"] = dbus.ByteArray(ssid)
    rig(self.AddWiFiConnection(wlan, "HomeNet", "HomeNet", "wpa-psk"))
    self.AddEthernetDevice("mock_eth", "eth0", 20)
    for dev in dbusmock.get_object(nm.MANAGER_OBJ).GetDevices():
        made = dbusmock.get_object(dev)
        made.device_disconnect = lambda made=made, dev=dev: disconnect(made, dev)
        made.AddMethod(nm.DEVICE_IFACE, "Disconnect", "", "", "self.device_disconnect()")
    settings = dbusmock.get_object(nm.SETTINGS_OBJ)
    settings.load_connections = lambda paths: load_connections(settings, paths)
    settings.AddMethod(nm.SETTINGS_IFACE, "LoadConnections", "as", "bas", "ret = self.load_connections(args[0])")


nm.Rig = Rig


def load(mock, parameters):
    nm.load(mock, parameters)
