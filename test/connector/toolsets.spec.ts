import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { bootTime } from '../../shared/boot-clock.ts';
import { memberOf } from '../../shared/member.ts';
import { operatorFiles } from '../../shared/operator/operator-files.ts';
import { ensureOperatorKey } from '../../shared/operator/operator-key.ts';
import { pendingCall, signCall } from '../../shared/operator/signed-confirm.ts';
import { answerOf, callTool, connectStdio } from '../support/connector.ts';
import { KEY } from '../support/edge.ts';
import { armable, telemetry } from '../support/events.ts';
import { MADE_FAULTS } from '../support/made-faults.ts';
import { TestNode } from '../support/node.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const KEYED = { 'x-svc-key': KEY };
const CONFIG = 'mcp:\n  token_accept_enabled: true\n';
const at = (x: number, z: number): Record<string, number> => ({ frame: 3, command: 16, x, y: 149.1652, z });
const SQUARE = {
  items: [
    { frame: 3, command: 22, x: -35.3632, y: 149.1652, z: 20 },
    at(-35.3632, 20),
    at(-35.3542, 60),
    { frame: 2, command: 20, x: 0, y: 0, z: 0 },
  ],
};

describe('families of tools', function () {
  this.timeout(120_000);
  let node: TestNode;
  let home: string;
  let base: readonly string[];

  before(async () => {
    home = await tempDir();
    node = await TestNode.start({ pairing: { key: KEY }, config: CONFIG });
    const scopes = ['read', 'safe_write', 'admin', 'flight', 'destructive'];
    const { body } = await node.post('/api/mcp/tokens', { scopes, label: 'toolsets' }, KEYED);
    base = ['--target', 'agent', node.url, '--token', String(body['token'])];
    await armable(node, KEYED);
  });

  after(async () => {
    await node.stop();
    await removeDir(home);
  });

  it('are listed when asked for, and understood always', async () => {
    const usual = await connectStdio({ args: [...base, '--sim'], home, key: KEY });
    const names = async (): Promise<readonly string[]> =>
      (await usual.listTools()).tools.map(({ name }) => name);
    expect(await names()).to.not.include.members(['mission_read']);
    expect((await callTool(usual, 'mission_read', { part: 'rally' })).value).to.include({ count: 0 });
    await usual.close();
    const more = ['--toolset', 'mission,payload', '--toolset', 'flight-logs'];
    const client = await connectStdio({ args: [...base, '--sim', ...more], home, key: KEY });
    expect((await client.listTools()).tools.map(({ name }) => name)).to.include.members([
      'mission_upload',
      'gimbal_point',
      'flight_logs_list',
      'flight_arm',
    ]);
    await client.close();
  });

  it('a mission is checked, written, read and cleared; a wrong item is named', async () => {
    const client = await connectStdio({ args: [...base, '--sim'], home, key: KEY });
    const what =
      '4 items, 3 of them places; takeoff to 20 m; 20 m to 60 m above home or the terrain; ' +
      '1000.8 m from the first place to the last, up to 1000.8 m away from the first; ends with return to launch';
    const checked = await callTool(client, 'mission_check', { document: SQUARE });
    expect(checked.value).to.deep.include({ count: 4, warnings: [] });
    expect(checked.value['summary']).to.equal(
      `Farthest from the vehicle: 1008 m (item 3). Lowest: 20 m above home (item 1). The vehicle has no fence that is on. ${what}`,
    );
    const wrong = { items: [...SQUARE.items, { ...at(0, 20), x: 91 }] };
    const refused = await callTool(client, 'mission_check', { document: wrong });
    expect(refused.value).to.include({ reason: 'invalid_arguments', index: 4 });
    expect(refused.value['message']).to.match(/^Item 5: x is the latitude/);
    const high = { items: [at(-35.3632, 900)] };
    expect((await callTool(client, 'mission_check', { document: high })).value['warnings']).to.deep.equal([
      'Item 1 is 900 m high.',
    ]);
    const written = await callTool(client, 'mission_upload', { document: SQUARE });
    expect(written.value, JSON.stringify(written.value)).to.include({ summary: what, count: 4 });
    const read = await callTool(client, 'mission_read', { from: 2 });
    expect(read.value).to.include({ summary: what, count: 4 });
    expect((read.value['items'] as { seq: number }[]).map(({ seq }) => seq)).to.deep.equal([2, 3, 4]);
    expect((await callTool(client, 'mission_set_current', { seq: 1 })).value).to.include({ ok: true });
    expect((await callTool(client, 'mission_clear')).value).to.deep.equal({ count: 0 });
    const fence = {
      items: [{ frame: 0, command: 5003, param1: 300, x: -35.3632, y: 149.1652, z: 0 }],
    };
    const fenced = await callTool(client, 'mission_upload', { part: 'fence', document: fence });
    expect(fenced.value).to.include({ summary: 'stays inside a circle of 300 m radius', count: 1 });
    expect((await callTool(client, 'fence_clear', { confirm: 'yes' })).value).to.include({
      reason: 'confirm_required',
    });
    expect((await callTool(client, 'fence_clear', { confirm: 'REMOVE THE FENCE' })).value).to.include({
      count: 0,
    });
    await client.close();
  });

  it('whoever signs a mission sees what it does, in words; one that cannot be flown is not signed', async () => {
    const client = await connectStdio({ args: [...base, '--flight-enforced'], home });
    const files = operatorFiles({ SVC_OPERATOR_DIR: `${home}/operator` });
    const asked = await callTool(client, 'mission_upload', { document: SQUARE });
    expect(asked.value).to.include({ reason: 'operator_present_stale' });
    const code = String(asked.value['confirm_id']);
    const waiting = pendingCall(files, code, bootTime());
    expect(waiting?.summary).to.match(/^Farthest from .*4 items, .*takeoff to 20 m; 20 m to 60 m above home/);
    if (waiting === null) return;
    await ensureOperatorKey(files);
    await signCall(files, waiting, bootTime());
    const done = await callTool(client, 'mission_upload', { document: SQUARE, confirm_id: code });
    expect(done.value).to.include({ count: 4 });
    const broken = await callTool(client, 'mission_upload', { document: { items: [at(91, 20)] } });
    expect(broken.value).to.include({ reason: 'invalid_arguments', index: 0 });
    expect(broken.value['message']).to.match(/^Item 1: x is the latitude/);
    await client.close();
  });

  it('payload commands say what the vehicle said; a log is a link', async () => {
    const client = await connectStdio({ args: [...base, '--sim'], home, key: KEY });
    expect((await callTool(client, 'payload_servo', { output: 9, pwm: 1500 })).value).to.include({
      ok: true,
    });
    const orbit = { radius: 20, speed: 3, lat: -35.36, lon: 149.16, alt: 10 };
    expect(JSON.stringify((await callTool(client, 'flight_orbit', orbit)).value)).to.include(
      'no orbit command',
    );
    const { value } = await callTool(client, 'flight_logs_list');
    const [log] = value['logs'] as readonly { id: number; size: number }[];
    if (log === undefined) throw new Error('the simulated vehicle has no log');
    const { content } = await client.callTool({ name: 'flight_logs_list', arguments: { id: log.id } });
    const link = (content as readonly Record<string, unknown>[]).find(({ type }) => type === 'resource_link');
    expect(link).to.include({ uri: `${node.url}/api/flight-logs/${log.id}`, size: log.size });
    const { value: none } = await callTool(client, 'flight_report', { log: 'none.tlog' });
    expect(none).to.include({ reason: 'not_found' });
    await client.close();
  });

  it('a report waits for the log, and its evidence is read from it; a file is for whoever started the connector', async () => {
    const client = await connectStdio({ args: [...base, '--sim'], home, key: KEY });
    // The simulated vehicle writes a log while it is armed; those that it begins with are only bytes.
    for (const body of [{ cmd: 'mode', args: ['GUIDED'] }, { cmd: 'arm' }, { cmd: 'takeoff', args: [3] }])
      expect((await node.post('/api/command', body, KEYED)).body).to.include({ status: 'accepted' });
    await telemetry(node, ({ position }) => Number(memberOf(position, 'alt_rel')) > 2, KEYED);
    await node.post('/api/command', { cmd: 'land' }, KEYED);
    await telemetry(node, ({ armed }) => armed === false, KEYED);
    const newest = await client.callTool({ name: 'flight_report', arguments: {} });
    expect(newest.structuredContent, JSON.stringify(newest.content)).to.include.keys('log', 'findings');
    expect(newest.content)
      .to.have.nested.property('[0].text')
      .that.matches(/^Log \d+\n.+ over ground/);
    const log = String(answerOf(newest)['log']);
    const { value } = await callTool(client, 'flight_log_series', { log, fields: ['BAT.Volt'], points: 20 });
    const [field] = value['fields'] as readonly { name: string; points: readonly (readonly number[])[] }[];
    expect(field?.name).to.equal('BAT.Volt');
    expect(field?.points.length).to.be.within(1, 20);
    const none = await callTool(client, 'flight_log_series', { log, fields: ['BAT.Vol'] });
    expect(none.value).to.include({ reason: 'not_found' });
    const beside = await callTool(client, 'flight_report', { log, compare: log });
    expect(beside.value['compared']).to.deep.include({ only_this: [], only_other: [], figures: [] });
    const path = join(home, 'mine.BIN');
    await writeFile(path, MADE_FAULTS.find(({ fault }) => fault.startsWith('vibration, A'))?.log() ?? '');
    expect((await callTool(client, 'flight_report', { file: path })).value).to.include({
      reason: 'not_supported',
    });
    await client.close();
    const own = await connectStdio({ args: ['--target', 'agent', node.url], home, key: KEY });
    const mine = await callTool(own, 'flight_report', { file: path });
    expect(mine.value['findings']).to.have.nested.property('[0].name', 'vibration');
    expect((await callTool(own, 'flight_report', { file: join(home, 'no.BIN') })).value).to.include({
      reason: 'not_found',
    });
    await own.close();
  });
});
