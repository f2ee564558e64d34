import { once } from 'node:events';
import { copyFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { askAgain } from '../support/ask-again.ts';
import type { TestNode } from '../support/node.ts';
import { decodeFile, decodeH264, decodeJpeg } from '../support/pictures.ts';
import { EASY_HERO, KEYED, pictures, startVideoNode, TEST_CAMERA, unitsOf } from '../support/video-node.ts';

interface Profile {
  readonly profile: string;
  readonly width: number;
  readonly base_profile: string;
  readonly leases: readonly {
    readonly holder: string;
    readonly expires_at: string;
    readonly lease_s: number;
  }[];
}

describe('video', () => {
  let node: TestNode;
  before(async () => {
    node = await startVideoNode({ config: `${TEST_CAMERA}${EASY_HERO}` });
  });
  after(async () => node.stop());

  const get = async (path: string) => node.json(path, { headers: KEYED });
  const post = async (path: string, body?: unknown) =>
    body === undefined ? node.json(path, { method: 'POST', headers: KEYED }) : node.post(path, body, KEYED);
  const profile = async (
    body: unknown,
  ): Promise<{ status: number; body: Profile & Record<string, unknown> }> => {
    const answer = await post('/api/video/profile', body);
    return { status: answer.status, body: answer.body as unknown as Profile & Record<string, unknown> };
  };
  const release = async (holder: string) =>
    node.json(`/api/video/profile?holder=${holder}`, { method: 'DELETE', headers: KEYED });
  /** What the encoder really gives: the size of the newest decoded picture. */
  const encoded = async (): Promise<readonly [number, number]> => {
    const units = await unitsOf(node, (all) => all.length >= 2);
    const seen = (await decodeH264(units.map(({ data }) => data))).at(-1);
    return [seen?.width ?? 0, seen?.height ?? 0];
  };

  it('the status is measured', async () => {
    // Measured over two seconds, the first of which has the start in it.
    const { status, body } = await askAgain(
      'the full rate',
      async () => {
        await node.request('/api/video/snapshot', { headers: KEYED }); // somebody needs the pictures
        return get('/api/video');
      },
      ({ body: { fps } }) => Number(fps) > 12,
    );
    expect(status).to.equal(200);
    expect(body).to.include({
      state: 'running',
      source: 'bars',
      encoder: 'libx264',
      viewers: 0,
      recording: null,
    });
    expect(body['fps']).to.be.below(17);
    expect(body['last_frame_age_ms']).to.be.within(0, 10_000);
    expect(body['radio']).to.equal(null);
    expect(body['encoder_reasons']).to.be.an('array');
  });

  it('a snapshot is a JPEG of this moment, and nothing is written', async () => {
    const asked = Date.now();
    const response = await node.request('/api/video/snapshot', { headers: KEYED });
    expect(response.status).to.equal(200);
    expect(response.type).to.equal('image/jpeg');
    expect(response.headers['cache-control']).to.equal('no-store');
    const captured = String(response.headers['x-captured-at']);
    expect(captured).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const seen = await decodeJpeg(response.body as Buffer);
    expect([seen.width, seen.height]).to.deep.equal([640, 360]);
    expect(seen.clock).to.equal(Date.parse(captured));
    expect((seen.clock ?? 0) - asked).to.be.within(-500, Date.now() - asked);
    expect((await get('/api/video/recordings')).body['recordings']).to.deep.equal([]);
  });

  it('POST stores one, and it is had and deleted like a recording', async () => {
    const { status, body } = await post('/api/video/snapshot');
    expect(status).to.equal(200);
    const name = String(body['name']);
    expect(name).to.match(/\.jpg$/);
    const picture = await node.request(`/api/video/recordings/${name}`, { headers: KEYED });
    expect(picture.type).to.equal('image/jpeg');
    const seen = await decodeJpeg(picture.body as Buffer);
    expect(seen.clock).to.equal(Date.parse(String(body['captured_at'])));
    const gone = await node.json(`/api/video/recordings/${name}`, { method: 'DELETE', headers: KEYED });
    expect(gone.body).to.deep.equal({ name, deleted: true });
    expect((await node.request(`/api/video/recordings/${name}`, { headers: KEYED })).status).to.equal(404);
  });

  it('the base profile moves and the encoder follows, and a lease brings the full picture while it lives', async () => {
    expect((await profile({ profile: 'thumbnail' })).body).to.include({
      profile: 'thumbnail',
      width: 320,
      height: 180,
      fps: 5,
      bitrate_kbps: 150,
      base_profile: 'thumbnail',
    });
    expect(await encoded()).to.deep.equal([320, 180]);
    const { body } = await profile({ profile: 'hero', holder: 'pilot-1', lease_s: 10 });
    expect(body).to.include({ profile: 'hero', width: 640, base_profile: 'thumbnail' });
    expect(body.leases[0]).to.include({ holder: 'pilot-1', profile: 'hero', lease_s: 10 });
    expect(Date.parse(body.leases[0]?.expires_at ?? '') - Date.now()).to.be.within(1, 10_000);
    expect(await encoded()).to.deep.equal([640, 360]);
    // It lapses by itself: nobody asks meanwhile.
    await unitsOf(node, isSlow);
    expect(await encoded()).to.deep.equal([320, 180]);
    expect((await get('/api/video/profile')).body)
      .to.include({ profile: 'thumbnail' })
      .and.deep.include({ leases: [] });
  });

  it('a holder gives back; the base moved meanwhile shows', async () => {
    await profile({ profile: 'thumbnail' });
    await profile({ profile: 'hero', holder: 'a' });
    await profile({ profile: 'hero', holder: 'b' });
    expect((await release('a')).body).to.include({ profile: 'hero' });
    expect((await profile({ profile: 'thumbnail', holder: 'b' })).body).to.include({ profile: 'thumbnail' });
    expect((await release('nobody')).status).to.equal(200);
    expect((await profile({ profile: 'hero' })).body).to.include({ profile: 'hero', base_profile: 'hero' });
  });

  const bodies: readonly [string, unknown, number][] = [
    ['lease_s 4', { profile: 'hero', holder: 'k1', lease_s: 4 }, 422],
    ['lease_s 5', { profile: 'hero', holder: 'k1', lease_s: 5 }, 200],
    ['lease_s 120', { profile: 'hero', holder: 'k1', lease_s: 120 }, 200],
    ['lease_s 121', { profile: 'hero', holder: 'k1', lease_s: 121 }, 422],
    ['lease_s 30.5', { profile: 'hero', holder: 'k1', lease_s: 30.5 }, 422],
    ['lease_s "30"', { profile: 'hero', holder: 'k1', lease_s: '30' }, 422],
    ['lease_s absent', { profile: 'hero', holder: 'k1' }, 200],
    ['lease_s without a holder', { profile: 'hero', lease_s: 30 }, 422],
    ['no holder of 0', { profile: 'hero', holder: '' }, 422],
    ['a holder of 1', { profile: 'hero', holder: 'x' }, 200],
    ['a holder of 64', { profile: 'hero', holder: 'x'.repeat(64) }, 200],
    ['a holder of 65', { profile: 'hero', holder: 'x'.repeat(65) }, 422],
    ['the holder vision', { profile: 'hero', holder: 'vision' }, 422],
    ['a holder with a space', { profile: 'hero', holder: 'a b' }, 422],
    ['a holder in unicode', { profile: 'hero', holder: 'ä' }, 422],
    ['another profile', { profile: 'full' }, 422],
  ];
  for (const [name, body, status] of bodies) {
    it(`K1 ${name}: ${status}`, async () => {
      const answer = await profile(body);
      expect(answer.status, JSON.stringify(answer.body)).to.equal(status);
      if (status !== 200) return;
      const { holder, lease_s: seconds } = body as { holder: string; lease_s?: number };
      expect(answer.body.leases.find((lease) => lease.holder === holder)?.lease_s).to.equal(seconds ?? 30);
      await release(holder);
    });
  }

  it('DELETE without a holder: 422', async () => {
    const { status } = await node.json('/api/video/profile', { method: 'DELETE', headers: KEYED });
    expect(status).to.equal(422);
  });

  it('records, lists, serves ranges, and deletes', async () => {
    expect((await post('/api/video/record/stop')).body).to.include({ code: 'E_RECORDING_NOT_ACTIVE' });
    const started = await post('/api/video/record/start', { name: 'test_1' });
    expect(started.status).to.equal(200);
    const name = String(started.body['name']);
    expect(name).to.match(/^\d{8}T\d{6}\.\d{3}Z_test_1\.mp4$/);
    expect((await post('/api/video/record/start', {})).body).to.include({ code: 'E_RECORDING_ACTIVE' });
    await unitsOf(node, (all) => all.length > 35);
    const refused = await node.json(`/api/video/recordings/${name}`, { method: 'DELETE', headers: KEYED });
    expect(refused.body).to.include({ code: 'E_RECORDING_ACTIVE' });
    const stopped = await post('/api/video/record/stop');
    expect(stopped.body).to.deep.include({ name, files: [name] });
    expect(stopped.body['duration_seconds']).to.be.above(1.5);

    const path = `/api/video/recordings/${name}`;
    const whole = (await node.request(path, { headers: KEYED })).body as Buffer;
    const { body: list } = await get('/api/video/recordings');
    expect((list['recordings'] as object[])[0]).to.include({
      name,
      kind: 'recording',
      size_bytes: whole.length,
    });
    expect(list['free_bytes']).to.be.above(0);
    const part = await node.request(path, { headers: { ...KEYED, range: 'bytes=100-199' } });
    expect(part.status).to.equal(206);
    expect(part.headers['content-range']).to.equal(`bytes 100-199/${whole.length}`);
    expect((part.body as Buffer).equals(whole.subarray(100, 200))).to.equal(true);
    const beyond = await node.json(path, { headers: { ...KEYED, range: `bytes=${whole.length}-` } });
    expect([beyond.status, beyond.body['code']]).to.deep.equal([416, 'E_RANGE_NOT_SATISFIABLE']);
    const film = await decodeFile(join(node.paths.recordings, name));
    expect(film.pictures.length).to.be.above(22);
    expect(film.pictures.every(({ clock }) => clock !== null)).to.equal(true);
    // The clock in the picture and the file's own agree.
    const span = ((film.pictures.at(-1)?.clock ?? 0) - (film.pictures[0]?.clock ?? 0)) / 1000;
    expect(film.times.at(-1)).to.be.closeTo(span, 0.05);
    expect((await node.json(path, { method: 'DELETE', headers: KEYED })).body).to.deep.equal({
      name,
      deleted: true,
    });
    expect(await readdir(node.paths.recordings)).to.not.include(name);
  });

  it('names that are no recordings are not served: 404', async () => {
    await writeFile(join(node.paths.recordings, 'secret.txt'), 'x');
    for (const name of ['secret.txt', 'absent.mp4'])
      expect((await get(`/api/video/recordings/${name}`)).status, name).to.equal(404);
  });

  it('cameras are those of this machine', async () => {
    const { status, body } = await get('/api/video/cameras');
    expect(status).to.equal(200);
    expect(body).to.include({ source: 'bars', problem: null });
    expect(body['cameras']).to.be.an('array');
  });

  it('WHEP refuses what it cannot play', async () => {
    const whep = async (body: string, type: string) =>
      node.json('/whep', { method: 'POST', headers: { ...KEYED, 'content-type': type }, body });
    expect((await whep('{}', 'application/json')).status).to.equal(415);
    expect((await whep('hello', 'application/sdp')).body).to.include({ code: 'E_BAD_REQUEST' });
    const audio = [
      'v=0',
      'o=- 1 1 IN IP4 0.0.0.0',
      's=-',
      't=0 0',
      'm=audio 9 UDP/TLS/RTP/SAVPF 111',
      'c=IN IP4 0.0.0.0',
      'a=mid:0',
      'a=ice-ufrag:abcd',
      'a=ice-pwd:abcdefghijklmnopqrstuvwx',
      `a=fingerprint:sha-256 ${Array(32).fill('AA').join(':')}`,
      'a=setup:actpass',
      'a=rtpmap:111 opus/48000/2',
      '',
    ].join('\r\n');
    expect((await whep(audio, 'application/sdp')).body).to.include({ code: 'E_BAD_REQUEST' });
    for (const method of ['PATCH', 'DELETE']) {
      const type = method === 'PATCH' ? { 'content-type': 'application/trickle-ice-sdpfrag' } : {};
      const { status } = await node.json('/whep/none', { method, headers: { ...KEYED, ...type } });
      expect(status, method).to.equal(404);
    }
    expect((await get('/api/video')).body).to.include({ viewers: 0 });
  });

  it('the page and its parts come from this node, to anybody, under a policy that loads nothing else', async () => {
    const page = await node.request('/');
    expect(page.type).to.equal('text/html');
    const policy = String(page.headers['content-security-policy']).split('; ');
    expect(policy).to.include.members([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self'",
      "require-trusted-types-for 'script'",
    ]);
    expect(policy.join()).to.not.match(/unsafe|https?:|\*/);
    const parts = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path ?? '');
    expect(parts.some((path) => path.endsWith('.js'))).to.equal(true);
    for (const path of parts) {
      if (path === 'data:,') continue; // no icon
      const part = await node.request(path);
      expect([part.status, part.headers['content-encoding']], path).to.deep.equal([200, 'gzip']);
    }
    const frame = await node.request('/assets/frame.html');
    expect(frame.headers['content-security-policy']).to.include(
      "default-src 'none'; script-src 'self' blob:; connect-src 'none'",
    );
    expect((await node.request('/assets/none.js')).status).to.equal(404);
  });

  it('kill -9 of svc-video: 503 meanwhile, pictures again within 3 s, in the profile that was set', async () => {
    await profile({ profile: 'thumbnail' });
    const since = performance.now();
    process.kill(node.pid('svc-video'), 'SIGKILL');
    const away = await get('/api/video/profile');
    if (away.status !== 200) expect(away.body).to.include({ code: 'E_NO_PIPELINE' });
    await node.until((services) =>
      services.some(
        ({ name, restarts, state }) => name === 'svc-video' && restarts > 0 && state === 'running',
      ),
    );
    await pictures(node);
    expect(performance.now() - since).to.be.below(20_000); // 3 s, and what a busy machine adds
    for (;;) {
      const { body } = await get('/api/video/profile');
      if (body['profile'] === 'thumbnail') break;
    }
    expect(await encoded()).to.deep.equal([320, 180]);
    await profile({ profile: 'hero' });
  });

  it('a client that reads a recording slowly, and goes, leaves nothing open', async () => {
    const { body } = await post('/api/video/snapshot');
    const asked = request(`${node.url}/api/video/recordings/${String(body['name'])}`, { headers: KEYED });
    asked.end();
    const [answer] = (await once(asked, 'response')) as [{ destroy(): void; statusCode?: number }];
    expect(answer.statusCode).to.equal(200);
    answer.destroy();
    expect((await get('/api/video')).status).to.equal(200);
  });
});

