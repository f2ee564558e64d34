import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { watch } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { WebSocket } from 'ws';
import { clientOf } from '../../shared/rpc/contract.ts';
import type { LinkState } from '../../shared/rpc/link-state.ts';
import { RpcClient } from '../../shared/rpc/rpc.ts';
import { type EngineStatus, VIDEO } from '../../shared/rpc/video.ts';
import type { TestNode } from './node.ts';

/** Waiting for what tells of itself: nothing here asks again and again. */

type Json = Readonly<Record<string, unknown>>;
type Headers = Readonly<Record<string, string>>;

/** The first telemetry that fits, as the front streams it. @param headers the credential, none on an unpaired node */
export async function telemetry(
  { url }: Pick<TestNode, 'url'>,
  fits: (body: Json) => boolean,
  headers: Headers = {},
): Promise<Json> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/api/telemetry/ws`, { headers });
  const found = Promise.withResolvers<Json>();
  socket.on('message', (data: Buffer) => {
    const body = JSON.parse(data.toString()) as Json;
    if (fits(body)) found.resolve(body);
  });
  socket.on('error', found.reject);
  socket.on('close', (code) => found.reject(new Error(`the telemetry ended with ${code}`)));
  try {
    return await found.promise;
  } finally {
    socket.terminate();
  }
}

/** Resolves when the simulated vehicle knows where it is, and so takes an order to arm. */
export async function armable(node: Pick<TestNode, 'url'>, headers: Headers = {}): Promise<void> {
  await telemetry(
    node,
    ({ ekf, gps }) =>
      (ekf as Json | null)?.['ok'] === true && Number((gps as Json | null)?.['fix_type']) >= 3,
    headers,
  );
}

/** Resolves when the vehicle's firmware and parameters are known. */
export async function known(node: Pick<TestNode, 'paths'>): Promise<void> {
  await linkState(node, ({ params, firmware_version: version }) => !params.priming && version !== null);
}

/** The first state of svc-link that fits. */
export async function linkState(
  { paths }: Pick<TestNode, 'paths'>,
  fits: (state: LinkState) => boolean,
): Promise<LinkState> {
  const found = Promise.withResolvers<LinkState>();
  const client = new RpcClient({
    path: paths.linkSocket,
    peer: 'svc-link',
    onEvent: (_event, data) => {
      if (fits(data as LinkState)) found.resolve(data as LinkState);
    },
  });
  client.start();
  try {
    return await found.promise;
  } finally {
    client.stop();
  }
}

/** The first status of svc-video that fits. The API may be a moment behind. */
export async function engineStatus(
  { paths }: Pick<TestNode, 'paths'>,
  fits: (status: EngineStatus) => boolean,
): Promise<EngineStatus> {
  const found = Promise.withResolvers<EngineStatus>();
  const status = (each: EngineStatus): void => {
    if (fits(each)) found.resolve(each);
  };
  const client = clientOf(VIDEO, { path: paths.videoSocket, listeners: { status } });
  client.start();
  return found.promise.finally(() => client.stop());
}

/** The first record that a process wrote with this text in it, stored before or from now on. */
export async function logged(
  node: TestNode,
  service: string,
  text: string,
  headers: Headers = {},
): Promise<Json> {
  const ended = new AbortController();
  const response = await node.fetch(`/api/logs/stream?service=${service}&replay=100`, {
    headers,
    signal: ended.signal,
  });
  if (response.body === null || response.status !== 200)
    throw new Error(`/api/logs/stream answered ${response.status}`);
  let rest = '';
  try {
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      const events = (rest + chunk).split('\n\n');
      rest = events.pop() ?? '';
      const found = events.find((event) => event.startsWith('data: ') && event.includes(text));
      if (found !== undefined) return JSON.parse(found.slice('data: '.length)) as Json;
    }
  } finally {
    ended.abort();
  }
  throw new Error('the stream of the log ended');
}

/** The content of a file once it fits. */
export async function fileSays(path: string, fits: (text: string) => boolean): Promise<string> {
  return changed(dirname(path), async () => {
    const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    });
    return text !== null && fits(text) ? text : null;
  });
}

/** Resolves when there is no file of this name. */
export async function gonePath(path: string): Promise<void> {
  await folderHas(dirname(path), (names) => !names.includes(basename(path)));
}

/** The names in a folder once they fit, sorted. */
export async function folderHas(
  path: string,
  fits: (names: readonly string[]) => boolean,
): Promise<readonly string[]> {
  return changed(path, async () => {
    const names = (await readdir(path)).toSorted();
    return fits(names) ? names : null;
  });
}

/** Resolves when the process is gone, also one that is not a child of ours. */
export async function gone(pid: number): Promise<void> {
  await once(spawn('tail', ['--pid', String(pid), '-s', '0.05', '-f', '/dev/null']), 'exit');
}

/** Looks at once, and at each change of the folder, until `look` finds something. */
async function changed<T>(folder: string, look: () => Promise<T | null>): Promise<T> {
  const watcher = watch(folder);
  try {
    for (;;) {
      const change = once(watcher, 'change');
      const found = await look();
      if (found !== null) return found;
      await change;
    }
  } finally {
    watcher.close();
  }
}
