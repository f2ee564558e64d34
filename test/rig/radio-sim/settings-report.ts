import type { JsonObject } from '../../../shared/member.ts';
import type { RadioSimOptions } from './options.ts';

const TX = {
  video: { drone: 0, gs: null },
  mavlink: { drone: 16, gs: 144 },
  tunnel: { drone: 32, gs: 160 },
} as const;
const SERVICE = {
  video: { drone: 'udp_direct_tx', gs: 'udp_direct_rx' },
  mavlink: { drone: 'mavlink', gs: 'mavlink' },
  tunnel: { drone: 'tunnel', gs: 'tunnel' },
} as const;

/** The first line of the JSON API: the part of wfb-ng's settings that means something here. */
export function settingsReport(options: RadioSimOptions): JsonObject {
  const { end, api, channel, bandwidth, mcs, fecK, fecN, video, mavlink, tunnel } = options;
  const streams = (of: 'drone' | 'gs') =>
    (['video', 'mavlink', 'tunnel'] as const).map((name) => ({
      name,
      stream_rx: TX[name][of === 'gs' ? 'drone' : 'gs'],
      stream_tx: TX[name][of],
      service_type: SERVICE[name][of],
      profiles: ['base', `${of}_base`, name, `${of}_${name}`],
    }));
  const profile = (of: 'drone' | 'gs', otherwise: number) => ({
    streams: streams(of),
    api_port: of === end ? api : otherwise,
    link_domain: 'svc-radio-sim',
  });
  const fec = { frame_type: 'data', fec_timeout: 0, fec_delay: 0 };
  return {
    type: 'settings',
    profile: end,
    is_cluster: false,
    wlans: ['sim0'],
    settings: {
      common: { version: 'svc-radio-sim', log_interval: 1000, radio_mtu: 1445, wifi_channel: channel },
      drone: profile('drone', 8102),
      gs: profile('gs', 8103),
      base: { bandwidth, mcs_index: mcs },
      video: { ...fec, fec_k: fecK, fec_n: fecN },
      mavlink: { ...fec, fec_k: 1, fec_n: 2, inject_rssi: true, mavlink_sys_id: 3, mavlink_comp_id: 68 },
      tunnel: { ...fec, fec_k: 1, fec_n: 2 },
      ...(end === 'drone'
        ? {
            drone_video: { peer: `listen://127.0.0.1:${video}` },
            drone_mavlink: { peer: `listen://127.0.0.1:${mavlink}` },
            drone_tunnel: { ifaddr: `${tunnel.host}/8` },
          }
        : {
            gs_video: { peer: `connect://127.0.0.1:${video}` },
            gs_mavlink: { peer: `connect://127.0.0.1:${mavlink}` },
            gs_tunnel: { ifaddr: `${tunnel.host}/8` },
          }),
    },
  };
}
