"""ModemManager's objects as its documentation has them (ModemManager D-Bus reference 1.20), made by python-dbusmock: modems, SIMs and
bearers that the real mmcli reads and the real NetworkManager connects. A PIN is compared with the SIM's own; three wrong ones block it.
Usage: python3 -m dbusmock --system --template modem-mock.py"""
import json

import dbus
import dbusmock

BUS_NAME = "org.freedesktop.ModemManager1"
MAIN_OBJ = "/org/freedesktop/ModemManager1"
MAIN_IFACE = BUS_NAME
SYSTEM_BUS, IS_OBJECT_MANAGER = True, True

MODEM = BUS_NAME + ".Modem"
GPP = MODEM + ".Modem3gpp"
SIMPLE = MODEM + ".Simple"
SIGNAL = MODEM + ".Signal"
SIM = BUS_NAME + ".Sim"
BEARER = BUS_NAME + ".Bearer"
EQUIPMENT = BUS_NAME + ".Error.MobileEquipment."

# MMModemState, MMModemLock, MMModemStateFailedReason
FAILED, LOCKED, DISABLED, REGISTERED, CONNECTED = -1, 2, 3, 8, 11
NO_LOCK, PIN_LOCK, PUK_LOCK = 1, 2, 4
SIM_MISSING = 2

S = lambda text: dbus.String(text)
U = dbus.UInt32
NONE = dbus.ObjectPath("/")


def values(**pairs):
    return dbus.Dictionary(pairs, signature="sv")


def paths(*items):
    return dbus.Array([dbus.ObjectPath(item) for item in items], signature="o")


def retries(count):
    return dbus.Dictionary({U(PIN_LOCK): U(count), U(PUK_LOCK): U(10)} if count is not None else {}, signature="uu")


def put(path, iface, **changes):
    """dbusmock's UpdateProperties, which does not take an object path."""
    made = dbusmock.get_object(path)
    for name, value in changes.items():
        made.props[iface][name] = value
    made.EmitSignal(dbus.PROPERTIES_IFACE, "PropertiesChanged", "sa{sv}as", [iface, values(**changes), dbus.Array([], signature="s")])


def state(path, value):
    made = dbusmock.get_object(path)
    old = made.props[MODEM]["State"]
    put(path, MODEM, State=dbus.Int32(value))
    made.EmitSignal(MODEM, "StateChanged", "iiu", [dbus.Int32(old), dbus.Int32(value), U(1)])


def send_pin(path, sim, pin):
    made, card = dbusmock.get_object(path), dbusmock.get_object(sim)
    main = dbusmock.get_object(MAIN_OBJ)
    main.sent.append(str(pin))
    if made.props[MODEM]["UnlockRequired"] == U(PUK_LOCK):
        raise dbus.exceptions.DBusException("SIM PUK required", name=EQUIPMENT + "SimPuk")
    if str(pin) == card.pin:
        card.left = 3
        put(path, MODEM, UnlockRequired=U(NO_LOCK), UnlockRetries=retries(3))
        state(path, DISABLED)
        return
    if card.left is not None:
        card.left -= 1
    put(path, MODEM, UnlockRetries=retries(card.left))
    if card.left == 0:
        put(path, MODEM, UnlockRequired=U(PUK_LOCK))
        raise dbus.exceptions.DBusException("SIM PUK required", name=EQUIPMENT + "SimPuk")
    raise dbus.exceptions.DBusException("Incorrect password", name=EQUIPMENT + "IncorrectPassword")


def register(path):
    given = dbusmock.get_object(path).given
    put(path, MODEM, AccessTechnologies=U(given.get("technology", 1 << 14)), SignalQuality=dbus.Struct((U(given.get("quality", 67)), True), signature="ub"))
    put(path, GPP, RegistrationState=U(5 if given.get("roaming") else 1), OperatorCode=S("90170"), OperatorName=S(given.get("operator", "Test Carrier")))
    state(path, REGISTERED)


def enable(path, on):
    made = dbusmock.get_object(path)
    if made.props[MODEM]["UnlockRequired"] != U(NO_LOCK):
        raise dbus.exceptions.DBusException("modem is locked", name=BUS_NAME + ".Error.Core.WrongState")
    if not on:
        put(path, MODEM, AccessTechnologies=U(0), SignalQuality=dbus.Struct((U(0), False), signature="ub"))
        state(path, DISABLED)
    elif made.props[MODEM]["State"] < REGISTERED:
        register(path)


