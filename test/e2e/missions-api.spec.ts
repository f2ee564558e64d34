import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Row } from '../../shared/routes/row.ts';
import { ROWS } from '../../shared/routes/table.ts';
import { compileValidator, createAjv } from '../../shared/schemas/validator.ts';
import { askAgain } from '../support/ask-again.ts';
import { KEY } from '../support/edge.ts';
import { known } from '../support/events.ts';
import { TestNode } from '../support/node.ts';
import { svc, svcTold } from '../support/svc.ts';

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
    await known(node);
    // How far a mission goes is judged from where the vehicle is.
    await askAgain(
      'a position',
      async () => (await node.json('/api/telemetry', { headers: key })).body['position'] as Body,
      (position) => position['lat'] !== null,
    );
  });

  after(async () => node.stop());

  it('items are written, read back, and shown without the home of ArduPilot; dry_run sends nothing', async () => {
    const written = await send('PUT', '/api/mission', { items: [TAKEOFF, WAYPOINT] });
    expect(written.status, written.text).to.equal(200);
    expect(written.body).to.deep.include({ count: 2, id: null, warnings: [], parts: { mission: 2 } });
    const read = await send('GET', '/api/mission?refresh=1');
    expect(read.body).to.include({ count: 2, from: 'vehicle' });
    expect((read.body['items'] as Body[])[1]).to.include({ seq: 2, ...WAYPOINT });
    const far = { ...WAYPOINT, x: -34, z: 900 };
    const dry = await send('PUT', '/api/mission?dry_run=1', { items: [WAYPOINT, far] });
    const [reach, ...warnings] = dry.body['warnings'] as string[];
    expect(reach).to.match(/^mission, item 2: the place is \d+ km from the vehicle; .*allow_far: true/);
    expect(warnings).to.deep.equal(['Item 2 is 900 m high.', 'Item 2 is 152 km away from item 1.']);
    expect((await send('GET', '/api/mission')).body).to.include({ count: 2, from: 'cache' });
  });

  it('what goto refuses is refused, unless it is said; once for all', async () => {
    const far = [WAYPOINT, { ...WAYPOINT, x: -35.2 }];
    const low = [{ ...WAYPOINT, z: -20 }];
    for (const [items, bound] of [
      [far, 'max_goto_m'],
      [low, 'ground'],
    ] as const) {
      const refused = await send('PUT', '/api/mission', { items });
      expect([refused.status, refused.body['code'], refused.body['bound']]).to.deep.equal([
        422,
        'E_TOO_FAR',
        bound,
      ]);
      const inPlan = await send('PUT', '/api/fence?parts=mission', {
        ...PLAN,
        mission: {
          ...PLAN.mission,
          items: [{ ...SIMPLE, command: 16, params: [0, 0, 0, null, -34, 149, 20] }],
        },
      });
      expect(inPlan.body).to.include({ code: 'E_TOO_FAR' });
      expect((await send('GET', '/api/mission?refresh=1')).body['count']).to.equal(2);
    }
    expect((await send('PUT', '/api/mission', { items: far, allow_far: true })).status).to.equal(200);
    const command = async (more: object) => {
      const answer = await fetch(`${node.url}/api/command`, {
        method: 'POST',
        headers: { ...key, 'content-type': 'application/json' },
        body: JSON.stringify({ args: [], ...more }),
      });
      return { status: answer.status, body: (await answer.json()) as Body };
    };
    for (const more of [
      { cmd: 'missionStart' },
      { cmd: 'missionSetCurrent', args: [1] },
      { cmd: 'mode', args: ['AUTO'] },
    ])
      expect((await command(more)).body, more.cmd).to.include({ code: 'E_TOO_FAR', bound: 'max_goto_m' });
    expect((await command({ cmd: 'missionSetCurrent', args: [1], allow_far: true })).status).to.equal(200);
    expect((await send('PUT', '/api/mission?allow_far=1', { items: far })).status).to.equal(200);
    expect((await send('PUT', '/api/mission', { items: [TAKEOFF, WAYPOINT] })).status).to.equal(200);
  });

  it('what cannot be flown is refused with the index of the item', async () => {
    const wrong: [unknown, number, string, number | undefined][] = [
      [{ items: [WAYPOINT, { ...WAYPOINT, frame: 7 }] }, 422, 'E_MISSION_ITEM', 1],
      [{ items: [{ ...WAYPOINT, x: 91 }] }, 422, 'E_MISSION_ITEM', 0],
      [{ items: [{ ...WAYPOINT, z: null }] }, 422, 'E_MISSION_ITEM', 0],
      [{ items: [WAYPOINT, { ...WAYPOINT, seq: 7 }] }, 422, 'E_MISSION_ITEM', 1],
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
    const refused = await send('PUT', '/api/mission', { items: [TAKEOFF, { frame: 2, command: 530 }] });
    expect([refused.status, refused.body['code']]).to.deep.equal([409, 'E_MISSION_REJECTED']);
    expect(refused.body).to.include({ index: 1, result: 'UNSUPPORTED' });
    expect(refused.body['detail']).to.include('item 2 (SET_CAMERA_MODE in frame 2)');
    // ArduPilot replaces item by item: the second is still the one before.
    expect(refused.body['held']).to.have.property('count', 2);
    // Nobody knows it here: the vehicle decides.
    const unknown = await send('PUT', '/api/mission', { items: [{ ...WAYPOINT, command: 9999 }] });
    expect([unknown.status, unknown.body['code']]).to.deep.equal([409, 'E_MISSION_REJECTED']);
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
    // Home stands in it: of a vehicle that a busy machine has not heard for a moment, it is not told.
    const out = async (): Promise<string> => (await send('GET', '/api/mission?format=wpl')).text;
    await askAgain('the same list', out, (now) => now === text);
  });

  it('what ArduPilot fills in, packs or has no room for is a warning, and the answer is what it holds', async () => {
    const place = { frame: 3, x: -35.3631, y: 149.1652, z: 20 };
    const items = [
      { ...TAKEOFF, param1: 15 },
      { ...place, command: 19, param1: 10, param3: 0 }, // the direction: 1
      { ...place, command: 31, param2: 30, param4: 4 }, // on or off
      { ...place, command: 18, param1: 2.5, param3: 333 }, // a byte of turns, another of tens of m
      { ...place, command: 82, param1: 1, param2: 7, param4: 90 },
      { frame: 2, command: 177, param1: 2, param2: 2 },
      { ...place, command: 21, param1: 300, param4: 0, z: 0.53, autocontinue: 0 },
    ];
    const { status, body, text } = await send('PUT', '/api/mission', { items });
    expect(status, text).to.equal(200);
    const otherwise = (index: number, member: string, sent: number, held: number) => ({
      part: 'mission',
      index,
      seq: index + 1,
      member,
      sent,
      held,
    });
    expect(body['warnings']).to.deep.equal([
      otherwise(1, 'param3', 0, 1),
      otherwise(2, 'param4', 4, 1),
      otherwise(3, 'param1', 2.5, 2),
      otherwise(3, 'param3', 333, 330),
      otherwise(4, 'param2', 7, 0),
      otherwise(4, 'param4', 90, 0),
      otherwise(6, 'param4', 0, 1),
      otherwise(6, 'autocontinue', 0, 1),
    ]);
    const held = body['items'] as Body[];
    expect([held[1]?.['param3'], held[3]?.['param3'], held[6]?.['z'], held[5]?.['param1']]).to.deep.equal([
      1, 330, 0.53, 2,
    ]);
    expect((await send('GET', '/api/mission?refresh=1')).body['items']).to.deep.equal(held);
    // What it holds goes up again without a warning.
    const again = await send('PUT', '/api/mission', { items: held });
    expect(again.body).to.deep.include({ warnings: [], items: held });
    const rally = { frame: 3, command: 5100, x: -35.361, y: 149.161, z: 40.7 };
    expect((await send('PUT', '/api/rally', { items: [rally] })).body['warnings']).to.deep.equal([
      { part: 'rally', index: 0, seq: 0, member: 'z', sent: 40.7, held: 40 },
    ]);
  });

  it('more than fifty members that are held otherwise: the first ones, and how many more', async () => {
    const items = Array.from({ length: 60 }, () => ({ ...WAYPOINT, param4: 45 }));
    const { body } = await send('PUT', '/api/mission', { items });
    const warnings = body['warnings'] as unknown[];
    expect(warnings).to.have.length(50);
    expect(warnings.at(-1)).to.equal('There are 11 more warnings like these.');
  });

  it('QGC WPL 110: numbers with a gap are a warning, and a jump goes by them; comments; home in any frame', async () => {
    const put = async (...lines: string[]) => {
      const text = ['QGC WPL 110', ...lines.map((line) => line.replaceAll(' ', '\t'))].join('\r\n');
      return send('PUT', '/api/mission?dry_run=1', text, 'text/plain');
    };
    const home = '0 1 0 16 0 0 0 0 -35.36 149.16 584 1';
    const at = (number: number): string => `${number} 0 3 16 0 0 0 0 -35.363 149.16${number} 20 1`;
    const jump = (number: number, to: number): string => `${number} 0 3 177 ${to} 3 0 0 0 0 0 1`;
    const odd = 'A line has the number 4 instead of 3';

    const gap = await put('# drawn by hand', home, at(1), at(2), at(4), '', jump(12, 4), at(13));
    expect(gap.status, gap.text).to.equal(200);
    expect(gap.body['warnings']).to.have.length(1);
    expect((gap.body['warnings'] as string[])[0]).to.match(new RegExp(`^${odd}`));
    const items = gap.body['items'] as Body[];
    expect(items.map(({ seq }) => seq)).to.deep.equal([1, 2, 3, 4, 5]);
    expect(items[3]).to.include({ command: 177, param1: 3 });
    expect(items[2]).to.include({ y: 149.164 });

    // Two lines with one number: which one a jump means is not known.
    expect((await put(home, at(1), at(2), at(2))).body).to.include({ count: 3 });
    const wrong: [string[], number][] = [
      [[home, at(1), at(2), at(2), jump(3, 2)], 3],
      [[home, at(1), at(4), jump(5, 3)], 2],
      [[home, at(1), jump(2, 0)], 1],
    ];
    for (const [lines, index] of wrong)
      expect((await put(...lines)).body, lines.join('|')).to.include({ code: 'E_MISSION_ITEM', index });

    const relative = await put('0 0 3 16 0 0 0 0 -35.36 149.16 0 1', at(1));
    expect(relative.body).to.include({ count: 1 });
    expect((relative.body['warnings'] as string[])[0]).to.match(/^Line 0 is home/);
    // Without a home the first line is to be flown, whatever its number.
    const homeless = await put('0 1 3 22 0 0 0 0 -35.36 149.16 15 1', at(1), jump(2, 0));
    expect(homeless.body).to.deep.include({ count: 3, warnings: [] });
    expect((homeless.body['items'] as Body[])[2]).to.include({ param1: 1 });
    expect((await put()).body).to.include({ count: 0 });
  });

  it('a fence and rally points as older ground stations list them', async () => {
    const corners = ['-35.36 149.16', '-35.36 149.17', '-35.37 149.17'];
    const text = ['# return point first', '-35.363 149.165', ...corners, corners[0]].join('\n');
    const fence = await send('PUT', '/api/fence', text, 'text/plain');
    expect(fence.status, fence.text).to.equal(200);
    const seen = (fence.body['items'] as Body[]).map(({ command, param1, x, y }) => [command, param1, x, y]);
    expect(seen).to.deep.equal([
      [5000, 0, -35.363, 149.165],
      [5001, 3, -35.36, 149.16],
      [5001, 3, -35.36, 149.17],
      [5001, 3, -35.37, 149.17],
    ]);
    const open = await send(
      'PUT',
      '/api/fence?dry_run=1',
      text.split('\n').slice(0, -1).join('\n'),
      'text/plain',
    );
    expect(open.body).to.include({ count: 4 });
    for (const wrong of ['-35.363 149.165\n-35.36 149.16 3', '-35.363 149.165\n-35.36 149.16', '1.2.3 4'])
      expect((await send('PUT', '/api/fence', wrong, 'text/plain')).body).to.include({
        code: 'E_MISSION_ITEM',
      });

    const rally = await send('PUT', '/api/rally', 'RALLY -35.361\t149.161\t60\t40\t0\t0\n', 'text/plain');
    expect((rally.body['items'] as Body[])[0]).to.include({ command: 5100, frame: 3, x: -35.361, z: 60 });
    expect((rally.body['warnings'] as string[])[0]).to.match(/^Break altitude/);
    expect((await send('PUT', '/api/rally', 'RALLY -35 149 60\n', 'text/plain')).body).to.include({
      index: 0,
    });
    const nowhere = { frame: 3, command: 5100, x: 0, y: 0, z: 10 };
    expect((await send('PUT', '/api/rally', { items: [nowhere] })).body).to.include({
      code: 'E_MISSION_ITEM',
    });
    // They are no mission.
    expect((await send('PUT', '/api/mission', text, 'text/plain')).body).to.include({
      code: 'E_BAD_REQUEST',
    });
  });

  it('files of an older QGroundControl: a .mission, and items with coordinate; an old fence is not read as none', async () => {
    const four = { param1: 0, param2: 0, param3: 0, param4: 0 };
    const old = {
      MAV_AUTOPILOT: 3,
      complexItems: [],
      groundStation: 'QGroundControl',
      items: [
        { autoContinue: true, command: 22, coordinate: [-35.363, 149.165, 15], frame: 3, id: 1, ...four },
        {
          autoContinue: true,
          command: 177,
          coordinate: [0, 0, 0],
          frame: 2,
          id: 2,
          ...four,
          param1: 1,
          param2: 4,
        },
        { command: 16, coordinate: [-35.364, 149.165, 15], doJumpId: 3, frame: 3, params: [5, 0, 0, null] },
      ],
      plannedHomePosition: {},
      version: '1.0',
    };
    const { status, body, text } = await send('PUT', '/api/mission', old);
    expect(status, text).to.equal(200);
    const items = body['items'] as Body[];
    expect(items.map(({ command, param1, z }) => [command, param1, z])).to.deep.equal([
      [22, 0, 15],
      [177, 1, 0],
      [16, 5, 15],
    ]);
    const survey = { ...old, complexItems: [{ type: 'survey' }] };
    const without = (await send('PUT', '/api/mission', survey)).body;
    expect(without['count']).to.equal(3);
    expect(JSON.stringify(without['warnings'])).to.include('1 survey(s) are left out');
    expect((await send('PUT', '/api/fence', old)).status).to.equal(422);
    const plan = { ...PLAN, geoFence: { version: 1, polygon: [{ latitude: 1, longitude: 1 }] } };
    expect((await send('PUT', '/api/fence', plan)).body).to.include({ code: 'E_INVALID_VALUE' });
  });

  it('with Accept: text/event-stream it sends progress, then the result', async () => {
    const items = Array.from({ length: 400 }, (_, n) => ({ ...WAYPOINT, x: -35 - n / 1e5 }));
    const answer = await fetch(`${node.url}/api/mission?allow_far=1`, {
      method: 'PUT',
      headers: { ...key, 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ items }),
    });
    const text = await answer.text();
    expect(text).to.match(/event: progress\ndata: \{"done":\d+,"total":400,"text":"sending"\}/);
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
    // By its content, whatever its name and encoding.
    await writeFile(wpl.replace('.waypoints', '.dat'), `\ufeff${await readFile(wpl, 'utf8')}`, 'utf16le');
    expect((await run('mission', 'check', wpl.replace('.waypoints', '.dat'))).stdout).to.include('5 items');
    const told = await svcTold(node.paths, await readFile(wpl, 'utf8'), 'mission', 'check', '-');
    expect(told.stdout).to.include('5 items');
    expect((await run('fence', 'get')).stdout).to.include('4 items');
    expect((await run('fence', 'clear')).stdout).to.equal('the vehicle holds no fence\n');
    await writeFile(plan, JSON.stringify([{ ...WAYPOINT, frame: 9 }]));
    await writeFile(plan, JSON.stringify([{ ...WAYPOINT, param4: 45 }]));
    const warned = await run('mission', 'put', plan);
    expect(warned).to.include({ code: 0, stderr: 'Item 1: param4 45 is held as 0.\n' });
    await writeFile(plan, JSON.stringify([{ ...WAYPOINT, frame: 9 }]));
    const bad = await run('mission', 'put', plan);
    expect(bad.code).to.equal(1);
    expect(bad.stderr).to.include('Item 1: frame 9');
  });
});
