import { readFileSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import { join } from 'node:path';
import type { Config } from '../../../shared/config/schema.ts';
import { parseJson, recordOf } from '../../../shared/member.ts';
import type { Paths } from '../../../shared/paths.ts';

/** One end of a simulated radio. All ports but those of the air are on 127.0.0.1. */
export interface RadioSimOptions {
  readonly end: 'drone' | 'gs';
  /** UDP port of this end, and of the other one: what is between them is the air. */
  readonly air: number;
  readonly peer: number;
  /** The addresses of both: another machine's, if the air is a real network. */
  readonly airHost: string;
  readonly peerHost: string;
  /** RTP: a drone listens there, a ground station sends there. */
  readonly video: number;
  /** MAVLink: a drone listens there, a ground station connects out to it. */
  readonly mavlink: number;
  /** TCP port of the JSON API. */
  readonly api: number;
  /** The drone's address in the tunnel: a ground station listens there, a drone connects to it. */
  readonly tunnel: { readonly host: string; readonly port: number };
  /** Percent of the frames that this end does not hear, at the start. */
  readonly loss: number;
  /** A file with that number, read again and again; null: it never changes. */
  readonly lossFile: string | null;
  readonly keyFile: string;
  readonly channel: number;
  /** A file with the channel that its card is on, followed as wfb-ng follows its card; without the file it is on none. Null: it stays on `channel`. */
  readonly channelFile: string | null;
  readonly bandwidth: number;
  readonly mcs: number;
  readonly fecK: number;
  readonly fecN: number;
}

/** A parity frame has its whole block in one UDP datagram. */
const MAX_K = 40;

/**
 * The options of this end: the node's config, and `SVC_RADIO_SIM`, a JSON object or the path of a file with one: `air`, `peer`,
 * `video`, `mavlink` (ports), and if wanted `loss` (percent), `loss_file` (path), `channel`, `channel_file`
 * (path), `air_host` and `peer_host` (IPv4, else loopback).
 * @throws Error naming what is wrong
 */
export function radioSimOptions(text: string, { agent, radio }: Config, paths: Paths): RadioSimOptions {
  const json = text.trimStart().startsWith('{') ? text : readFileSync(text, 'utf8');
  const given = recordOf(parseJson(json));
  const number = (name: string, low: number, high: number, otherwise: number | null): number => {
    const value = given[name] ?? otherwise;
    if (typeof value === 'number' && value >= low && value <= high) return value;
    throw new Error(`SVC_RADIO_SIM: ${name} is a number from ${low} to ${high}`);
  };
  const port = (name: string): number => number(name, 1, 65_535, null);
  const path = (name: string): string | null => {
    const value = given[name] ?? null;
    if (value === null || typeof value === 'string') return value;
    throw new Error(`SVC_RADIO_SIM: ${name} is a path`);
  };
  const address = (name: string): string => {
    const value = given[name] ?? '127.0.0.1';
    if (typeof value === 'string' && isIPv4(value)) return value;
    throw new Error(`SVC_RADIO_SIM: ${name} is an IPv4 address`);
  };
  if (radio.fec_k > MAX_K || radio.fec_n < radio.fec_k)
    throw new Error(`the simulated radio has blocks of at most ${MAX_K} packets, and fec_n at least fec_k`);
  const host = radio.tunnel.drone;
  if (!isIPv4(host)) throw new Error('the simulated tunnel needs an IPv4 address in radio.tunnel.drone');
  const end = agent.profile === 'ground-station' ? 'gs' : 'drone';
  return {
    end,
    air: port('air'),
    peer: port('peer'),
    airHost: address('air_host'),
    peerHost: address('peer_host'),
    video: port('video'),
    mavlink: port('mavlink'),
    api: radio.api_port === 0 ? (end === 'gs' ? 8103 : 8102) : radio.api_port,
    tunnel: { host, port: radio.relay_port },
    loss: number('loss', 0, 100, 0),
    lossFile: path('loss_file'),
    keyFile: join(paths.radioKeys, 'slot-0.key'),
    channel: number('channel', 1, 196, radio.channel),
    channelFile: path('channel_file'),
    bandwidth: radio.bandwidth_mhz,
    mcs: radio.mcs,
    fecK: radio.fec_k,
    fecN: radio.fec_n,
  };
}