def connect(path, asked):
    made = dbusmock.get_object(path)
    main = dbusmock.get_object(MAIN_OBJ)
    main.connects.append({str(key): str(value) for key, value in asked.items()})
    if made.given.get("vanish_on_connect"):
        remove(path)
        raise dbus.exceptions.DBusException("modem is gone", name=BUS_NAME + ".Error.Core.Removed")
    if str(asked.get("apn", "")) in ("wrong.apn",):
        raise dbus.exceptions.DBusException("Requested service option not subscribed", name=EQUIPMENT + "GprsServiceOptionNotSubscribed")
    if made.given.get("roaming") and not bool(asked.get("allow-roaming", True)):
        raise dbus.exceptions.DBusException("Roaming is not allowed", name=BUS_NAME + ".Error.Core.Unauthorized")
    enable(path, True)
    bearer = f"{MAIN_OBJ}/Bearer/{path.rsplit('/', 1)[1]}"
    main.AddObject(bearer, BEARER, {
        "Interface": S(made.given.get("net", "wwan0")), "Connected": dbus.Boolean(True), "Suspended": dbus.Boolean(False), "Multiplexed": dbus.Boolean(False),
        "Ip4Config": values(method=U(2), address=S(made.given.get("address", "10.64.0.2")), prefix=U(24), gateway=S(made.given.get("gateway", "10.64.0.1")), mtu=U(1500)),
        "Ip6Config": values(method=U(0)), "Stats": values(**{"rx-bytes": dbus.UInt64(123456), "tx-bytes": dbus.UInt64(6543), "duration": U(12), "attempts": U(1)}),
        "IpTimeout": U(20), "BearerType": U(1), "ReloadStatsSupported": dbus.Boolean(True), "ProfileId": dbus.Int32(-1),
        "Properties": values(**{"apn": S(str(asked.get("apn", ""))), "ip-type": U(1)}),
    }, [("Connect", "", "", ""), ("Disconnect", "", "", "")])
    put(path, MODEM, Bearers=paths(bearer))
    state(path, CONNECTED)
    return dbus.ObjectPath(bearer)


def disconnect(path):
    main = dbusmock.get_object(MAIN_OBJ)
    for bearer in list(dbusmock.get_object(path).props[MODEM]["Bearers"]):
        main.RemoveObject(bearer)
    put(path, MODEM, Bearers=paths())
    if dbusmock.get_object(path).props[MODEM]["State"] == CONNECTED:
        state(path, REGISTERED)


def remove(path):
    main = dbusmock.get_object(MAIN_OBJ)
    gone = dbusmock.get_object(path).props[MODEM]
    main.object_manager_emit_removed(path)
    for other in [*gone["Bearers"], gone["Sim"], path]:
        if str(other) != "/":
            main.RemoveObject(other)


