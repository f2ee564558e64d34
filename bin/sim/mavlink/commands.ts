import type { Faults } from '../faults.ts';
import type { Arming } from '../flight/arming.ts';
import { type Craft, MavSeverity } from '../flight/craft.ts';
import { FRAMES, fromFrame, type Mission, NAV } from '../flight/mission.ts';
import type { ModeSet } from '../flight/mode-set.ts';
import type { Modes } from '../flight/modes.ts';
import { MavResult } from '../mavlink-values.ts';
import type { Answer, Calibration } from './calibration.ts';
import type { Channel } from './channel.ts';
import { MessageInterval } from './messages.ts';
import type { Streams } from './streams.ts';
import type { VehicleEvents } from './vehicle-events.ts';

/** COMMAND_LONG and COMMAND_INT in one shape. `lat`, `lon` in degrees, `alt` in metres in the MAV_FRAME `frame`. */
export interface Command {
  readonly id: number;
  /** Component id of whoever gives it. */
  readonly from: number;
  readonly p1: number;
  readonly p2: number;
  readonly p3: number;
  readonly p4: number;
  readonly lat: number;
  readonly lon: number;
  readonly alt: number;
  readonly frame: number;
}

/** What commands act on. */
export interface CommandDeck {
  readonly craft: Craft;
  readonly channel: Channel;
  readonly arming: Arming;
  readonly modes: Modes;
  /** The modes that play a part in commands. */
  readonly roles: ModeSet;
  readonly firmware: CommandDialect;
  readonly faults: Faults;
  readonly mission: Mission;
  readonly streams: Streams;
  readonly calibration: Calibration;
  /** Reboots soon, after the ack has gone out. */
  readonly reboot: () => void;
  readonly banner: () => void;
  readonly events: VehicleEvents | undefined;
  /** Says what keeps it from arming, as texts or as events. */
  readonly report: () => void;
}

/** Carries one command out. @returns undefined: the ack comes later, by `answer` */
export type Handler = (deck: CommandDeck, command: Command, answer: Answer) => MavResult | undefined;

/** Which commands a firmware has, and how they reach it. */
export interface CommandDialect {
  readonly commands: ReadonlyMap<number, Handler>;
  /** What the SET_MODE message means as MAV_CMD_DO_SET_MODE (parameters 2 and 3), and the number it is acknowledged under. */
  setMode(customMode: number): { readonly ack: number; readonly params: readonly number[] };
  /** The only MAV_FRAME that a COMMAND_INT may have, whatever the command; undefined: each command looks for itself. */
  readonly intFrame: number | undefined;
  /** The MAV_FRAME that a COMMAND_LONG's altitude is in; undefined: that command comes as COMMAND_INT alone. */
  longFrame(command: number): number | undefined;
  /** Whether the banner comes with a parameter list. */
  readonly bannerWithParams: boolean;
  /** Sticks of every ground station count; else those of the one that SYSID_MYGCS names. */
  readonly sticksOfAnyone: boolean;
}

const { ACCEPTED, DENIED, FAILED, TEMPORARILY_REJECTED, UNSUPPORTED } = MavResult;
const FORCE_ARM = 2989;
const FORCE_EITHER_WAY = 21196;
const AUTOPILOT_VERSION = 148;
const HOME_POSITION = 242;
const MISSION_CURRENT = 42;
const SET_MESSAGE_INTERVAL = 511;

const accepted = (done: boolean): MavResult => (done ? ACCEPTED : FAILED);

/** ArduCopter's commands, by MAV_CMD. */
export const ARDUPILOT_COMMANDS: ReadonlyMap<number, Handler> = new Map<number, Handler>([
  [20, ({ modes, roles }) => accepted(modes.set(roles.rtl))],
  [21, ({ modes, roles }) => accepted(modes.set(roles.land))],
  [22, takeOff],
  [115, turn],
  [176, setMode],
  [178, changeSpeed],
  [179, setHome],
  [181, () => FAILED], // none is set up
  [183, setServo],
  [192, reposition],
  [193, pauseContinue],
  [195, lookAt],
  [197, () => ACCEPTED],
  [203, () => ACCEPTED],
  [205, () => FAILED], // no mount is set up
  [209, testMotor],
  [224, setMissionCurrent],
  [241, calibrate],
  [245, eraseParams],
  [246, rebootVehicle],
  [300, startMission],
  [400, armDisarm],
  [401, runChecks],
  [410, getHome],
  [510, getInterval],
  [511, messageInterval],
  [512, requestMessage],
  [520, requestCapabilities],
  [1000, () => FAILED],
  [42424, calibrate],
  [42425, calibrate],
  [42426, calibrate],
  [42428, sendBanner],
  [42429, calibrate],
]);

