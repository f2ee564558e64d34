import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { type ClientRequest, request } from 'node:http';
import { expect } from 'chai';
import { KEY } from '../support/edge.ts';
import { folderHas } from '../support/events.ts';
import { TestNode } from '../support/node.ts';

const HEAD =
  '--x\r\ncontent-disposition: form-data; name="metadata"\r\n\r\n' +
  '{"id": "half", "head": "yolov8", "input_w": 320, "input_h": 320}\r\n' +
  '--x\r\ncontent-disposition: form-data; name="file"; filename="m.onnx"\r\n\r\n';

describe('a model on its way in', function () {
  this.timeout(120_000);
  let node: TestNode;
  before(async () => {
    node = await TestNode.start({ pairing: { key: KEY }, simulated: false });
  });
  after(async () => node.stop());

  /** An upload that has begun, and does not end. */
  const begun = async (): Promise<ClientRequest> => {
    const req = request(`${node.url}/api/vision/models`, {
      method: 'POST',
      headers: { 'x-svc-key': KEY, 'content-type': 'multipart/form-data; boundary=x' },
    });
    req.on('error', () => undefined); // it is meant to break off
    req.write(HEAD);
    req.write(Buffer.alloc(100_000));
    await folderHas(node.paths.models, (names) => names.includes('.incoming'));
    await folderHas(`${node.paths.models}/.incoming`, (names) => names.length === 1);
    return req;
  };
  const custom = async (): Promise<unknown> =>
    (await node.json('/api/vision/models', { headers: { 'x-svc-key': KEY } })).body['custom'];

  it('is gone when its sender goes away', async () => {
    const req = await begun();
    req.destroy();
    await folderHas(`${node.paths.models}/.incoming`, (names) => names.length === 0);
    expect(await custom()).to.deep.equal([]);
  });

  it('is gone when svc-residual is killed, and the next one is taken', async () => {
    const req = await begun();
    const closed = once(req, 'close');
    await node.killAndAwaitSuccessor('svc-residual');
    req.destroy();
    await closed;
    expect(await readdir(node.paths.models)).to.deep.equal([]);
    expect(await custom()).to.deep.equal([]);
    (await begun()).destroy();
  });
});
