import { join } from 'node:path';
import { demoDirectories, demoFolder } from '../../../bin/places.ts';

/** Where the two nodes of `npm run start:pair` are, and their ports on this machine. */

export type End = 'drone' | 'ground';
export const ENDS = ['drone', 'ground'] as const;

/** The name of the node, for `svc --demo`. */
export function nameOf(end: End): string {
  return `pair/${end}`;
}

/** The three directories of the node. */
export function directoriesOf(end: End): Readonly<Record<string, string>> {
  return demoDirectories(nameOf(end));
}

/** The loss on the radio in percent: both ends read it again and again. */
export const LOSS_FILE = join(demoFolder('pair'), 'loss');

export interface EndPorts {
  readonly http: number;
  readonly https: number;
  /** The MAVLink endpoint for other ground stations, TCP. */
  readonly tcp: number;
  readonly api: number;
  readonly air: number;
  readonly mavlink: number;
  readonly video: number;
}

/** wfb-ng's own ports where it has them. */
const PORTS: Readonly<Record<End, EndPorts>> = {
  drone: { http: 8080, https: 8443, tcp: 5790, api: 8102, air: 8112, mavlink: 14_560, video: 5602 },
  ground: { http: 8081, https: 8444, tcp: 5791, api: 8103, air: 8113, mavlink: 14_550, video: 5600 },
};
const RELAY_PORT = 8084;
/** Both nodes are on this machine: the drone listens at the one, the ground station's end of the tunnel at the other. */
export const TUNNEL: Readonly<Record<End, string>> = { drone: '127.0.0.10', ground: '127.0.0.11' };

export interface Ports {
  readonly drone: EndPorts;
  readonly ground: EndPorts;
  readonly relay: number;
}

/** @param first the first of 15 ports in a row, for a second pair on a machine; undefined: the usual ones */
export function portsFrom(first: string | undefined): Ports {
  if (first === undefined) return { ...PORTS, relay: RELAY_PORT };
  const base = Number(first);
  if (!Number.isInteger(base) || base < 1024 || base > 65_000)
    throw new Error('SVC_PAIR_PORT is the first of 15 free ports, from 1024 to 65000.');
  const [drone, ground] = [0, 7].map((at) => ({
    http: base + at,
    tcp: base + at + 1,
    api: base + at + 2,
    air: base + at + 3,
    mavlink: base + at + 4,
    video: base + at + 5,
    https: base + at + 6,
  }));
  return { drone: drone ?? PORTS.drone, ground: ground ?? PORTS.ground, relay: base + 14 };
}
