import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Row } from '../../shared/routes/row.ts';
import { ROWS } from '../../shared/routes/table.ts';
import { compileValidator, createAjv } from '../../shared/schemas/validator.ts';
import { KEY } from '../support/edge.ts';
import { linkState } from '../support/events.ts';
import { TestNode } from '../support/node.ts';
import { svc } from '../support/svc.ts';

const key = { 'x-svc-key': KEY };
type Body = Readonly<Record<string, unknown>>;

const WAYPOINT = { frame: 3, command: 16, x: -35.3631, y: 149.1652, z: 20 };
const TAKEOFF = { frame: 3, command: 22, x: -35.363, y: 149.165, z: 15, param4: null };
const SIMPLE = { type: 'SimpleItem', autoContinue: true, frame: 3 };
const SURVEY = {
  type: 'ComplexItem',
  complexItemType: 'survey',
  angle: 30,
  TransectStyleComplexItem: {
    CameraCalc: { CameraName: 'Kept' },
    Items: [
      { ...SIMPLE, command: 16, params: [0, 0, 0, null, -35.364, 149.165, 40] },
      { ...SIMPLE, command: 206, frame: 2, params: [25, 0, 1, 0, 0, 0, 0] },
      { ...SIMPLE, command: 16, params: [0, 0, 0, null, -35.365, 149.166, 40] },
    ],
  },
};
const PLAN = {
  fileType: 'Plan',
  version: 1,
  groundStation: 'QGroundControl',
  ourOwn: { colour: 'red' },
  mission: {
    version: 2,
    plannedHomePosition: [-35.36, 149.16, 584],
    items: [
      { ...SIMPLE, command: 22, doJumpId: 1, params: [15, 0, 0, null, -35.363, 149.165, 15] },
      SURVEY,
      { ...SIMPLE, command: 20, frame: 2, params: [0, 0, 0, 0, 0, 0, 0] },
    ],
  },
  geoFence: {
    version: 2,
    circles: [{ circle: { center: [-35.36, 149.16], radius: 500 }, inclusion: true, version: 1 }],
    polygons: [
      {
        inclusion: false,
        version: 1,
        polygon: [
          [-35.1, 149],
          [-35.1, 149.1],
          [-35.2, 149.1],
        ],
      },
    ],
  },
  rallyPoints: { version: 2, points: [[-35.361, 149.161, 30]] },
};

