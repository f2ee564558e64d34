import { once } from 'node:events';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { dirname } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { parseJson } from '../../shared/member.ts';
import { RpcServer } from '../../shared/rpc/rpc.ts';
import type { UpdateStatus } from '../../shared/schemas/update.ts';
import { KEY } from '../support/edge.ts';
import { folderHas } from '../support/events.ts';
import { type LoneFront, startFront } from '../support/front.ts';

/** svc-control alone, with real connections, and a svc-helper that only counts. */
describe('uploads of a bundle', () => {
  let front: LoneFront;
  let helper: RpcServer;
  let step: UpdateStatus['step'];
  let started: number;
  let folder: string;
  before(async () => {
    front = await startFront();
    helper = new RpcServer({
      path: front.paths.helperSocket,
      methods: {
        update_status: () => ({ running: '1.0.0', previous: null, step, percent: null, error: null }),
        update_start: () => {
          started++;
          step = 'verifying';
          return { done: true };
        },
      },
      onError: (error) => {
        throw error;
      },
    });
    await helper.start();
  });
  after(async () => {
    await helper.stop();
    await front.stop();
  });
  beforeEach(async () => {
    [step, started] = ['idle', 0];
    folder = dirname(front.paths.updateUpload);
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
  });

  const begin = (bytes: number): ClientRequest => {
    const { port } = front;
    const req = request({
      port,
      method: 'POST',
      path: '/api/v1/system/update?force=1',
      headers: { 'x-svc-key': KEY, 'content-type': 'application/octet-stream', 'content-length': bytes },
    });
    req.on('error', () => undefined); // the connection ends after an answer that comes before the body
    return req;
  };
  const answer = async (req: ClientRequest) => {
    const [res] = (await once(req, 'response')) as [IncomingMessage];
    return { status: res.statusCode, body: parseJson(await text(res)) as { code: string; detail: string } };
  };

  it('the newest takes over: the earlier are told so, and only the newest is installed', async function () {
    this.timeout(60_000);
    const stands = begin(1000);
    stands.write('half');
    const told = answer(stands);
    // Its bytes are being written, so it is in.
    await folderHas(folder, (names) => names.length === 1);
    const newest = begin(4);
    const done = answer(newest);
    newest.end('full');
    const { status, body } = await told;
    expect([status, body.code]).to.deep.equal([409, 'E_STOPPED']);
    expect(body.detail).to.include('Another upload has taken the place');
    expect([(await done).status, started]).to.deep.equal([202, 1]);
    // What is being installed is not taken over.
    const late = begin(4);
    const refused = answer(late);
    late.end('late');
    expect((await refused).body.code).to.equal('E_BUSY');
    expect(started).to.equal(1);
  });

  it('one that stands still is over after 20 s, and leaves nothing', async function () {
    this.timeout(60_000);
    const stands = begin(1000);
    stands.write('half');
    const from = performance.now();
    const { status, body } = await answer(stands);
    const seconds = (performance.now() - from) / 1000;
    expect([status, body.code]).to.deep.equal([408, 'E_REQUEST_TIMEOUT']);
    expect(body.detail).to.include('for 20 s');
    expect(seconds).to.be.greaterThan(19).and.lessThan(30);
    expect([started, await readdir(folder)]).to.deep.equal([0, []]);
  });
});
