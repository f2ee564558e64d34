import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import { checkDocument } from '../../bin/conformance/checks/document.ts';
import { checkReads } from '../../bin/conformance/checks/reads.ts';
import { checkRefusals } from '../../bin/conformance/checks/refusals.ts';
import { checkSchemathesis } from '../../bin/conformance/checks/schemathesis.ts';
import { checkSockets } from '../../bin/conformance/checks/sockets.ts';
import { checkWrites } from '../../bin/conformance/checks/writes.ts';
import { type Outcome, Report } from '../../bin/conformance/report.ts';
import { factsOf, type NodeFacts } from '../../bin/conformance/rows.ts';
import { Target } from '../../bin/conformance/target.ts';
import { KEY } from '../support/edge.ts';
import { armable } from '../support/events.ts';
import { type LoneFront, startFront } from '../support/front.ts';
import { ROOT, TestNode } from '../support/node.ts';
import { removeDir, tempDir } from '../support/temp.ts';

interface Sent {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

/** What the proxy does to one kind of request or answer; it leaves the others alone. */
interface Fault {
  /** May add a credential. */
  readonly asked?: (req: IncomingMessage) => void;
  readonly answered?: (req: IncomingMessage, answer: Sent) => void;
  /** Answers in place of the node. */
  readonly instead?: (req: IncomingMessage) => Sent | null;
}

const JSON_HEADERS = {
  'content-type': 'application/json',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
};

function sent(status: number, body: unknown, headers: Sent['headers'] = JSON_HEADERS): Sent {
  return { status, headers, body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)) };
}

const isAt = (req: IncomingMessage, method: string, path: string): boolean =>
  req.method === method && req.url === path;
const lacksKey = (req: IncomingMessage): boolean => req.headers['x-svc-key'] === undefined;

/** A node made wrong: between the kit and a right one, and breaks one thing. */
class WrongNode {
  readonly #server: Server;
  readonly #port: number;
  fault: Fault = {};

