import { expect } from 'chai';
import { askAgain } from '../support/ask-again.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import { UdpReceiver } from '../support/udp-receiver.ts';
import { EASY_HERO, KEYED, pictures } from '../support/video-node.ts';

describe('pictures that nobody needs', () => {
  let radio: number;
  let node: TestNode;
  const video = async (): Promise<Readonly<Record<string, unknown>>> =>
    (await node.json('/api/video', { headers: KEYED })).body;
  const untilIdle = async (wanted: boolean): Promise<Readonly<Record<string, unknown>>> =>
    askAgain(`idle: ${wanted}`, video, ({ idle }) => idle === wanted);

  before(async () => {
    await using free = await UdpReceiver.open();
    radio = free.port;
    const config = `video:\n  source: test\n  radio: 127.0.0.1:${radio}\n${EASY_HERO}`;
    node = await TestNode.start({ pairing: { key: KEY }, simulated: false, config });
    await pictures(node);
  });
  after(async () => node.stop());

  it('are one a second, and the camera still runs', async () => {
    await untilIdle(true);
    const slow = await askAgain('one a second', video, ({ fps }) => fps !== null && Number(fps) < 2);
    expect(slow).to.include({ state: 'running', problem: null, restarts: 0, encoder: 'libx264' });
    expect(slow['fps']).to.be.above(0);
  });

  it('a snapshot is of now, and whoever asks for one is likely to ask for more', async () => {
    await untilIdle(true);
    const asked = Date.now();
    const { status, headers } = await node.request('/api/video/snapshot', { headers: KEYED });
    expect(status).to.equal(200);
    expect(Date.parse(String(headers['x-captured-at']))).to.be.least(asked);
    await untilIdle(false);
  });

  it('come at once when somebody watches, and until he goes', async () => {
    await untilIdle(true);
    const leaving = new AbortController();
    const film = await node.fetch('/api/video/live.mp4', { headers: KEYED, signal: leaving.signal });
    const reader = film.body?.getReader();
    let bytes = Buffer.alloc(0);
    while (!bytes.includes('moof')) bytes = Buffer.concat([bytes, (await reader?.read())?.value ?? bytes]);
    await untilIdle(false);
    await askAgain('full rate', video, ({ fps }) => Number(fps) > 12);
    leaving.abort();
    await untilIdle(true);
  });

  it('go to a radio that has its port open, from a key frame on, and rest when it has gone', async () => {
    await untilIdle(true);
    {
      await using receiver = await UdpReceiver.open(radio);
      await receiver.until((all) => all.length > 100);
      await untilIdle(false);
    }
    const { radio: sent } = await untilIdle(true);
    expect(sent).to.include({ problem: null, failed: 0 });
  });
});
