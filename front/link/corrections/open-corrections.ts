import { connect } from 'node:net';
import type { Config } from '../../../shared/config/schema.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { Telemetry } from '../../../shared/rpc/telemetry.ts';
import type { RtkSource } from '../../../shared/schemas/addresses.ts';
import type { Clock } from '../clock.ts';
import { openSerial } from '../sources/serial-line.ts';
import { serialBase, tcpBase } from './base-station.ts';
import { type CorrectedVehicle, Corrections } from './corrections.ts';
import { type KnownPlace, placeOf } from './gga.ts';
import { type Connect, farOnly, type OpenStream } from './stream.ts';

interface CorrectionsTools {
  readonly clock: Clock;
  readonly log: Logger;
  readonly vehicle: CorrectedVehicle;
  readonly telemetry: () => Telemetry;
}

/** Makes the corrections of svc-link, which has what they need. */
export type OpenCorrections = (tools: CorrectionsTools) => Corrections;

/** The corrections of the configuration. What only a caster needs is loaded where there is one. */
export async function correctionsOf(
  source: Exclude<RtkSource, { readonly kind: 'off' }>,
  { rtk, security }: Pick<Config, 'rtk' | 'security'>,
): Promise<OpenCorrections> {
  const far = (how: Connect): Connect => farOnly(how, security.near_hosts);
  const opened = source.kind === 'ntrip' ? await casterOf(rtk.ntrip, far) : baseOf(source, far(connect));
  const isNtrip = source.kind === 'ntrip';
  const { host, port, mountpoint, send_position: sendsPlace } = rtk.ntrip;
  return ({ clock, log, vehicle, telemetry }) => {
    const place = (): KnownPlace | null => placeOf(telemetry());
    return new Corrections({
      clock,
      log,
      random: Math.random,
      source: isNtrip ? `ntrip:${host}:${port}` : rtk.source,
      mountpoint: isNtrip ? mountpoint : null,
      open: opened({ clock, place }),
      place,
      lacksPlace: () => isNtrip && sendsPlace && place() === null,
      vehicle,
    });
  };
}

type StreamFactory = (tools: {
  readonly clock: Clock;
  /** Null: it is not known. */
  readonly place: () => KnownPlace | null;
}) => OpenStream;

function baseOf(
  source: Extract<RtkSource, { readonly kind: 'tcp' | 'serial' }>,
  dial: Connect,
): StreamFactory {
  return source.kind === 'tcp'
    ? ({ clock }) => tcpBase({ ...source, clock, connect: dial })
    : () => serialBase({ ...source, open: openSerial });
}

async function casterOf(
  { tls, send_position: sendsPlace, ...caster }: Config['rtk']['ntrip'],
  far: (how: Connect) => Connect,
): Promise<StreamFactory> {
  if (caster.host === '') return () => noCaster;
  const { ntrip } = await import('./ntrip.ts');
  const secure = tls ? (await import('./secure.ts')).secureConnect() : null;
  return ({ clock, place }) =>
    ntrip({
      ...caster,
      clock,
      connect: far(secure ?? connect),
      opened: secure === null ? 'connect' : 'secureConnect',
      ...(sendsPlace ? { place } : {}),
    });
}

const noCaster: OpenStream = (events) => {
  const told = setImmediate(() => events.onEnd('No caster is set. Set rtk.ntrip.host.'));
  return { close: () => clearImmediate(told) };
};