@dbus.service.method(dbusmock.MOCK_IFACE, in_signature="us", out_signature="")
def AddModem(self, number, text):
    """`text`: JSON with what is not as usual: sim (absent, pin, puk, ready), pin, left, operator, quality, technology, roaming,
    port, net, identifier, iccid, address, gateway, vanish_on_connect."""
    given = json.loads(text)
    path, sim = f"{MAIN_OBJ}/Modem/{number}", f"{MAIN_OBJ}/SIM/{number}"
    lock = given.get("sim", "ready")
    has_sim = lock != "absent"
    port, net = given.get("port", "cdc-wdm0"), given.get("net", "wwan0")
    left = 0 if lock == "puk" else given.get("left", 3)
    self.AddObject(path, MODEM, {
        "Sim": dbus.ObjectPath(sim) if has_sim else NONE, "SimSlots": paths(), "PrimarySimSlot": U(0), "Bearers": paths(),
        "SupportedCapabilities": dbus.Array([U(12)], signature="u"), "CurrentCapabilities": U(12), "MaxBearers": U(1), "MaxActiveBearers": U(1), "MaxActiveMultiplexedBearers": U(0),
        "Manufacturer": S("QUALCOMM"), "Model": S("Mock"), "Revision": S("1"), "CarrierConfiguration": S(""), "CarrierConfigurationRevision": S(""), "HardwareRevision": S("1"),
        "DeviceIdentifier": S(given.get("identifier", f"{number:040x}")), "Device": S(f"/sys/devices/mock/usb{number}"), "Drivers": dbus.Array(["qmi_wwan"], signature="s"), "Plugin": S("generic"),
        "PrimaryPort": S(port), "Ports": dbus.Array([(port, U(6)), (net, U(2))], signature="(su)"), "EquipmentIdentifier": S("490154203237518"),
        "UnlockRequired": U({"absent": 0, "ready": NO_LOCK, "pin": PIN_LOCK, "puk": PUK_LOCK}[lock]), "UnlockRetries": retries(left),
        "State": dbus.Int32({"absent": FAILED, "ready": DISABLED, "pin": LOCKED, "puk": LOCKED}[lock]), "StateFailedReason": U(SIM_MISSING if not has_sim else 0),
        "AccessTechnologies": U(0), "SignalQuality": dbus.Struct((U(0), False), signature="ub"), "OwnNumbers": dbus.Array([], signature="s"), "PowerState": U(3),
        "SupportedModes": dbus.Array([(U(8), U(0))], signature="(uu)"), "CurrentModes": dbus.Struct((U(8), U(0)), signature="uu"),
        "SupportedBands": dbus.Array([U(33)], signature="u"), "CurrentBands": dbus.Array([U(33)], signature="u"), "SupportedIpFamilies": U(1),
    }, [])
    made = dbusmock.get_object(path)
    made.given = given
    made.enable, made.connect, made.disconnect = (lambda on: enable(path, on)), (lambda asked: connect(path, asked)), (lambda: disconnect(path))
    made.signal = lambda rate: put(path, SIGNAL, Rate=U(rate), Lte=values(rsrp=dbus.Double(-97.5), rsrq=dbus.Double(-11.0), snr=dbus.Double(9.8), rssi=dbus.Double(-70.0)) if rate else values())
    made.AddMethods(MODEM, [("Enable", "b", "", "self.enable(args[0])"), ("ListBearers", "", "ao", f'ret = self.props["{MODEM}"]["Bearers"]'), ("DeleteBearer", "o", "", "self.disconnect()"), ("SetPowerState", "u", "", "")])
    if has_sim:
        made.AddProperties(GPP, {
            "Imei": S("490154203237518"), "RegistrationState": U(0), "OperatorCode": S(""), "OperatorName": S(""), "EnabledFacilityLocks": U(1), "SubscriptionState": U(0),
            "EpsUeModeOperation": U(2), "Pco": dbus.Array([], signature="(ubay)"), "InitialEpsBearer": NONE, "InitialEpsBearerSettings": values(), "PacketServiceState": U(2),
        })
        made.AddProperties(SIGNAL, {"Rate": U(0), "RssiThreshold": U(0), "ErrorRateThreshold": dbus.Boolean(False), **{name: values() for name in ("Cdma", "Evdo", "Gsm", "Umts", "Lte", "Nr5g")}})
        made.AddMethods(SIGNAL, [("Setup", "u", "", "self.signal(args[0])")])
        made.props.setdefault(SIMPLE, {})  # it has none, but counts as there only so
        made.AddMethods(SIMPLE, [
            ("Connect", "a{sv}", "o", "ret = self.connect(args[0])"), ("Disconnect", "o", "", "self.disconnect()"),
            ("GetStatus", "", "a{sv}", f'ret = dbus.Dictionary({{"state": self.props["{MODEM}"]["State"]}}, signature="sv")'),
        ])
        self.AddObject(sim, SIM, {
            "Active": dbus.Boolean(True), "SimIdentifier": S(given.get("iccid", f"8988211000000000{number:04}")), "Imsi": S("" if lock != "ready" else "901700000000001"), "Eid": S(""),
            "OperatorIdentifier": S(""), "OperatorName": S(""), "EmergencyNumbers": dbus.Array([], signature="s"), "PreferredNetworks": dbus.Array([], signature="(su)"),
            "Gid1": dbus.ByteArray(b""), "Gid2": dbus.ByteArray(b""), "SimType": U(1), "EsimStatus": U(0), "Removability": U(1),
        }, [])
        card = dbusmock.get_object(sim)
        card.pin, card.left = given.get("pin", "1234"), left
        card.send_pin = lambda pin: send_pin(path, sim, pin)
        card.AddMethods(SIM, [("SendPin", "s", "", "self.send_pin(args[0])"), ("SendPuk", "ss", "", "")])
    self.object_manager_emit_added(path)


@dbus.service.method(dbusmock.MOCK_IFACE, in_signature="u", out_signature="")
def RemoveModem(self, number):
    remove(f"{MAIN_OBJ}/Modem/{number}")


@dbus.service.method(dbusmock.MOCK_IFACE, in_signature="", out_signature="s")
def Asked(self):
    """What was sent to SIMs and asked of modems: JSON."""
    return json.dumps({"pins": self.sent, "connects": self.connects})


def load(mock, parameters):
    mock.sent, mock.connects = [], []
    mock.AddProperties(MAIN_IFACE, {"Version": "1.20.4"})
    # The manager has modems; their SIMs and bearers are looked up one by one.
    mock.modems = lambda: {path: dbusmock.get_object(path).props for path in dbusmock.mockobject.objects if "/Modem/" in path}
    mock.AddMethod("org.freedesktop.DBus.ObjectManager", "GetManagedObjects", "", "a{oa{sa{sv}}}", "ret = dbus.Dictionary(self.modems(), signature='oa{sa{sv}}')")
    mock.AddMethods(MAIN_IFACE, [("ScanDevices", "", "", ""), ("SetLogging", "s", "", "")])
