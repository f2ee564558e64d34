import { expect } from 'chai';
import fc from 'fast-check';
import { repeatedName } from '../../shared/json-depth.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';

describe('a JSON body', () => {
  it('has each name of an object once, however it is written and wherever it stands', () => {
    const table: readonly (readonly [string, string | null])[] = [
      ['{"a":1,"b":2}', null],
      ['{"a":1,"a":2}', 'a'],
      ['{"a":1,"\\u0061":2}', 'a'],
      ['{"a":{"b":1},"b":1}', null],
      ['[{"a":1},{"a":1}]', null],
      ['{"a":[1,{"c":"c","d":{}}],"c":"a","a":0}', 'a'],
      ['{"a":"b\\"}{","b":"a","c":["a","a"]}', null],
      ['{"":1,"":2}', ''],
      ['"a"', null],
    ];
    for (const [text, name] of table) expect(repeatedName(text), text).to.equal(name);
  });

  it('that JSON.stringify has written has none twice', () => {
    fc.assert(fc.property(fc.json(), (text) => repeatedName(text) === null));
  });

  describe('of a node', () => {
    let node: TestNode;
    before(async () => {
      node = await TestNode.start({ pairing: { key: KEY }, simulated: false });
    });
    after(async () => node.stop());
    for (const [what, body, words] of [
      [
        'a name that stands twice',
        '{"key":"logging.level","value":"debug","value":"info"}',
        '"value" stands twice',
      ],
      ['a byte order mark', '\uFEFF{"key":"logging.level","value":"debug"}', 'byte order mark'],
      ['no JSON', '{"key":', 'JSON'],
      ['a word', 'nothing', 'JSON'],
      ['a prototype', '{"__proto__":{"key":"logging.level"}}', 'would change a prototype'],
      ['a constructor', '{"constructor":{"prototype":{"a":1}}}', 'would change a prototype'],
      ['65 levels', `{"a":${'['.repeat(64)}${']'.repeat(64)}}`, 'nests deeper than 64'],
    ] as const)
      it(`with ${what} is refused, and says so`, async () => {
        const headers = { 'x-svc-key': KEY, 'content-type': 'application/json' };
        const answer = await node.fetch('/api/config', { method: 'PUT', headers, body });
        expect(answer.status).to.equal(400);
        expect(await answer.text())
          .to.include('E_BAD_REQUEST')
          .and.include(JSON.stringify(words).slice(1, -1));
      });
  });
});
