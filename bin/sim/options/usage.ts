import { SIM_HOME } from '../../../shared/landscape/place.ts';

/** As `--home` takes it. */
export const DEFAULT_HOME = [SIM_HOME.lat, SIM_HOME.lon, SIM_HOME.alt, SIM_HOME.heading].join();

export const USAGE = `svc-sim: simulated vehicles that speak MAVLink 2
link, one of:
  --host ADDR --port N         TCP server with one client (127.0.0.1, 5762; 0: any free port)
  --udp-out HOST:PORT          sends there, and hears only from there
  --udp-in HOST:PORT           listens there, and answers whoever spoke last
  --serial PATH --baud N       serial device or pty (115200)
vehicle:
  --vehicle copter|plane|rover|sub
                               ArduPilot's family: type and modes; the flight itself is the same point mass (copter)
  --sysid N                    system id (1)
  --uid N                      unique id of the board (the system id)
  --home LAT,LON,ALT,HEADING   (${DEFAULT_HOME})
  --speedup N                  simulated time runs N times faster (1)
  --mode N                     mode at boot, custom_mode (0 STABILIZE)
  --settle MS                  from boot until the EKF has a position (1500)
  --param-rate N               parameters a second in a list download (200)
  --param-count N              fills the parameters up to N with SIM_FILL_nnnn
  --logs N --log-size BYTES    logs on board, and how large each is (2, 50000)
  --log-rate N                 bytes of logs a second (1000000)
  --adsb N                     N other aircraft circle around, and its receiver hears them (0)
  --no-mission                 no built-in mission
  --no-ftp                     no MAVLink FTP
  --signing-key HEX            64 digits: signs and asks for signatures from the start
  --seed N                     of what is random (1)
fleet:
  --fleet N                    N vehicles, system ids from --sysid on, 20 m apart, TCP ports from --port on (1)
  --shared                     all of them on one link`;
