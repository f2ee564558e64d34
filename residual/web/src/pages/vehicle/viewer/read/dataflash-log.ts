import {
  DataflashClock,
  type DataflashField,
  type DataflashType,
  walkDataflash,
} from '../../../../../../../shared/logs/dataflash.ts';
import {
  DATAFLASH_ERRORS,
  DATAFLASH_EVENT,
  DATAFLASH_FAILSAFES,
  dataflashErrorWords,
  familyOfMessage,
} from '../../../../../../../shared/logs/dataflash-names.ts';
import type { LogBytes } from '../../../../../../../shared/logs/log-bytes.ts';
import { type GetNumber, textAt } from '../../../../../../../shared/logs/numbers.ts';
import { plainText } from '../../../../../../../shared/plain-text.ts';
import { viewerWords } from '../viewer-words.ts';
import type { LogField, LogGroup, LogIndex } from './log-index.ts';

/** The unit that says that a column is the number of the sensor. */
const INSTANCE = '#';
const TYPES = 256;
const GPS_EPOCH_MS = Date.UTC(1980, 0, 6);
const WEEK_MS = 7 * 24 * 3600 * 1000;
/** Since 2017. */
const LEAP_MS = 18_000;
const FIX_3D = 3;

/** A type of the log, and the groups of its rows. */
interface Kind {
  readonly type: DataflashType;
  readonly fields: readonly LogField[];
  readonly instance: GetNumber | null;
  /** By the number of the sensor; -1: it has none. null: too many. */
  readonly groups: Map<number, LogGroup | null>;
}

/** Reads a dataflash log into an index. @returns how many types the log has told */
export function readDataflashLog(log: LogBytes, index: LogIndex): number {
  const reader = new DataflashLog(log, index);
  const types = walkDataflash(log, (type) => reader.row(type));
  reader.finish();
  return types;
}

class DataflashLog {
  readonly #log: LogBytes;
  readonly #index: LogIndex;
  readonly #clock: DataflashClock;
  readonly #kinds = new Map<string, Kind>();
  /** Of the type with this number. */
  readonly #now: (Kind | undefined)[] = Array.from({ length: TYPES });
  readonly #letters: string[] = Array.from({ length: TYPES }, () => '');
  readonly #units = new Map<string, string>();

  constructor(log: LogBytes, index: LogIndex) {
    this.#log = log;
    this.#index = index;
    this.#clock = new DataflashClock(log);
  }

