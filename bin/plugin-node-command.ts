import { ApiError } from '../shared/errors.ts';
import type { RequestedPermission } from '../shared/plugins/manifest.ts';
import { formUpload } from './form-upload.ts';
import { NodeCommand } from './node-command.ts';
import { failureOf, successOf } from './plugin-exit.ts';

/** What the node says of an installed extension. */
export interface Installed {
  readonly plugin_id: string;
  readonly version: string;
  readonly status: string;
  readonly signer_id: string | null;
  readonly sandbox: string | null;
  readonly failure_reason: string | null;
  readonly last_words: readonly string[];
  readonly permissions: Readonly<Record<string, { readonly granted: boolean }>>;
}

export interface Detail {
  readonly install: Installed;
  readonly granted_capabilities: readonly string[];
  readonly manifest: {
    readonly name: string;
    readonly description: string;
    readonly license: string;
    readonly risk: string;
    readonly permissions: readonly RequestedPermission[];
    readonly mcp: { readonly tools: readonly { readonly name: string; readonly class: string }[] };
  } | null;
}

/** A command about the extensions of a node, with the exit codes and the JSON of plugin-exit.ts. */
export abstract class PluginNodeCommand extends NodeCommand {
  protected async detail(id: string): Promise<Detail> {
    return (await this.api('GET', `/api/plugins/${encodeURIComponent(id)}`)) as Detail;
  }

  /** Sends an archive, and shows how far it is, then what the node does with it. */
  protected async upload(path: string, archive: string): Promise<unknown> {
    const file = { path: archive, name: 'extension.svcplug', type: 'application/zip' };
    return this.work({ method: 'POST', path, upload: await formUpload(file) });
  }

  /** One line for each permission, with its risk in words. */
  protected showPermissions(
    permissions: readonly RequestedPermission[],
    granted?: ReadonlySet<string>,
  ): void {
    for (const { id, label, risk, risk_reason: reason, required, halves } of permissions) {
      const state = granted === undefined ? '' : granted.has(id) ? 'granted  ' : '-        ';
      const notes = [...(required ? [] : ['optional']), ...(halves.includes('agent') ? [] : ['ground half'])];
      const note = notes.length === 0 ? '' : ` (${notes.join(', ')})`;
      this.log(`  ${state}${id.padEnd(28)} ${risk.padEnd(8)} ${label}. ${reason}${note}`);
    }
  }

  protected override toSuccessJson(result: unknown): unknown {
    return successOf(result);
  }

  protected override toErrorJson(error: unknown): unknown {
    return failureOf(error);
  }

  protected override async catch(error: Error): Promise<unknown> {
    if (!(error instanceof ApiError)) return super.catch(error);
    const failure = failureOf(error);
    if (this.jsonEnabled()) {
      this.logJson(failure);
      this.exit(failure.code);
    }
    this.error(this.words(error), { exit: failure.code });
  }
}

/** Grants that a person gives one by one, each by its name. */
export function isGrave({ risk }: Pick<RequestedPermission, 'risk'>): boolean {
  return risk === 'high' || risk === 'critical';
}