describe('mission, fence and rally points over HTTP', () => {
  let node: TestNode;
  const ajv = createAjv();
  const answers = new Map(
    (ROWS as readonly Row[])
      .filter(({ id }) => /^(mission|fence|rally)\./.test(id))
      .map((row) => [`${row.method} ${row.path}`, compileValidator(ajv, row.responses[200]?.schema ?? {})]),
  );

  const send = async (
    method: string,
    target: string,
    body?: unknown,
    type = 'application/json',
  ): Promise<{ status: number; body: Body; text: string }> => {
    const answer = await fetch(`${node.url}${target}`, {
      method,
      headers: { ...key, 'content-type': type },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    const isJson = answer.headers.get('content-type')?.startsWith('application/json') === true;
    const parsed = isJson ? (JSON.parse(text) as Body) : {};
    if (answer.status === 200) {
      const fits = answers.get(`${method} ${target.split('?', 1)[0] ?? ''}`);
      expect(fits?.(isJson ? parsed : text), `${method} ${target}`).to.equal(null);
    }
    return { status: answer.status, body: parsed, text };
  };

  before(async () => {
    node = await TestNode.start({ pairing: { key: KEY } });
    await linkState(node, ({ params, firmware_version: version }) => !params.priming && version !== null);
  });

  after(async () => node.stop());

  it('items are written, read back, and shown without the home of ArduPilot; dry_run sends nothing', async () => {
    const written = await send('PUT', '/api/mission', { items: [TAKEOFF, WAYPOINT] });
    expect(written.status, written.text).to.equal(200);
    expect(written.body).to.deep.include({ count: 2, id: null, warnings: [], parts: { mission: 2 } });
    const read = await send('GET', '/api/mission?refresh=1');
    expect(read.body).to.include({ count: 2, from: 'vehicle' });
    expect((read.body['items'] as Body[])[1]).to.include({ seq: 1, ...WAYPOINT });
    const far = { ...WAYPOINT, x: -34, z: 900 };
    const dry = await send('PUT', '/api/mission?dry_run=1', { items: [WAYPOINT, far] });
    expect(dry.body['warnings']).to.deep.equal([
      'Item 1 is 900 m high.',
      'Item 1 is 152 km away from item 0.',
    ]);
    expect((await send('GET', '/api/mission')).body).to.include({ count: 2, from: 'cache' });
  });

  it('what cannot be flown is refused with the index of the item', async () => {
    const wrong: [unknown, number, string, number | undefined][] = [
      [{ items: [WAYPOINT, { ...WAYPOINT, frame: 7 }] }, 422, 'E_MISSION_ITEM', 1],
      [{ items: [{ ...WAYPOINT, x: 91 }] }, 422, 'E_MISSION_ITEM', 0],
      [{ items: [{ ...WAYPOINT, z: null }] }, 422, 'E_MISSION_ITEM', 0],
      [{ items: [WAYPOINT, { ...WAYPOINT, seq: 7 }] }, 422, 'E_MISSION_ITEM', 1],
      [{ items: [{ ...WAYPOINT, command: 9999 }] }, 422, 'E_MISSION_ITEM', 0],
      [{ items: [{ ...WAYPOINT, param1: 'NaN' }] }, 422, 'E_MISSION_ITEM', 0],
      [{ items: [{ frame: 2, command: 177, param1: 4 }] }, 422, 'E_MISSION_ITEM', 0],
      ['{"items":[{"frame":3,"command":16,"x":1e999,"y":0,"z":0}]}', 422, 'E_MISSION_ITEM', 0],
      ['{"items":[{"frame":3,"command":16,"x":NaN}]}', 400, 'E_BAD_REQUEST', undefined],
      [{ items: 3 }, 422, 'E_INVALID_VALUE', undefined],
      [{ fileType: 'Plan', geoFence: {} }, 422, 'E_INVALID_VALUE', undefined],
    ];
    for (const [body, status, code, index] of wrong) {
      const answer = await send('PUT', '/api/mission', body);
      expect([answer.status, answer.body['code'], answer.body['index']], JSON.stringify(body)).to.deep.equal([
        status,
        code,
        index,
      ]);
    }
    const wpl = 'QGC WPL 110\n0\t1\t0\t16\t0\t0\t0\t0\t1\t1\t1\t1\n1\t0\t3\t16\t0\t0\t0\t0\tnan\t1\t1\t1\n';
    expect((await send('PUT', '/api/mission', wpl, 'text/plain')).body).to.include({
      code: 'E_MISSION_ITEM',
      index: 0,
    });
    expect((await send('PUT', '/api/mission', wpl, 'text/html')).status).to.equal(415);
    const refused = await send('PUT', '/api/mission', { items: [TAKEOFF, { frame: 2, command: 600 }] });
    expect([refused.status, refused.body['code']]).to.deep.equal([409, 'E_MISSION_REJECTED']);
    expect(refused.body).to.include({ index: 1, result: 'UNSUPPORTED' });
    // ArduPilot replaces item by item: the second is still the one before.
    expect(refused.body['held']).to.have.property('count', 2);
  });

  it('a file of 100 MB is refused before it is read', async () => {
    const req = request(`${node.url}/api/mission`, {
      method: 'PUT',
      headers: { ...key, 'content-type': 'application/json', 'content-length': 100_000_000 },
    });
    req.on('error', () => undefined); // the node closes the connection
    req.write('{"items":[');
    const [answer] = (await once(req, 'response')) as [{ statusCode: number }];
    expect(answer.statusCode).to.equal(413);
    req.destroy();
  });

  it('a plan file: its three parts, its survey expanded, its own members given back while they hold', async () => {
    const written = await send('PUT', '/api/mission?parts=mission,fence,rally', PLAN);
    expect(written.status, written.text).to.equal(200);
    expect(written.body).to.deep.include({ count: 5, parts: { mission: 5, fence: 4, rally: 1 } });
    expect(written.body['warnings']).to.deep.equal([]);
    expect((await send('GET', '/api/mission?format=plan')).body).to.deep.equal(PLAN);
    expect((await send('GET', '/api/fence')).body).to.include({ count: 4 });
    await send('PUT', '/api/fence', { items: [] });
    const { geoFence, ...others } = (await send('GET', '/api/rally?format=plan')).body;
    expect(geoFence).to.deep.equal({ version: 2, polygons: [], circles: [] });
    expect(others).to.deep.include({ mission: PLAN.mission, ourOwn: PLAN.ourOwn });
    await send('DELETE', '/api/mission');
    const plain = (await send('GET', '/api/mission?format=plan')).body;
    expect(plain['mission']).to.deep.include({ items: [] });
  });

  it('QGC WPL 110 out, and in again', async () => {
    await send('PUT', '/api/mission', { items: [TAKEOFF, WAYPOINT] });
    const { text } = await send('GET', '/api/mission?format=wpl');
    expect(text.split('\n')[0]).to.equal('QGC WPL 110');
    await send('DELETE', '/api/mission');
    expect((await send('PUT', '/api/mission', text, 'text/plain')).body).to.include({ count: 2 });
    expect((await send('GET', '/api/mission?format=wpl')).text).to.equal(text);
  });

  it('with Accept: text/event-stream it sends progress, then the result', async () => {
    const items = Array.from({ length: 400 }, (_, n) => ({ ...WAYPOINT, x: -35 - n / 1e5 }));
    const answer = await fetch(`${node.url}/api/mission`, {
      method: 'PUT',
      headers: { ...key, 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ items }),
    });
    const text = await answer.text();
    expect(text).to.match(/event: progress\ndata: \{"done":\d+,"total":401,"text":"sending"\}/);
    const result = /event: result\ndata: (.*)\n/.exec(text)?.[1] ?? '';
    expect(JSON.parse(result)).to.have.nested.property('body.count', 400);
  });

  it('svc mission, fence and rally: put, check, get into files, clear', async () => {
    const run = async (...words: string[]) => svc(node.paths, ...words);
    const plan = join(node.base, 'survey.plan');
    await writeFile(plan, JSON.stringify(PLAN));
    expect((await run('mission', 'check', plan)).stdout).to.equal('5 items, nothing was sent\n');
    expect((await run('mission', 'put', plan, '--parts', 'mission,fence')).stdout).to.equal(
      'the vehicle holds 5 items\n',
    );
    expect((await run('mission', 'get')).stdout)
      .to.include('NAV_TAKEOFF')
      .and.include('5 items');
    const wpl = join(node.base, 'out.waypoints');
    expect((await run('mission', 'get', wpl)).code).to.equal(0);
    expect((await run('mission', 'put', wpl)).stdout).to.include('5 items');
    expect((await run('fence', 'get')).stdout).to.include('4 items');
    expect((await run('fence', 'clear')).stdout).to.equal('the vehicle holds no fence\n');
    await writeFile(plan, JSON.stringify([{ ...WAYPOINT, frame: 9 }]));
    const bad = await run('mission', 'put', plan);
    expect(bad.code).to.equal(1);
    expect(bad.stderr).to.include('Item 0: frame 9');
  });
});
