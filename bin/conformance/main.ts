/** svc-conformance: whether a node answers as this API says, seen from outside. */
import { parseArgs } from 'node:util';
import { ApiError, messageOf } from '../../shared/errors.ts';
import { writeAtomic } from '../../shared/files/atomic-write.ts';
import { memberOf } from '../../shared/member.ts';
import { VERSION } from '../../shared/version.ts';
import { jsonOf, must } from './answers.ts';
import { checkDocument } from './checks/document.ts';
import { checkFlight } from './checks/flight.ts';
import { checkReads } from './checks/reads.ts';
import { checkRefusals } from './checks/refusals.ts';
import { checkSchemathesis } from './checks/schemathesis.ts';
import { checkSockets } from './checks/sockets.ts';
import { checkWrites } from './checks/writes.ts';
import { NotRun, Report } from './report.ts';
import { factsOf, type NodeFacts } from './rows.ts';
import { Target } from './target.ts';

const USAGE = `usage: svc-conformance --url http://HOST:8080 --key KEY [options]

Checks a node of this API from outside. It changes nothing there, unless it is told to fly.

  --url URL            the node
  --key KEY            its pairing key; or SVC_KEY in the environment
  --fly                also arms, takes off, goes some 20 m, lands; only with a vehicle that says it is simulated
  --yes-props-are-off  with --fly: also with one that does not
  --schemathesis PATH  the program, if it is not on PATH
  --examples N         how many requests it makes up for each read, 1 to 200; 10 unless said
  --json FILE          the results as JSON too

Each check is a line of TAP. Exit code: 0 nothing failed, 1 something failed, 2 wrong usage, or no node to check.
`;

const EXIT = { fine: 0, failed: 1, unusable: 2 } as const;

/** Nothing can be checked; the message is a sentence. */
class Unusable extends Error {}

interface Options {
  readonly url: URL;
  readonly key: string;
  readonly fly: boolean;
  readonly anyVehicle: boolean;
  readonly schemathesis: string;
  readonly examples: number;
  readonly json: string | null;
}

/** @returns null for a question about the usage @throws Unusable, TypeError of parseArgs */
function optionsOf(args: readonly string[]): Options | null {
  const { values } = parseArgs({
    args: [...args],
    options: {
      url: { type: 'string' },
      key: { type: 'string', default: process.env['SVC_KEY'] ?? '' },
      fly: { type: 'boolean', default: false },
      'yes-props-are-off': { type: 'boolean', default: false },
      schemathesis: { type: 'string', default: 'schemathesis' },
      examples: { type: 'string', default: '10' },
      json: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return null;
  const url = URL.parse(values.url ?? '');
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new Unusable('Name the node with --url http://HOST:8080.');
  if (url.pathname !== '/' || url.search !== '' || url.username !== '')
    throw new Unusable('The URL has a host and a port, and nothing more.');
  if (values.key === '')
    throw new Unusable('Give the pairing key with --key, or SVC_KEY in the environment.');
  if (!/^[\x21-\x7e]+$/.test(values.key)) throw new Unusable('That is no pairing key.');
  const examples = Number(values.examples);
  if (!Number.isInteger(examples) || examples < 1 || examples > 200)
    throw new Unusable('--examples is 1 to 200.');
  if (values['yes-props-are-off'] && !values.fly) throw new Unusable('--yes-props-are-off goes with --fly.');
  return {
    url,
    key: values.key,
    fly: values.fly,
    anyVehicle: values['yes-props-are-off'],
    schemathesis: values.schemathesis,
    examples,
    json: values.json ?? null,
  };
}

interface MetNode {
  readonly facts: NodeFacts;
  readonly document: object;
  readonly status: unknown;
}

/** @throws Unusable where there is no paired node with this key */
async function meet(target: Target): Promise<MetNode> {
  try {
    const paired = memberOf(
      jsonOf(await target.ask({ target: '/api/pairing/info', keyed: false })),
      'paired',
    );
    if (paired !== true)
      throw new Unusable('The node is not paired: nobody needs a key there. Pair it first.');
    const [document, status, version] = [
      await target.ask({ target: '/openapi.json' }),
      await target.ask({ target: '/api/status' }),
      await target.ask({ target: '/api/version', keyed: false }),
    ];
    if (document.status === 401 || status.status === 401) throw new Unusable('The node refuses this key.');
    must(status.status === 200, `GET /api/status is answered with ${status.status}.`);
    const told = jsonOf(status);
    const capabilities = memberOf(jsonOf(version), 'capabilities');
    must(Array.isArray(capabilities), 'GET /api/version names no capabilities.');
    const profile = memberOf(told, 'profile') === 'ground-station' ? 'ground-station' : 'drone';
    const config = await target.ask({ target: '/api/config' });
    const parsed = document.status === 200 ? jsonOf(document) : null;
    return {
      facts: factsOf(
        String(memberOf(told, 'version')),
        profile,
        capabilities.map(String),
        config.status !== 501,
      ),
      // Without one, each route is missing in it.
      document: typeof parsed === 'object' && parsed !== null ? parsed : {},
      status: told,
    };
  } catch (error) {
    throw error instanceof Unusable ? error : new Unusable(`There is no node to check: ${messageOf(error)}`);
  }
}

async function run(options: Options): Promise<number> {
  const target = new Target(options.url, options.key);
  const startedAt = new Date();
  try {
    const { facts, document, status } = await meet(target);
    if (options.fly && memberOf(status, 'fc_simulated') !== true && !options.anyVehicle)
      throw new Unusable(
        'The vehicle does not say that it is simulated. Take the propellers off, then add --yes-props-are-off.',
      );
    const report = new Report((line) => process.stdout.write(`${line}\n`));
    await checkDocument(report, document);
    const out = await checkReads(report, target, facts);
    await checkRefusals(report, target, facts);
    await checkWrites(report, target, facts);
    await checkSockets(report, target, facts);
    const { schemathesis: program, examples } = options;
    await checkSchemathesis(report, target, facts, document, { program, examples, out });
    await report.check('flight: begins and ends on the ground', async () => {
      if (!options.fly) throw new NotRun('--fly was not given');
      await checkFlight(report, target);
    });
    const summary = report.end();
    if (options.json !== null) {
      const node = { version: facts.version, profile: facts.profile, features: [...facts.features] };
      const result = {
        kit: VERSION,
        url: options.url.origin,
        node,
        started_at: startedAt.toISOString(),
        ...summary,
      };
      await writeAtomic(
        options.json,
        `${JSON.stringify({ ...result, checks: report.outcomes }, null, 2)}\n`,
        0o644,
      );
    }
    return summary.failed === 0 ? EXIT.fine : EXIT.failed;
  } finally {
    target.close();
  }
}

async function main(): Promise<number> {
  try {
    const options = optionsOf(process.argv.slice(2));
    if (options !== null) return await run(options);
    process.stdout.write(USAGE);
    return EXIT.fine;
  } catch (error) {
    const usage = error instanceof TypeError ? `\n\n${USAGE}` : '\n';
    process.stderr.write(`${messageOf(error)}${usage}`);
    if (!(error instanceof Unusable || error instanceof TypeError || error instanceof ApiError)) throw error;
    return EXIT.unusable;
  }
}

process.exitCode = await main();
