import { once } from 'node:events';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { px4Params } from '../../front/control/param-metadata/px4-file.ts';
import { SimProcess } from '../sim/sim-process.ts';
import { KEY } from '../support/edge.ts';
import { linkState, telemetry } from '../support/events.ts';
import { TestNode } from '../support/node.ts';

type Json = Readonly<Record<string, unknown>>;
type Answer = { readonly status: number; readonly body: Json };

const headers = { 'x-svc-key': KEY, 'content-type': 'application/json' };

/** A node on a simulated vehicle whose parameters are all there. */
class Flown implements AsyncDisposable {
  readonly node: TestNode;
  readonly sim: SimProcess;

  private constructor(node: TestNode, sim: SimProcess) {
    this.node = node;
    this.sim = sim;
  }

  static async start(args: readonly string[], files: Readonly<Record<string, string>> = {}): Promise<Flown> {
    const sim = await SimProcess.start('--param-rate', '4000', ...args);
    const node = await TestNode.start({
      simulated: false,
      pairing: { key: KEY },
      config: `mavlink:\n  source: tcp:127.0.0.1:${sim.port}\n  endpoints: []\n`,
      prepare: async ({ paramMetadata }) => {
        await mkdir(paramMetadata, { recursive: true });
        for (const [name, text] of Object.entries(files)) await writeFile(join(paramMetadata, name), text);
      },
    });
    const flown = new Flown(node, sim);
    await flown.primed();
    return flown;
  }

  async primed(): Promise<void> {
    await linkState(this.node, ({ params }) => !params.priming && params.cached > 0 && !params.timed_out);
  }

