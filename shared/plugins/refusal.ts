/** Every kind of refusal of an extension: its number in the envelope `{ok: false, code, kind, detail}`, and its HTTP status. */
export const REFUSALS = {
  usage_error: [2, 400],
  url_invalid: [2, 400],
  sha256_required: [2, 400],
  signature_missing: [10, 400],
  signature_invalid: [10, 400],
  signature_revoked: [10, 400],
  signature_unknown_signer: [10, 400],
  permission_deny: [11, 400],
  not_paired: [11, 409],
  manifest_invalid: [12, 400],
  archive_invalid: [12, 400],
  sha256_mismatch: [12, 400],
  archive_too_large: [13, 413],
  not_found: [14, 404],
  svc_version_skew: [17, 409],
  incompatible: [18, 409],
  refused: [19, 403],
  host_io_error: [20, 500],
  download_failed: [20, 502],
} as const satisfies Record<string, readonly [code: number, status: number]>;

export type RefusalKind = keyof typeof REFUSALS;

/** Why an extension is not read, installed or run. The message is for people; `extras` become members of the body. */
export class PluginRefusal extends Error {
  readonly kind: RefusalKind;
  readonly extras: Readonly<Record<string, unknown>>;

  constructor(
    kind: RefusalKind,
    detail: string,
    extras: Readonly<Record<string, unknown>> = {},
    options?: ErrorOptions,
  ) {
    super(detail, options);
    this.name = 'PluginRefusal';
    this.kind = kind;
    this.extras = extras;
  }
}
