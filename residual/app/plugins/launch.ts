import { join } from 'node:path';
import { entrypointOf } from '../../../shared/plugins/entrypoint.ts';
import type { AgentHalf, Manifest } from '../../../shared/plugins/manifest.ts';
import { grantedOf, type InstallRecord } from './record.ts';
import type { SandboxSpec } from './sandbox/types.ts';

export interface Places {
  /** The folder of its files. */
  readonly install: string;
  readonly data: string;
  readonly sockets: string;
  readonly profile: string;
  readonly closedDevices: readonly string[];
}

/** Grants that decide what the sandbox is: a change takes effect with a new start. */
const SHAPES_SANDBOX = /^(?:hardware|network|filesystem)\.|^process\.spawn$/;

export function shapesSandbox(permission: string): boolean {
  return SHAPES_SANDBOX.test(permission);
}

/** How an extension is started. @throws PluginRefusal incompatible if it has nothing for this machine */
export function launchOf(
  record: InstallRecord,
  { id }: Manifest,
  agent: AgentHalf,
  places: Places,
): SandboxSpec {
  return {
    id,
    runtime: agent.runtime,
    install: places.install,
    entrypoint: entrypointOf(agent),
    data: join(places.data, id),
    sockets: join(places.sockets, id),
    grants: grantedOf(record),
    resources: agent.resources,
    listenPorts: agent.listen_ports,
    profile: places.profile,
    http: agent.http,
    closedDevices: places.closedDevices,
  };
}

/** Where it serves HTTP, if it does. */
export function httpSocketOf({ sockets }: Pick<SandboxSpec, 'sockets'>): string {
  return join(sockets, 'http.sock');
}
