import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { messageOf } from '../../../shared/errors.ts';
import { memberOf } from '../../../shared/member.ts';
import { Failed, NotRun, type Report } from '../report.ts';
import { ALL, isHeadOnly, isServed, mayAsk, type NodeFacts } from '../rows.ts';
import type { Target } from '../target.ts';

const VERSION_MS = 20_000;
const RUN_MS = 600_000;
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
const TAIL = 400;
const run = promisify(execFile);

interface Fuzz {
  /** Its name on PATH, or its path. */
  readonly program: string;
  /** Examples of each operation. */
  readonly examples: number;
  /** Rows that answered with a server's error: nothing is there to be found. */
  readonly out: ReadonlySet<string>;
}

/** The same document, read by another program that makes up its own requests: reads only. */
export async function checkSchemathesis(
  report: Report,
  target: Target,
  facts: NodeFacts,
  document: object,
  { program, examples, out }: Fuzz,
): Promise<void> {
  await report.check('schemathesis: finds nothing in the reads', async () => {
    await run(program, ['--version'], { timeout: VERSION_MS, killSignal: 'SIGKILL' }).catch(
      (error: unknown) => {
        throw new NotRun(`there is no schemathesis: ${messageOf(error)}`);
      },
    );
    const folder = await mkdtemp(join(tmpdir(), 'svc-conformance-'));
    try {
      const file = join(folder, 'openapi.json');
      const config = join(folder, 'schemathesis.toml');
      await writeFile(file, JSON.stringify(readsOnly(document, facts, out)));
      // Here, and not among the arguments, which other users of this machine can see.
      const headers = Object.entries(target.credential).map(
        ([name, value]) => `${JSON.stringify(name)} = ${JSON.stringify(value)}`,
      );
      await writeFile(
        config,
        `headers = { ${headers.join(', ')} }\n\n[checks]\nignored_auth.enabled = false\n`,
        { mode: 0o600 },
      );
      const args = ['--config-file', config, 'run', file, '--url', target.url.origin, '-w', '1'];
      args.push(
        '--phases',
        'examples,fuzzing',
        '-n',
        String(examples),
        '--rate-limit',
        '30/s',
        '--no-shrink',
      );
      args.push('--continue-on-failure', '--request-timeout', '45', '--no-color');
      // In the folder, where it leaves files of its own.
      const limits = {
        cwd: folder,
        timeout: RUN_MS,
        maxBuffer: MAX_OUTPUT_BYTES,
        killSignal: 'SIGKILL',
      } as const;
      await run(program, args, limits).catch((error: unknown) => {
        if (memberOf(error, 'killed') === true) throw new Failed(`It took longer than ${RUN_MS / 1000} s.`);
        const stdout = memberOf(error, 'stdout');
        throw new Failed(
          `It found something: ${(typeof stdout === 'string' && stdout !== '' ? stdout : messageOf(error)).slice(-TAIL)}`,
        );
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
}

/** The document without what is no plain read of this node. */
function readsOnly(document: object, facts: NodeFacts, out: ReadonlySet<string>): object {
  const asked = new Set(
    ALL.filter(
      (row) =>
        row.method === 'GET' &&
        isServed(row, facts) &&
        !isHeadOnly(row) &&
        !out.has(row.id) &&
        isAskable(row),
    ).map(({ path }) => path.replaceAll('{*', '{')),
  );
  const paths = Object.entries(memberOf(document, 'paths') ?? {})
    .filter(([path]) => asked.has(path))
    .map(([path, item]) => [path, { get: memberOf(item, 'get') }]);
  return { ...document, paths: Object.fromEntries(paths) };
}

/** What an extension answers is its own business. */
function isAskable(row: (typeof ALL)[number]): boolean {
  try {
    mayAsk(row);
  } catch {
    return false;
  }
  return row.scope !== 'inner' && !Object.values(row.responses).some(({ mediaType }) => mediaType === '*/*');
}
