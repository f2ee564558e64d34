import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { readFile, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { RTCPeerConnection, useH264 } from 'werift';
import { ageOf, noBrowser, openBrowser, readClocks, signIn, writeLauncher } from '../support/browser.ts';
import { KEY } from '../support/edge.ts';
import { noNamespaces, RemoteHost } from '../support/netns.ts';
import { TestNode } from '../support/node.ts';
import { boxesOf, decodeFile, decodeJpeg } from '../support/pictures.ts';
import { removeDir, tempDir } from '../support/temp.ts';
import { KEYED, pictures, startVideoNode, unitsOf } from '../support/video-node.ts';

const PIN = '314159';

describe('a drone’s picture on the ground', function () {
  this.timeout(120_000);
  before(function () {
    if ((noNamespaces() ?? noBrowser()) !== null) this.skip();
  });

  it('goes by RTP from one host to the ground station on another, and by WHEP to a browser on a third', async () => {
    const air = await RemoteHost.create('10.78.1.1/24', '10.78.1.2/24');
    const desk = await RemoteHost.create('10.78.2.1/24', '10.78.2.2/24');
    const folder = await tempDir();
    const drone = await TestNode.start({
      simulated: false,
      config: "video:\n  source: test\n  radio: '10.78.1.1:5600'\n",
      prefix: air.prefix,
    });
    const ground = await TestNode.start({
      pairing: { key: KEY },
      simulated: false,
      config: 'agent:\n  profile: ground-station\nvideo:\n  source: auto\n',
    });
    const browser = await openBrowser('chromium', {
      launcher: await writeLauncher(join(folder, 'chromium'), desk.prefix),
    });
    try {
      await pictures(ground);
      await ground.post('/api/dashboard/pin/set', { pin: PIN }, KEYED);
      const page = await browser.newPage();
      await signIn(page, `http://10.78.2.1:${ground.port}`, PIN);
      await page.waitForFunction(() => document.querySelector('video')?.videoWidth === 1280, undefined, {
        polling: 100,
      });
      const reads = await readClocks(page, 30);
      expect(reads.at(-1)?.clock).to.be.above(reads[0]?.clock ?? 0);
      expect(reads.every((read) => ageOf(read) < 2000)).to.equal(true);

      const { body } = await ground.json('/api/video', { headers: KEYED });
      expect(body).to.include({ state: 'running', encoder: null, viewers: 1, source: 'rtp:0.0.0.0:5600' });
      const snapshot = await ground.fetch('/api/video/snapshot', { headers: KEYED });
      const seen = await decodeJpeg(Buffer.from(await snapshot.arrayBuffer()));
      expect(Date.now() - (seen.clock ?? 0)).to.be.within(0, 10_000);
      // Its profile is the drone's business.
      const profile = await ground.post('/api/video/profile', { profile: 'hero' }, KEYED);
      expect([profile.status, profile.body['code']]).to.deep.equal([503, 'E_NO_PIPELINE']);
      // It records what it receives.
      const { body: recording } = await ground.post('/api/video/record/start', {}, KEYED);
      await unitsOf(ground, (all) => all.length > 70);
      await ground.json('/api/video/record/stop', { method: 'POST', headers: KEYED });
      const film = await decodeFile(join(ground.paths.recordings, String(recording['name'])));
      expect(film.pictures.length).to.be.above(20);

      // The drone is lost and comes back: the ground station says so, and shows it again.
      drone.supervisor.kill('SIGSTOP');
      const pid = drone.pid('svc-video');
      process.kill(pid, 'SIGSTOP');
      for (;;) {
        const { body: now } = await ground.json('/api/video', { headers: KEYED });
        if (now['state'] === 'lost') break;
      }
      process.kill(pid, 'SIGCONT');
      drone.supervisor.kill('SIGCONT');
      await pictures(ground);
    } finally {
      await browser.close();
      await Promise.all([ground.stop(), drone.stop()]);
      await Promise.all([air.destroy(), desk.destroy()]);
      await removeDir(folder);
    }
  });
});

describe('a cable between two machines, without any other network', function () {
  this.timeout(120_000);
  before(function () {
    if (noNamespaces() !== null) this.skip();
  });

  it('carries the picture by link-local addresses', async () => {
    const cable = await RemoteHost.create('169.254.77.1/24', '169.254.77.2/24');
    const node = await TestNode.start({
      pairing: { key: KEY },
      simulated: false,
      config: "video:\n  source: test\n  radio: ''\n",
      prefix: cable.prefix,
    });
    const { promise: connected, resolve } = Promise.withResolvers<void>();
    const peer = new RTCPeerConnection({
      codecs: { video: [useH264()], audio: [] },
      iceServers: [],
      iceAdditionalHostAddresses: [cable.near],
    });
    peer.connectionStateChange.subscribe((state) => {
      if (state === 'connected') resolve();
    });
    try {
      peer.addTransceiver('video', { direction: 'recvonly' });
      await peer.setLocalDescription(await peer.createOffer());
      const { status, body } = await cable.call({
        url: `http://127.0.0.1:${node.port}/whep`,
        method: 'POST',
        headers: { ...KEYED, 'content-type': 'application/sdp' },
        body: peer.localDescription?.sdp ?? '',
      });
      expect(status, body).to.equal(201);
      expect(body).to.match(/^a=candidate:\S+ 1 udp \d+ 169\.254\.77\.2 \d+ typ host/m);
      await peer.setRemoteDescription({ type: 'answer', sdp: body });
      await connected;
    } finally {
      await peer.close();
      await node.stop();
      await cable.destroy();
    }
  });
});

describe('a full disk', function () {
  this.timeout(120_000);
  before(function () {
    if (process.getuid?.() !== 0) this.skip(); // a tmpfs needs root
  });

  it('stops a recording cleanly, says why, and refuses the next one; what was recorded plays', async () => {
    const base = await tempDir();
    const disk = join(base, 'disk');
    mkdirSync(disk);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=6m', 'tmpfs', disk]);
    const node = await startVideoNode({
      config: `video:\n  source: test\n  radio: ''\n  recording:\n    directory: ${disk}\n    reserve_mb: 1\n`,
    });
    try {
      const started = await node.post('/api/video/record/start', {}, KEYED);
      expect(started.status, JSON.stringify(started.body)).to.equal(200);
      let status: Record<string, unknown>;
      let recording: { size_bytes: number } | null;
      do {
        ({ body: status } = await node.json('/api/video', { headers: KEYED }));
        recording = status['recording'] as typeof recording;
      } while ((recording?.size_bytes ?? 0) < 300_000);
      const { bavail, bsize } = await statfs(disk);
      await writeFile(join(disk, 'filler'), Buffer.alloc(bavail * bsize, 1));
      do ({ body: status } = await node.json('/api/video', { headers: KEYED }));
      while (status['recording'] !== null);
      expect(status['recording_problem']).to.match(/space|left|full/i);
      expect(status).to.include({ state: 'running' });
      const path = join(disk, String(started.body['name']));
      const film = await decodeFile(path);
      expect(film.pictures.length).to.be.above(25);
      const bytes = await readFile(path);
      expect(boxesOf(bytes).at(-1)?.end, 'ends with a whole fragment').to.equal(bytes.length);
      const again = await node.post('/api/video/record/start', {}, KEYED);
      expect([again.status, again.body['code']]).to.deep.equal([507, 'E_DISK_FULL']);
      const stored = await node.json('/api/video/snapshot', { method: 'POST', headers: KEYED });
      expect([stored.status, stored.body['code']]).to.deep.equal([507, 'E_DISK_FULL']);
    } finally {
      await node.stop();
      execFileSync('umount', [disk]);
      await removeDir(base);
    }
  });
});
