import { createInterface } from 'node:readline/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { Args } from '@oclif/core';
import { Serial } from '../../../shared/async/serial.ts';
import { bootTime } from '../../../shared/boot-clock.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import {
  CODE_PATTERN,
  confirmSocket,
  type OperatorFiles,
  operatorFiles,
} from '../../../shared/operator/operator-files.ts';
import { ensureOperatorKey } from '../../../shared/operator/operator-key.ts';
import {
  type PendingCall,
  pendingCall,
  type SignedRequest,
  signCall,
} from '../../../shared/operator/signed-confirm.ts';
import { plainText } from '../../../shared/plain-text.ts';
import { EXIT } from '../../cli/exit-codes.ts';
import { NodeCommand } from '../../cli/node-command.ts';
import { operatorIdentity, operatorSigner } from './operator-signer.ts';

/** How long the client may take to repeat a call to a node of a fleet. */
const STAY_MS = 120_000;
/** The same for a call of many requests, which a vehicle carries out one after the other. */
const PLAN_MS = 3_600_000;
/** Of a terminal that does not say. */
const ROWS = 24;
const COLUMNS = 80;

export default class OperatorConfirmCommand extends NodeCommand {
  static override summary = 'Look at one call of an AI client, and sign it to allow it.';
  static override description =
    'The client shows the code. The signature is valid for 60 s and for this one call with these arguments on this node. If the node is one of a fleet, the command stays for 120 s and asks about each request of the call before it signs it; the requests of a plan are shown at once, and signed for an hour as they come.';
  static override examples = ['<%= config.bin %> operator confirm 7KQ2MZPA'];
  static override args = { code: Args.string({ description: 'as the client shows it', required: true }) };

  async run(): Promise<{ readonly signed: boolean; readonly tool: string; readonly node: string }> {
    const { args } = await this.parse(OperatorConfirmCommand);
    const code = args.code.toUpperCase();
    const files = operatorFiles(process.env);
    const call = CODE_PATTERN.test(code) ? pendingCall(files, code, bootTime()) : null;
    if (call === null)
      this.error(`No call waits under ${code}, or it has expired. Let the client ask again.`, {
        exit: EXIT.refused,
      });
    const isWhole = await this.page([
      `tool       ${call.tool}`,
      `node       ${call.node}`,
      ...(call.summary === undefined ? [] : labelled('what', call.summary)),
      ...labelled('arguments', JSON.stringify(call.args, null, 2)),
      ...(call.requests === undefined
        ? []
        : labelled('requests', call.requests.map((request) => requestLine(request)).join('\n'))),
    ]);
    if (!isWhole || !(await this.ask('Shall this happen?'))) {
      this.log('Not signed.');
      process.exitCode = EXIT.refused;
      return { signed: false, tool: call.tool, node: call.node };
    }
    if (await ensureOperatorKey(files)) this.log(`A key was made: ${files.key}`);
    if (call.fleet === true) await this.stay(files, call);
    else {
      await signCall(files, call, bootTime());
      this.log('Signed; the client has 60 s to repeat the call.');
    }
    return { signed: true, tool: call.tool, node: call.node };
  }

  /** Signs the requests of this call to a node of a fleet, each once the person has seen it. */
  private async stay(files: OperatorFiles, call: PendingCall): Promise<void> {
    const { code, node, requests = [] } = call;
    // What was signed with the call is signed unasked, in its order; the last one again, whose answer may have been a new nonce.
    let next = 0;
    const isSeen = (request: SignedRequest): boolean => {
      const at = [next, next - 1].find((index) => isSame(requests[index], request));
      if (at === undefined) return false;
      next = at + 1;
      return true;
    };
    const turn = new Serial(); // one question at a time
    const signer = operatorSigner({
      files,
      path: confirmSocket(files, code),
      how: 'confirm',
      allow: async (request) =>
        turn.run(async () => {
          if (request.code !== code || request.node !== node)
            throw new ApiError('E_CODE', 'The person looks at another call.');
          if (isSeen({ method: request.method, path: request.path, body: request.body })) {
            this.log(plainText(`Signed: ${requestLine(request)}`));
            return;
          }
          const isWhole = await this.page([
            `request    ${request.method} ${request.path}`,
            ...(request.body === undefined ? [] : labelled('body', JSON.stringify(request.body, null, 2))),
          ]);
          if (!isWhole || !(await this.ask('Sign it?')))
            throw new ApiError('E_CODE', 'The person did not sign it.');
          this.log('Signed.');
        }),
      onError: (error) => this.warn(messageOf(error)),
    });
    const ended = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => ended.abort());
    await signer.start();
    await signCall(files, call, bootTime()); // not before there is somebody to ask
    this.log(`Your key, for fleet.operators: ${(await operatorIdentity(files)).public}`);
    this.log('Let the client repeat the call now. Ctrl-C once it is done.');
    const stayMs = requests.length === 0 ? STAY_MS : PLAN_MS;
    await delay(stayMs, undefined, { signal: ended.signal }).catch(() => undefined); // Ctrl-C is an end as well
    await signer.stop();
  }

  /** All of it, a screen at a time: what is signed is seen whole. @returns false when the person has stopped before its end */
  private async page(lines: readonly string[]): Promise<boolean> {
    // A terminal that does not tell its size says 0, and what is no terminal nothing, whatever the types say.
    const rows = process.stdout.rows > 0 ? process.stdout.rows : ROWS;
    const columns = process.stdout.columns > 0 ? process.stdout.columns : COLUMNS;
    const wrapped = lines.flatMap((line) => wrap(plainText(line), columns));
    const size = Math.max(1, rows - 2);
    for (let at = 0; at < wrapped.length; at += size) {
      for (const line of wrapped.slice(at, at + size)) this.log(line);
      const left = wrapped.length - at - size;
      if (left > 0 && !(await this.ask(`${left} lines more. Go on?`))) return false;
    }
    return true;
  }

  private async ask(question: string): Promise<boolean> {
    if (!process.stdin.isTTY) this.error('A person must sign this, in a terminal.', { exit: EXIT.usage });
    const prompt = createInterface({ input: process.stdin, output: process.stderr });
    // While a question is asked, Ctrl-C comes as a key.
    const left = new Promise<string>((resolve) => {
      prompt.once('SIGINT', () => {
        process.kill(process.pid, 'SIGINT');
        resolve('no');
      });
    });
    try {
      return /^y(?:es)?$/i.test(await Promise.race([prompt.question(`${question} [y/N] `), left]));
    } finally {
      prompt.close();
    }
  }
}

/** As it is signed. */
function requestLine({
  method,
  path,
  body,
}: Omit<SignedRequest, 'body'> & { readonly body?: unknown }): string {
  return `${method} ${path}${body === undefined ? '' : ` ${JSON.stringify(body)}`}`;
}

function isSame(known: SignedRequest | undefined, asked: SignedRequest): boolean {
  return known !== undefined && isDeepStrictEqual({ ...known }, { ...asked });
}

const LABEL = 11;

function labelled(label: string, text: string): readonly string[] {
  return text.split('\n').map((line, index) => `${(index === 0 ? label : '').padEnd(LABEL)}${line}`);
}

function wrap(line: string, columns: number): readonly string[] {
  const parts = line.match(new RegExp(`.{1,${Math.max(20, columns)}}`, 'gu'));
  return parts ?? [''];
}
