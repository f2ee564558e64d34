import type { Client } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { ApiError } from '../../shared/errors.ts';
import { patternItems } from '../../shared/mission/patterns/from-figures.ts';
import { plainDocument } from '../../shared/mission/spoken-items.ts';
import { SimProcess } from '../sim/sim-process.ts';
import { callTool, connectStdio } from '../support/connector.ts';
import { KEY } from '../support/edge.ts';
import { armable } from '../support/events.ts';
import { TestNode } from '../support/node.ts';
import { removeDir, tempDir } from '../support/temp.ts';

type Json = Readonly<Record<string, unknown>>;

const KEYED = { 'x-svc-key': KEY };
const CORNERS = [
  { lat: 47, lon: 8 },
  { lat: 47.001, lon: 8 },
  { lat: 47.001, lon: 8.001 },
  { lat: 47, lon: 8.001 },
];

describe('a mission as a model writes it', () => {
  const said = (item: Json): unknown => (plainDocument({ items: [item] })['items'] as unknown[])[0];
  const cases: readonly (readonly [written: Json, meant: Json])[] = [
    [
      { command: 'waypoint', autocontinue: true },
      { command: 16, autocontinue: 1 },
    ],
    [{ Command: 'MAV_CMD_NAV_TAKEOFF' }, { command: 22 }],
    [{ command: 'TakeOff' }, { command: 22 }],
    [{ command: 'return to launch' }, { command: 20 }],
    [{ command: 'rtl' }, { command: 20 }],
    [
      { command: 'change_speed', AutoContinue: false },
      { command: 178, autocontinue: 0 },
    ],
    [{ command: 'do_set_roi' }, { command: 201 }],
    [{ command: 'roi' }, { command: 80 }],
    [
      { frame: 'GLOBAL_RELATIVE_ALT', PARAM1: 5 },
      { frame: 3, param1: 5 },
    ],
    [
      { lat: 47, lon: 8, alt: 20 },
      { x: 47, y: 8, z: 20 },
    ],
    [
      { x: 1, lat: 2 },
      { x: 1, lat: 2 },
    ],
    [{ command: 'somersault' }, { command: 'somersault' }],
    [
      { command: 16, x: 47 },
      { command: 16, x: 47 },
    ],
  ];
  for (const [written, meant] of cases)
    it(`${JSON.stringify(written)} is ${JSON.stringify(meant)}`, () => {
      expect(said(written)).to.deep.equal(meant);
    });
});

describe('a mission of a few figures', () => {
  const commands = (figures: Json): readonly number[] =>
    patternItems(figures).items.map(({ command }) => command);

  it('takes off, flies the pattern of the page’s plan, and returns', () => {
    const survey = { kind: 'survey', corners: CORNERS, altitude_m: 30, spacing_m: 40, photo_every_m: 0 };
    expect(commands(survey)).to.deep.equal([22, ...Array(patternItems(survey).parts * 4).fill(16), 20]);
    expect(
      patternItems(survey)
        .items.slice(1, -1)
        .every(({ z }) => z === 30),
    ).to.equal(true);
    const photos = patternItems({ ...survey, photo_every_m: 10 });
    expect(photos.photos).to.be.above(20);
    expect(commands({ ...survey, end: 'land', speed_m_s: 4 })).to.include.members([178, 21]);
    const corridor = { kind: 'corridor', corners: CORNERS.slice(0, 3), width_m: 10, spacing_m: 20 };
    expect(commands({ ...corridor, photo_every_m: 0, end: 'stay' }).at(-1)).to.equal(16);
    const tower = { kind: 'tower', lat: 47, lon: 8, radius_m: 5, top_m: 40, bottom_m: 10 };
    expect(patternItems(tower).items[0]).to.include({ command: 22, z: 45 });
    const orbit = patternItems({ kind: 'orbit', lat: 47, lon: 8, radius_m: 30, altitude_m: 25, turns: 2 });
    expect(orbit.distance).to.be.closeTo(2 * Math.PI * 30 * 2, 10);
  });

  const wrong: readonly (readonly [figures: Json, says: string])[] = [
    [{}, 'kind is one of survey, corridor, orbit, tower'],
    [{ kind: 'constructor' }, 'kind is one of'],
    [{ kind: 'survey' }, 'corners must be a list'],
    [{ kind: 'survey', corners: CORNERS.slice(0, 2) }, 'too few or too many corners'],
    [{ kind: 'survey', corners: CORNERS, altitude_m: Number.NaN }, 'altitude_m must be a number'],
    [{ kind: 'survey', corners: CORNERS, altitude_m: 9000 }, 'altitude_m is beyond its bounds'],
    [{ kind: 'survey', corners: CORNERS, width_m: 5 }, 'width_m is none of the figures of a survey'],
    [
      { kind: 'survey', corners: [CORNERS[0], CORNERS[2], CORNERS[1], CORNERS[3]] },
      'sides of the polygon cross',
    ],
    [{ kind: 'survey', corners: [{ lat: 'x', lon: 8 }] }, 'each corner has lat and lon'],
    [{ kind: 'orbit', radius_m: 20 }, 'lat and lon of the centre are missing'],
    [{ kind: 'orbit', lat: 47, lon: 8, radius_m: -3 }, 'radius_m is beyond its bounds'],
    [{ kind: 'tower', lat: 47, lon: 8 }, 'radius_m of the tower is missing'],
    [{ kind: 'tower', corners: CORNERS, top_m: 5, bottom_m: 9 }, 'its top is not above its bottom'],
    [{ kind: 'survey', corners: CORNERS, end: 'crash' }, 'end is one of'],
    [{ kind: 'survey', corners: CORNERS, speed_m_s: 1e9 }, 'speed_m_s must be'],
    [{ kind: 'survey', corners: CORNERS, spacing_m: 0.001 }, 'more items than'],
  ];
  for (const [figures, says] of wrong)
    it(`${JSON.stringify(figures).slice(0, 90)}: ${says}`, () => {
      expect(() => patternItems(figures)).to.throw(ApiError, says);
    });
});

