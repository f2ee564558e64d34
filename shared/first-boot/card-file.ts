import { isMap, parseDocument, stringify } from 'yaml';
import { profileOf } from '../config/agent.ts';
import type { Profile } from '../profile.ts';
import { faultOf } from '../schemas/fault.ts';
import type { JsonSchema } from '../schemas/json-schema.ts';
import type { Made } from '../schemas/made.ts';
import { PASSPHRASE } from '../schemas/network-operation.ts';
import { validatorOf } from '../schemas/validator.ts';

/** `svc.yaml` on the boot partition of a memory card: what its owner wrote there for the first boot (docs/first-boot.md). */

const SSID = { type: 'string', minLength: 1, maxLength: 32 } as const satisfies JsonSchema;

/** Of texts: the file is read without types, so that a passphrase of digits stays what it is. */
const CARD = {
  type: 'object',
  properties: {
    profile: { enum: ['drone', 'ground-station', 'ground_station', 'groundstation'] },
    name: { type: 'string', pattern: '^[^\\p{Cc}]{1,64}$' },
    wifi: {
      type: 'object',
      properties: {
        ssid: SSID,
        passphrase: PASSPHRASE,
        hidden: { enum: ['true', 'false'] },
        country: { type: 'string', pattern: '^[A-Z]{2}$' },
      },
      additionalProperties: false,
    },
    hotspot: {
      type: 'object',
      properties: { ssid: SSID, passphrase: PASSPHRASE },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

const validate = validatorOf(CARD);

export interface Card {
  readonly profile: Profile | null;
  readonly name: string | null;
  /** Two letters, ISO 3166. */
  readonly country: string | null;
  readonly wifi: {
    readonly ssid: string;
    readonly passphrase: string | null;
    readonly hidden: boolean;
  } | null;
  readonly hotspot: { readonly ssid: string | null; readonly passphrase: string | null } | null;
}

type CardText = Made<typeof CARD>;

/** @throws Error with everything that is wrong; it never has a value of the file, which may be a passphrase */
export function parseCard(text: string): Card {
  const { profile, name, wifi, hotspot } = read(text);
  return {
    profile: profile === undefined ? null : profileOf(profile),
    name: name ?? null,
    country: wifi?.country ?? null,
    wifi:
      wifi?.ssid === undefined
        ? null
        : { ssid: wifi.ssid, passphrase: wifi.passphrase ?? null, hidden: wifi.hidden === 'true' },
    hotspot:
      hotspot === undefined ? null : { ssid: hotspot.ssid ?? null, passphrase: hotspot.passphrase ?? null },
  };
}

const READ =
  '# Read by svc at its first boot, and not again; passphrases were removed. What came of it: svc doctor\n';

/**
 * The file without passphrases, and without comments, which may have held some. At least as long as it was: the old bytes are
 * overwritten where they are, and not left in a part of the card that is free.
 * @throws Error as `parseCard`
 */
export function withoutSecrets(text: string): string {
  const { hotspot, wifi, ...rest } = read(text);
  const { passphrase: _wifi, ...network } = wifi ?? {};
  const { passphrase: _hotspot, ...own } = hotspot ?? {};
  const left = {
    ...rest,
    ...(wifi === undefined ? {} : { wifi: network }),
    ...(hotspot === undefined ? {} : { hotspot: own }),
  };
  const next = `${READ}${stringify(left, { schema: 'failsafe' })}`;
  return next + '\n'.repeat(Math.max(0, Buffer.byteLength(text) - Buffer.byteLength(next)));
}

function read(text: string): CardText {
  // Windows' editors begin a file with a mark of its encoding.
  const document = parseDocument(text.replace(/^\uFEFF/, ''), { schema: 'failsafe', prettyErrors: true });
  const [error] = document.errors;
  if (error !== undefined) throw new Error(`line ${error.linePos?.[0].line ?? 1} is not YAML`);
  if (!isMap(document.contents)) throw new Error('it has no keys');
  const value: unknown = document.toJS({ maxAliasCount: 0 });
  if (validate.fits(value)) {
    // A country alone is for the hotspot.
    if (value.wifi?.ssid === undefined && (value.wifi?.passphrase ?? value.wifi?.hidden) !== undefined)
      throw new Error('wifi.ssid is missing');
    return value;
  }
  throw new Error((validate(value) ?? []).map((fault) => faultOf(fault, 'the file')).join('; '));
}
