"""What users of MAVSDK do: mavsdk_client.py tcp|udp HOST:PORT ardupilot|px4 [camera] [short]"""

import asyncio
import math
import os
import socket
import sys
import tempfile
import time

from mavsdk import System
from mavsdk.action import OrbitYawBehavior
from mavsdk.mission_raw import MissionItem
from mavsdk.offboard import VelocityNedYaw

from report import digest, say

TRANSPORT, ADDRESS, FIRMWARE = sys.argv[1:4]
CAMERA = "camera" in sys.argv
PX4 = FIRMWARE == "px4"
# A parameter of type float that holds nothing in flight, and the seconds without thrust after which the motors stop.
SPEED = ("MPC_XY_CRUISE", 6.0) if PX4 else ("RTL_ALT_FINAL", 0.0)
IDLE = ("COM_DISARM_PRFLT", 0.0) if PX4 else ("DISARM_DELAY", 0)
GUARDED = ("MIS_TAKEOFF_ALT", 8.0) if PX4 else ("WPNAV_SPEED", 450.0)
FILE = "/etc/extras/component_general.json.xz" if PX4 else "@PARAM/param.pck"
NORTH = 1 / 111_319  # degrees of a metre


async def call(name, awaitable, limit=30, detail=lambda result: None):
    """One call, with the client's own word for its end."""
    start = time.monotonic()
    result = None
    try:
        result = await asyncio.wait_for(awaitable, limit)
        outcome = "ok"
    except asyncio.TimeoutError:
        outcome = "no end"
    except Exception as error:  # each plugin has a class of its own, all of this shape
        if not hasattr(error, "_result"):
            raise
        outcome = error._result.result.name
    say(name, outcome, detail(result) if outcome == "ok" else None, round((time.monotonic() - start) * 1000))
    return result if outcome == "ok" else None


async def until(stream, wanted):
    async for value in stream:
        if wanted(value):
            return value
    raise RuntimeError("the stream ended")


async def everything(stream):
    return [value async for value in stream]


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def item(seq, command, lat, lon, alt, frame=6, current=0, p1=0.0):
    return MissionItem(seq, frame, command, current, 1, p1, 0.0, 0.0, 0.0, round(lat * 1e7), round(lon * 1e7), alt, 0)


def mission(place):
    lat, lon = place.latitude_deg, place.longitude_deg
    legs = [
        item(0, 22, lat, lon, 10.0, current=1),
        item(1, 16, lat + 40 * NORTH, lon, 12.0),
        item(2, 16, lat + 40 * NORTH, lon + 40 * NORTH, 12.0),
        item(3, 16, lat, lon + 40 * NORTH, 12.0),
    ]
    if PX4:
        return legs
    # ArduPilot's item 0 is home.
    home = item(0, 16, lat, lon, place.absolute_altitude_m, frame=0, current=1)
    for leg in legs:
        leg.seq += 1
        leg.current = 0
    return [home, *legs]


def comparable(items):
    return digest([[i.seq, i.frame, i.command, i.param1, i.x, i.y, i.z] for i in items])


async def parameters(drone):
    everything_known = await drone.param.get_all_params()
    values = {p.name: p.value for p in [*everything_known.int_params, *everything_known.float_params]}
    return values


async def guarded(drone, when):
    """The write that the guard refuses; then what the vehicle holds."""
    name, value = GUARDED
    await call(f"write a parameter {when}", drone.param.set_param_float(name, value))
    await call(f"read it {when}", drone.param.get_param_float(name), detail=float)


async def connected():
    # MAVSDK's own server takes the port some time after it was free: somebody else may have it then.
    for left in (2, 1, 0):
        drone = System(port=free_port())
        try:
            await asyncio.wait_for(drone.connect(f"{TRANSPORT}out://{ADDRESS}"), 20)
            return drone
        except asyncio.TimeoutError:
            if left == 0:
                raise


