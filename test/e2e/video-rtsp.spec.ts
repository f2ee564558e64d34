import { expect } from 'chai';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import { decodeH264, decodeJpeg } from '../support/pictures.ts';
import { RtspCamera } from '../support/rtsp-camera.ts';
import { KEYED, pictures, unitsOf } from '../support/video-node.ts';

describe('a network camera', function () {
  this.timeout(120_000);

  it('is played over RTSP with its login, which nobody is shown; lost, it is found again', async () => {
    const password = 'hunter22-camera';
    const camera = await RtspCamera.start(`pilot:${password}`);
    const node = await TestNode.start({
      pairing: { key: KEY },
      simulated: false,
      config: `video:\n  source: ${camera.url}\n  username: pilot\n  password: ${password}\n  radio: ''\n  hero:\n    width: 640\n    height: 360\n    fps: 15\n    bitrate_kbps: 800\n`,
    });
    try {
      await pictures(node);
      const { body } = await node.json('/api/video', { headers: KEYED });
      expect(body).to.include({ state: 'running', source: camera.url, encoder: 'libx264' });
      const units = await unitsOf(node, (all) => all.length > 10);
      const seen = (await decodeH264(units.map(({ data }) => data))).at(-1);
      expect([seen?.width, seen?.height]).to.deep.equal([640, 360]);
      const snapshot = await node.fetch('/api/video/snapshot', { headers: KEYED });
      const { clock } = await decodeJpeg(Buffer.from(await snapshot.arrayBuffer()));
      expect(Date.now() - (clock ?? 0)).to.be.within(0, 10_000);

      camera.drop();
      for (;;) {
        const { body: now } = await node.json('/api/video', { headers: KEYED });
        if (Number(now['restarts']) > 0) break;
      }
      await pictures(node);
      expect(node.stderr).to.not.include(password);
      expect(JSON.stringify(body)).to.not.include(password);
    } finally {
      await node.stop();
      await camera.stop();
    }
  });

  for (const udp of ['461 Unsupported Transport', 'hangs up'] as const)
    it(`that sends by UDP alone is played too: to TCP it says ${udp}`, async () => {
      const camera = await RtspCamera.start(null, { udp });
      const node = await TestNode.start({
        pairing: { key: KEY },
        simulated: false,
        config: `video:\n  source: ${camera.url}\n  radio: ''\n`,
      });
      try {
        await pictures(node);
        const { body } = await node.json('/api/video', { headers: KEYED });
        expect(body).to.include({ state: 'running', source: camera.url, restarts: 0 });
        const units = await unitsOf(node, (all) => all.length > 10);
        expect((await decodeH264(units.map(({ data }) => data))).length).to.be.above(5);
      } finally {
        await node.stop();
        await camera.stop();
      }
    });

  it('with a wrong password: lost, with the reason, and tried again', async () => {
    const camera = await RtspCamera.start('pilot:right');
    const node = await TestNode.start({
      pairing: { key: KEY },
      simulated: false,
      config: `video:\n  source: ${camera.url}\n  username: pilot\n  password: wrong\n`,
    });
    try {
      for (;;) {
        const { body } = await node.json('/api/video', { headers: KEYED });
        if (body['state'] !== 'lost') continue;
        expect(body['problem']).to.match(/401|Unauthorized|authori/i);
        expect(JSON.stringify(body)).to.not.include('wrong');
        break;
      }
      expect(camera.refused).to.be.above(0);
    } finally {
      await node.stop();
      await camera.stop();
    }
  });
});
