import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { ROOT } from './node.ts';
import { CONNECTOR_PROGRAM } from './program.ts';

/** The command itself. */
export const PROGRAM = join(ROOT, 'bin/svc-mcp.js');

export interface ConnectorOptions {
  readonly args: readonly string[];
  /** A folder of its own: audit, operator, run directory. */
  readonly home: string;
  readonly key?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** A program and its arguments that run it, for example in a network namespace; over stdio only. */
  readonly prefix?: readonly string[];
}

function environment({ home, key, env }: ConnectorOptions): Record<string, string> {
  const { PATH = '', NODE_COMPILE_CACHE } = process.env;
  return {
    PATH,
    ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }),
    HOME: home,
    SVC_MCP_AUDIT_PATH: join(home, 'audit', 'audit.ndjson'),
    SVC_OPERATOR_DIR: join(home, 'operator'),
    SVC_RUN_DIR: home,
    SVC_ETC_DIR: join(home, 'etc'),
    ...(key === undefined ? {} : { SVC_MCP_AGENT_KEY: key }),
    ...env,
  };
}

/** What a client's user says when asked; undefined: the client cannot ask. */
export type UserAnswer = (question: string) => boolean;
/** Whether a client's user opens the page that they are given; undefined: the client shows none. */
export type OpenedPage = (url: string, message: string) => Promise<boolean>;

/** An MCP client of the official library, over stdio, as an AI application launches the connector. */
export async function connectStdio(
  options: ConnectorOptions,
  user?: UserAnswer,
  opened?: OpenedPage,
): Promise<Client> {
  const [prefix, ...before] = options.prefix ?? [];
  const transport = new StdioClientTransport({
    command: prefix ?? process.execPath,
    args: [
      ...(prefix === undefined ? [] : [...before, process.execPath]),
      CONNECTOR_PROGRAM,
      ...options.args,
    ],
    env: environment(options),
    stderr: 'ignore',
  });
  const client = newClient(user, opened);
  await client.connect(transport);
  return client;
}

export function newClient(user?: UserAnswer, opened?: OpenedPage): Client {
  const client = new Client(
    { name: 'svc-test', version: '1.0.0' },
    {
      capabilities:
        user === undefined && opened === undefined
          ? {}
          : {
              elicitation: {
                ...(user === undefined ? {} : { form: {} }),
                ...(opened === undefined ? {} : { url: {} }),
              },
            },
    },
  );
  if (user !== undefined || opened !== undefined) {
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      if (params.mode === 'url')
        return { action: (await opened?.(params.url, params.message)) === true ? 'accept' : 'decline' };
      return user?.(params.message) === true
        ? { action: 'accept', content: { allow: true } }
        : { action: 'decline' };
    });
  }
  return client;
}

/** The connector over HTTP and its Unix socket. */
export class HttpConnector implements AsyncDisposable {
  readonly url: string;
  readonly socketPath: string;
  readonly #process: ChildProcess;

  private constructor(process: ChildProcess, url: string, home: string) {
    this.#process = process;
    this.url = url;
    this.socketPath = join(home, 'mcp.sock');
  }

  static async start(options: ConnectorOptions): Promise<HttpConnector> {
    const args = [CONNECTOR_PROGRAM, '--transport', 'http', '--http-port', '0', '--no-mdns', ...options.args];
    const child = spawn(process.execPath, args, {
      env: environment(options),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    let url = '';
    for await (const line of createInterface(child.stderr)) {
      said += `${line}\n`;
      url = /listening on (http:\S+\/mcp)/.exec(line)?.[1] ?? url;
      // Where people sign in there is no socket.
      if (url !== '' && (line.includes('mcp.sock') || args.includes('--resource'))) break;
    }
    if (url === '') throw new Error(`the connector did not start: ${said}`);
    child.stderr.resume();
    return new HttpConnector(child, url, options.home);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode !== null) return;
    const gone = once(this.#process, 'exit');
    this.#process.kill('SIGTERM');
    await gone;
  }
}

/** Runs it to its end. */
export async function runConnector(
  options: ConnectorOptions,
): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
  const child = spawn(process.execPath, [CONNECTOR_PROGRAM, ...options.args], {
    env: environment(options),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}

export interface Called {
  readonly isError: boolean;
  /** The structured answer, or the refusal. */
  readonly value: Readonly<Record<string, unknown>>;
  readonly kinds: readonly string[];
}

type CallToolResult = Awaited<ReturnType<Client['callTool']>>;

/** The structured answer of a call, or its refusal. */
export function answerOf(result: CallToolResult): Readonly<Record<string, unknown>> {
  return (result.structuredContent ?? {}) as Readonly<Record<string, unknown>>;
}

/** A call that waits as long as it is told to: specs call faster than people. */
export async function callPatiently(
  client: Client,
  name: string,
  args: Record<string, unknown> = {},
): Promise<CallToolResult> {
  for (;;) {
    const result = await client.callTool({ name, arguments: args });
    if (result.isError !== true) return result;
    const { reason, retryAfterMs } = answerOf(result);
    if (reason !== 'rate_limited' || typeof retryAfterMs !== 'number') return result;
    await delay(retryAfterMs);
  }
}

export async function callTool(
  client: Client,
  name: string,
  args: Record<string, unknown> = {},
): Promise<Called> {
  return calledOf(await client.callTool({ name, arguments: args }));
}

/** As `callTool`, by a client that waits where it is told to. */
export async function callToolPatiently(
  client: Client,
  name: string,
  args: Record<string, unknown> = {},
): Promise<Called> {
  return calledOf(await callPatiently(client, name, args));
}

function calledOf(result: CallToolResult): Called {
  const content = result.content as readonly { readonly type: string }[];
  return {
    isError: result.isError === true,
    value: answerOf(result),
    kinds: content.map(({ type }) => type),
  };
}