/** Carries a command out. One that the vehicle does not know is UNSUPPORTED. @returns undefined: the ack comes later */
export function perform(deck: CommandDeck, command: Command, answer: Answer): MavResult | undefined {
  const forced = deck.faults.ackResults[command.id];
  if (forced !== undefined) return forced;
  if (command.id === SET_MESSAGE_INTERVAL && deck.faults.noMessageInterval) return UNSUPPORTED;
  const handler = deck.firmware.commands.get(command.id);
  return handler === undefined ? UNSUPPORTED : handler(deck, command, answer);
}

export function calibrate(
  { calibration }: CommandDeck,
  command: Command,
  answer: Answer,
): MavResult | undefined {
  return calibration.perform(command, answer);
}

function setMode({ modes, faults }: CommandDeck, { p1, p2 }: Command): MavResult {
  if (faults.modeRefusals.includes(p2)) return FAILED;
  const custom = 1; // MAV_MODE_FLAG_CUSTOM_MODE_ENABLED: ArduPilot takes no other kind
  return (p1 & custom) === 0 ? DENIED : accepted(modes.set(p2));
}

/** Parameter 1 = 2 is all that ArduPilot's MAV_CMD_PREFLIGHT_STORAGE knows; armed or not. */
function eraseParams({ craft }: CommandDeck, { p1 }: Command): MavResult {
  if (p1 !== 2) return DENIED;
  craft.params.erase();
  craft.text(MavSeverity.WARNING, 'All parameters reset, reboot board');
  return ACCEPTED;
}

function armDisarm({ arming }: CommandDeck, { p1, p2 }: Command): MavResult {
  const force = p2 === FORCE_EITHER_WAY;
  if (p1 === 1) return accepted(arming.arm(force || p2 === FORCE_ARM));
  return p1 === 0 ? accepted(arming.disarm(force)) : UNSUPPORTED;
}

// Whatever the checks find, it has run them.
function runChecks({ craft, report }: CommandDeck): MavResult {
  if (craft.vehicle.armed) return TEMPORARILY_REJECTED;
  report();
  return ACCEPTED;
}

// ArduCopter refuses without a word; the reasons are this simulator's own, for those who read along.
function takeOff({ craft, modes, roles }: CommandDeck, { frame, alt }: Command): MavResult {
  const refuse = (reason: string): MavResult => {
    craft.text(MavSeverity.WARNING, `Takeoff: ${reason}`);
    return FAILED;
  };
  if (frame !== 3 && frame !== 6) return DENIED;
  if (modes.current !== roles.guided) return refuse(`not possible in ${modes.current.name} mode`);
  if (!craft.vehicle.armed) return refuse('vehicle is not armed');
  if (!craft.vehicle.landed) return refuse('already flying');
  if (!(alt > craft.vehicle.height && Number.isFinite(alt)))
    return refuse('altitude is not above the vehicle');
  roles.takeoff.takeOff(alt);
  return ACCEPTED;
}

function startMission({ craft, modes, mission, roles }: CommandDeck, { p1, p2 }: Command): MavResult {
  if (p1 !== 0 || p2 !== 0) return DENIED; // a part of the mission: not supported
  if (!modes.set(roles.auto.number)) return FAILED;
  if (craft.vehicle.armed) craft.autoArmed = true;
  if (mission.state === 'complete' && mission.items.length > 0) mission.jump(mission.first);
  return ACCEPTED;
}

/** ArduPlane's DO_LAND_START: to the landing sequence of the mission; without a position it says not even why not. */
export function startLanding({ craft, modes, mission, roles }: CommandDeck): MavResult {
  if (!craft.positionOk()) return FAILED;
  const index = mission.items.findIndex(({ command }) => command === NAV.landStart);
  if (index === -1) {
    craft.text(MavSeverity.WARNING, 'Unable to start landing sequence');
    return FAILED;
  }
  mission.jump(mission.first + index);
  craft.text(MavSeverity.INFO, 'Landing sequence start');
  return accepted(modes.set(roles.auto.number));
}

function pauseContinue({ craft, modes, roles: { guided, auto } }: CommandDeck, { p1 }: Command): MavResult {
  if (p1 !== 0 && p1 !== 1) return DENIED;
  const mode = modes.current === guided ? guided : modes.current === auto ? auto : undefined;
  const done = p1 === 0 ? mode?.pause() : mode?.resume();
  if (done !== true) craft.text(MavSeverity.INFO, p1 === 0 ? 'Failed to pause' : 'Failed to resume');
  return accepted(done === true);
}

function reposition({ craft, modes, roles: { guided } }: CommandDeck, command: Command): MavResult {
  const mayChangeMode = (command.p2 & 1) === 1; // MAV_DO_REPOSITION_FLAGS_CHANGE_MODE
  if (modes.current !== guided && !mayChangeMode) return DENIED;
  if (!isPlace(command) || !FRAMES.has(command.frame)) return DENIED;
  if (!craft.positionOk()) return FAILED;
  if (!modes.set(guided.number)) return FAILED;
  const { vehicle } = craft;
  guided.goTo(fromFrame(vehicle.origin, vehicle.home, command.frame, command.lat, command.lon, command.alt));
  return ACCEPTED;
}