  async send(method: string, path: string, body?: unknown): Promise<Answer> {
    return this.node.json(path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  async get(path: string): Promise<Answer> {
    return this.send('GET', path);
  }

  /** Asks until the answer fits. What happens in between may be over too quickly to be seen. */
  async until(path: string, fits: (body: Json) => boolean): Promise<Json> {
    for (;;) {
      const { body } = await this.get(path);
      if (fits(body)) return body;
      await linkState(this.node, () => true);
    }
  }

  /** Resolves when the vehicle's own descriptions are here: they come after the parameters, in the background. */
  async described(name: string): Promise<Json> {
    return this.until(
      `/api/params/${name}`,
      ({ metadata }) => typeof metadata === 'object' && metadata !== null,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.node.stop();
    await this.sim[Symbol.asyncDispose]();
  }
}

const APM = JSON.stringify({
  json: { version: 0 },
  RTL_: {
    RTL_ALT: {
      DisplayName: 'RTL Altitude',
      Description: 'The minimum alt above home.',
      Range: { high: '300000', low: '30' },
      Increment: '1',
      Units: 'cm',
      User: 'Standard',
    },
  },
  ArduCopter: {
    'ArduCopter:FRAME_CLASS': {
      DisplayName: 'Frame Class',
      RebootRequired: 'True',
      Values: { 0: 'Undefined', 1: 'Quad' },
    },
    FS_OPTIONS: { DisplayName: 'Failsafe options', Bitmask: { 0: 'Continue if in Auto', 40: 'no such bit' } },
  },
});

describe('descriptions and defaults of parameters', () => {
  it('ArduPilot: defaults from the vehicle, descriptions from a file of the operator', async () => {
    await using flown = await Flown.start([], { 'apm.pdef.json': APM });
    const { body } = await flown.get('/api/params/RTL_ALT');
    expect(body).to.deep.equal({
      name: 'RTL_ALT',
      value: 1500,
      type: 6,
      default: 1500,
      metadata: {
        group: 'RTL',
        user_level: 'Standard',
        label: 'RTL Altitude',
        description: 'The minimum alt above home.',
        units: 'cm',
        min: 30,
        max: 300_000,
        increment: 1,
        values: null,
        bitmask: null,
        reboot_required: false,
      },
    });
    expect((await flown.get('/api/params/FS_OPTIONS')).body['metadata']).to.deep.include({
      bitmask: [{ bit: 0, text: 'Continue if in Auto' }],
    });
    expect((await flown.get('/api/params/WPNAV_SPEED')).body).to.include({ metadata: null });

    const { body: described } = await flown.get('/api/params?details=1');
    const details = (described['details'] as Json)['RTL_ALT'] as Json;
    const value = (described['params'] as Json)['RTL_ALT'];
    expect((await flown.get('/api/params/RTL_ALT')).body).to.deep.equal({
      name: 'RTL_ALT',
      value,
      ...details,
    });
    expect((await flown.get('/api/params')).body).to.not.have.property('details');

    const before = await flown.get('/api/params/changed');
    expect(before.body).to.deep.include({ unknown: 0, priming: false });
    expect((await flown.send('POST', '/api/params/RTL_ALT', { value: 20 })).body).to.include({
      code: 'E_RANGE',
      min: 30,
      max: 300_000,
    });
    expect((await flown.get('/api/params/RTL_ALT')).body['value'], 'nothing was sent').to.equal(1500);
    const list = await flown.send('PUT', '/api/params', {
      params: { FRAME_CLASS: 2, RTL_ALT: 1e6, LAND_SPEED: 60 },
    });
    expect([list.status, list.body['code'], list.body['failed']]).to.deep.equal([422, 'E_RANGE', 'RTL_ALT']);
    expect(list.body).to.deep.include({ written: 1, not_tried: ['LAND_SPEED'] });
    expect((list.body['results'] as readonly Json[])[0]).to.include({ reboot_required: true });
    expect((await flown.send('POST', '/api/params/RTL_ALT', { value: 20, force: true })).status).to.equal(
      200,
    );
    const { body: changed } = await flown.get('/api/params/changed');
    expect(changed['changed']).to.deep.include.members([
      { name: 'FRAME_CLASS', value: 2, default: 1 },
      { name: 'RTL_ALT', value: 20, default: 1500 },
    ]);
    expect(changed['count']).to.equal(Number(before.body['count']) + 2);

    const one = await flown.send('POST', '/api/params/reset', { names: ['RTL_ALT'] });
    expect(one.body).to.deep.include({ all: false, written: 1, reboot_required: false });
    expect((await flown.get('/api/params/RTL_ALT')).body['value']).to.equal(1500);
    const none = await flown.send('POST', '/api/params/reset', { names: ['NO_SUCH'] });
    expect([none.status, none.body['code']]).to.deep.equal([404, 'E_NOT_FOUND']);

    // All: ArduPilot uses the old values until it boots.
    const all = await flown.send('POST', '/api/params/reset', {});
    expect(all.body).to.deep.equal({ all: true, written: 0, results: [], reboot_required: true });
    await telemetry(
      flown.node,
      ({ statustext }) => JSON.stringify(statustext).includes('All parameters reset, reboot board'),
      headers,
    );
    expect((await flown.get('/api/params/FRAME_CLASS')).body['value']).to.equal(2);
    await flown.sim.fault({ reboot: true });
    await flown.until('/api/params/FRAME_CLASS', (param) => param['value'] === 1);
  });

  it('ArduPilot without a file: the facts that come with this software, and no text', async () => {
    await using flown = await Flown.start([]);
    const { body } = await flown.get('/api/params/FS_THR_ENABLE');
    expect(body['metadata']).to.deep.include({ label: null, description: null, reboot_required: false });
    expect((body['metadata'] as { values: readonly Json[] }).values[1]).to.deep.equal({
      value: 1,
      text: 'Enabled always RTL',
    });
    const low = await flown.send('POST', '/api/params/RTL_ALT', { value: 20 });
    expect(low.body).to.include({ code: 'E_RANGE', min: 30, max: 300_000 });
    expect((await flown.send('POST', '/api/params/RTL_ALT', { value: 20, force: true })).status).to.equal(
      200,
    );
  });

  it('a file of the operator comes over the API: another than descriptions is refused by its reason, and an older one stays', async () => {
    await using flown = await Flown.start([]);
    const put = async (body: string | Buffer): Promise<Answer> => {
      const answer = await flown.node.fetch('/api/params/descriptions', {
        method: 'PUT',
        headers: { 'x-svc-key': KEY, 'content-type': 'application/octet-stream' },
        body: new Uint8Array(Buffer.from(body)),
      });
      return { status: answer.status, body: (await answer.json()) as Json };
    };
    expect(await put(APM)).to.deep.include({ status: 200, body: { firmware: 'ardupilot', described: 3 } });
    const label = async (): Promise<unknown> =>
      ((await flown.get('/api/params/RTL_ALT')).body['metadata'] as Json)['label'];
    expect(await label()).to.equal('RTL Altitude');
    for (const [file, why] of [
      [APM.slice(0, 200), 'it is no JSON, or was cut off'],
      ['<?xml version="1.0"?><paramfile/>', 'it is XML: apm.pdef.json beside it is the one'],
      ['{"a": 1}', 'describes no parameters'],
      ['{"parameters": []}', 'describes no parameters'],
      [Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0, 1, 2, 3]), 'This is no file of descriptions'],
      ['', 'it is no JSON, or was cut off'],
    ] as const) {
      const { status, body } = await put(file);
      expect([status, body['code']], why).to.deep.equal([422, 'E_INVALID_VALUE']);
      expect(body['detail']).to.include(why);
    }
    const long = request(`${flown.node.url}/api/params/descriptions`, {
      method: 'PUT',
      headers: {
        'x-svc-key': KEY,
        'content-type': 'application/octet-stream',
        'content-length': 9 * 1024 * 1024,
      },
    });
    long.on('error', () => undefined); // the node closes the connection
    long.write(' ');
    const [tooLong] = (await once(long, 'response')) as [IncomingMessage];
    expect(tooLong.statusCode).to.equal(413);
    long.destroy();
    expect(await label()).to.equal('RTL Altitude');
    const newer = await put(APM.replace('RTL Altitude', 'Height of the return'));
    expect(newer.status).to.equal(200);
    expect(await label()).to.equal('Height of the return');
  });

  it('PX4: both from the vehicle over MAVLink FTP; the file is kept for the next start', async () => {
    await using flown = await Flown.start(['--firmware', 'px4']);
    const body = await flown.described('NAV_RCL_ACT');
    expect(body).to.deep.include({ value: 2, default: 2 });
    expect(body['metadata']).to.deep.include({ label: 'Set RC loss failsafe mode', min: 1, max: 6 });
    expect((body['metadata'] as { values: readonly Json[] }).values[1]).to.deep.equal({
      value: 2,
      text: 'Return mode',
    });
    expect((await flown.get('/api/params/changed')).body).to.deep.include({
      changed: [],
      count: 0,
      unknown: 0,
    });
    const low = await flown.send('POST', '/api/params/BAT_LOW_THR', { value: 0.05 });
    expect([low.status, low.body['code']]).to.deep.equal([422, 'E_RANGE']);
    // 0.12 as a 32-bit float is below 0.12.
    expect((await flown.send('POST', '/api/params/BAT_LOW_THR', { value: 0.12 })).status).to.equal(200);
    expect((await flown.get('/api/params/changed')).body).to.deep.include({
      changed: [{ name: 'BAT_LOW_THR', value: Math.fround(0.12), default: Math.fround(0.15) }],
    });
    const all = await flown.send('POST', '/api/params/reset');
    expect(all.body).to.include({ all: true, reboot_required: true });
    await flown.until('/api/params/changed', ({ count, priming }) => count === 0 && priming === false);

    // The next svc-link does not read the file again: it would come in the background, and this is at once.
    await flown.node.killAndAwaitSuccessor('svc-link');
    await linkState(flown.node, ({ params }) => params.cached > 0 && !params.priming);
    expect(await flown.described('RTL_RETURN_ALT')).to.include({ default: 60 });
  });

  it('PX4 over a line that loses a fifth, in a svc-link that begins anew: they come all the same', async () => {
    await using flown = await Flown.start(['--firmware', 'px4']);
    await flown.described('NAV_RCL_ACT');
    await rm(flown.node.paths.componentMetadata, { recursive: true });
    expect((await flown.get('/api/params/NAV_RCL_ACT')).body).to.include({ metadata: null });
    await flown.sim.fault({ dropFrames: 0.2 });
    await flown.node.killAndAwaitSuccessor('svc-link');
    expect(await flown.described('NAV_RCL_ACT')).to.deep.include({ default: 2 });
  });

  it('without any, it is said what is missing; a file that cannot be used is as if it were not there', async () => {
    await using flown = await Flown.start(['--firmware', 'px4', '--no-ftp'], {
      'parameters.json': '{"parameters": [{"name": "NAV_RCL_ACT", "default": "NaN", "min": 1e999}',
    });
    expect((await flown.get('/api/params/NAV_RCL_ACT')).body).to.include({ default: null, metadata: null });
    const changed = await flown.get('/api/params/changed');
    expect([changed.status, changed.body['code']]).to.deep.equal([501, 'E_NOT_IMPLEMENTED']);
    expect(changed.body['detail']).to.include('PUT /api/params/descriptions');
    const reset = await flown.send('POST', '/api/params/reset', { names: ['NAV_RCL_ACT'] });
    expect([reset.status, reset.body['code']]).to.deep.equal([501, 'E_NOT_IMPLEMENTED']);

    // Repaired by the operator, without a restart.
    const path = join(flown.node.paths.paramMetadata, 'parameters.json');
    const wrong = {
      name: 'NAV_RCL_ACT',
      default: 'NaN',
      min: 1e9,
      max: null,
      values: 7,
      bitmask: [null, {}],
    };
    await rm(path);
    await writeFile(path, JSON.stringify({ parameters: [wrong, null, 3, { name: 'x'.repeat(99) }] }));
    const { body } = await flown.get('/api/params/NAV_RCL_ACT');
    expect(body['default']).to.equal(null);
    expect(body['metadata']).to.deep.include({ min: 1e9, max: null, values: null, bitmask: null });
  });

  it('no file of PX4 makes a number of what is none', () => {
    for (const file of [null, 3, [], {}, { parameters: 3 }]) expect(px4Params(file)).to.equal(null);
    const [read] =
      px4Params({
        parameters: [{ name: 'A', min: '-Infinity', max: {}, default: 'x', values: [{ value: 'NaN' }] }],
      }) ?? [];
    expect(read).to.deep.include({ name: 'A', default: null });
    expect(read?.description).to.include({ min: null, max: null, values: null });
  });
});
