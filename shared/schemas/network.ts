import type { JsonSchema } from './json-schema.ts';
import { ADDRESS, INTERFACE, PASSPHRASE, PREFIXED_ADDRESS, SSID_HEX } from './network-operation.ts';

/** Null means: not known, or not so at the moment. */

const nullableString = { type: ['string', 'null'] } as const satisfies JsonSchema;
const nullableInteger = { type: ['integer', 'null'] } as const satisfies JsonSchema;
const nullableBoolean = { type: ['boolean', 'null'] } as const satisfies JsonSchema;

/** UTF-8; the 32 bytes of IEEE 802.11 are counted by the handler. */
const ssid = {
  type: 'string',
  pattern: '^[^\\u0000]+$',
  minLength: 1,
  maxLength: 32,
} as const satisfies JsonSchema;
const channel = { type: 'integer', minimum: 1, maximum: 196 } as const satisfies JsonSchema;
const mac = {
  type: 'string',
  pattern: '^[0-9a-f]{2}(?::[0-9a-f]{2}){5}$',
  examples: ['02:00:00:00:00:01'],
} as const satisfies JsonSchema;

export const hotspot = {
  title: 'Hotspot',
  type: 'object',
  required: ['enabled', 'running', 'ssid', 'interface', 'address', 'channel', 'open', 'share_uplink'],
  properties: {
    enabled: { type: 'boolean', description: 'starts with the machine' },
    running: { type: 'boolean' },
    ssid: { type: 'string' },
    interface: nullableString,
    address: nullableString,
    channel: nullableInteger,
    open: { ...nullableBoolean, description: 'no passphrase; null: it was never set up' },
    share_uplink: { type: 'boolean', description: "guests reach beyond this node's own address" },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

const uplink = {
  title: 'Uplink',
  type: 'object',
  required: ['interface', 'kind', 'gateway', 'metric', 'reachable', 'latency_ms', 'metered', 'in_use'],
  properties: {
    interface: { type: 'string' },
    kind: { type: 'string' },
    gateway: { type: 'string' },
    metric: {
      ...nullableInteger,
      description: "NetworkManager's: the lowest is used unless the node chose another",
    },
    reachable: {
      ...nullableBoolean,
      description: 'the hub answers by it, else its gateway; null: not measured',
    },
    latency_ms: { type: ['number', 'null'], description: 'there and back' },
    metered: { type: 'boolean', description: 'it costs by volume (network.metered)' },
    in_use: { type: 'boolean' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const uplinkChange = {
  title: 'UplinkChange',
  type: 'object',
  required: ['at', 'from', 'to', 'reason'],
  properties: {
    at: { type: 'string', format: 'date-time' },
    from: nullableString,
    to: nullableString,
    reason: {
      enum: ['lost', 'unreachable', 'preferred'],
      description:
        'lost: its interface went; unreachable: nothing answered by it; preferred: the other comes first',
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const networkState = {
  title: 'NetworkState',
  type: 'object',
  required: ['interfaces', 'uplinks', 'uplink_changes', 'hotspot'],
  properties: {
    interfaces: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name', 'kind', 'mac', 'state', 'managed', 'addresses', 'gateway'],
        properties: {
          name: { type: 'string' },
          kind: { type: 'string', description: "NetworkManager's word: ethernet, wifi, gsm, bridge, …" },
          mac: nullableString,
          state: {
            type: 'string',
            description: "NetworkManager's word: connected, disconnected, unavailable, …",
          },
          managed: { type: 'boolean' },
          radio: {
            type: 'boolean',
            description: 'a card of the radio (radio.cards): not offered for anything else',
          },
          addresses: {
            type: 'array',
            items: { type: 'string' },
            description: 'with the prefix length',
          },
          gateway: nullableString,
        },
        additionalProperties: false,
      },
    },
    uplinks: { type: 'array', items: uplink, description: 'the one in use first' },
    uplink_changes: {
      type: 'array',
      items: uplinkChange,
      description: 'since svc-control started, the newest last; at most 50',
    },
    hotspot,
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const clientStatus = {
  title: 'WifiStatus',
  type: 'object',
  required: ['connected', 'interface', 'ssid', 'bssid', 'signal', 'ip', 'gateway', 'security'],
  properties: {
    connected: { type: 'boolean' },
    interface: nullableString,
    ssid: nullableString,
    bssid: nullableString,
    signal: { ...nullableInteger, description: 'percent' },
    ip: nullableString,
    gateway: nullableString,
    security: nullableString,
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const scan = {
  title: 'WifiScan',
  type: 'object',
  required: ['networks'],
  properties: {
    networks: {
      type: 'array',
      items: {
        type: 'object',
        required: ['ssid', 'ssid_hex', 'bssid', 'channel', 'frequency_mhz', 'signal', 'security', 'in_use'],
        properties: {
          ssid: {
            type: 'string',
            description: 'empty: hidden; bytes that are not UTF-8 are shown as U+FFFD',
          },
          ssid_hex: { type: 'string' },
          bssid: { type: 'string' },
          channel: nullableInteger,
          frequency_mhz: nullableInteger,
          signal: { ...nullableInteger, description: 'percent' },
          security: { type: 'string', description: 'empty: open' },
          in_use: { type: 'boolean' },
        },
        additionalProperties: false,
      },
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const configured = {
  title: 'WifiProfiles',
  type: 'object',
  required: ['connections'],
  properties: {
    connections: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name', 'type', 'device', 'autoconnect'],
        properties: {
          name: { type: 'string' },
          type: { const: 'wifi' },
          device: { ...nullableString, description: 'where it is active' },
          autoconnect: { type: 'boolean' },
        },
        additionalProperties: false,
      },
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const joinRequest = {
  title: 'WifiJoinRequest',
  examples: [{ ssid: 'field', passphrase: 'a passphrase' }],
  type: 'object',
  anyOf: [
    { required: ['ssid'], properties: { ssid: { type: 'string' }, ssid_hex: false } },
    { required: ['ssid_hex'], properties: { ssid_hex: { type: 'string' }, ssid: false } },
  ],
  'x-says': 'needs "ssid", or "ssid_hex" of a network whose name is not UTF-8',
  properties: {
    ssid,
    ssid_hex: { ...SSID_HEX, description: 'its name as the scan has it, where that is not UTF-8' },
    passphrase: { ...PASSPHRASE, description: 'without it: the saved one, or an open network' },
    hidden: { type: 'boolean', description: 'it does not broadcast its name' },
    stop_hotspot: { type: 'boolean', description: 'end the hotspot if it holds the only card' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const joined = {
  title: 'WifiJoined',
  type: 'object',
  required: ['ssid', 'ip', 'gateway'],
  properties: { ssid: { type: 'string' }, ip: nullableString, gateway: nullableString },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const left = {
  title: 'WifiLeft',
  type: 'object',
  required: ['left', 'previous_ssid'],
  properties: { left: { type: 'boolean' }, previous_ssid: nullableString },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const forgot = {
  title: 'WifiForgotten',
  type: 'object',
  required: ['forgot', 'name'],
  properties: { forgot: { const: true }, name: { type: 'string' } },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const ethernetRequest = {
  title: 'EthernetRequest',
  examples: [
    { interface: 'eth0', mode: 'dhcp' },
    {
      interface: 'eth0',
      mode: 'static',
      address: '192.168.1.20/24',
      gateway: '192.168.1.1',
      dns: ['192.168.1.1'],
    },
  ],
  type: 'object',
  required: ['interface', 'mode'],
  properties: {
    interface: INTERFACE,
    mode: { enum: ['dhcp', 'static'] },
    address: { ...PREFIXED_ADDRESS, description: 'with static: IPv4 address with the length of its prefix' },
    gateway: { ...ADDRESS, description: 'with static, if any' },
    dns: { type: 'array', maxItems: 4, items: ADDRESS },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const ethernet = {
  title: 'Ethernet',
  type: 'object',
  required: ['interface', 'mode', 'addresses', 'gateway', 'dns'],
  properties: {
    interface: { type: 'string' },
    mode: { enum: ['dhcp', 'static'] },
    addresses: { type: 'array', items: { type: 'string' } },
    gateway: nullableString,
    dns: { type: 'array', items: { type: 'string' } },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const hotspotRequest = {
  title: 'HotspotRequest',
  examples: [{ enabled: true, ssid: 'drone-1', passphrase: 'a passphrase', channel: 6 }],
  type: 'object',
  required: ['enabled'],
  properties: {
    enabled: { type: 'boolean' },
    ssid,
    passphrase: { ...PASSPHRASE, description: 'without it: as before' },
    channel,
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const macAdapters = {
  title: 'MacAdapters',
  type: 'object',
  required: ['adapters'],
  properties: {
    adapters: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name', 'mac', 'pinned_mac', 'path', 'state'],
        properties: {
          name: { type: 'string' },
          mac,
          pinned_mac: { ...mac, type: ['string', 'null'] },
          path: { ...nullableString, description: "the port it is plugged into (udev's ID_PATH)" },
          state: {
            enum: ['stable', 'candidate', 'pinned', 'deferred'],
            description:
              'stable: its own address is burnt in; candidate: it makes one up at each start; pinned: it has the pinned one; deferred: it gets the pinned one when the machine next starts',
          },
        },
        additionalProperties: false,
      },
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const pinRequest = {
  title: 'MacPinRequest',
  examples: [{ iface: 'wlan1', mac: '02:00:00:00:00:01' }],
  type: 'object',
  required: ['iface'],
  properties: {
    iface: INTERFACE,
    mac: {
      type: 'string',
      pattern: '^[0-9A-Fa-f]{2}(?:[:-][0-9A-Fa-f]{2}){5}$',
      description: 'default: the present one',
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const pinned = {
  title: 'MacPinned',
  type: 'object',
  required: ['iface', 'mac', 'state'],
  properties: { iface: { type: 'string' }, mac, state: { enum: ['pinned', 'deferred'] } },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const unpinned = {
  title: 'MacUnpinned',
  type: 'object',
  required: ['iface', 'removed'],
  properties: { iface: { type: 'string' }, removed: { type: 'boolean' } },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const groundNetwork = {
  title: 'GroundNetwork',
  type: 'object',
  required: ['ap', 'wifi_client', 'ethernet', 'modem_4g', 'active_uplink', 'priority', 'share_uplink'],
  properties: {
    ap: hotspot,
    wifi_client: clientStatus,
    ethernet: {
      type: ['object', 'null'],
      required: ['interface', 'link', 'ip', 'gateway'],
      properties: {
        interface: { type: 'string' },
        link: { type: 'boolean' },
        ip: nullableString,
        gateway: nullableString,
      },
      additionalProperties: false,
    },
    modem_4g: {
      type: ['object', 'null'],
      required: ['interface', 'connected', 'ip'],
      properties: { interface: { type: 'string' }, connected: { type: 'boolean' }, ip: nullableString },
      additionalProperties: false,
    },
    active_uplink: { ...nullableString, description: 'the interface with the default route in use' },
    priority: { type: 'array', items: { type: 'string' } },
    share_uplink: { type: 'boolean' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const shareRequest = {
  title: 'UplinkShareRequest',
  type: 'object',
  required: ['enabled'],
  properties: { enabled: { type: 'boolean' } },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const shared = {
  title: 'UplinkShared',
  type: 'object',
  required: ['enabled', 'applied'],
  properties: {
    enabled: { type: 'boolean' },
    applied: { type: 'boolean', description: 'false: the hotspot does not run; it counts when it starts' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

const order = {
  type: 'array',
  minItems: 1,
  maxItems: 16,
  uniqueItems: true,
  items: INTERFACE,
} as const satisfies JsonSchema;

export const priorityRequest = {
  title: 'UplinkPriorityRequest',
  examples: [{ priority: ['ethernet', 'wifi_client'] }],
  type: 'object',
  required: ['priority'],
  properties: { priority: { ...order, description: 'interfaces, preferred first' } },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const priority = {
  title: 'UplinkPriority',
  type: 'object',
  required: ['priority', 'applied'],
  properties: {
    priority: order,
    applied: {
      ...order,
      minItems: 0,
      description: 'those connected; the others get it when the node connects them',
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

const meshId = {
  type: 'string',
  minLength: 1,
  maxLength: 32,
  pattern: '^[\\x20-\\x7e]+$',
} as const satisfies JsonSchema;

export const meshConfig = {
  title: 'MeshConfig',
  type: 'object',
  required: ['mesh_id', 'carrier', 'channel', 'bat_iface', 'applied'],
  properties: {
    mesh_id: { ...meshId, type: ['string', 'null'] },
    carrier: { enum: ['802.11s', 'ibss'] },
    channel: { type: 'integer', minimum: 1, maximum: 13 },
    bat_iface: { type: 'string' },
    applied: { const: false, description: 'it is kept; the mesh itself is set up by the machine' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const meshConfigRequest = {
  title: 'MeshConfigRequest',
  examples: [{ mesh_id: 'field', carrier: '802.11s', channel: 6 }],
  type: 'object',
  properties: {
    mesh_id: meshId,
    carrier: { enum: ['802.11s', 'ibss'] },
    channel: { type: 'integer', minimum: 1, maximum: 13 },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

const neighbor = {
  title: 'MeshNeighbor',
  type: 'object',
  required: ['mac', 'iface', 'tq', 'last_seen_ms'],
  properties: {
    mac: { type: 'string' },
    iface: nullableString,
    tq: nullableInteger,
    last_seen_ms: nullableInteger,
  },
  additionalProperties: false,
} as const satisfies JsonSchema;
const gateway = {
  title: 'MeshGateway',
  type: 'object',
  required: ['mac', 'class_up_kbps', 'class_down_kbps', 'tq', 'selected'],
  properties: {
    mac: { type: 'string' },
    class_up_kbps: nullableInteger,
    class_down_kbps: nullableInteger,
    tq: nullableInteger,
    selected: { type: 'boolean' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;
const neighborList = { type: 'array', items: neighbor } as const satisfies JsonSchema;
const gatewayList = { type: 'array', items: gateway } as const satisfies JsonSchema;

export const meshNeighbors = {
  title: 'MeshNeighbors',
  type: 'object',
  required: ['neighbors'],
  properties: { neighbors: neighborList },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const meshRoutes = {
  title: 'MeshRoutes',
  type: 'object',
  required: ['routes'],
  properties: {
    routes: {
      type: 'array',
      items: {
        ...neighbor,
        title: 'MeshRoute',
        required: ['mac', 'next_hop', 'iface', 'tq', 'last_seen_ms'],
        properties: { ...neighbor.properties, next_hop: nullableString },
      },
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const meshGateways = {
  title: 'MeshGateways',
  type: 'object',
  required: ['gateways', 'selected'],
  properties: { gateways: gatewayList, selected: nullableString },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const mesh = {
  title: 'Mesh',
  type: 'object',
  required: [
    'up',
    'bat_iface',
    'mesh_iface',
    'mesh_id',
    'algorithm',
    'selected_gateway',
    'clients',
    'neighbors',
    'gateways',
  ],
  properties: {
    up: { type: 'boolean' },
    bat_iface: { type: 'string' },
    mesh_iface: nullableString,
    mesh_id: nullableString,
    algorithm: nullableString,
    selected_gateway: nullableString,
    clients: { type: 'integer', description: 'addresses that the mesh knows, behind all its nodes' },
    neighbors: neighborList,
    gateways: gatewayList,
  },
  additionalProperties: false,
} as const satisfies JsonSchema;