async def main():
    drone = await connected()
    await call("connect", until(drone.core.connection_state(), lambda state: state.is_connected))
    await call("version", drone.info.get_version(), detail=lambda v: f"{v.flight_sw_major}.{v.flight_sw_minor}.{v.flight_sw_patch}")
    # ArduPilot tells nothing unasked.
    await call("rate of the health", drone.telemetry.set_rate_health(5.0))
    await call("rate of the position", drone.telemetry.set_rate_position(10.0))
    await call("rate of home", drone.telemetry.set_rate_home(1.0))
    await call("ready", until(drone.telemetry.health(), lambda h: h.is_global_position_ok and h.is_home_position_ok and h.is_armable))
    place = await call("position", until(drone.telemetry.position(), lambda p: p.latitude_deg != 0))
    await call("all parameters", parameters(drone), detail=digest)
    name, value = IDLE
    write = drone.param.set_param_float if isinstance(value, float) else drone.param.set_param_int
    await call("write a parameter", write(name, value))
    read = drone.param.get_param_float if isinstance(value, float) else drone.param.get_param_int
    await call("read it", read(name), detail=float)
    await call("write an unknown parameter", drone.param.set_param_float("NO_SUCH_NAME", 1.0))
    if "short" in sys.argv:
        return
    await call("read it before arming", drone.param.get_param_float(GUARDED[0]), detail=float)

    items = mission(place)
    await call("mission up", drone.mission_raw.upload_mission(items))
    await call("mission down", drone.mission_raw.download_mission(), detail=comparable)
    await call("mission clear", drone.mission_raw.clear_mission())
    await call("mission up again", drone.mission_raw.upload_mission(items))

    with tempfile.TemporaryDirectory() as folder:
        entries = await call("logs", drone.log_files.get_entries(), detail=lambda logs: [[e.id, e.size_bytes] for e in logs])
        path = os.path.join(folder, "one.log")
        if entries:
            await call(
                "log download",
                everything(drone.log_files.download_log_file(entries[0], path)),
                detail=lambda _: digest(open(path, "rb").read()),
            )
        await call(
            "file download",
            everything(drone.ftp.download(FILE, folder, False)),
            detail=lambda _: digest(open(os.path.join(folder, os.path.basename(FILE)), "rb").read()),
        )
        await call("file download in a burst", everything(drone.ftp.download(FILE, folder, True)))
        await call("file upload", everything(drone.ftp.upload(__file__, "/")))
        await call("folder", drone.ftp.list_directory("/"), detail=lambda found: [list(found.dirs), list(found.files)])

    await call("gyro calibration", everything(drone.calibration.calibrate_gyro()), 60)
    await asyncio.sleep(1)  # PX4 does not arm for a moment after a calibration
    if CAMERA:
        await call("camera", until(drone.camera.camera_list(), lambda c: len(c.cameras) > 0), 15)
        await call("photo", drone.camera.take_photo(100))

    await call("arm", drone.action.arm())
    start = time.monotonic()
    for delay in (0, 0.3, 0.6, 1.5, 3):
        await asyncio.sleep(max(0, start + delay - time.monotonic()))
        await guarded(drone, f"{delay} s after arming")
    await call("gyro calibration while armed", everything(drone.calibration.calibrate_gyro()))
    await call("reboot while armed", drone.action.reboot())

    await call("take-off height", drone.action.set_takeoff_altitude(10.0))
    await call("take off", drone.action.takeoff())
    height = lambda least: until(drone.telemetry.position(), lambda p: p.relative_altitude_m > least)
    await call("up", height(2.0 if PX4 else 7.0))
    await guarded(drone, "in the air")
    await call("file upload in the air", everything(drone.ftp.upload(__file__, "/")))
    await call("gyro calibration in the air", everything(drone.calibration.calibrate_gyro()))
    lat, lon, alt = place.latitude_deg, place.longitude_deg, place.absolute_altitude_m
    there = lat + 30 * NORTH
    await call("go", drone.action.goto_location(there, lon, alt + 15, math.nan))
    await call("there", until(drone.telemetry.position(), lambda p: abs(p.latitude_deg - there) < 2 * NORTH))
    await call("hold", drone.action.hold())

    await asyncio.sleep(0.5)  # a second acknowledgement of the same command would count for the next one
    await call("offboard set", drone.offboard.set_velocity_ned(VelocityNedYaw(3.0, 0.0, 0.0, 0.0)))
    await call("offboard start", drone.offboard.start())
    await call("offboard moves", until(drone.telemetry.position(), lambda p: p.latitude_deg > there + 10 * NORTH))
    await call("offboard stop", drone.offboard.stop())

    await call("mission start", drone.mission_raw.start_mission())
    await call("on its way", until(drone.mission_raw.mission_progress(), lambda p: p.current >= 2))
    await call("mission pause", drone.mission_raw.pause_mission())
    await call("mission resume", drone.mission_raw.start_mission())
    await call("return", drone.action.return_to_launch())
    await call("home", until(drone.telemetry.position(), lambda p: abs(p.latitude_deg - lat) < 2 * NORTH), 60)
    await call("land", drone.action.land())
    await call("down", until(drone.telemetry.armed(), lambda a: not a), 60)
    await call("write a parameter afterwards", drone.param.set_param_float(*GUARDED))
    await call("read it afterwards", drone.param.get_param_float(GUARDED[0]), detail=float)
    # Last: an orbit in the frame that MAVSDK names ends its server, some retransmissions later, where PX4 refuses the frame.
    await call("orbit", drone.action.do_orbit(10.0, 2.0, OrbitYawBehavior.HOLD_FRONT_TO_CIRCLE_CENTER, there, lon, alt + 15))


asyncio.run(main())
