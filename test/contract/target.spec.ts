import { expect } from 'chai';
import { NodeCommand } from '../../bin/cli/node-command.ts';
import { queryOf } from '../../bin/commands/logs/log-flags.ts';
import { compileTable, ROWS } from '../../shared/routes/table.ts';
import { filledPath, queryText } from '../../shared/routes/target.ts';

describe('the target of a request', () => {
  it('has the parameters in the spelling that the edge takes, and slashes only in a rest', () => {
    const { matcher } = compileTable(ROWS);
    const name = "Ada's (5 GHz) net*!";
    const match = matcher.match(filledPath('/api/v1/network/client/configured/{name}', { name }));
    expect(match).to.deep.include({ kind: 'found', params: { name } });
    expect(filledPath('/a/{id}/x/{*path}', { id: '1/2', path: 'p/q r' })).to.equal('/a/1%2F2/x/p/q%20r');
  });

  it('has what a member says, true as 1, and nothing of a member without a value', () => {
    const query = { on: true, off: false, none: null, also: undefined, zero: 0, text: 'a b&c' };
    expect(queryText(query)).to.equal('?on=1&zero=0&text=a+b%26c');
    expect(queryText({ off: false })).to.equal('');
  });

  it('of a command has its conditions, and no flag that says which node is asked', () => {
    const global = Object.fromEntries(Object.keys(NodeCommand.baseFlags).map((flag) => [flag, 'x']));
    const flags = {
      ...global,
      json: true,
      source: ['svc-link', 'svc-video'],
      'event-kind': ['armed'],
      text: '',
    };
    expect(queryOf(flags)).to.deep.equal({ source: 'svc-link,svc-video', event_kind: 'armed' });
  });
});
