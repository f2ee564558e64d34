import { connect } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { ApiError } from '../../shared/errors.ts';
import {
  type Client,
  type Contract,
  clientOf,
  method,
  type Server,
  serverOf,
  shape,
} from '../../shared/rpc/contract.ts';
import { RpcClient } from '../../shared/rpc/rpc.ts';
import { removeDir, tempDir } from '../support/temp.ts';

interface Sum {
  readonly sum: number;
}

const ADDER = {
  server: 'svc-adder',
  methods: {
    add: method(
      {
        type: 'object',
        required: ['a', 'b'],
        properties: { a: { type: 'number' }, b: { type: 'number' } },
        additionalProperties: false,
      },
      shape<Sum>(),
      5000,
    ),
    never: method({ type: 'object' }, shape<Sum>(), 50),
  },
  events: { added: shape<Sum>() },
} as const satisfies Contract;

describe('a contract between two processes', () => {
  let dir: string;
  let server: Server<typeof ADDER>;
  let client: Client<typeof ADDER>;
  let path: string;
  let sums: number[];

  beforeEach(async () => {
    dir = await tempDir();
    path = join(dir, 'adder.sock');
    server = serverOf(ADDER, {
      path,
      handlers: {
        add: ({ a, b }) => {
          const result = { sum: a + b };
          server.tell('added', result);
          return result;
        },
        never: async () => new Promise<Sum>(() => undefined),
      },
      greeting: () => [['added', { sum: -1 }]],
      onError: () => undefined,
    });
    await server.start();
    sums = [];
    client = clientOf(ADDER, { path, listeners: { added: ({ sum }) => sums.push(sum) } });
    await client.connectOnce();
  });
  afterEach(async () => {
    client.stop();
    await server.stop();
    await removeDir(dir);
  });

  it('a call gets its answer, and every client the events, from the greeting on', async () => {
    expect(await client.calls.add({ a: 2, b: 3 })).to.deep.equal({ sum: 5 });
    // The event was sent before the answer.
    expect(sums).to.deep.equal([-1, 5]);
  });

  it('parameters that do not fit reach no handler', async () => {
    const stranger = new RpcClient({ path, peer: ADDER.server });
    await stranger.connectOnce();
    for (const params of [{ a: 1 }, { a: 1, b: '2' }, { a: 1, b: 2, c: 3 }, null, []]) {
      const error = await stranger.call('add', params, 5000).catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(ApiError);
      expect((error as ApiError).code, JSON.stringify(params)).to.equal('E_INVALID_VALUE');
      expect((error as ApiError).extras['errors'])
        .to.be.an('array')
        .with.length.above(0);
    }
    stranger.stop();
    expect(sums).to.deep.equal([-1]);
  });

  it('a caller waits as long as the contract says', async () => {
    const error = await client.calls.never({}).catch((reason: unknown) => reason);
    expect(String(error)).to.include('svc-adder did not answer within 50 ms');
  });

  it('where nobody listens, one connection is refused with the system’s own error', async () => {
    await server.stop();
    const late = clientOf(ADDER, { path });
    const error = await late.connectOnce().catch((reason: unknown) => reason);
    expect(error).to.have.property('code', 'ENOENT');
    await server.start();
  });

  it('who asks without end and reads no answer is hung up on', async () => {
    const socket = connect(path).pause();
    socket.on('error', () => undefined); // a reset is one way to hang up
    const call = `${JSON.stringify({ id: 'x'.repeat(100_000), method: 'add', params: {} })}\n`;
    await new Promise<void>((resolve) => {
      const more = (): void => {
        while (socket.write(call));
      };
      socket.on('close', () => resolve()).on('drain', more);
      more();
    });
    expect(await client.calls.add({ a: 1, b: 1 })).to.deep.equal({ sum: 2 });
  });
});
