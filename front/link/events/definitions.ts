/** Bounds against a hostile or broken vehicle. */
import { type JsonObject, recordOf } from '../../../shared/member.ts';

const MAX_EVENTS = 4096;
const MAX_TEXT = 200;

interface ArgumentType {
  readonly bytes: number;
  read(view: DataView, at: number): number | bigint;
}

const BASE: Readonly<Record<string, ArgumentType>> = {
  uint8_t: { bytes: 1, read: (view, at) => view.getUint8(at) },
  int8_t: { bytes: 1, read: (view, at) => view.getInt8(at) },
  uint16_t: { bytes: 2, read: (view, at) => view.getUint16(at, true) },
  int16_t: { bytes: 2, read: (view, at) => view.getInt16(at, true) },
  uint32_t: { bytes: 4, read: (view, at) => view.getUint32(at, true) },
  int32_t: { bytes: 4, read: (view, at) => view.getInt32(at, true) },
  uint64_t: { bytes: 8, read: (view, at) => view.getBigUint64(at, true) },
  int64_t: { bytes: 8, read: (view, at) => view.getBigInt64(at, true) },
  float: { bytes: 4, read: (view, at) => view.getFloat32(at, true) },
};

interface Enumeration {
  readonly base: string;
  readonly bits: boolean;
  readonly entries: ReadonlyMap<string, string>;
}

interface Definition {
  readonly name: string;
  readonly group: string;
  readonly summary: boolean;
  readonly message: string;
  /** Names of base types or enumerations. */
  readonly types: readonly string[];
  /** Of the arguments, in their order. */
  readonly names: readonly string[];
  readonly namespace: string;
}

/** One event in words. */
export interface EventWords {
  readonly name: string;
  /** `default`, `calibration`, `health`, `arming_check`, or one of the vehicle's own. */
  readonly group: string;
  /** Begins (arming_check) or ends (health) the report of all checks. */
  readonly summary: boolean;
  readonly text: string;
}

/**
 * What events mean: libevents' metadata, which a vehicle carries as JSON (events/common.json has the same form). An event's id
 * is the component's number in the upper 8 bits and the event's own in the lower 24.
 */
export class EventDefinitions {
  readonly #events = new Map<number, Definition>();
  readonly #enums = new Map<string, Enumeration>();
  /** Bits of the groups that a flight mode is in, by custom_mode. */
  readonly #modeGroups = new Map<number, number>();