describe('a recording of several parts', () => {
  let node: TestNode;
  before(async () => {
    const small = '  thumbnail: { width: 160, height: 90, fps: 10, bitrate_kbps: 150 }\n';
    node = await startVideoNode({ config: `${TEST_CAMERA}${EASY_HERO}${small}` });
  });
  after(async () => node.stop());

  const parts = async (): Promise<readonly string[]> => {
    const { body } = await node.json('/api/video', { headers: KEYED });
    return (body['recording'] as { files: string[] } | null)?.files ?? [];
  };
  /** Stops, and checks that the answer is what the disk has. */
  const stop = async (count: number): Promise<readonly string[]> => {
    const { status, body } = await node.json('/api/video/record/stop', { method: 'POST', headers: KEYED });
    expect(status, JSON.stringify(body)).to.equal(200);
    const files = body['files'] as string[];
    const written = (await readdir(node.paths.recordings)).filter((name) => name.includes('_whole'));
    expect(files).to.have.length(count);
    expect(files.toSorted()).to.deep.equal(written.toSorted());
    const sizes = await Promise.all(
      files.map(async (name) => (await stat(join(node.paths.recordings, name))).size),
    );
    expect(body['size_bytes']).to.equal(sizes.reduce((sum, size) => sum + size, 0));
    for (const name of files) await rm(join(node.paths.recordings, name));
    return files;
  };

  it('a change of the size, also to a picture of 160 pixels, begins another file that plays; stop names each', async () => {
    await node.post('/api/video/record/start', { name: 'whole' }, KEYED);
    while ((await parts()).length < 1);
    await node.post('/api/video/profile', { profile: 'thumbnail' }, KEYED);
    while ((await parts()).length < 2);
    await unitsOf(node, (all) => all.length > 15);
    const [, name] = await parts();
    const { body } = await node.json('/api/video', { headers: KEYED });
    expect(body['recording_problem']).to.equal(null);
    await copyFile(join(node.paths.recordings, name ?? ''), join(node.base, 'small.mp4'));
    await stop(2);
    const { pictures: seen } = await decodeFile(join(node.base, 'small.mp4'));
    expect(seen[0]).to.include({ width: 160, height: 90 });
    await node.post('/api/video/profile', { profile: 'hero' }, KEYED);
  });

  it('svc-video dies during a recording: it goes on in another file, and stop names both', async () => {
    await node.post('/api/video/record/start', { name: 'whole' }, KEYED);
    const first = async (): Promise<string | undefined> => (await parts())[0];
    let before = await first();
    while (before === undefined) before = await first();
    await unitsOf(node, (all) => all.length > 20);
    await node.killAndAwaitSuccessor('svc-video');
    let after = await first();
    while (after === undefined || after === before) after = await first();
    expect(await stop(2)).to.deep.equal([before, after]);
  });
});

