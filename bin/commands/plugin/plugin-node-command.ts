import { ApiError } from '../../../shared/errors.ts';
import type { Query } from '../../../shared/routes/target.ts';
import type { Answer, Route } from '../../../shared/routes/typed-row.ts';
import { NodeCommand, shownWork } from '../../cli/node-command.ts';
import { formUpload } from '../../client/form-upload.ts';
import { failureOf, successOf } from './plugin-exit.ts';

export type Detail = Answer<'plugins.id.get'>;
type Permission = NonNullable<Detail['manifest']>['permissions'][number];

/** A command about the extensions of a node, with the exit codes and the JSON of plugin-exit.ts. */
export abstract class PluginNodeCommand extends NodeCommand {
  protected async detail(id: string): Promise<Detail> {
    return this.call('GET /api/plugins/{id}', { params: { id } });
  }

  /** Sends an archive, and shows how far it is, then what the node does with it. */
  protected async upload<R extends Route>(route: R, archive: string, query: Query = {}): Promise<Answer<R>> {
    const file = { path: archive, name: 'extension.svcplug', type: 'application/zip' };
    return shownWork(this.address, route, { query, upload: await formUpload(file) });
  }

  /** One line for each permission, with its risk in words. */
  protected showPermissions(permissions: readonly Permission[], granted?: ReadonlySet<string>): void {
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
export function isGrave({ risk }: Permission): boolean {
  return risk === 'high' || risk === 'critical';
}
