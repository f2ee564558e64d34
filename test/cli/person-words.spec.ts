import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { COMMAND_OF_ROUTE, personWords } from '../../bin/cli/person-words.ts';
import { ApiError, ERRORS, type ErrorCode } from '../../shared/errors.ts';
import { KEY } from '../support/edge.ts';
import { ROOT, TestNode } from '../support/node.ts';
import { svc } from '../support/svc.ts';

const FOR_PROGRAMS = /X-SVC|\bheader|Retry-After|(?:GET|PUT|POST|DELETE|PATCH) \/|`/;
const NONE: ReadonlySet<string> = new Set();

describe('a refusal of the node, as svc prints it', () => {
  for (const code of Object.keys(ERRORS) as ErrorCode[])
    it(`${code} names no header and no route`, () => {
      if (code === 'E_CONFIRM') return; // its backticks hold a command
      expect(personWords(new ApiError(code), NONE)).to.not.match(FOR_PROGRAMS);
    });

  it('every route that a refusal of the sources names has its command', () => {
    const named = globSync('{front,residual,shared,bin/helper}/**/*.ts', {
      cwd: ROOT,
      exclude: ['residual/web/**'],
    }).flatMap((file) => [
      ...readFileSync(join(ROOT, file), 'utf8').matchAll(
        /new ApiError\([^;]*?(?:GET|PUT|POST|DELETE) \/[^;]*?;/g,
      ),
    ]);
    expect(named).to.have.length.greaterThan(3);
    const routes = named.flatMap(([text]) =>
      [...text.matchAll(/(?:GET|PUT|POST|DELETE) \/api[\w/-]*/g)].map(String),
    );
    const known = COMMAND_OF_ROUTE.map(([route]) => route.split('?')[0]);
    expect(routes.filter((route) => !known.includes(route))).to.deep.equal([]);
  });

  it('the way on is a flag where the command has it', () => {
    const far = new ApiError('E_TOO_FAR');
    expect(personWords(far, new Set(['allow-far']))).to.include('Repeat with --allow-far if');
    const armed = new ApiError('E_ARMED');
    expect(personWords(armed, new Set(['force']))).to.include('repeat with --force if you are sure');
    expect(personWords(armed, NONE)).to.match(/unknown\. Land it if it flies, and disarm it first\.$/);
    expect(personWords(new ApiError('E_RANGE'), new Set(['force']))).to.include('Repeat with --force if');
    const own = new ApiError('E_UNAUTHENTICATED', 'The PIN is wrong.');
    expect(personWords(own, NONE)).to.equal('The PIN is wrong.');
  });

  it('what does not fit is named, and not all of many', () => {
    const value = (places: number): ApiError => {
      const errors = Array.from({ length: places }, (_, n) => ({
        path: `/a/${n}`,
        message: 'is not known here',
      }));
      return new ApiError('E_INVALID_VALUE', undefined, { errors });
    };
    expect(personWords(value(2), NONE)).to.equal('/a/0 is not known here; /a/1 is not known here.');
    expect(personWords(value(7), NONE)).to.match(/\/a\/4 is not known here; and 2 more\.$/);
  });

  it('at the terminal; --json keeps what the node said', async () => {
    const node = await TestNode.start({ pairing: { key: KEY }, simulated: false });
    try {
      const keyless = ['status', '--host', `127.0.0.1:${node.port}`];
      const { code, stderr } = await svc(node.paths, ...keyless);
      expect(code).to.equal(1);
      const text = stderr.replaceAll(/[\s›]+/g, ' ');
      expect(text).to.include('Give its pairing key with --key, or in the variable SVC_KEY');
      expect(text).to.not.match(FOR_PROGRAMS);
      const { stdout } = await svc(node.paths, ...keyless, '--json');
      expect(JSON.parse(stdout)).to.include({
        code: 'E_UNAUTHENTICATED',
        detail: ERRORS.E_UNAUTHENTICATED[1],
      });
      const unknown = await svc(node.paths, 'config', 'set', 'no.such', '1');
      expect(unknown.stderr.replaceAll(/[\s›]+/g, ' ')).to.include(
        'No config key no.such. svc config schema lists them.',
      );
    } finally {
      await node.stop();
    }
  });
});
