import { once } from 'node:events';
import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { askAgain } from '../support/ask-again.ts';
import { checkout, interrupt, processesOf, type Run, run } from '../support/checkout.ts';
import { telemetry } from '../support/events.ts';
import { freePort, removeDir } from '../support/temp.ts';

const SHUTDOWN_MS = 25_000;
/** Where the ground station's HTTP port is after the first one: test/rig/pair/layout.ts. */
const GROUND = 7;

describe('a drone and its ground station: npm run start:pair', function () {
  this.timeout(120_000);
  let dir: string;
  let first: number;
  let pair: Run;
  let key: string;

  before(async () => {
    dir = await checkout();
    first = await freePort();
    pair = run(dir, 'npm', ['run', 'start:pair'], { SVC_PAIR_PORT: String(first) }, 'pipe');
    await pair.shows('Ctrl-C stops everything.');
  });
  after(async () => {
    if (pair.process.exitCode === null && pair.process.signalCode === null) await interrupt(pair);
    await removeDir(dir);
  });

  const get = async (path: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`http://127.0.0.1:${first + GROUND}${path}`, { headers });
  /** svc-control has no stream of what the radio loses. */
  const loss = async (fits: (percent: number) => boolean): Promise<Record<string, unknown>> =>
    askAgain(
      'the loss of the radio',
      async () => (await (await get('/api/wfb', { 'x-svc-key': key })).json()) as Record<string, unknown>,
      (body) => fits(Number(body['loss_before_fec_percent'])),
    );
  const relayed = async (): Promise<Response> => {
    const [path = ''] =
      /\/api\/v1\/ground-station\/relay-proxy\/[0-9a-f]{12}\/api\/status/.exec(pair.output) ?? [];
    return get(path, { 'x-svc-key': key });
  };
  const says = async (line: string): Promise<string> => {
    const asked = run(dir, 'sh', ['-c', line]);
    const [code] = (await once(asked.process, 'close')) as [number];
    expect(code, asked.output).to.equal(0);
    return asked.output;
  };

  it('its screen names both, and they are paired with the line that it shows', async () => {
    expect(pair.output).to.include(`drone           http://localhost:${first} `);
    expect(pair.output).to.include(`ground station  http://localhost:${first + GROUND} `);
    const [command = ''] = /npx svc .+ pair$/m.exec(pair.output) ?? [];
    const keys = (await says(command)).match(/^svc_\S+$/gm) ?? [];
    expect(keys).to.have.lengthOf(2);
    key = keys[1] ?? '';
  });

  it("the drone's vehicle and picture arrive on the ground through the radio", async () => {
    const heard = await telemetry(
      { url: `http://127.0.0.1:${first + GROUND}` },
      ({ mavlink_alive: alive, position }) =>
        alive === true && typeof (position as { readonly lat: number | null } | null)?.lat === 'number',
      { 'x-svc-key': key },
    );
    expect(heard['position']).to.have.property('lat').that.is.closeTo(-35.36, 0.01);
    const picture = await askAgain(
      'the first key frame',
      async () => get('/api/video/snapshot', { 'x-svc-key': key }),
      ({ status }) => status === 200,
    );
    expect(picture.headers.get('content-type')).to.equal('image/jpeg');
    expect((await picture.arrayBuffer()).byteLength).to.be.above(5000);
  });

  it('the ground station relays to the drone, and does at 20 % loss, which its radio reports', async () => {
    const quiet = await relayed();
    expect(await quiet.json()).to.include({ profile: 'drone' });
    expect(quiet.status).to.equal(200);
    expect(await says('npm run -s radio-loss -- 20')).to.include('20 %');
    const lossy = await loss((percent) => percent > 12);
    expect(lossy['loss_before_fec_percent']).to.be.below(28);
    expect(lossy['fec_recovered']).to.be.above(0);
    for (let times = 0; times < 5; times++) expect((await relayed()).status).to.equal(200);
  });

  it('a number that is typed on the terminal sets the loss, what is none says so', async () => {
    pair.process.stdin?.write('much\n');
    await pair.shows('a number from 0 to 100');
    pair.process.stdin?.write('0\n');
    await pair.shows('The radio loses 0 %');
    await loss((percent) => percent < 5);
  });

  it('Ctrl-C ends both: no process and no socket is left', async () => {
    expect(processesOf(dir).length).to.be.at.least(10);
    expect(await interrupt(pair)).to.be.lessThan(SHUTDOWN_MS);
    expect(processesOf(dir)).to.deep.equal([]);
    expect(existsSync(join(dir, '.svc/pair/ground/run'))).to.equal(true);
    expect(globSync('.svc/pair/{drone,ground}/run/*', { cwd: dir })).to.deep.equal([]);
    const asked = run(dir, 'npm', ['run', '-s', 'radio-loss', '--', '20']);
    expect(await once(asked.process, 'close')).to.have.nested.property('[0]', 1);
    expect(asked.output).to.include('npm run start:pair');
  });
});
