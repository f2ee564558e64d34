import { ApiError, messageOf } from '../../../shared/errors.ts';
import { isKeyOf, memberOf } from '../../../shared/member.ts';
import { PluginRefusal, REFUSALS, type RefusalKind } from '../../../shared/plugins/refusal.ts';
import { EXIT } from '../../cli/exit-codes.ts';

/** The exit codes of `svc plugin …`; wrong arguments or flags are 2 as everywhere, and no node is 3 as everywhere. */
export const PLUGIN_EXIT = {
  ok: 0,
  generic_failure: 1,
  manifest_invalid: 2,
  signature_invalid: 3,
  permission_denied: 4,
  plugin_not_found: 5,
  wrong_state: 6,
  resource_limit: 7,
  compatibility_failed: 8,
} as const;

type PluginExit = keyof typeof PLUGIN_EXIT;

const BY_KIND: Readonly<Record<RefusalKind, PluginExit>> = {
  usage_error: 'generic_failure',
  url_invalid: 'generic_failure',
  sha256_required: 'generic_failure',
  signature_missing: 'signature_invalid',
  signature_invalid: 'signature_invalid',
  signature_revoked: 'signature_invalid',
  signature_unknown_signer: 'signature_invalid',
  permission_deny: 'permission_denied',
  not_paired: 'wrong_state',
  manifest_invalid: 'manifest_invalid',
  archive_invalid: 'manifest_invalid',
  sha256_mismatch: 'manifest_invalid',
  archive_too_large: 'resource_limit',
  not_found: 'plugin_not_found',
  svc_version_skew: 'compatibility_failed',
  incompatible: 'compatibility_failed',
  refused: 'permission_denied',
  host_io_error: 'generic_failure',
  download_failed: 'generic_failure',
};

/** What to do about it, where the detail does not say it. */
const HINTS: Partial<Readonly<Record<RefusalKind, string>>> = {
  signature_missing: 'svc plugin pack --key KEY.pem --signer ID',
  manifest_invalid: 'svc plugin lint names everything that is wrong at once',
};

interface PluginFailure {
  readonly ok: false;
  readonly code: number;
  readonly kind: string;
  readonly detail: string;
  readonly hint?: string;
  readonly [extra: string]: unknown;
}

/** What `--json` prints for an error, and with which code the command ends. */
export function failureOf(error: unknown): PluginFailure {
  if (error instanceof PluginRefusal) {
    const hint = HINTS[error.kind];
    return {
      ok: false,
      code: PLUGIN_EXIT[BY_KIND[error.kind]],
      kind: error.kind,
      detail: error.message,
      ...(hint !== undefined && { hint }),
      ...error.extras,
    };
  }
  if (error instanceof ApiError) {
    // A refusal of the node carries its kind; other errors are those of every command.
    const kind = error.extras['kind'];
    const known = isKeyOf(REFUSALS, kind) ? kind : null;
    const generic = error.code === 'E_UPSTREAM_DOWN' ? EXIT.noNode : PLUGIN_EXIT.generic_failure;
    return {
      ok: false,
      code: known === null ? generic : PLUGIN_EXIT[BY_KIND[known]],
      kind: known ?? 'generic_failure',
      detail: error.message,
    };
  }
  return { ok: false, code: exitOf(error), kind: 'generic_failure', detail: messageOf(error) };
}

/** oclif's own errors bring their code. */
function exitOf(error: unknown): number {
  const exit = memberOf(memberOf(error, 'oclif'), 'exit');
  return typeof exit === 'number' ? exit : PLUGIN_EXIT.generic_failure;
}

/** What `--json` prints on success. */
export function successOf(data: unknown): {
  readonly ok: true;
  readonly code: 0;
  readonly kind: 'ok';
  readonly data: unknown;
} {
  return { ok: true, code: PLUGIN_EXIT.ok, kind: 'ok', data };
}
