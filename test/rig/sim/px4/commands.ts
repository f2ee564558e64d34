import { MavSeverity } from '../../../../bin/sim/flight/craft.ts';
import { fromFrame } from '../../../../bin/sim/flight/mission.ts';
import {
  type Command,
  type CommandDeck,
  calibrate,
  getHome,
  getInterval,
  type Handler,
  lookAt,
  rebootVehicle,
  requestCapabilities,
  setHome,
} from '../../../../bin/sim/mavlink/commands.ts';
import { MavResult } from '../../../../bin/sim/mavlink-values.ts';
import { COMPONENT_METADATA } from './events.ts';
import { customMode } from './modes.ts';

const { ACCEPTED, TEMPORARILY_REJECTED, DENIED, UNSUPPORTED, FAILED } = MavResult;
const FORCE = 21196;
const MAIN_AUTO = 4;
const SUB_MISSION = 4;
const GROUND_STATION = 190;
const AMSL = 0;

/**
 * PX4 1.15's commands, by MAV_CMD, as its Commander answers them. MAV_CMD_DO_PAUSE_CONTINUE is not among them: PX4 has
 * no handler for it, and a mission pauses by AUTO.LOITER or by a DO_REPOSITION without a place.
 */
export const PX4_COMMANDS: ReadonlyMap<number, Handler> = new Map<number, Handler>([
  [20, (deck) => go(deck, deck.roles.rtl, 'Returning to launch')],
  [21, (deck) => go(deck, deck.roles.land, 'Landing at current position')],
  [22, takeOff],
  [176, setMode],
  [34, orbit],
  [178, changeSpeed],
  [179, (deck, command) => orRejected(setHome(deck, { ...command, frame: AMSL }))],
  [192, reposition],
  [195, lookAt],
  [197, () => ACCEPTED],
  [203, () => ACCEPTED],
  [209, testMotor],
  [241, calibrate],
  [245, storage],
  [246, (deck, command) => orDenied(rebootVehicle(deck, command))],
  [300, startMission],
  [400, armDisarm],
  [401, runChecks],
  [410, (deck) => orRejected(getHome(deck))],
  [510, getInterval],
  [511, ({ streams }, { p1, p2 }) => (streams.setInterval(p1, p2) ? ACCEPTED : FAILED)],
  [512, requestMessage],
  [520, requestCapabilities],
]);

/** Commander::handle_command_motor_test: percent of one motor, for 3 s at most. */
function testMotor({ craft }: CommandDeck, { p1, p2, p3, p4 }: Command): MavResult {
  if (craft.vehicle.armed || craft.params.find('COM_MOT_TEST_EN')?.value === 0) return DENIED;
  if (p2 !== 0) return UNSUPPORTED;
  const seconds = p4 === 0 || p4 > 3 ? 3 : p4;
  craft.vehicle.testMotor(Math.round(p1), Math.min(1, Math.max(0, p3 / 100)), seconds);
  return ACCEPTED;
}

/** MAV_CMD_PREFLIGHT_STORAGE; a number that it does not know gets no answer from PX4, and UNSUPPORTED here. */
function storage({ craft }: CommandDeck, { p1 }: Command): MavResult {
  if (craft.vehicle.armed) return TEMPORARILY_REJECTED;
  if (p1 === 0 || p1 === 1) return ACCEPTED; // loads and saves what is in use anyway
  if (p1 !== 2) return UNSUPPORTED;
  craft.params.reset(['LND_FLIGHT_T_HI', 'LND_FLIGHT_T_LO', 'COM_FLIGHT_UUID']);
  return ACCEPTED;
}

function orRejected(result: MavResult): MavResult {
  return result === FAILED ? TEMPORARILY_REJECTED : result;
}

function orDenied(result: MavResult): MavResult {
  return result === FAILED ? DENIED : result;
}

function go({ craft, modes }: CommandDeck, mode: number, text?: string): MavResult {
  if (!modes.set(mode)) return TEMPORARILY_REJECTED;
  if (text !== undefined) craft.text(MavSeverity.INFO, text);
  return ACCEPTED;
}

// The magic number forces a disarming only: an arming that comes by MAVLink is always checked.
function armDisarm({ craft, arming, events }: CommandDeck, { p1, p2 }: Command): MavResult {
  const command = Math.round(p1);
  if (command === 1) return arming.arm(false) ? ACCEPTED : TEMPORARILY_REJECTED;
  if (command !== 0) return UNSUPPORTED;
  if (arming.disarm(Math.round(p2) === FORCE)) return ACCEPTED;
  craft.text(MavSeverity.CRITICAL, 'Disarming denied: not landed');
  events?.notLanded();
  return TEMPORARILY_REJECTED;
}

