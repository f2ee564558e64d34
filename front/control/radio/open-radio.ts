import type { Server } from 'node:https';
import type { TLSSocket, TlsOptions } from 'node:tls';
import { named } from '../../../shared/process/services.ts';
import type { Iw } from '../../../shared/rpc/machine.ts';
import { MAX_SLOTS } from '../../../shared/schemas/radio-unit.ts';
import type { PilotRule } from '../edge/decision.ts';
import type { PrincipalWatch } from '../edge/principal-watch.ts';
import type { Base } from '../node/base.ts';
import { RelayClient } from '../relay/relay-client.ts';
import { RelayListener } from '../relay/relay-listener.ts';
import { RelayProxy } from '../relay/relay-proxy.ts';
import { TunnelPriority } from '../relay/tunnel-priority.ts';
import { AdaptiveVideo, limitsOf } from './adaptive-video.ts';
import { changeFile } from './channel-change/change-file.ts';
import { ChannelChange } from './channel-change/channel-change.ts';
import { DRONE_NEARBY } from './drone-api.ts';
import { tunnelAddress } from './managed-wfb.ts';
import type { PairStore } from './pair-store.ts';
import { radioHandlers } from './radio-handlers.ts';
import { RadioPairing } from './radio-pairing.ts';
import { radioPairingHandlers } from './radio-pairing-handlers.ts';
import { WfbRadio } from './wfb-radio.ts';

interface RadioParts {
  readonly radios: PairStore;
  readonly iw: Iw;
  readonly principalWatch: PrincipalWatch;
  readonly pilot: PilotRule & { onEvent(listener: () => void): () => void };
  /** Makes the front's server for the relay of a ground station. */
  readonly relayServer: (tls: TlsOptions, admit: (socket: TLSSocket) => string | null) => Server;
}

/** The radio between a drone and its ground station, and the relay over it. */
export function openRadio(base: Base, { radios, iw, principalWatch, pilot, relayServer }: RadioParts) {
  const { config, paths, profile, isGround, identity, helper, sysDir, monotonic, now, log } = base;
  const { device_id: ownId } = identity;
  const own = config.radio;
  const pairing = new RadioPairing({
    store: radios,
    profile,
    deviceId: ownId,
    name: config.agent.name,
    drone: DRONE_NEARBY,
    drones: own.mode === 'external' ? 1 : MAX_SLOTS,
    now,
    log,
  });
  const onWord = (device: string): void => pairing.proved(device);
  const client = isGround
    ? new RelayClient({
        ownId,
        radios,
        addressOf: (slot) => ({ host: tunnelAddress(slot, 'drone', own), port: own.relay_port }),
        onAnswer: onWord,
        now: monotonic,
        log,
      })
    : null;
  const proxy = client === null ? null : new RelayProxy({ client, now: monotonic, principalWatch, pilot });
  const listener = isGround
    ? null
    : new RelayListener({
        host: () => tunnelAddress(radios.list()[0]?.slot ?? 0, 'drone', own),
        port: own.relay_port,
        radios,
        createServer: relayServer,
        onAsked: onWord,
        now: monotonic,
        log,
      });
  const adaptive =
    own.adaptive && !isGround && own.mode !== 'off'
      ? new AdaptiveVideo({ videoSocket: paths.videoSocket, limits: limitsOf(config), monotonic, log })
      : null;
  const silentMs = (device: string): number | null =>
    client === null ? (listener?.silentMs ?? null) : client.health(device).silentMs;
  const radio = new WfbRadio({
    iw,
    profile,
    config: own,
    bound: radios,
    otherEnd: {
      silentMs,
      changeProblem: () => change.problem,
    },
    paths,
    helper,
    sysDir,
    adaptive,
    monotonic,
    now,
    log,
  });
  const change = new ChannelChange({
    radio,
    bound: () => radio.linked,
    relay: client,
    groundSilentMs: () => listener?.silentMs ?? null,
    store: changeFile(paths.radioChange),
    revertMs: own.channel_revert_s * 1000,
    log,
  });
  const tunnelPriority = new TunnelPriority({
    addresses: () => radios.list().map(({ slot }) => tunnelAddress(slot, profile, own)),
    kbps: own.tunnel.rate_kbps,
    helper,
    log,
  });
  return {
    radio,
    /** As GET /api/wfb; null: not known. */
    status: async () => (own.mode === 'off' || radio.problem !== null ? null : radio.status()),
    client,
    proxy,
    /** The node of a bound radio: since when it was last heard through the relay, null: not yet; and where it is in the tunnel. */
    otherEnd: {
      silentMs,
      addressOf: (slot: number): string => tunnelAddress(slot, isGround ? 'drone' : 'ground-station', own),
    },
    /** The interfaces of the radio, which are nobody else's. */
    interfaces: (): readonly string[] => [
      ...new Set([
        ...own.cards,
        ...(own.mode === 'managed' ? radio.cards.present.map(({ name }) => name) : []),
      ]),
    ],
    handlers: { ...radioHandlers(radio, change), ...radioPairingHandlers(pairing, radios) },
    services: [
      named('bound radios', radios),
      named('radio pairing', pairing),
      named('relay client', client ?? {}),
      named('relay', proxy ?? {}),
      named('radio', radio),
      named('change of the channel', change),
    ],
    /** What needs the server. */
    doors: [named('relay listener', listener ?? {}), named('tunnel', tunnelPriority)],
  };
}
