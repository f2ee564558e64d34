import type { InstallRecord } from '../../residual/app/plugins/record.ts';
import { askAgain } from './ask-again.ts';
import { formWith, type Made, makeExtension, type Signer, signer, trust } from './extensions.ts';
import { type NodeOptions, TestNode } from './node.ts';

const KEY = `svc_${'p'.repeat(43)}`;

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

/** A paired node that trusts one signer, and the calls of an operator who installs extensions. */
export class PluginNode {
  readonly node: TestNode;
  readonly signer: Signer;

  private constructor(node: TestNode, by: Signer) {
    this.node = node;
    this.signer = by;
  }

  static async start(options: NodeOptions = {}): Promise<PluginNode> {
    const by = signer('tester');
    const node = await TestNode.start({
      ...options,
      pairing: { key: KEY },
      prepare: async (paths) => {
        await trust(paths, by);
        await options.prepare?.(paths);
      },
    });
    await node.knowsArmed(); // installing is guarded
    return new PluginNode(node, by);
  }

  static readonly headers = { 'x-svc-key': KEY } as const;

  async call(method: string, path: string, body?: unknown): Promise<Answered> {
    const form = body instanceof FormData;
    const answer = await this.node.fetch(path, {
      method,
      headers: {
        ...PluginNode.headers,
        ...(form || body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: form ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    const json = answer.headers.get('content-type')?.startsWith('application/json') === true;
    return {
      status: answer.status,
      headers: answer.headers,
      body: json ? (JSON.parse(text) as Record<string, unknown>) : { text },
    };
  }

  /** As `call`. @throws Error with the answer, unless it is 200 */
  async done(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
    const answer = await this.call(method, path, body);
    if (answer.status !== 200)
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  /** Installs an archive, or one that is made so and signed by the trusted signer. */
  async install(made: Made | string | Buffer, query = ''): Promise<Answered> {
    const isMade = typeof made === 'object' && !Buffer.isBuffer(made);
    const archive = isMade ? await makeExtension({ signer: this.signer, ...made }) : made;
    return this.call('POST', `/api/plugins/install${query}`, await formWith(archive));
  }

  /** Installs, grants everything that is named, and enables. */
  async run(made: Made & { readonly id: string; readonly grants?: readonly string[] }): Promise<void> {
    const wanted = made.grants ?? [];
    const query = wanted.length === 0 ? '' : `?requested_permissions=${wanted.join(',')}`;
    const { status, body } = await this.install(made, query);
    if (status !== 200) throw new Error(JSON.stringify(body));
    await this.done('POST', `/api/plugins/${made.id}/enable`, {});
  }

  async record(id: string): Promise<InstallRecord> {
    const { install } = await this.done('GET', `/api/plugins/${id}`);
    return install as InstallRecord;
  }

  /** As `askAgain`: what an extension does is seen only where it shows it. */
  async until<T>(what: string, ask: () => Promise<T>, wanted: (value: T) => boolean): Promise<T> {
    return askAgain(what, ask, wanted);
  }
}
