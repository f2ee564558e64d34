import type { FromSchema } from 'json-schema-to-ts';
import type { JsonSchema } from './json-schema.ts';

/** What svc-helper is asked for about the network. Nothing in it can be taken for an option, nor add a line to a file. */

const OCTET = '(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)';
const IPV4 = `${OCTET}(?:\\.${OCTET}){3}`;

/** A network interface, as the kernel names it (at most 15 characters). */
export const INTERFACE = {
  type: 'string',
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,14}$',
} as const satisfies JsonSchema;

export const UUID = {
  type: 'string',
  pattern: '^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
} as const satisfies JsonSchema;

/** The name of a Wi-Fi network, byte by byte. */
export const SSID_HEX = { type: 'string', pattern: '^(?:[0-9a-f]{2}){1,32}$' } as const satisfies JsonSchema;

/** WPA: 8 to 63 printable ASCII characters, or the 256-bit key in hex (IEEE 802.11, J.4). */
export const PASSPHRASE = {
  type: 'string',
  pattern: '^(?:[ -~]{8,63}|[0-9A-Fa-f]{64})$',
} as const satisfies JsonSchema;

export const ADDRESS = {
  type: 'string',
  pattern: `^${IPV4}$`,
  description: 'IPv4 address',
} as const satisfies JsonSchema;

export const PREFIXED_ADDRESS = {
  type: 'string',
  pattern: `^${IPV4}/(?:[1-9]|[12]\\d|3[0-2])$`,
  description: 'IPv4 address with the length of its prefix, as in 192.168.1.20/24',
} as const satisfies JsonSchema;

/** Lower case, with colons; no group address (the lowest bit of the first octet). */
export const OWN_MAC = {
  type: 'string',
  pattern: '^[0-9a-f][02468ace](?::[0-9a-f]{2}){5}$',
} as const satisfies JsonSchema;

/** An access point name (3GPP TS 23.003, 9.1), as long as NetworkManager takes it. */
export const APN = {
  type: 'string',
  pattern: '^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?$',
} as const satisfies JsonSchema;

/** Carriers' names and passwords: printable ASCII. */
export const PPP_NAME = { type: 'string', pattern: '^[ -~]{1,64}$' } as const satisfies JsonSchema;
export const PPP_PASSWORD = { type: 'string', pattern: '^[ -~]{1,64}$' } as const satisfies JsonSchema;

/** Of a SIM (3GPP TS 11.11, CHV1). */
export const PIN = { type: 'string', pattern: '^\\d{4,8}$' } as const satisfies JsonSchema;

/** A connection of NetworkManager, of the kinds that the node makes. */
export const NETWORK_PROFILE = {
  type: 'object',
  required: ['uuid', 'id', 'kind', 'interface', 'autoconnect'],
  properties: {
    uuid: UUID,
    id: { type: 'string', pattern: '^[^\\p{Cc}/\\\\]{1,64}$', description: 'its name for people' },
    kind: { enum: ['client', 'hotspot', 'wired', 'modem'] },
    interface: INTERFACE,
    autoconnect: { type: 'boolean' },
    ssid_hex: { ...SSID_HEX, description: 'any 1 to 32 bytes' },
    security: { enum: ['open', 'wpa-psk', 'sae'] },
    passphrase: PASSPHRASE,
    passphrase_of: { ...UUID, description: 'instead of a passphrase: the one of this profile' },
    hidden: { type: 'boolean' },
    channel: { type: 'integer', minimum: 1, maximum: 196 },
    share_uplink: {
      type: 'boolean',
      description: "of a hotspot: its guests reach beyond this node's own address",
    },
    address: PREFIXED_ADDRESS,
    gateway: ADDRESS,
    dns: { type: 'array', maxItems: 4, items: ADDRESS },
    metric: { type: 'integer', minimum: 1, maximum: 100_000 },
    modem: {
      type: 'string',
      pattern: '^[0-9A-Za-z]{1,64}$',
      description: "the modem that it is for: ModemManager's DeviceIdentifier",
    },
    apn: APN,
    username: PPP_NAME,
    password: PPP_PASSWORD,
    pin: PIN,
    allow_roaming: { type: 'boolean' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

type Profile = FromSchema<typeof NETWORK_PROFILE>;
export type NetworkProfile = Readonly<Omit<Profile, 'dns'>> & { readonly dns?: readonly string[] };
