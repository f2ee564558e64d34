import { ApiError, type ErrorCode } from '../errors.ts';
import { isKeyOf, type JsonObject } from '../member.ts';

/** Every kind of refusal of an extension: its number in the envelope `{ok: false, code, kind, detail}`, and its word. */
export const REFUSALS = {
  usage_error: [2, 'E_BAD_REQUEST'],
  url_invalid: [2, 'E_BAD_REQUEST'],
  sha256_required: [2, 'E_BAD_REQUEST'],
  signature_missing: [10, 'E_EXTENSION'],
  signature_invalid: [10, 'E_EXTENSION'],
  signature_revoked: [10, 'E_EXTENSION'],
  signature_unknown_signer: [10, 'E_EXTENSION'],
  permission_deny: [11, 'E_EXTENSION'],
  not_paired: [11, 'E_NOT_PAIRED'],
  manifest_invalid: [12, 'E_EXTENSION'],
  archive_invalid: [12, 'E_EXTENSION'],
  sha256_mismatch: [12, 'E_EXTENSION'],
  archive_too_large: [13, 'E_TOO_LARGE'],
  not_found: [14, 'E_NOT_FOUND'],
  svc_version_skew: [17, 'E_INCOMPATIBLE'],
  incompatible: [18, 'E_INCOMPATIBLE'],
  refused: [19, 'E_EXTENSION_REFUSED'],
  host_io_error: [20, 'E_INTERNAL'],
  download_failed: [20, 'E_UPSTREAM'],
} as const satisfies Record<string, readonly [code: number, word: ErrorCode]>;

export type RefusalKind = keyof typeof REFUSALS;

/** Why an extension is not read, installed or run. The message is for people; `extras` become members of the body. */
export class PluginRefusal extends ApiError {
  readonly kind: RefusalKind;

  constructor(kind: RefusalKind, detail: string, extras: JsonObject = {}, options?: ErrorOptions) {
    super(REFUSALS[kind][1], detail, { ...extras, kind });
    this.name = 'PluginRefusal';
    this.kind = kind;
    if (options?.cause !== undefined) this.cause = options.cause;
  }
}

/** The number of a refusal that is not of an extension, by its HTTP status: of the edge, of the proxy. */
const BY_STATUS: Readonly<Record<number, number>> = {
  401: 11,
  403: 11,
  404: 14,
  409: 19,
  412: 19,
  413: 13,
  429: 19,
  501: 18,
};
const USAGE = 2;
const HOST = 20;

/** Number and kind of any refusal in the envelope; without a kind of its own, the word in lower case: `armed`, `scope`. */
export function numbered(
  word: ErrorCode,
  status: number,
  kind: unknown,
): { readonly code: number; readonly kind: string } {
  if (isKeyOf(REFUSALS, kind)) return { code: REFUSALS[kind][0], kind };
  const code = BY_STATUS[status] ?? (status < 500 ? USAGE : HOST);
  return { code, kind: typeof kind === 'string' ? kind : word.slice(2).toLowerCase() };
}
