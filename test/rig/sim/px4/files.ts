import { crc32 } from 'node:zlib';
import type { Param } from '../../../../bin/sim/params/params.ts';
import { xz } from './xz.ts';

export const CONTENTS_PATH = 'etc/extras/component_general.json.xz';
const EVENTS_PATH = 'etc/extras/all_events.json.xz';
const PARAMETERS_PATH = 'etc/extras/parameters.json.xz';

/** What PX4's own `parameters.json` says of these, shortened. */
const DESCRIBED: Readonly<Record<string, object>> = {
  RTL_RETURN_ALT: { shortDesc: 'RTL altitude', units: 'm', min: 0, increment: 0.5, decimalPlaces: 2 },
  MPC_XY_CRUISE: {
    shortDesc: 'Default horizontal velocity in autonomous modes',
    units: 'm/s',
    min: 3,
    max: 20,
  },
  BAT_LOW_THR: { shortDesc: 'Low threshold', units: 'norm', min: 0.12, max: 0.5, increment: 0.01 },
  SYS_AUTOSTART: { shortDesc: 'Auto-start script index', min: 0, max: 9999999, rebootRequired: true },
  NAV_RCL_ACT: {
    shortDesc: 'Set RC loss failsafe mode',
    min: 1,
    max: 6,
    values: [
      { value: 1, description: 'Hold mode' },
      { value: 2, description: 'Return mode' },
      { value: 3, description: 'Land mode' },
    ],
  },
  SENS_GPS_MASK: {
    shortDesc: 'Multi GPS Blending Control Mask',
    min: 0,
    max: 7,
    bitmask: [
      { index: 0, description: 'use speed accuracy' },
      { index: 1, description: 'use hpos accuracy' },
      { index: 2, description: 'use vpos accuracy' },
    ],
  },
};

/** The files of a PX4 that its component metadata names, packed as in its ROM. */
export class Px4Files {
  readonly #files: ReadonlyMap<string, Buffer>;
  /** Checksum of the table of contents. */
  readonly contentsCrc: number;

  constructor(params: readonly Param[], events: object) {
    const parameters = Buffer.from(
      JSON.stringify({
        version: 1,
        parameters: params.map(({ name, type, initial }) => ({
          name,
          type: type === 9 ? 'Float' : 'Int32',
          default: initial,
          group: name.split('_', 1)[0],
          category: 'Standard',
          shortDesc: `${name} of the simulated PX4`,
          ...DESCRIBED[name],
        })),
      }),
    );
    const contents = Buffer.from(
      JSON.stringify({
        version: 1,
        metadataTypes: [
          { type: 1, uri: `mftp://${PARAMETERS_PATH}`, fileCrc: crc32(parameters) },
          { type: 4, uri: `mftp://${EVENTS_PATH}`, fileCrc: 0 },
        ],
      }),
    );
    this.contentsCrc = crc32(contents);
    this.#files = new Map([
      [CONTENTS_PATH, xz(contents)],
      [PARAMETERS_PATH, xz(parameters)],
      [EVENTS_PATH, xz(Buffer.from(JSON.stringify(events)))],
    ]);
  }

  /** Undefined where there is none at that path. */
  get(path: string): Buffer | undefined {
    return this.#files.get(path.replace(/^\//, ''));
  }
}
