import { join } from 'node:path';
import { expect } from 'chai';
import { TestNode } from '../support/node.ts';
import { decodeFile, decodeJpeg } from '../support/pictures.ts';
import { bindTo, boundPair, GROUND } from '../support/radios.ts';
import { freePort } from '../support/temp.ts';
import { KEYED, pictures, unitsOf } from '../support/video-node.ts';

const GS = '/api/v1/ground-station';
const [FIRST, SECOND] = ['0000000000d1', '0000000000d2'] as const;

describe('a ground station with the video of two drones', function () {
  this.timeout(120_000);

  it('shows and records the one of the active drone, and the other one once that is chosen', async () => {
    const port = await freePort();
    // What wfb-ng would carry between them.
    const drone = await TestNode.start({
      simulated: false,
      config: `video:\n  source: test\n  radio: '127.0.0.1:${port + 1}'\n`,
    });
    const ground = await TestNode.start({
      pairing: { key: KEYED['x-svc-key'] },
      simulated: false,
      config: 'agent:\n  profile: ground-station\nvideo:\n  source: auto\n',
      prepare: bindTo(GROUND, boundPair(FIRST).atGround, boundPair(SECOND, GROUND, 1).atGround),
      env: { SVC_RADIO_VIDEO_PORT: String(port), SVC_RADIO_MAVLINK_PORT: String(await freePort()) },
    });
    await ground.knowsArmed();
    try {
      // The first drone is silent.
      const { body: silent } = await ground.json('/api/video', { headers: KEYED });
      expect([silent['source'], silent['last_frame_age_ms']]).to.deep.equal([`rtp:0.0.0.0:${port}`, null]);
      const chosen = await ground.json(`${GS}/drones/active`, {
        method: 'PUT',
        headers: { ...KEYED, 'content-type': 'application/json' },
        body: JSON.stringify({ device_id: SECOND }),
      });
      expect([chosen.status, chosen.body['active']]).to.deep.equal([200, SECOND]);
      await pictures(ground);
      let snapshot: Response;
      // Until the first key frame has come there is nothing to decode.
      do snapshot = await ground.fetch('/api/video/snapshot', { headers: KEYED });
      while (snapshot.status === 503);
      const seen = await decodeJpeg(Buffer.from(await snapshot.arrayBuffer()));
      expect(Date.now() - (seen.clock ?? 0)).to.be.within(0, 20_000);

      const { status, body: started } = await ground.post(`${GS}/recording/start`, { name: 'flight' }, KEYED);
      expect([status, started['name']], JSON.stringify(started)).to.satisfy(
        ([code, name]: [number, string]) => code === 200 && name.endsWith('_flight.mp4'),
      );
      const again = await ground.post(`${GS}/recording/start`, {}, KEYED);
      expect([again.status, again.body['code']]).to.deep.equal([409, 'E_RECORDING_ACTIVE']);
      expect((await ground.json(`${GS}/status`, { headers: KEYED })).body['recording']).to.equal(true);
      await unitsOf(ground, (all) => all.length > 40);
      const stopped = await ground.json(`${GS}/recording/stop`, { method: 'POST', headers: KEYED });
      expect(stopped.body['files']).to.deep.equal([started['name']]);
      const { body: list } = await ground.json(`${GS}/recording`, { headers: KEYED });
      expect(list).to.deep.include({ recording: false, current: null });
      expect(list['items']).to.have.length(1);
      const film = await decodeFile(join(ground.paths.recordings, String(started['name'])));
      expect(film.pictures.length).to.be.above(20);
    } finally {
      await Promise.all([ground.stop(), drone.stop()]);
    }
  });
});