function runChecks({ report }: CommandDeck): MavResult {
  report();
  return ACCEPTED;
}

function requestMessage({ streams, events }: CommandDeck, { p1 }: Command): MavResult {
  if (p1 !== COMPONENT_METADATA || events === undefined) {
    return streams.interval(p1) !== undefined && streams.sendNow(p1) ? ACCEPTED : DENIED;
  }
  events.metadata();
  return ACCEPTED;
}

// The older form, a base mode without a custom mode, is not there.
function setMode({ modes, roles }: CommandDeck, { from, p1, p2, p3 }: Command): MavResult {
  const custom = 1;
  if ((p1 & custom) === 0) return DENIED;
  const main = p2 & 0xff;
  const number = main === MAIN_AUTO ? customMode(main, p3 & 0xff || SUB_MISSION) : customMode(main);
  // An unknown main mode is accepted and changes nothing; only an unknown sub mode of AUTO is an error.
  if (main !== MAIN_AUTO && !roles.all.some((mode) => mode.number === number)) return ACCEPTED;
  // Only a ground station (MAV_COMP_ID_MISSIONPLANNER) is told in words why not.
  return modes.set(number, from !== GROUND_STATION) ? ACCEPTED : TEMPORARILY_REJECTED;
}

// The altitude is above sea level; NaN means MIS_TAKEOFF_ALT above here. It may be told before arming. One below the vehicle, such
// as an altitude above home, does not bring it down, nor off the ground.
function takeOff(deck: CommandDeck, { alt }: Command): MavResult {
  const { craft, roles } = deck;
  const result = go(deck, roles.takeoff.number);
  if (result !== ACCEPTED) return result;
  const { vehicle, params } = craft;
  const byDefault = params.get('MIS_TAKEOFF_ALT');
  if (!Number.isFinite(alt)) {
    craft.text(MavSeverity.INFO, `Using default takeoff altitude: ${byDefault.toFixed(1)} m`);
  }
  const asked = Number.isFinite(alt) ? alt - vehicle.home.alt : vehicle.height + byDefault;
  if (asked < vehicle.height) craft.text(MavSeverity.CRITICAL, 'Already higher than takeoff altitude');
  roles.takeoff.takeOff(Math.max(asked, vehicle.height));
  return ACCEPTED;
}

// A place or an altitude that is NaN (in COMMAND_INT: out of range) stays as it is: that is how a vehicle is paused.
function reposition(deck: CommandDeck, { p2, p4, lat, lon, alt }: Command): MavResult {
  const { craft, roles } = deck;
  const changeMode = 1; // MAV_DO_REPOSITION_FLAGS_CHANGE_MODE: without it, or with another bit, PX4 does nothing
  if (p2 !== changeMode) return UNSUPPORTED;
  const result = go(deck, roles.guided.number);
  if (result !== ACCEPTED) return result;
  const { vehicle } = craft;
  const somewhere = Math.abs(lat) <= 90 && Math.abs(lon) <= 180 && (lat !== 0 || lon !== 0);
  if (!somewhere && !Number.isFinite(alt)) {
    roles.guided.enter();
    if (Number.isFinite(p4)) roles.guided.turn(p4); // radians, other than MAVLink says
    return ACCEPTED;
  }
  const place = somewhere ? { lat, lon } : vehicle.location;
  const height = Number.isFinite(alt) ? alt : vehicle.location.alt;
  const target = fromFrame(vehicle.origin, vehicle.home, AMSL, place.lat, place.lon, height);
  roles.guided.goTo(target, Number.isFinite(p4) ? p4 : undefined);
  return ACCEPTED;
}

// Always acknowledged; a speed that is not positive brings the default back.
function changeSpeed({ craft }: CommandDeck, { p2 }: Command): MavResult {
  craft.cruise = p2 > 0 ? p2 : undefined;
  return ACCEPTED;
}

// Holds at the place: how it circles is not simulated.
function orbit(deck: CommandDeck, { lat, lon, alt, ...command }: Command): MavResult {
  return reposition(deck, { ...command, p2: 1, p4: NaN, lat, lon, alt });
}

// It arms too, other than ArduPilot's.
function startMission(deck: CommandDeck, { p1 }: Command): MavResult {
  const { craft, arming, mission, roles } = deck;
  if (mission.items.length === 0) {
    craft.text(MavSeverity.CRITICAL, 'Mission start denied! No valid mission');
    return DENIED;
  }
  if (!(p1 >= -1 && p1 < mission.items.length)) return DENIED; // -1: where it is
  const result = go(deck, roles.auto.number);
  if (result !== ACCEPTED) return result;
  if (!arming.arm(false)) return TEMPORARILY_REJECTED;
  if (mission.state === 'complete' || p1 > 0) mission.jump(p1);
  return ACCEPTED;
}
