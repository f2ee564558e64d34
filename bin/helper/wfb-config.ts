import type { ParamsOf } from '../../shared/rpc/contract.ts';
import type { HELPER } from '../../shared/rpc/helper.ts';

export type RadioApply = ParamsOf<typeof HELPER, 'radio_apply'>;
type Slot = RadioApply['slots'][number];

/** Ports of a slot's neighbour: as far from each other as the default ports leave room for. */
const SLOT_STEP = 10;
const DRONE = { video: 5602, mavlink: 14_560 } as const;
const GROUND = { video: 5600, mavlink: 14_550 } as const;
/** UDP on loopback, for commands to the sender of each stream: video, MAVLink, tunnel. */
const CONTROL_PORT = 8200;

/**
 * How long the tunnel gathers small packets to one frame, seconds. wfb-ng's own 5 ms are waited for twice in each round trip; a
 * download's acknowledgements are gathered in 1 ms as well, while with none there are twice as many frames of them.
 */
const TUNNEL_GATHER_S = 0.001;

/** Numbers of the streams, as wfb-ng's own profiles have them: from the drone, and to it. */
const STREAM = { video: 0x00, mavlinkDown: 0x10, mavlinkUp: 0x90, tunnelDown: 0x20, tunnelUp: 0xa0 } as const;

/**
 * Configuration of wfb-ng: an INI file whose values are Python literals (wfb-ng 25.01). One profile a slot. The text is made of
 * validated values only; the rest of the settings is wfb-ng's. Pure.
 * @param folder absolute, where the keys are
 */
export function renderWfbConfig(params: RadioApply, folder: string): string {
  const { region, channel, bandwidth_mhz, mcs, fec_k, fec_n, cards, slots } = params;
  const powers = cards.every(({ mbm }) => mbm !== null)
    ? `{${cards.map(({ name, mbm }) => `'${name}': ${mbm}`).join(', ')}}`
    : 'None';
  return [
    '# Written by svc-helper from the config of the node (radio.*); changes here are lost.',
    '[path]',
    `conf_dir = '${folder}'`,
    '[common]',
    `wifi_channel = ${channel}`,
    `wifi_region = '${region}'`,
    `wifi_txpower = ${powers}`,
    // The node has done that; wfb-ng would wait for nmcli.
    'set_nm_unmanaged = False',
    `tunnel_agg_timeout = ${TUNNEL_GATHER_S}`,
    '[base]',
    `bandwidth = ${bandwidth_mhz}`,
    `mcs_index = ${mcs}`,
    '[video]',
    `fec_k = ${fec_k}`,
    `fec_n = ${fec_n}`,
    ...slots.flatMap((slot) => profile(params, slot)),
    '',
  ].join('\n');
}

/** The names of the profiles and of the cards, as the unit starts wfb-ng with them. */
export function renderEnvironment({ slots, cards }: RadioApply): string {
  const profiles = slots.map(profileName).join(' ');
  return `SVC_WFB_PROFILES=${profiles}\nSVC_WFB_CARDS=${cards.map(({ name }) => name).join(' ')}\n`;
}

/** NetworkManager leaves these cards alone. */
export function renderUnmanaged({ cards }: RadioApply): string {
  const devices = cards.map(({ name }) => `interface-name:${name}`).join(';');
  return `# Written by svc-helper: the cards of the radio.\n[keyfile]\nunmanaged-devices+=${devices}\n`;
}

export function keyName({ slot }: Pick<Slot, 'slot'>): string {
  return `slot-${slot}.key`;
}

function profileName({ slot }: Slot): string {
  return `svc_slot${slot}`;
}

function profile({ profile: kind, api_port, cards }: RadioApply, slot: Slot): readonly string[] {
  const drone = kind === 'drone';
  const side = drone ? 'drone' : 'gs';
  // A drone has one link, and the usual ports, whichever slot it has on its ground station.
  const offset = drone ? 0 : slot.slot;
  const control = CONTROL_PORT + SLOT_STEP * offset;
  const stream = (name: string, down: number, up: number | null, service: string, rest: string): string => {
    const [receive, send] = drone ? [up, down] : [down, up];
    const profiles = `['base', '${side}_base', '${name}', '${side}_${name}']`;
    return `{'name': '${name}', 'stream_rx': ${receive ?? 'None'}, 'stream_tx': ${send ?? 'None'}, 'service_type': '${service}', 'profiles': ${profiles}, 'keypair': '${keyName(slot)}', ${rest}}`;
  };
  const peer = (usual: typeof DRONE | typeof GROUND, what: 'video' | 'mavlink'): string =>
    `'peer': '${drone ? 'listen' : 'connect'}://127.0.0.1:${usual[what] + offset}'`;
  // The direct sender takes one card only.
  const sender = cards.length === 1 ? 'udp_direct_tx' : 'udp_proxy';
  const service = drone ? sender : 'udp_direct_rx';
  const ports = drone ? DRONE : GROUND;
  const device = offset === 0 ? `${side}-wfb` : `${side}-wfb${offset}`;
  return [
    `[${profileName(slot)}]`,
    `streams = [${[
      stream(
        'video',
        STREAM.video,
        null,
        service,
        `${peer(ports, 'video')}${drone ? `, 'control_port': ${control}` : ''}`,
      ),
      stream(
        'mavlink',
        STREAM.mavlinkDown,
        STREAM.mavlinkUp,
        'mavlink',
        `${peer(ports, 'mavlink')}, 'control_port': ${control + 1}`,
      ),
      stream(
        'tunnel',
        STREAM.tunnelDown,
        STREAM.tunnelUp,
        'tunnel',
        `'ifname': '${device}', 'ifaddr': '${slot.tunnel}/24', 'control_port': ${control + 2}`,
      ),
    ].join(', ')}]`,
    // For wfb-cli, to anybody on the network: not needed.
    'stats_port = None',
    `api_port = ${api_port + SLOT_STEP * offset}`,
    `link_domain = 'svc-${slot.link}'`,
  ];
}