  /** @returns whether more is wanted */
  row(type: DataflashType): boolean {
    const { view, start } = this.#log;
    const kind = this.#kindOf(type);
    const instance = kind.instance === null ? -1 : kind.instance(view, start);
    let group = kind.groups.get(instance);
    if (group === undefined) {
      const name = instance === -1 ? type.name : `${type.name}[${instance}]`;
      group = this.#index.group(plainText(name), kind.fields, type.length);
      kind.groups.set(instance, group);
    }
    this.#learn(type, view, start);
    if (group === null) return true;
    const at = this.#clock.timeOf(type, view, start);
    if (at === null) {
      group.seen++;
      return true;
    }
    if (Object.hasOwn(MARKS, type.name))
      MARKS[type.name]?.(this.#index, at, (column) => columnOf(type, column, view, start));
    return this.#index.add(group, this.#log.position, at);
  }

  finish(): void {
    for (const { type, fields } of this.#kinds.values()) {
      const letters = this.#letters[type.id] ?? '';
      for (const field of fields) {
        const column = [...type.fields.keys()].indexOf(field.name.replace(/\[\d+\]$/, ''));
        const letter = letters[column] ?? '';
        field.unit = letter === INSTANCE ? '' : (this.#units.get(letter) ?? '');
      }
    }
  }

  #kindOf(type: DataflashType): Kind {
    const now = this.#now[type.id];
    if (now?.type === type) return now;
    const sensor = this.#letters[type.id]?.indexOf(INSTANCE) ?? -1;
    const key = [type.name, type.length, type.format, sensor, ...type.fields.keys()].join(' ');
    const known = this.#kinds.get(key);
    const kind = known === undefined ? kindOf(type, sensor) : { ...known, type };
    if (known === undefined && this.#kinds.size < TYPES * 4) this.#kinds.set(key, kind);
    this.#now[type.id] = kind;
    return kind;
  }

  /** What the log says about itself. */
  #learn(type: DataflashType, view: DataView, start: number): void {
    const column = (name: string): number | string => columnOf(type, name, view, start);
    if (type.name === 'FMTU') {
      const id = Number(column('FmtType'));
      if (!(id >= 0 && id < TYPES)) return;
      this.#letters[id] = String(column('UnitIds'));
      this.#now[id] = undefined;
    } else if (type.name === 'UNIT') {
      const letter = String.fromCharCode(Number(column('Id')) || 0);
      this.#units.set(letter, plainText(String(column('Label'))));
    } else if (type.name === 'MSG') this.#index.marks.family ??= familyOfMessage(String(column('Message')));
  }
}

function kindOf(type: DataflashType, sensor: number): Kind {
  const fields = [...type.fields].flatMap(([name, field]) => fieldsOf(plainText(name), field));
  const instance = sensor === -1 ? undefined : [...type.fields.values()][sensor];
  return {
    type,
    fields,
    instance: instance === undefined ? null : getOf(instance),
    groups: new Map(),
  };
}

function getOf({ at, get }: DataflashField): GetNumber | null {
  return get === null ? null : (view, start) => get(view, start + at);
}

function fieldsOf(name: string, { at, get, size, values }: DataflashField): readonly LogField[] {
  if (get === null) return [{ name, unit: '', get }];
  return Array.from({ length: values }, (_, index) => ({
    name: values === 1 ? name : `${name}[${index}]`,
    unit: '',
    get: (view: DataView, start: number) => get(view, start + at + index * size),
  }));
}

function columnOf(type: DataflashType, name: string, view: DataView, start: number): number | string {
  const field = type.fields.get(name);
  if (field === undefined) return Number.NaN;
  const { at, get, size } = field;
  return get === null ? textAt(view, start + at, size) : get(view, start + at);
}

type Column = (name: string) => number | string;

/** The messages that say more than numbers. */
const MARKS: Readonly<Record<string, (index: LogIndex, at: number, column: Column) => void>> = {
  MODE: ({ marks }, at, column) => marks.mode(at, Number(column('Mode'))),
  MSG: ({ marks }, at, column) => marks.event(at, plainText(String(column('Message'))), 'info'),
  EV: ({ marks }, at, column) => {
    const id = Number(column('Id'));
    const text = EVENTS[id];
    if (text !== undefined) marks.event(at, text, 'info');
  },
  ERR: ({ marks }, at, column) => {
    const [subsystem, code] = [Number(column('Subsys')), Number(column('ECode'))];
    const failsafe = DATAFLASH_FAILSAFES[subsystem];
    const name =
      failsafe === undefined
        ? (DATAFLASH_ERRORS[subsystem] ?? viewerWords.events.subsystem({ number: subsystem }))
        : viewerWords.events.failsafe({ name: failsafe });
    marks.event(
      at,
      viewerWords.events.error({ name, words: dataflashErrorWords(subsystem, code) }),
      code === 0 ? 'info' : 'bad',
    );
  },
  GPS: (index, at, column) => {
    const [week, ms] = [Number(column('GWk')), Number(column('GMS'))];
    if (index.utcOfZero !== null || !(Number(column('Status')) >= FIX_3D) || !(week > 0)) return;
    index.utcOfZero = GPS_EPOCH_MS + week * WEEK_MS + ms - LEAP_MS - at * 1000;
  },
};

const EVENTS: Readonly<Record<number, string>> = {
  [DATAFLASH_EVENT.ARMED]: viewerWords.events.armed,
  [DATAFLASH_EVENT.DISARMED]: viewerWords.events.disarmed,
  [DATAFLASH_EVENT.LAND_COMPLETE]: viewerWords.events.landed,
  [DATAFLASH_EVENT.NOT_LANDED]: viewerWords.events.flying,
};