describe('a mission from figures to the landing', function () {
  this.timeout(180_000);
  let sim: SimProcess;
  let node: TestNode;
  let home: string;
  let client: Client;

  before(async () => {
    home = await tempDir();
    sim = await SimProcess.start('--speedup', '6');
    node = await TestNode.start({
      pairing: { key: KEY },
      simulated: false,
      config: `mcp:\n  token_accept_enabled: true\nmavlink:\n  source: tcp:127.0.0.1:${sim.port}\n  endpoints: []\n`,
    });
    const scopes = ['read', 'safe_write', 'admin', 'flight'];
    const { body } = await node.post('/api/mcp/tokens', { scopes, label: 'mission' }, KEYED);
    await armable(node, KEYED);
    const args = ['--target', 'agent', node.url, '--token', String(body['token']), '--sim'];
    client = await connectStdio({ args, home, key: KEY });
  });
  after(async () => {
    await client.close();
    await node.stop();
    await sim[Symbol.asyncDispose]();
    await removeDir(home);
  });

  it('is built, written from the document that says it in few words, started and waited for', async () => {
    const { lat = 0, lon = 0 } = (await callTool(client, 'telemetry_snapshot')).value['home'] as Record<
      string,
      number
    >;
    const corners = [
      [0, 0],
      [0.0004, 0],
      [0.0004, 0.0003],
    ].map(([n = 0, e = 0]) => ({ lat: lat + n, lon: lon + e }));
    const built = await client.callTool({
      name: 'mission_build',
      arguments: { kind: 'corridor', corners, width_m: 4, altitude_m: 15, photo_every_m: 0, spacing_m: 10 },
    });
    const value = built.structuredContent as Json;
    expect(value['summary']).to.match(/^Farthest from the vehicle: \d\d m .*ends with return to launch$/);
    expect(JSON.stringify(value['document']).length).to.be.below(300);
    const [{ text = '' } = {}] = built.content as { text?: string }[];
    expect(text).to.match(/^7 items, \d+ m in the pattern, no photos\./);
    const { document } = value;
    expect((await callTool(client, 'mission_check', { document })).value).to.include({ count: 7 });
    expect((await callTool(client, 'mission_upload', { document })).value).to.include({ count: 7 });
    const held = (await callTool(client, 'mission_read')).value;
    expect(held['count']).to.equal(7);

    const said: string[] = [];
    const flown = await client.callTool(
      { name: 'mission_start', arguments: { wait: true, timeout_s: 150 } },
      { timeout: 170_000, onprogress: ({ message }) => said.push(message ?? '') },
    );
    expect(flown.structuredContent, JSON.stringify(flown.structuredContent)).to.include({
      ok: true,
      done: true,
      ended: 'reached',
    });
    expect(
      said.some((line) => /flying the mission, item [3-6] of 7: AUTO/.test(line)),
      said.join('\n'),
    ).to.equal(true);
  });

  it('takes items in words; what it does not know is refused, and nothing is sent', async () => {
    const at = { frame: 3, x: -35.3632, y: 149.1652, z: 20, autocontinue: true };
    const items = [
      { ...at, command: 'TAKEOFF' },
      { ...at, command: 'waypoint' },
      { frame: 2, command: 'rtl', x: 0, y: 0, z: 0 },
    ];
    const document = { items };
    const written = await callTool(client, 'mission_upload', { document, allow_far: true });
    expect(written.value, JSON.stringify(written.value)).to.include({ count: 3 });
    const wrong = await callTool(client, 'mission_upload', {
      document: { items: [{ ...at, command: 'somersault' }] },
    });
    expect(wrong.value).to.include({ reason: 'invalid_arguments' });
    const pattern = await callTool(client, 'mission_upload', { document: { pattern: { kind: 'loop' } } });
    expect(pattern.value, JSON.stringify(pattern.value)).to.include({ reason: 'invalid_arguments' });
    expect((await callTool(client, 'mission_read')).value).to.include({ count: 3 });
  });
});
