import { expect } from 'chai';
import { EXIT } from '../../bin/cli/exit-codes.ts';
import { textDistance } from '../../shared/text-distance.ts';
import { svc } from '../support/svc.ts';

const nowhere = { etc: '/nonexistent', run: '/nonexistent', state: '/nonexistent' } as Parameters<
  typeof svc
>[0];

describe('a command that is not there', function () {
  this.timeout(60_000); // each call is a process of its own

  for (const [typed, said] of [
    ['stauts', 'command stauts not found. Did you mean svc status?'],
    ['missoin get', 'Did you mean svc mission get?'],
    ['mission gte --json', 'command mission gte not found. Did you mean svc mission get?'],
    ['params gt RTL_ALT', 'Did you mean svc params get?'],
    ['confg', 'Did you mean svc config?'],
    ['cdm takeoff 10', 'Did you mean svc cmd?'],
    ['mission upload', 'command mission upload not found. See svc help mission.'],
    ['nonsense', 'command nonsense not found. See svc help.'],
    ['a'.repeat(100_000), 'not found. See svc help.'],
  ] as const)
    it(`svc ${typed.slice(0, 40)}: ${said.slice(-40)} Nothing is done`, async () => {
      const { code, stdout, stderr } = await svc(nowhere, ...typed.split(' '));
      expect(stderr.replaceAll(/[\s›]+/g, ' ').trim()).to.match(
        new RegExp(`${said.replaceAll(/[.?]/g, '\\$&')}$`),
      );
      expect([code, stdout]).to.deep.equal([EXIT.usage, '']);
    });
});

describe('the distance of two texts', () => {
  it('counts what was changed, left out, added and swapped', () => {
    for (const [a, b, distance] of [
      ['', '', 0],
      ['', 'abc', 3],
      ['status', 'status', 0],
      ['stauts', 'status', 1],
      ['sttus', 'status', 1],
      ['statuss', 'status', 1],
      ['stayus', 'status', 1],
      ['kitten', 'sitting', 3],
    ] as const) {
      expect(textDistance(a, b), `${a} ${b}`).to.equal(distance);
      expect(textDistance(b, a), `${b} ${a}`).to.equal(distance);
    }
  });
});
