import { expect } from 'chai';
import { Denial, type Reason } from '../../connector/denial.ts';
import { bind } from '../../connector/gate/call-hash.ts';
import { NodeSignatures, type Visit } from '../../connector/gate/node-signatures.ts';
import { rehearse } from '../../connector/gate/rehearsal.ts';
import { askOf } from '../../connector/planes/ask.ts';
import type { NodeClient, NodeRequest } from '../../connector/planes/node-client.ts';
import { type Principal, STDIO } from '../../connector/principal.ts';
import type { Arguments, Tool } from '../../connector/tools/tool.ts';

const CODE = 'QW7K2MZP';
const GOTO = { name: 'flight_goto' } as unknown as Tool;
const TOKEN: Principal = { ...STDIO, kind: 'token', id: 'mct_1', token: 'x' };
const FILE = 'POST /api/confirmations';
const LOOK = `GET /api/confirmations/${CODE}`;
const USE = `POST /api/confirmations/${CODE}/use`;

/** A node that answers by `METHOD /path`: a body, or why not. */
class SaidNode implements NodeClient {
  readonly target = { id: 'n1', name: null, baseUrl: 'http://n1:8080', key: null };
  readonly presence = null;
  readonly says = new Map<string, unknown>();
  readonly asked: NodeRequest[] = [];

  async json(request: NodeRequest): Promise<unknown> {
    this.asked.push(request);
    const said = this.says.get(`${request.method} ${request.path}`);
    if (said instanceof Denial) throw said;
    if (typeof said === 'function')
      return Promise.resolve((said as (asked: NodeRequest) => unknown)(request));
    return Promise.resolve(said);
  }

  async bytes(): Promise<never> {
    return Promise.reject(new Denial('not_supported'));
  }
}

async function reasonOf(work: Promise<unknown>): Promise<Reason | null> {
  try {
    await work;
    return null;
  } catch (error) {
    if (error instanceof Denial) return error.reason;
    throw error;
  }
}