describe('a node without a camera', () => {
  it('says so: searching, 503 for what needs pictures, and no invented value', async () => {
    const node = await startSearching();
    try {
      const { body } = await node.json('/api/video', { headers: KEYED });
      expect(body).to.include({ encoder: null, fps: null, last_frame_age_ms: null });
      expect(body['state']).to.equal('searching');
      const cases: readonly [string, string, string][] = [
        ['GET', '/api/video/snapshot', 'E_NO_FRAME'],
        ['POST', '/api/video/snapshot', 'E_NO_FRAME'],
        ['GET', '/api/video/profile', 'E_NO_PIPELINE'],
        ['DELETE', '/api/video/profile?holder=a', 'E_NO_PIPELINE'],
      ];
      for (const [method, path, code] of cases) {
        const { status, body: answer } = await node.json(path, { method, headers: KEYED });
        expect([status, answer['code']], `${method} ${path}`).to.deep.equal([503, code]);
      }
      const { status, body: whep } = await node.json('/whep', {
        method: 'POST',
        headers: { ...KEYED, 'content-type': 'application/sdp' },
        body: 'v=0',
      });
      expect([status, whep['code']]).to.deep.equal([503, 'E_NO_PIPELINE']);
      const started = await node.post('/api/video/record/start', {}, KEYED);
      expect(started.body).to.include({ code: 'E_NO_PIPELINE' });
    } finally {
      await node.stop();
    }
  });

  async function startSearching(): Promise<TestNode> {
    const { TestNode: Node } = await import('../support/node.ts');
    const { KEY } = await import('../support/edge.ts');
    const node = await Node.start({
      pairing: { key: KEY },
      simulated: false,
      config: 'video:\n  source: auto\n',
      env: { SVC_SYS_DIR: '/nonexistent', SVC_DEV_DIR: '/nonexistent' },
    });
    for (;;) {
      const { body } = await node.json('/api/video', { headers: KEYED });
      if (body['state'] === 'searching') return node;
    }
  }
});

/** Five pictures a second, no longer fifteen; a lost picture or two are nothing like that. */
function isSlow(units: readonly { readonly at: number }[]): boolean {
  const last = units.slice(-4);
  return last.length === 4 && last.every(({ at }, index) => at - (last[index - 1]?.at ?? 0) > 150_000);
}
