type Value = number | string;
type Put = readonly [size: number, put: (bytes: Buffer, at: number, value: Value) => void];

const text = (size: number): Put => [size, (bytes, at, value) => void bytes.write(String(value), at, size)];
const scaled = (size: number, factor: number, signed: boolean): Put => [
  size,
  (bytes, at, value) => {
    const raw = Math.round(Number(value) * factor);
    if (signed) bytes.writeIntLE(raw, at, size);
    else bytes.writeUIntLE(raw, at, size);
  },
];

/** By the letters of ArduPilot's libraries/AP_Logger/LogStructure.h. */
const LETTERS: Readonly<Record<string, Put>> = {
  b: scaled(1, 1, true),
  B: scaled(1, 1, false),
  M: scaled(1, 1, false),
  h: scaled(2, 1, true),
  H: scaled(2, 1, false),
  i: scaled(4, 1, true),
  I: scaled(4, 1, false),
  c: scaled(2, 100, true),
  C: scaled(2, 100, false),
  e: scaled(4, 100, true),
  E: scaled(4, 100, false),
  L: scaled(4, 1e7, true),
  f: [4, (bytes, at, value) => void bytes.writeFloatLE(Number(value), at)],
  Q: [8, (bytes, at, value) => void bytes.writeBigUInt64LE(BigInt(Math.round(Number(value))), at)],
  n: text(4),
  N: text(16),
  Z: text(64),
};

/** Formats of ArduPilot 4.6 that a flight report or the log viewer needs. */
const FORMATS: Readonly<Record<string, readonly [format: string, columns: string]>> = {
  FMTU: ['QBNN', 'TimeUS,FmtType,UnitIds,MultIds'],
  UNIT: ['QbZ', 'TimeUS,Id,Label'],
  ATT: ['QccccCCB', 'TimeUS,DesRoll,Roll,DesPitch,Pitch,DesYaw,Yaw,AEKF'],
  IMU: ['QBffffffIIfBBHH', 'TimeUS,I,GyrX,GyrY,GyrZ,AccX,AccY,AccZ,EG,EA,T,GH,AH,GHz,AHz'],
  PARM: ['QNff', 'TimeUS,Name,Value,Default'],
  MSG: ['QZ', 'TimeUS,Message'],
  MODE: ['QMBB', 'TimeUS,Mode,ModeNum,Rsn'],
  EV: ['QB', 'TimeUS,Id'],
  ERR: ['QBB', 'TimeUS,Subsys,ECode'],
  ORGN: ['QBLLe', 'TimeUS,Type,Lat,Lng,Alt'],
  POS: ['QLLfff', 'TimeUS,Lat,Lng,Alt,RelHomeAlt,RelOriginAlt'],
  GPS: ['QBBIHBcLLeffffB', 'TimeUS,I,Status,GMS,GWk,NSats,HDop,Lat,Lng,Alt,Spd,GCrs,VZ,Yaw,U'],
  BAT: ['QBfffffcfBBB', 'TimeUS,Inst,Volt,VoltR,Curr,CurrTot,EnrgTot,Temp,Res,RemPct,H,SH'],
  BCL: ['QBfHHHHHHHHHHHH', 'TimeUS,Instance,Volt,V1,V2,V3,V4,V5,V6,V7,V8,V9,V10,V11,V12'],
  VIBE: ['QBfffI', 'TimeUS,IMU,VibeX,VibeY,VibeZ,Clip'],
  MAG: ['QBhhhhhhhhhBI', 'TimeUS,I,MagX,MagY,MagZ,OfsX,OfsY,OfsZ,MOX,MOY,MOZ,Health,S'],
  XKF4: ['QBcccccfffHBIHb', 'TimeUS,C,SV,SP,SH,SM,SVT,errRP,OFN,OFE,FS,TS,SS,GPS,PI'],
  POWR: ['QffHHB', 'TimeUS,Vcc,VServo,Flags,AccFlags,Safety'],
  ESC: ['QBffffcfcf', 'TimeUS,Instance,RPM,RawRPM,Volt,Curr,Temp,CTot,MotTemp,Err'],
  RCOU: [
    'QHHHHHHHHHHHHHH',
    ['TimeUS', ...Array.from({ length: 14 }, (_, output) => `C${output + 1}`)].join(','),
  ],
};
const FMT = 128;

/** Writes a log as ArduPilot does. */
export class DataflashWriter {
  readonly #parts: Buffer[] = [];
  readonly #ids = new Map<string, number>();

  constructor() {
    this.#add(FMT, 'BBnNZ', [FMT, 89, 'FMT', 'BBnNZ', 'Type,Length,Name,Format,Columns']);
    for (const [index, [name, [format, columns]]] of Object.entries(FORMATS).entries()) {
      this.#ids.set(name, index + 1);
      this.#add(FMT, 'BBnNZ', [index + 1, 3 + sizeOf(format), name, format, columns]);
    }
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }

  /** Says which column is the number of the sensor (`#`) and what the others are in, as ArduPilot does behind the formats. */
  units(name: string, letters: string): void {
    this.write('FMTU', 0, { FmtType: this.#ids.get(name) ?? 0, UnitIds: letters, MultIds: '' });
  }

  /** A type of another firmware, and one row of it. @param row its bytes behind the head */
  foreign(name: string, format: string, columns: string, ...rows: readonly Buffer[]): void {
    const id = this.#ids.get(name) ?? this.#ids.size + 1;
    this.#ids.set(name, id);
    this.#add(FMT, 'BBnNZ', [id, 3 + (rows[0]?.length ?? 0), name, format, columns]);
    for (const row of rows) this.#parts.push(Buffer.concat([Buffer.of(0xa3, 0x95, id), row]));
  }

  /** @param at s. @param row by column; what is missing is 0 */
  write(name: string, at: number, row: Readonly<Record<string, Value>>): void {
    const [format = '', columns = ''] = FORMATS[name] ?? [];
    const values = columns.split(',').map((column) => (column === 'TimeUS' ? at * 1e6 : (row[column] ?? 0)));
    this.#add(this.#ids.get(name) ?? 0, format, values);
  }

  #add(id: number, format: string, values: readonly Value[]): void {
    const bytes = Buffer.alloc(3 + sizeOf(format));
    bytes.set([0xa3, 0x95, id]);
    let at = 3;
    for (const [index, letter] of [...format].entries()) {
      const [size, put] = LETTERS[letter] ?? text(0);
      put(bytes, at, values[index] ?? 0);
      at += size;
    }
    this.#parts.push(bytes);
  }
}

function sizeOf(format: string): number {
  return [...format].reduce((sum, letter) => sum + (LETTERS[letter]?.[0] ?? 0), 0);
}
