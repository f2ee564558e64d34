import {
  ardupilotmega,
  common,
  development,
  icarous,
  type MavLinkData,
  type MavLinkPacketRegistry,
  MavLinkProtocolV2,
  minimal,
  standard,
  uavionix,
} from 'node-mavlink';
import type { Family } from '../../../shared/flight/modes.ts';
import { memberOf } from '../../../shared/member.ts';
import type { FieldValue } from '../../../shared/rpc/link-answers.ts';
import { NEWER_MESSAGES, type NewerMessage, newerFields } from './newer-messages.ts';

const EVERYBODY = [common.REGISTRY, standard.REGISTRY, minimal.REGISTRY];
/** As each firmware's dialect includes them (https://mavlink.io/en/messages/#dialects). */
const ARDUPILOT = [ardupilotmega.REGISTRY, uavionix.REGISTRY, icarous.REGISTRY, ...EVERYBODY];
const PX4 = [development.REGISTRY, ...EVERYBODY];
const protocol = new MavLinkProtocolV2();

type Message = MavLinkPacketRegistry[number] | NewerMessage;

/** The message of this id in the dialect of the vehicle; null where it has none. */
export function messageOf(id: number, family: Family | null): Message | null {
  const found = registriesOf(family).find((each) => Object.hasOwn(each, id))?.[id];
  return found ?? NEWER_MESSAGES.get(id) ?? null;
}

/**
 * @param payload as on the wire, without the zeros at its end
 * @returns the fields by the names of the dialect
 */
export function fieldsOf(message: Message, payload: Buffer): Readonly<Record<string, FieldValue>> {
  const length = 'fields' in message ? message.length : message.PAYLOAD_LENGTH;
  const whole = Buffer.alloc(Math.max(length, payload.length));
  payload.copy(whole);
  if ('fields' in message) return newerFields(message, whole);
  const { FIELDS: fields } = message;
  const values: MavLinkData = protocol.data(whole, message);
  return Object.fromEntries(fields.map((field) => [field.source, shown(memberOf(values, field.name))]));
}

function registriesOf(family: Family | null): readonly MavLinkPacketRegistry[] {
  if (family === null) return EVERYBODY;
  return family === 'px4' ? PX4 : ARDUPILOT;
}

/** As JSON has it: no number for NaN and infinity, and a text where a number would lose digits. */
function shown(value: unknown): FieldValue {
  if (Array.isArray(value)) return value.map((each: unknown) => shownOne(each));
  return shownOne(value);
}

function shownOne(value: unknown): string | number | null {
  if (typeof value === 'bigint') {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : String(value);
  }
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  return typeof value === 'string' ? value : null;
}