// Accepted in any mode, though only GUIDED turns.
function turn({ craft, modes, roles: { guided } }: CommandDeck, { p1, p3, p4 }: Command): MavResult {
  if (!(p1 >= 0 && p1 <= 360) || (p4 !== 0 && p4 !== 1)) return FAILED;
  const angle = (p1 * Math.PI) / 180;
  if (modes.current === guided) guided.turn(p4 === 1 ? craft.vehicle.yaw + (p3 < 0 ? -angle : angle) : angle);
  return ACCEPTED;
}

function changeSpeed({ craft, modes }: CommandDeck, { p1, p2 }: Command): MavResult {
  if (!(p2 > 0) || !(p1 >= 0 && p1 <= 3)) return DENIED;
  if (modes.current.kind !== 'guided' && modes.current.kind !== 'mission') return FAILED;
  if (p1 < 2) craft.cruise = p2;
  return ACCEPTED;
}

// ArduCopter takes a motor that it does not have, and ends the test at once (motor_test.cpp).
function testMotor({ craft }: CommandDeck, { p1, p2, p3, p4 }: Command): MavResult {
  const { vehicle } = craft;
  if (!vehicle.landed) {
    craft.text(MavSeverity.CRITICAL, 'Motor Test: vehicle not landed');
    return FAILED;
  }
  if (p2 !== 0 || !(p3 >= 0 && p3 <= 100)) return FAILED; // percent alone
  craft.text(MavSeverity.INFO, 'starting motor test');
  if (p1 >= 1 && p1 <= 4) vehicle.testMotor(p1, p3 / 100, p4);
  else craft.text(MavSeverity.INFO, 'Motor Test: cancelled');
  return ACCEPTED;
}

// An output with a function of its own is not for commands.
function setServo({ craft }: CommandDeck, { p1 }: Command): MavResult {
  if ((craft.params.find(`SERVO${p1}_FUNCTION`)?.value ?? 0) <= 1) return ACCEPTED;
  craft.text(MavSeverity.INFO, `ServoRelayEvent: Channel ${p1} is already in use`);
  return FAILED;
}

export function lookAt(_deck: CommandDeck, command: Command): MavResult {
  return isPlace(command) ? ACCEPTED : FAILED;
}

export function setHome({ craft, streams }: CommandDeck, command: Command): MavResult {
  const { vehicle } = craft;
  if (!craft.positionOk()) return FAILED;
  if (command.p1 === 1) vehicle.home = vehicle.location;
  else {
    if (!isPlace(command) || !FRAMES.has(command.frame)) return DENIED;
    const { u } = fromFrame(vehicle.origin, vehicle.home, command.frame, 0, 0, command.alt);
    vehicle.home = { lat: command.lat, lon: command.lon, alt: vehicle.origin.alt + u };
  }
  vehicle.homeLocked = true;
  streams.sendNow(HOME_POSITION);
  return ACCEPTED;
}

export function getHome({ craft, streams }: CommandDeck): MavResult {
  if (!craft.positionOk()) return FAILED;
  streams.sendNow(HOME_POSITION);
  return ACCEPTED;
}

function setMissionCurrent({ mission, streams }: CommandDeck, { p1 }: Command): MavResult {
  if (!mission.jump(p1)) return DENIED;
  streams.sendNow(MISSION_CURRENT);
  return ACCEPTED;
}

export function rebootVehicle({ craft, reboot }: CommandDeck, { p1 }: Command): MavResult {
  if (p1 !== 1 && p1 !== 3) return UNSUPPORTED;
  if (craft.vehicle.armed) return FAILED;
  reboot();
  return ACCEPTED;
}

function messageInterval({ craft, streams }: CommandDeck, { p1, p2 }: Command): MavResult {
  if (streams.setInterval(p1, p2)) return ACCEPTED;
  craft.text(MavSeverity.INFO, `No ap_message for mavlink id (${p1})`);
  return DENIED;
}

export function getInterval({ channel, streams }: CommandDeck, { p1 }: Command): MavResult {
  // An interval of 0 says that the message is not known.
  channel.send(MessageInterval, { messageId: p1, intervalUs: streams.interval(p1) ?? 0 });
  return ACCEPTED;
}

function requestMessage({ craft, streams }: CommandDeck, { p1 }: Command): MavResult {
  if (streams.sendNow(p1)) return ACCEPTED;
  craft.text(MavSeverity.INFO, `No ap_message for mavlink id (${p1})`);
  return FAILED;
}

export function requestCapabilities({ streams }: CommandDeck, { p1 }: Command): MavResult {
  if (p1 !== 1) return DENIED;
  streams.sendNow(AUTOPILOT_VERSION);
  return ACCEPTED;
}

function sendBanner({ banner }: CommandDeck): MavResult {
  banner();
  return ACCEPTED;
}

function isPlace({ lat, lon, alt }: Command): boolean {
  const inRange = Math.abs(lat) <= 90 && Math.abs(lon) <= 180 && Number.isFinite(alt); // false for NaN
  return inRange && (lat !== 0 || lon !== 0);
}
