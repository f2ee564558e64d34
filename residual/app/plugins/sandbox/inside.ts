import type { SandboxSpec } from './types.ts';

/** Where things are in the sandbox; the same wherever the node runs. */
export const INSIDE = {
  extension: '/extension',
  data: '/data',
  sockets: '/run/svc-extension',
} as const;

/** Where an extension finds its things. Without a sandbox these are the node's own folders. */
export interface Places {
  readonly extension: string;
  readonly data: string;
  readonly sockets: string;
  /** The Node binary. */
  readonly node: string;
}

/** The extension's whole environment: nothing of the node's own gets in. */
export function environment(spec: SandboxSpec, places: Places): Readonly<Record<string, string>> {
  return {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    HOME: places.data,
    LANG: 'C.UTF-8',
    SVC_PLUGIN_ID: spec.id,
    SVC_PLUGIN_SOCKET: `${places.sockets}/host.sock`,
    ...(spec.http ? { SVC_PLUGIN_HTTP_SOCKET: `${places.sockets}/http.sock` } : {}),
    SVC_PLUGIN_DATA: places.data,
    SVC_NODE_PROFILE: spec.profile,
  };
}

/** V8 collects its garbage before the limit of the whole process is reached. */
const HEAP_SHARE = 0.75;

/** The program and its arguments. */
export function commandLine(spec: SandboxSpec, places: Places): readonly [string, ...string[]] {
  const entrypoint = `${places.extension}/${spec.entrypoint}`;
  switch (spec.runtime) {
    case 'node': {
      const heap = Math.max(16, Math.floor(spec.resources.max_ram_mb * HEAP_SHARE));
      // One worker thread of V8 instead of four: threads count as processes.
      return [places.node, `--max-old-space-size=${heap}`, '--v8-pool-size=1', entrypoint];
    }
    case 'python':
      return ['/usr/bin/python3', entrypoint];
    case 'binary':
      return [entrypoint, spec.id, '--socket', `${places.sockets}/host.sock`];
  }
}
