import { connect } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { ApiError } from '../../shared/errors.ts';
import {
  type Broadcast,
  type Contract,
  callsTo,
  listenTo,
  method,
  methodsOf,
  shape,
} from '../../shared/rpc/contract.ts';
import { RpcClient, RpcServer } from '../../shared/rpc/rpc.ts';
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
  let server: RpcServer;
  let client: RpcClient;
  let added: Promise<number>;

  beforeEach(async () => {
    dir = await tempDir();
    const path = join(dir, 'adder.sock');
    server = new RpcServer({
      path,
      methods: methodsOf(ADDER, {
        add: ({ a, b }) => {
          const result = { sum: a + b };
          tell('added', result);
          return result;
        },
        never: async () => new Promise<Sum>(() => undefined),
      }),
      onError: () => undefined,
    });
    const tell: Broadcast<typeof ADDER> = (event, data) => server.broadcast(event, data);
    await server.start();
    const { promise, resolve } = Promise.withResolvers<number>();
    added = promise;
    const onEvent = listenTo<typeof ADDER>({ added: ({ sum }) => resolve(sum) });
    client = new RpcClient({ path, peer: ADDER.server, onEvent });
    await client.connectOnce();
  });
  afterEach(async () => {
    client.stop();
    await server.stop();
    await removeDir(dir);
  });

  it('a call gets its answer, and every client the event', async () => {
    expect(await callsTo(ADDER, client).add({ a: 2, b: 3 })).to.deep.equal({ sum: 5 });
    expect(await added).to.equal(5);
  });

  it('parameters that do not fit reach no handler', async () => {
    for (const params of [{ a: 1 }, { a: 1, b: '2' }, { a: 1, b: 2, c: 3 }, null, []]) {
      const error = await client.call('add', params, 5000).catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(ApiError);
      expect((error as ApiError).code, JSON.stringify(params)).to.equal('E_INVALID_VALUE');
      expect((error as ApiError).extras['errors'])
        .to.be.an('array')
        .with.length.above(0);
    }
  });

  it('a caller waits as long as the contract says', async () => {
    const error = await callsTo(ADDER, client)
      .never({})
      .catch((reason: unknown) => reason);
    expect(String(error)).to.include('svc-adder did not answer within 50 ms');
  });

  it('where nobody listens, one connection is refused with the system’s own error', async () => {
    await server.stop();
    const late = new RpcClient({ path: join(dir, 'adder.sock'), peer: ADDER.server });
    const error = await late.connectOnce().catch((reason: unknown) => reason);
    expect(error).to.have.property('code', 'ENOENT');
    await server.start();
  });

  it('who asks without end and reads no answer is hung up on', async () => {
    const path = join(dir, 'adder.sock');
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
    expect(await callsTo(ADDER, client).add({ a: 1, b: 1 })).to.deep.equal({ sum: 2 });
  });
});