describe('a signature on a page of the node', () => {
  let node: SaidNode;
  let signatures: NodeSignatures;
  let state: string;
  beforeEach(() => {
    [node, signatures, state] = [new SaidNode(), new NodeSignatures(1), 'waiting'];
    let hash: unknown;
    node.says.set(FILE, ({ body }: NodeRequest) => {
      hash = (body as Arguments)['call_hash'];
      return { code: CODE };
    });
    node.says.set(LOOK, () => ({ state, call_hash: hash }));
    node.says.set(USE, { signed_by: 'session:1' });
  });

  const judge = async (
    args: Arguments,
    answer: Visit['answer'],
    { principal = TOKEN, signal = new AbortController().signal, waits = (): void => undefined } = {},
  ) =>
    signatures.judge(
      { tool: GOTO, args, principal, node, bound: bind(GOTO.name, node.target.id, args) },
      { answer, signal, waits },
      async () => Promise.resolve('words'),
    );
  const filed = (): number => node.asked.filter(({ path, method }) => `${method} ${path}` === FILE).length;

  it('is asked for once for a call, with where it would go, and without secrets', async () => {
    const args = { lat: 48, lon: 11, password: 'hush' };
    const first = await judge(args, null);
    expect(first).to.deep.include({ kind: 'visit', url: `http://n1:8080/#/access/confirm/${CODE}` });
    expect(await judge(args, null)).to.deep.equal(first);
    expect(filed()).to.equal(1);
    const body = node.asked[0]?.body as Arguments;
    expect(body).to.deep.include({ tool: 'flight_goto', summary: 'words', place: { lat: 48, lon: 11 } });
    expect(JSON.stringify(body)).to.not.include('hush');
    await judge({ lat: 49, lon: 11 }, null);
    await judge(args, null, { principal: { ...TOKEN, id: 'mct_2' } });
    expect(filed(), 'other arguments, another caller').to.equal(3);
  });

  it('is waited for once the page was opened, and used up at the node', async () => {
    await judge({}, null);
    const waiting = judge({}, 'accept', {
      waits: () => {
        state = 'signed';
      },
    });
    const signed = await waiting;
    if (signed?.kind !== 'signed') throw new Error('it is not signed');
    await signed.take();
    expect(node.asked.at(-1)).to.deep.include({ method: 'POST', path: `/api/confirmations/${CODE}/use` });
    node.says.set(USE, new Denial('not_found'));
    expect(await reasonOf(signed.take()), 'used by another').to.equal('confirm_required');
  });

  it('is none where somebody refused, nobody signed in time, the page was not opened, or it is of another call', async () => {
    for (const [said, answer] of [
      ['refused', 'accept'],
      ['waiting', 'decline'],
    ] as const) {
      state = 'waiting';
      await judge({}, null);
      state = said;
      expect(await reasonOf(judge({}, answer)), said).to.equal('confirm_required');
    }
    await judge({}, null);
    node.says.set(LOOK, new Denial('not_found'));
    expect(await reasonOf(judge({}, 'accept')), 'gone').to.equal('confirm_required');
    await judge({}, null);
    node.says.set(LOOK, { state: 'signed', call_hash: 'f'.repeat(64) });
    expect(await reasonOf(judge({}, 'accept')), 'of another call').to.equal('confirm_required');
    await judge({}, null);
    node.says.set(LOOK, new Denial('rest_down'));
    expect(await reasonOf(judge({}, 'accept')), 'the node is away').to.equal('rest_down');
  });

  it('is not waited for once the call was cancelled', async () => {
    await judge({}, null);
    const stop = new AbortController();
    const waiting = judge({}, 'accept', { signal: stop.signal, waits: () => stop.abort() });
    expect(await reasonOf(waiting)).to.equal('cancelled');
  });

  it('is had elsewhere where the node has no such page, the token may not ask, or the code is none', async () => {
    for (const said of [new Denial('not_found'), new Denial('scope_missing'), { code: '../../x' }, {}]) {
      node.says.set(FILE, said);
      expect(await judge({}, null), JSON.stringify(said)).to.equal(null);
    }
  });
});

describe('what the node says to a call before a person is asked', () => {
  const tried = async (said: unknown, row = 'command.post', body: Arguments = {}) => {
    const node = new SaidNode();
    node.says.set('POST /api/command', said);
    node.says.set('GET /api/status', { armed: true });
    const reason = await reasonOf(
      rehearse(
        async (ask) => {
          await ask(row as 'command.post', { body });
          throw new Error('it went on after its first write');
        },
        askOf(node, TOKEN),
      ),
    );
    return { reason, asked: node.asked };
  };

  it('a command is only checked, and nothing follows', async () => {
    const { reason, asked } = await tried({ status: 'checked' }, 'command.post', { cmd: 'arm' });
    expect(reason).to.equal(null);
    expect(asked.map(({ body }) => body)).to.deep.equal([{ cmd: 'arm', dry_run: true }]);
  });

  it('its refusal is the answer; what an older node, or one that is away, says is not', async () => {
    for (const reason of ['too_far', 'needs_sticks', 'fc_unreachable', 'precondition_failed'] as const)
      expect((await tried(new Denial(reason))).reason).to.equal(reason);
    expect((await tried(new Denial('invalid_arguments', '', { status: 400 }))).reason).to.equal(
      'invalid_arguments',
    );
    expect((await tried(new Denial('invalid_arguments', '', { status: 422 }))).reason).to.equal(null);
    expect((await tried(new Denial('rest_down'))).reason).to.equal(null);
  });

  it('a row that the armed guard stands before is not written: the guard is asked, unless it is overridden', async () => {
    const { reason, asked } = await tried(null, 'params.put', { params: {} });
    expect(reason).to.equal('armed_guard');
    expect(asked.map(({ method }) => method)).to.deep.equal(['GET']);
    expect((await tried(null, 'params.put', { force: true })).reason).to.equal(null);
    expect((await tried(null, 'rally.put', {})).asked, 'without a guard').to.deep.equal([]);
  });
});
