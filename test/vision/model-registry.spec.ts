import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { ModelRegistry } from '../../residual/app/vision/model-registry.ts';

const MODEL = {
  id: 'boats',
  url: 'files/boats.onnx',
  sha256: 'a'.repeat(64),
  metadata: { id: 'boats', head: 'yolov8', input_w: 320, input_h: 320 },
};
const MINUTE = 60_000;

describe("the operator's list of models", () => {
  let server: Server;
  let base: string;
  let answer: (req: IncomingMessage, res: ServerResponse) => void;
  let asked: (string | undefined)[];
  let now: number;
  let registry: ModelRegistry;
  beforeEach(async () => {
    now = 0;
    asked = [];
    server = createServer((req, res) => {
      asked.push(req.headers['if-none-match']);
      answer(req, res);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    registry = new ModelRegistry(`${base}/a/list.json`, () => now);
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });
  const gives = (text: string, headers = {}): void => {
    answer = (_req, res) => res.writeHead(200, headers).end(text);
  };

  it('is kept for a minute, then asked for by its ETag; addresses in it count from its own', async () => {
    gives(JSON.stringify({ models: [MODEL], more: 1 }), { etag: '"7"' });
    const wanted = { models: [{ ...MODEL, url: `${base}/a/files/boats.onnx` }], problem: null };
    expect(await Promise.all([registry.list(), registry.list()])).to.deep.equal([wanted, wanted]);
    now = MINUTE - 1;
    expect(await registry.list()).to.deep.equal(wanted);
    expect(asked).to.deep.equal([undefined]);
    answer = (_req, res) => res.writeHead(304).end();
    now = MINUTE;
    expect(await registry.list()).to.deep.equal(wanted);
    expect(asked).to.deep.equal([undefined, '"7"']);
  });

  const fails = (status: number, headers = {}): void => {
    answer = (_req, res) => res.writeHead(status, headers).end();
  };
  const BROKEN: readonly [string, () => void, RegExp][] = [
    ['that is no JSON', () => gives('<html>'), /JSON/],
    ['of another shape', () => gives('{"models": [{"id": "x"}]}'), /no list of models: models\[0\]/],
    ['that is too long', () => gives(`{"models": [], "x": "${'x'.repeat(2_000_000)}"}`), /longer than/],
    ['of a server that fails', () => fails(500), /it answered 500/],
    [
      'that leads to another host',
      () => fails(302, { location: 'http://localhost:1/' }),
      /Models come from 127\.0\.0\.1:\d+ only/,
    ],
  ];
  for (const [what, prepare, why] of BROKEN) {
    it(`one ${what} is empty, with the reason, and is not asked for again at once`, async () => {
      prepare();
      const { models, problem } = await registry.list();
      expect(models).to.deep.equal([]);
      expect(problem).to.match(why);
      await registry.list();
      expect(asked).to.have.length(1);
    });
  }

  it('without an address there is none, and nothing can be fetched', async () => {
    const none = new ModelRegistry('', () => now);
    expect(await none.list()).to.deep.equal({ models: [], problem: null });
    const to = { path: '/nowhere', maxBytes: 1, tooLarge: () => new Error('large') as never };
    const why = await none
      .fetch(base, MODEL.sha256, to, () => undefined)
      .then(
        () => 'done',
        (error: Error) => error.message,
      );
    expect(why).to.include('No registry of models is configured');
    expect(asked).to.deep.equal([]);
  });
});