  constructor(port: number) {
    this.#port = port;
    this.#server = createServer((req, res) => {
      this.#pass(req).then(
        ({ status, headers, body }) => {
          res.writeHead(status, { ...headers, 'content-length': body.length });
          res.end(req.method === 'HEAD' ? undefined : body);
        },
        () => res.destroy(), // the node has broken off; so do we
      );
    });
    this.#server.on('upgrade', (req: IncomingMessage, socket, head) => {
      this.fault.asked?.(req);
      const lines = Object.entries(req.headers).map(([name, value]) => `${name}: ${String(value)}\r\n`);
      const through = connect(this.#port, '127.0.0.1');
      through.write(`GET ${req.url ?? ''} HTTP/1.1\r\n${lines.join('')}\r\n`);
      through.write(head);
      through.pipe(socket).pipe(through);
      for (const [one, other] of [
        [socket, through],
        [through, socket],
      ] as const) {
        one.on('error', () => other.destroy());
        one.on('close', () => other.destroy());
      }
    });
  }

  async start(): Promise<URL> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return new URL(`http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #pass(req: IncomingMessage): Promise<Sent> {
    const body = await buffer(req);
    const instead = this.fault.instead?.(req) ?? null;
    if (instead !== null) return instead;
    this.fault.asked?.(req);
    const pairs = req.rawHeaders.filter(
      (_, at) => !/^connection$/i.test(req.rawHeaders[at - (at % 2)] ?? ''),
    );
    const added =
      lacksKey(req) || req.rawHeaders.some((name) => /^x-svc-key$/i.test(name)) ? [] : ['x-svc-key', KEY];
    const out = request({
      host: '127.0.0.1',
      port: this.#port,
      method: req.method,
      path: req.url,
      setHost: false,
      headers: [...pairs, ...added],
    });
    out.end(body);
    const [res] = (await once(out, 'response')) as [IncomingMessage];
    const endless = res.headers['content-type'] === 'text/event-stream';
    const { 'transfer-encoding': _chunked, connection: _connection, ...headers } = res.headers;
    const answer = {
      status: res.statusCode ?? 0,
      headers,
      body: endless ? Buffer.alloc(0) : await buffer(res),
    };
    if (endless) res.destroy();
    this.fault.answered?.(req, answer);
    return answer;
  }
}

type Checks = (report: Report, target: Target, facts: NodeFacts) => Promise<unknown>;

const documentOf: Checks = async (report, target) => {
  const { bytes } = await target.ask({ target: '/openapi.json' });
  await checkDocument(report, JSON.parse(bytes.toString()));
};

const WRONG: readonly {
  readonly what: string;
  readonly checks: Checks;
  readonly fault: Fault;
  /** The checks that must fail; no other may. */
  readonly fails: RegExp;
}[] = [
  {
    what: 'a read that asks for no credential',
    checks: checkRefusals,
    fault: {
      asked: (req) => {
        if (isAt(req, 'GET', '/api/v1/diagnostics')) req.headers['x-svc-key'] = KEY;
      },
    },
    fails: /^GET \/api\/v1\/diagnostics: refused without a credential$/,
  },
  {
    what: 'errors in another shape',
    checks: checkRefusals,
    fault: {
      answered: (req, answer) => {
        if (isAt(req, 'PATCH', '/api/telemetry')) answer.body = Buffer.from('{"error": "no"}');
      },
    },
    fails: /^PATCH \/api\/telemetry: 405/,
  },
  {
    what: 'web pages of all origins let in',
    checks: checkRefusals,
    fault: {
      answered: (req, answer) => {
        if (req.headers.origin !== undefined)
          answer.headers['access-control-allow-origin'] = req.headers.origin;
      },
    },
    fails: /^a foreign web page may read nothing$|^an allowed web page is named, and no other$/,
  },
  {
    what: 'a body that is not as documented',
    checks: checkReads,
    fault: {
      answered: (req, answer) => {
        if (!isAt(req, 'GET', '/api/status')) return;
        const body = JSON.parse(answer.body.toString()) as Record<string, unknown>;
        answer.body = Buffer.from(JSON.stringify({ ...body, uptime_seconds: 'long' }));
      },
    },
    fails: /^GET \/api\/status: answers as documented$/,
  },
  {
    what: 'a read that fails with 500',
    checks: checkReads,
    fault: {
      instead: (req) =>
        isAt(req, 'GET', '/api/wfb') ? sent(500, { detail: 'It failed.', code: 'E_INTERNAL' }) : null,
    },
    fails: /^GET \/api\/wfb: answers as documented$/,
  },
  {
    what: 'a route that is not there',
    checks: checkReads,
    fault: {
      instead: (req) =>
        req.url === '/api/fleet' ? sent(404, { detail: 'There is nothing.', code: 'E_NOT_FOUND' }) : null,
    },
    fails: /^GET \/api\/fleet: answers as documented$/,
  },
  {
    what: 'answers that a browser may take for something else',
    checks: checkReads,
    fault: {
      answered: (req, answer) => {
        if (req.url === '/api/ping') delete answer.headers['x-content-type-options'];
      },
    },
    fails: /^GET \/api\/ping: answers as documented$/,
  },
  {
    what: 'a document without a route, and with another policy',
    checks: documentOf,
    fault: {
      answered: (req, answer) => {
        if (req.url !== '/openapi.json') return;
        const text = answer.body.toString().replace('"/api/time":', '"/api/hour":');
        answer.body = Buffer.from(text.replace('"scope":"destructive"', '"scope":"read"'));
      },
    },
    fails: /^document: (?:GET \/api\/time|no other route|POST \/api\/system\/reboot)$/,
  },
  {
    what: 'a write that takes everything',
    checks: checkWrites,
    fault: { instead: (req) => (isAt(req, 'PUT', '/api/config') ? sent(200, { persisted: true }) : null) },
    fails: /^PUT \/api\/config: refuses/,
  },
  {
    what: 'a WebSocket that asks for no credential',
    checks: checkSockets,
    fault: {
      asked: (req) => {
        if (req.url === '/api/mavlink/ws') req.headers['x-svc-key'] = KEY;
      },
    },
    fails: /^WS \/api\/mavlink\/ws: refused without a credential$/,
  },
];

interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function kit(...args: readonly string[]): Promise<Run> {
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [join(ROOT, 'bin/svc-conformance.js'), ...args],
      { timeout: 150_000, maxBuffer: 16e6 },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : error.code;
        if (typeof code === 'number') resolve({ code, stdout, stderr });
        else reject(error ?? new Error('it ended without an exit code'));
      },
    );
  });
}

describe('svc-conformance', function () {
  this.timeout(180_000);
  let node: TestNode;
  let wrong: WrongNode;
  let target: Target;
  let facts: NodeFacts;

  before(async () => {
    node = await TestNode.start({ pairing: { key: KEY } });
    await armable(node, { 'x-svc-key': KEY });
    wrong = new WrongNode(node.port);
    target = new Target(await wrong.start(), KEY, 0);
    const { body } = await node.json('/api/version');
    facts = factsOf('', 'drone', body['capabilities'] as string[], true);
  });

  after(async () => {
    target.close();
    await wrong.stop();
    await node.stop();
  });

  it('passes a node that is right, and flies where it is told to', async () => {
    const folder = await tempDir();
    try {
      const file = join(folder, 'result.json');
      const none = join(folder, 'none');
      const { code, stdout, stderr } = await kit(
        '--url',
        node.url,
        '--key',
        KEY,
        '--fly',
        '--json',
        file,
        '--schemathesis',
        none,
      );
      expect(code, `${stdout.match(/^not ok.*\n.*\n.*/gm)?.join('\n') ?? ''}${stderr}`).to.equal(0);
      const result = JSON.parse(await readFile(file, 'utf8')) as {
        readonly passed: number;
        readonly failed: number;
        readonly not_run: number;
        readonly checks: readonly Outcome[];
      };
      expect(result).to.include({ failed: 0 });
      expect(result.passed).to.be.greaterThan(600);
      expect(result.checks).to.have.length(result.passed + result.not_run);
      const of = (name: string): Outcome | undefined =>
        result.checks.find((check) => check.name.startsWith(name));
      expect(of('schemathesis')).to.include({ result: 'not run' });
      expect(of('flight: lands')).to.include({ result: 'passed' });
      expect(stdout)
        .to.match(/^TAP version 14\n/)
        .and.include(`\n1..${result.checks.length}\n`);
      expect(stdout + (await readFile(file, 'utf8'))).to.not.include(KEY);
      const evidence = process.env['SVC_EVIDENCE'];
      if (evidence === undefined) return;
      await mkdir(evidence, { recursive: true });
      await copyFile(file, join(evidence, 'svc-conformance.json'));
    } finally {
      await removeDir(folder);
    }
  });

  for (const { what, checks, fault, fails } of WRONG)
    it(`notices ${what}, and nothing else`, async () => {
      wrong.fault = fault;
      const report = new Report(() => undefined);
      await checks(report, target, facts);
      const failed = report.outcomes.filter(({ result }) => result === 'failed');
      expect(failed).to.not.have.length(0);
      expect(failed.filter(({ name }) => !fails.test(name))).to.deep.equal([]);
    });

  it('gives schemathesis the reads alone, and the key where nobody sees it; what that finds is a failure', async () => {
    const folder = await tempDir();
    try {
      const program = join(folder, 'schemathesis');
      const seen = join(folder, 'seen.json');
      const lines = [
        `#!${process.execPath}`,
        "const { readFileSync, writeFileSync } = require('node:fs');",
        'const args = process.argv.slice(2);',
        "if (args[0] === '--version') process.exit(0);",
        "const config = readFileSync(args[1], 'utf8');",
        "const { paths } = JSON.parse(readFileSync(args[3], 'utf8'));",
        `writeFileSync(${JSON.stringify(seen)}, JSON.stringify({ args, config, paths }));`,
        "console.log('1 unique failure');",
        'process.exit(1);',
      ];
      await writeFile(program, lines.join('\n'), { mode: 0o755 });
      const report = new Report(() => undefined);
      const { body } = await node.json('/openapi.json', { headers: { 'x-svc-key': KEY } });
      await checkSchemathesis(report, target, facts, body, {
        program,
        examples: 3,
        out: new Set(['wfb.get']),
      });
      expect(report.outcomes[0]).to.include({ result: 'failed' });
      expect(report.outcomes[0]?.why).to.include('1 unique failure');
      const given = JSON.parse(await readFile(seen, 'utf8')) as {
        readonly args: readonly string[];
        readonly config: string;
        readonly paths: Readonly<Record<string, object>>;
      };
      expect(given.args.join(' ')).to.not.include(KEY);
      expect(given.config).to.include(KEY);
      expect(Object.values(given.paths).flatMap(Object.keys)).to.satisfy((verbs: readonly string[]) =>
        verbs.every((verb) => verb === 'get'),
      );
      expect(Object.keys(given.paths)).to.include('/api/status').and.not.include('/api/wfb');
      expect(given.paths).to.not.have.any.keys('/api/logs/stream', '/api/v1/ground-station/drones');
    } finally {
      await removeDir(folder);
    }
  });

  it('does nothing where there is nothing to check, and flies nothing that may be real', async () => {
    const front: LoneFront = await startFront();
    try {
      const refused = await Promise.all([
        kit(),
        kit('--url', front.url, '--key', 'svc_not_the_key_of_this_node'),
        kit('--url', front.url, '--key', KEY, '--fly'),
        kit('--url', front.url, '--key', KEY, '--nonsense'),
      ]);
      expect(refused.map(({ code }) => code)).to.deep.equal([2, 2, 2, 2]);
      expect(refused.map(({ stdout }) => stdout)).to.deep.equal(['', '', '', '']);
      expect(refused.map(({ stderr }) => stderr.split('\n', 1)[0])).to.deep.equal([
        'Name the node with --url http://HOST:8080.',
        'The node refuses this key.',
        'The vehicle does not say that it is simulated. Take the propellers off, then add --yes-props-are-off.',
        "Unknown option '--nonsense'",
      ]);
    } finally {
      await front.stop();
    }
  });
});