  /** Adds the events of a file and skips invalid entries. @returns how many events */
  add(file: unknown): number {
    const before = this.#events.size;
    for (const [number, component] of entriesOf(recordOf(file)['components'])) {
      const { namespace, enums, event_groups: groups, navigation_mode_groups: modes } = recordOf(component);
      const space = typeof namespace === 'string' ? namespace : '';
      for (const [name, value] of entriesOf(enums)) this.#addEnum(`${space}::${name}`, recordOf(value));
      for (const [bit, list] of entriesOf(recordOf(modes)['groups'])) {
        for (const mode of Array.isArray(list) ? list : [])
          if (typeof mode === 'number' && this.#modeGroups.size < MAX_EVENTS)
            this.#modeGroups.set(mode, (this.#modeGroups.get(mode) ?? 0) | (1 << Number(bit)));
      }
      for (const [group, value] of entriesOf(groups)) {
        for (const [sub, event] of entriesOf(recordOf(value)['events'])) {
          this.#addEvent(Number(number) * 2 ** 24 + Number(sub), group, space, recordOf(event));
        }
      }
    }
    return this.#events.size - before;
  }

  /** The groups that a flight mode is in, as bits; null where the metadata does not say. */
  groupsOf(customMode: number): number | null {
    return this.#modeGroups.get(customMode) ?? null;
  }

  /** @param args the bytes of the message @returns null for an event that is not known */
  words(id: number, args: Buffer): EventWords | null {
    const event = this.#events.get(id);
    if (event === undefined) return null;
    const { name, group, summary } = event;
    return { name, group, summary, text: plain(event.message, this.#values(event, args)).slice(0, MAX_TEXT) };
  }

  /** The number in an argument; null where the metadata has none of that name. */
  numberOf(id: number, args: Buffer, name: string): number | null {
    const event = this.#events.get(id);
    const value = event === undefined ? undefined : this.#values(event, args)[event.names.indexOf(name)];
    return value === undefined ? null : Number(value.value);
  }

  #addEnum(name: string, { type, is_bitfield: bits, entries }: JsonObject): void {
    if (typeof type !== 'string' || this.#enums.size >= MAX_EVENTS) return;
    const words = new Map<string, string>();
    for (const [value, entry] of entriesOf(entries)) {
      const { name: short, description } = recordOf(entry);
      words.set(value, typeof description === 'string' ? description : String(short));
    }
    this.#enums.set(name, { base: type, bits: bits === true, entries: words });
  }

  #addEvent(
    id: number,
    group: string,
    namespace: string,
    { name, message, arguments: args, type }: JsonObject,
  ): void {
    if (!Number.isInteger(id) || typeof name !== 'string' || typeof message !== 'string') return;
    if (this.#events.size >= MAX_EVENTS) return;
    const given = (Array.isArray(args) ? args : []).map(recordOf);
    const types = given.map((arg) => String(arg['type']));
    const names = given.map((arg) => String(arg['name']));
    this.#events.set(id, { name, message, types, names, group, namespace, summary: type === 'summary' });
  }

  /** The arguments as texts with their numbers, in order, without gaps between them. */
  #values({ types, namespace }: Definition, args: Buffer): readonly Value[] {
    const view = new DataView(args.buffer, args.byteOffset, args.length);
    const values: Value[] = [];
    let at = 0;
    for (const type of types) {
      const list = this.#enums.get(type.includes('::') ? type : `${namespace}::${type}`);
      const base = BASE[list?.base ?? type];
      if (base === undefined || at + base.bytes > args.length) break;
      const value = base.read(view, at);
      at += base.bytes;
      values.push({ value, text: list === undefined ? null : inWords(list, value) });
    }
    return values;
  }
}

interface Value {
  readonly value: number | bigint;
  /** Of an enumeration. */
  readonly text: string | null;
}

function inWords({ bits, entries }: Enumeration, value: number | bigint): string {
  if (!bits) return entries.get(String(value)) ?? String(value);
  const set = [...entries].filter(([bit]) => /^\d+$/.test(bit) && (BigInt(value) & BigInt(bit)) !== 0n);
  return set.map(([, text]) => text).join(', ');
}

/** Fills in `{1}` and `{2:.1m}`, drops text for developers, and removes tags and escapes. */
function plain(message: string, values: readonly Value[]): string {
  return message
    .replaceAll(/<profile[^>]*>[\s\S]*?<\/profile>/g, '')
    .replaceAll(/<\/?(?:param|a)\b[^>]*>/g, '')
    .replaceAll(/(\\.)|\{(\d+)(?::(?:\.(\d+))?)?([^}:]*)\}/g, (whole, escaped, index, digits, unit) => {
      if (typeof escaped === 'string') return escaped.slice(1);
      const found = values[Number(index) - 1];
      if (found === undefined) return whole;
      const { value, text } = found;
      if (text !== null) return text;
      const number =
        typeof value === 'number' && digits !== undefined ? value.toFixed(Number(digits)) : String(value);
      return `${number}${UNITS[String(unit)] ?? ''}`;
    })
    .replaceAll(/\s+/g, ' ')
    .trim();
}

const UNITS: Readonly<Record<string, string>> = { m: ' m', m_v: ' m', 'm^2': ' m²', 'm/s': ' m/s', C: ' °C' };

function entriesOf(value: unknown): readonly (readonly [string, unknown])[] {
  return Object.entries(recordOf(value));
}
