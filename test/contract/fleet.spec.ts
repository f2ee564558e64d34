import { existsSync, globSync, readFileSync } from 'node:fs';
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { KEY } from '../support/edge.ts';
import { FakeHub } from '../support/fake-hub.ts';
import { type LoneFront, startFront } from '../support/front.ts';

const NOBODY = {
  enrolled: false,
  problem: null,
  last_error: null,
  hub: null,
  fleet: null,
  fleet_id: null,
  node: null,
  broker: null,
  broker_ws: null,
  enrolled_at: null,
  certificate_valid_to: null,
  certificate_renews_at: null,
  signing_key: null,
  connected: false,
  queued_events: null,
};

describe('/api/fleet', () => {
  let front: LoneFront;
  let hub: FakeHub;
  before(async () => {
    hub = await FakeHub.start();
    front = await startFront('mcp:\n  token_accept_enabled: true\n');
  });
  after(async () => {
    await front.stop();
    await hub.stop();
  });

  const call = async (
    method: string,
    path: string,
    body?: unknown,
    credential: Readonly<Record<string, string>> = { 'x-svc-key': KEY },
  ): Promise<{ status: number; body: Record<string, unknown> }> => {
    const answer = await fetch(`${front.url}/api/${path}`, {
      method,
      headers: { ...credential, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  const code = async (...args: Parameters<typeof call>) => (await call(...args)).body['code'];

  it('of a node in no fleet says so, and invents nothing', async () => {
    expect((await call('GET', 'fleet')).body).to.deep.equal({ enrollment: NOBODY, link: null, peers: [] });
    expect((await call('GET', 'fleet/enrollment')).body).to.deep.equal(NOBODY);
    expect((await call('GET', 'fleet/peers')).body).to.deep.equal({ peers: [] });
    expect(await code('DELETE', 'fleet/enrollment')).to.equal('E_NOT_FOUND');
  });

  it('is joined by the pairing key, and by no token, whatever its scopes', async () => {
    const scopes = ['read', 'safe_write', 'admin', 'flight', 'destructive', 'secret_read'];
    const { body: minted } = await call('POST', 'mcp/tokens', { scopes });
    const token = { 'x-svc-mcp-token': String(minted['token']) };
    const request = { hub: hub.url, code: hub.code() };
    expect(await code('POST', 'fleet/enroll', request, token)).to.equal('E_SCOPE');
    expect(await code('POST', 'fleet/enroll', request, {})).to.equal('E_UNAUTHENTICATED');
    expect(hub.asked).to.deep.equal([]);
    for (const wrong of [
      {},
      { ...request, more: 1 },
      { ...request, hub: 'https://user:secret@127.0.0.1' },
      { ...request, hub: 'http://192.0.2.1' },
      { ...request, code: 'svc1' },
    ])
      expect(await code('POST', 'fleet/enroll', wrong), JSON.stringify(wrong)).to.equal('E_INVALID_VALUE');
    const { status, body } = await call('POST', 'fleet/enroll', request);
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(body).to.include({ enrolled: true, hub: hub.url, fleet: 'f-test', fleet_id: 'f-test' });
    expect(body).to.include({ connected: false, last_error: 'svc-fleet does not run', queued_events: null });
    expect((await stat(front.paths.fleet)).mode & 0o777).to.equal(0o600);
    expect(JSON.parse(hub.asked.at(-1)?.body ?? '')).to.deep.include({
      device_id: body['node'],
      name: `svc-${String(body['node']).slice(0, 6)}`,
      profile: 'drone',
    });
    expect(await code('POST', 'fleet/enroll', { ...request, code: hub.code() })).to.equal('E_ENROLLED');
    // A token that reads sees it too, and nobody sees a secret.
    const { body: shown } = await call('GET', 'fleet', undefined, token);
    expect(shown).to.deep.include({ enrollment: body, peers: [] });
    expect(shown['link']).to.include({
      connected: false,
      problem: 'svc-fleet does not run',
      events_behind: null,
      oldest_event_at: null,
      events_dropped: null,
      telemetry_dropped: null,
      acknowledged_at: null,
    });
    expect(JSON.stringify(shown)).to.not.match(/PRIVATE|"d"|CERTIFICATE/);
    const audit = globSync(join(front.paths.auditDir, '*.ndjson')).map((path) => readFileSync(path, 'utf8'));
    expect(audit.join('')).to.include(`"changed":"${hub.url}"`).and.not.include(request.code);
  });

  it('is left only with the class destructive; nothing of it stays', async () => {
    const { body: minted } = await call('POST', 'mcp/tokens', { scopes: ['read', 'admin', 'flight'] });
    const token = { 'x-svc-mcp-token': String(minted['token']) };
    expect(await code('DELETE', 'fleet/enrollment', undefined, token)).to.equal('E_SCOPE');
    const { fleet, fleetPolicy, fleetQueue } = front.paths;
    await writeFile(fleetQueue, 'x');
    expect((await call('DELETE', 'fleet/enrollment')).body).to.deep.equal({
      enrolled: false,
      fleet: 'f-test',
      hub_told: false,
    });
    for (const file of [fleet, fleetPolicy, fleetQueue]) expect(existsSync(file), file).to.equal(false);
    expect((await call('GET', 'fleet/enrollment')).body).to.deep.equal(NOBODY);
  });
});
