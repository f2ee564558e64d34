import { Command } from '@oclif/core';
import { ApiError } from '../shared/errors.ts';
import type { Paths } from '../shared/paths.ts';
import { callLocal } from './local-client.ts';
import { nodePaths } from './places.ts';

/**
 * A command about the node on this machine. Exit codes: 0 done, 1 the node refused or failed, 2 wrong usage, 3 no node is
 * running here.
 */
export abstract class NodeCommand extends Command {
  static override enableJsonFlag = true;

  protected get paths(): Paths {
    return nodePaths(process.env);
  }

  protected async api(method: string, path: string, body?: unknown): Promise<unknown> {
    return callLocal(this.paths.controlSocket, method, path, body);
  }

  protected override async catch(error: Error): Promise<unknown> {
    if (error instanceof ApiError) {
      if (this.jsonEnabled()) {
        this.logJson(error.body());
        this.exit(exitCode(error));
      }
      this.error(error.message, { exit: exitCode(error), code: error.code });
    }
    return super.catch(error);
  }
}

function exitCode(error: ApiError): number {
  return error.code === 'E_UPSTREAM_DOWN' ? 3 : 1;
}
