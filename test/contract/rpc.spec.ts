import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
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
import { probeSocket } from '../../shared/rpc/probe.ts';
import { RpcClient } from '../../shared/rpc/rpc.ts';
import { STATEMENTS } from '../../shared/schemas/fleet-statements.ts';
import { compileValidator, createAjv } from '../../shared/schemas/validator.ts';
import { ROOT } from '../support/node.ts';
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

describe('the contracts of the node', () => {
  it('have parameters whose schemas are valid and compile, as do the statements of a fleet', async () => {
    const folder = join(ROOT, 'shared/rpc');
    const modules = await Promise.all(
      readdirSync(folder).map(async (name) => import(join(folder, name)) as Promise<object>),
    );
    const contracts = modules
      .flatMap((module) => Object.values(module) as unknown[])
      .filter((value): value is Contract => Object.hasOwn(Object(value) as object, 'methods'));
    expect(contracts.map(({ server }) => server)).to.include.members(['svc-link', 'svc-helper', 'svc-video']);
    const ajv = createAjv({ checkSchemas: true });
    for (const { server: name, methods } of contracts)
      for (const [called, { schema }] of Object.entries(methods))
        expect(() => compileValidator(ajv, schema), `${name} ${called}`).not.to.throw();
    for (const [type, schema] of Object.entries(STATEMENTS))
      expect(() => compileValidator(ajv, schema), type).not.to.throw();
  });
});

describe('a contract between two processes', () => {
  let dir: string;
  let server: Server<typeof ADDER>;
  let client: Client<typeof ADDER>;
  let path: string;
  let sums: number[];
  const errors: unknown[] = [];

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
      onError: (error) => errors.push(error),
    });
    await server.start();
    sums = [];
    errors.length = 0;
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

  it('a listener that throws is written down, and ends neither the connection nor the call under way', async () => {
    const warned = once(process, 'warning') as Promise<[Error]>;
    const clumsy = clientOf(ADDER, {
      path,
      listeners: {
        added: () => {
          throw new Error('clumsy');
        },
      },
    });
    await clumsy.connectOnce();
    try {
      expect(await clumsy.calls.add({ a: 1, b: 1 })).to.deep.equal({ sum: 2 });
      expect(clumsy.connected).to.equal(true);
      expect((await warned)[0].message)
        .to.include('added of svc-adder')
        .and.to.include('clumsy');
    } finally {
      clumsy.stop();
    }
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

  it('what comes after its caller has given up is not begun', async () => {
    const socket = connect(path);
    await once(socket, 'connect');
    const answers: string[] = [];
    socket.setEncoding('utf8').on('data', (text: string) => answers.push(...text.trim().split('\n')));
    const now = Number(process.hrtime.bigint() / 1_000_000n);
    for (const [id, until] of [now - 1, now + 5000, undefined].entries())
      socket.write(`${JSON.stringify({ id, method: 'add', params: { a: id, b: 0 }, until })}\n`);
    while (!answers.some((line) => line.includes('"id":2'))) await once(socket, 'data');
    socket.destroy();
    expect(answers.find((line) => line.includes('"id":0'))).to.include('E_TIMEOUT');
    const added = answers.filter((line) => line.includes('"added"') && !line.includes('-1'));
    expect(added.map((line) => (JSON.parse(line) as { data: Sum }).data.sum)).to.deep.equal([1, 2]);
  });

  it('where nobody listens, one connection is refused with the system’s own error', async () => {
    await server.stop();
    const late = clientOf(ADDER, { path });
    const error = await late.connectOnce().catch((reason: unknown) => reason);
    expect(error).to.have.property('code', 'ENOENT');
    await server.start();
  });

  it('stopped and started at once, it has one connection, and what was under way has failed', async () => {
    const told: unknown[] = [];
    let connected = Promise.withResolvers<void>();
    const twice = new RpcClient({
      path,
      peer: ADDER.server,
      onEvent: (_event, data) => told.push(data),
      onConnection: (is) => (is ? connected.resolve() : undefined),
    });
    twice.start();
    await connected.promise;
    connected = Promise.withResolvers();
    const cut = twice.call('never', {}, 60_000).catch((reason: unknown) => String(reason));
    twice.stop();
    twice.start();
    expect(await cut).to.include('disconnected');
    await connected.promise;
    // Longer than the pause after which it would connect again.
    for (let call = 0; call < 3; call++) await client.calls.never({}).catch(() => undefined);
    told.length = 0;
    await client.calls.add({ a: 2, b: 3 });
    await twice.call('add', { a: 2, b: 4 }, 5000);
    expect(told).to.deep.equal([{ sum: 5 }, { sum: 6 }]);
    twice.stop();
  });

  it('a peer that hangs up without a word is no error', async () => {
    for (let peer = 0; peer < 20; peer++) {
      const socket = connect(path);
      await once(socket, 'connect');
      socket.destroy();
    }
    expect(await client.calls.add({ a: 1, b: 1 })).to.deep.equal({ sum: 2 });
    expect(errors).to.deep.equal([]);
  });

  it('a probe hangs up so that a server that greets sees no fault; one that never hangs up is live too', async () => {
    const polite = join(dir, 'polite.sock');
    const greeter = createServer({ allowHalfOpen: true }, (socket) => {
      socket.on('error', (error) => errors.push(error));
      socket.write('hello\n'.repeat(1000));
      if (!stubborn) socket.resume().on('end', () => setImmediate(() => socket.end('bye\n')));
    });
    let stubborn = false;
    greeter.listen(polite);
    await once(greeter, 'listening');
    const probed = async (): Promise<Socket> => {
      const accepted = once(greeter, 'connection') as Promise<[Socket]>;
      expect(await probeSocket(polite, 1000)).to.equal('live');
      return (await accepted)[0];
    };
    const socket = await probed();
    if (!socket.closed) await once(socket, 'close');
    expect(errors).to.deep.equal([]);
    stubborn = true;
    (await probed()).destroy();
    await new Promise((resolve) => greeter.close(resolve));
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
