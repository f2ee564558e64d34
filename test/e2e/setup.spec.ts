import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import { KEY } from '../support/edge.ts';
import { telemetry } from '../support/events.ts';
import { TestNode } from '../support/node.ts';
import { KEYED, pictures } from '../support/video-node.ts';

const IDS = ['name', 'profile', 'pin', 'fc', 'camera', 'radio', 'network', 'region', 'pairing', 'finish'];

interface Status {
  readonly steps: readonly { readonly id: string; readonly state: string; readonly detail: string }[];
  readonly finished: boolean;
  readonly next: string | null;
}

const ask = async (node: TestNode): Promise<Status> =>
  (await node.json('/api/setup/status', { headers: KEYED })).body as unknown as Status;
const mark = async (node: TestNode, id: string, action: string) =>
  node.post(`/api/setup/step/${id}`, { action }, KEYED);
const states = ({ steps }: Status): Record<string, string> =>
  Object.fromEntries(steps.map(({ id, state }) => [id, state]));
const detail = ({ steps }: Status, id: string): string => steps.find((step) => step.id === id)?.detail ?? '';

const TORN = '{"version":1,"finished_at":"2026-01-01T00:00:00.000Z","ste';

describe('the set-up', () => {
  describe('of a drone', () => {
    let node: TestNode;
    before(async () => {
      node = await TestNode.start({
        pairing: { key: KEY },
        config: "video:\n  source: test\n  radio: ''\nradio:\n  mode: external\n",
        prepare: async (paths) => {
          await mkdir(paths.state, { recursive: true });
          await writeFile(paths.setup, TORN, { mode: 0o640 });
        },
      });
    });
    after(async () => node.stop());

    it('a torn state file was put aside and said, and the set-up starts over', async () => {
      expect((await ask(node)).finished).to.equal(false);
      expect(node.stderr).to.match(/setup\.json cannot be used.*kept as .*\.broken/);
      expect(await readFile(`${node.paths.setup}.broken`, 'utf8')).to.equal(TORN);
    });

    it('tells what the node sees', async () => {
      await Promise.all([pictures(node), telemetry(node, (body) => body['mavlink_alive'] === true, KEYED)]);
      const status = await ask(node);
      expect(status.steps.map(({ id }) => id)).to.deep.equal(IDS);
      expect(states(status)).to.include({
        name: 'optional',
        fc: 'complete',
        camera: 'complete',
        profile: 'needs_action',
        pin: 'needs_action',
        radio: 'needs_action',
        region: 'needs_action',
        pairing: 'complete',
        finish: 'needs_action',
      });
      expect(status).to.include({ finished: false, next: 'name' });
      expect(detail(status, 'fc')).to.match(/^ardupilot .*simulated\.$/);
      expect(detail(status, 'camera')).to.equal('Pictures come from bars.');
    });

    it('a PIN that is set by its own route completes its step, a mark does not', async () => {
      const refused = await mark(node, 'pin', 'complete');
      expect([refused.status, refused.body['code']]).to.deep.equal([400, 'E_BAD_REQUEST']);
      await node.post('/api/dashboard/pin/set', { pin: '2468' }, KEYED);
      expect(states(await ask(node))).to.include({ pin: 'complete' });
      expect((await mark(node, 'pin', 'complete')).status).to.equal(200);
      await node.post('/api/dashboard/pin/clear', {}, KEYED);
    });

    it('a setting that may stay as it is is complete when a person says so; undo takes that back', async () => {
      const { body } = await mark(node, 'name', 'complete');
      expect(states(body as unknown as Status)).to.include({ name: 'complete' });
      expect(body['next']).to.equal('profile');
      expect(states((await mark(node, 'name', 'undo')).body as unknown as Status)).to.include({
        name: 'optional',
      });
      expect((await node.json('/api/config', { headers: KEYED })).body['agent']).to.include({ name: '' });
    });

    const refused: readonly [string, string, unknown, number][] = [
      ['a step that does not exist', '/api/setup/step/wifi', { action: 'skip' }, 404],
      ['finish, which has its own route', '/api/setup/step/finish', { action: 'complete' }, 400],
      ['another action', '/api/setup/step/pin', { action: 'set' }, 422],
      ['a PIN in the body', '/api/setup/step/pin', { action: 'complete', pin: '1234' }, 422],
      ['another profile', '/api/setup/profile', { profile: 'plane' }, 422],
      ['a role for a drone', '/api/setup/profile', { profile: 'drone', role: 'relay' }, 422],
      ['another role', '/api/setup/profile', { profile: 'ground-station', role: 'boss' }, 422],
      ['a body for finish', '/api/setup/finish', { force: true }, 422],
    ];
    for (const [name, path, body, status] of refused) {
      it(`${name}: ${status}`, async () => {
        expect((await node.post(path, body, KEYED)).status).to.equal(status);
      });
    }

    it('the profile is chosen, and the answer says what must restart', async () => {
      const { status, body } = await node.post(
        '/api/setup/profile',
        { profile: 'ground_station', role: 'relay' },
        KEYED,
      );
      expect(status).to.equal(200);
      expect(body).to.include({ profile: 'ground-station', role: 'relay' });
      expect(body['restart_required']).to.include('svc-supervisor');
      const after = await ask(node);
      expect(states(after)).to.include({ profile: 'complete', fc: 'not_applicable' });
      expect(detail(after, 'profile')).to.match(/ground-station \(relay\), once it has been restarted/);
      expect((await mark(node, 'fc', 'skip')).status).to.equal(400);
      const back = await node.post('/api/setup/profile', { profile: 'drone' }, KEYED);
      expect(back.body).to.include({ profile: 'drone', role: null });
    });

    it('the page is there, at the root and below', async () => {
      const root = await node.request('/');
      for (const path of ['/setup', '/setup/pin']) {
        const { status, type, text } = await node.request(path);
        expect([status, type, text]).to.deep.equal([200, 'text/html', root.text]);
      }
    });

    it('while the vehicle is armed neither the profile changes nor does it start over', async () => {
      await node.post('/api/command', { cmd: 'arm', args: [] }, KEYED);
      for (const [path, body] of [
        ['/api/setup/profile', { profile: 'ground-station' }],
        ['/api/setup/reset', {}],
      ] as const) {
        const answer = await node.post(path, body, KEYED);
        expect([answer.status, answer.body['code']]).to.deep.equal([409, 'E_ARMED']);
      }
      expect((await node.post('/api/setup/reset', { force: true }, KEYED)).status).to.equal(200);
    });

    it('while svc-link is away the rest is told, and the flight controller is not known', async () => {
      process.kill(node.pid('svc-link'), 'SIGSTOP');
      try {
        const status = await ask(node);
        expect(detail(status, 'fc')).to.equal('Not known: svc-link does not answer.');
        expect(states(status)).to.include({ fc: 'needs_action', pairing: 'complete' });
      } finally {
        process.kill(node.pid('svc-link'), 'SIGCONT');
      }
    });
  });

  it('of a ground station has neither flight controller nor camera; a node without a radio has no region', async () => {
    const node = await TestNode.start({
      pairing: { key: KEY },
      simulated: false,
      config: 'agent:\n  profile: ground-station\n',
    });
    try {
      const status = await ask(node);
      expect(states(status)).to.include({
        profile: 'complete',
        fc: 'not_applicable',
        camera: 'not_applicable',
        radio: 'optional',
        region: 'not_applicable',
      });
      expect(detail(status, 'profile')).to.equal('It is a ground-station (direct).');
    } finally {
      await node.stop();
    }
  });

  it('a camera that was chosen while video is off: the node has to restart', async () => {
    const node = await TestNode.start({ pairing: { key: KEY }, simulated: false });
    try {
      await node.knowsArmed();
      expect(detail(await ask(node), 'camera')).to.equal('Video is off in the config (video.source).');
      await node.json('/api/config', {
        method: 'PUT',
        headers: { ...KEYED, 'content-type': 'application/json' },
        body: JSON.stringify({ key: 'video.source', value: 'test' }),
      });
      expect(detail(await ask(node), 'camera')).to.equal(
        'Not known: video was off when the node started; restart it.',
      );
    } finally {
      await node.stop();
    }
  });

  it('what was said survives a restart, and starting over forgets it and no setting', async () => {
    const first = await TestNode.start({ pairing: { key: KEY }, simulated: false });
    await first.knowsArmed();
    await first.json('/api/config', {
      method: 'PUT',
      headers: { ...KEYED, 'content-type': 'application/json' },
      body: JSON.stringify({ key: 'agent.name', value: 'Kea' }),
    });
    expect((await mark(first, 'fc', 'skip')).status).to.equal(200);
    expect((await first.post('/api/setup/finish', {}, KEYED)).body).to.include({
      finished: true,
      next: null,
    });
    await first.stop({ keep: true });
    const again = await TestNode.resume(first, {});
    await again.until((services) => services.every(({ state }) => state === 'running'));
    await again.knowsArmed();
    try {
      const status = await ask(again);
      expect(states(status)).to.include({ fc: 'skipped', name: 'complete', finish: 'complete' });
      expect(status).to.include({ finished: true, next: null });
      expect((await stat(again.paths.setup)).mode & 0o777).to.equal(0o640);
      const { body } = await again.post('/api/setup/reset', {}, KEYED);
      expect(body).to.include({ finished: false });
      expect(states(body as unknown as Status)).to.include({ fc: 'needs_action', name: 'complete' });
      expect((await again.json('/api/config', { headers: KEYED })).body['agent']).to.include({ name: 'Kea' });
    } finally {
      await again.stop();
    }
  });
});
