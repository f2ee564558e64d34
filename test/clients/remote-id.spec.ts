import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { listOf, memberOf } from '../../shared/member.ts';
import { KEY } from '../support/edge.ts';
import { telemetry } from '../support/events.ts';
import { TestNode } from '../support/node.ts';
import { freePort, removeDir, tempDir } from '../support/temp.ts';
import { pythonWith } from './side-by-side.ts';

const headers = { 'x-svc-key': KEY };
/** A flight controller with a transmitter behind it, which is as content as ArduRemoteID: with a number, a class and a place. */
const PYMAVLINK = `
import sys, time
from pymavlink import mavutil
m = mavutil.mavlink
link = mavutil.mavlink_connection('tcpin:127.0.0.1:' + sys.argv[1], source_system=1, source_component=1, dialect='ardupilotmega')
heard, last = {}, 0
while True:
    msg = link.recv_match(blocking=True, timeout=0.1)
    if msg is not None and msg.get_type().startswith('OPEN_DRONE_ID_') and msg.target_system in (0, 1):
        heard[msg.get_type()[14:]] = msg
    if time.time() - last < 0.2: continue
    last = time.time()
    link.mav.srcComponent = 1
    link.mav.heartbeat_send(m.MAV_TYPE_QUADROTOR, m.MAV_AUTOPILOT_ARDUPILOTMEGA, 81, 0, m.MAV_STATE_STANDBY)
    missing = 'missing '
    if 'OPERATOR_ID' not in heard: missing += 'OP_ID '
    if 'SELF_ID' not in heard: missing += 'SELF_ID '
    system = heard.get('SYSTEM')
    if system is None: missing += 'SYS '
    elif system.operator_latitude == 0: missing += 'OP_LOC '
    link.mav.srcComponent = 236
    if missing == 'missing ':
        said = '%s %s %.4f %.4f %.1f %d %d' % (heard['OPERATOR_ID'].operator_id, heard['SELF_ID'].description,
            system.operator_latitude / 1e7, system.operator_longitude / 1e7, system.operator_altitude_geo,
            system.operator_location_type, abs(time.time() - 1546300800 - system.timestamp) < 5)
        link.mav.open_drone_id_arm_status_send(0, said.encode())
        print(said, flush=True)
    else: link.mav.open_drone_id_arm_status_send(1, missing.strip().encode())
`;

describe('Remote ID, and a transmitter of pymavlink', function () {
  this.timeout(60_000);
  let dir: string;
  let node: TestNode;
  let transmitter: ChildProcess;
  let said = '';

  before(async function () {
    const python = await pythonWith(['pymavlink']);
    if (python === undefined) return this.skip();
    dir = await tempDir();
    const port = await freePort();
    await writeFile(join(dir, 'transmitter.py'), PYMAVLINK);
    transmitter = spawn(python, [join(dir, 'transmitter.py'), String(port)], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, MAVLINK20: '1' },
    });
    transmitter.stdout?.on('data', (chunk: Buffer) => {
      said = chunk.toString().trim().split('\n').at(-1) ?? '';
    });
    node = await TestNode.start({
      pairing: { key: KEY },
      simulated: false,
      config: [
        'mavlink:',
        `  source: tcp:127.0.0.1:${port}`,
        '  endpoints: []',
        'remote_id:',
        '  operator_id: FIN87astrdge12k8',
        '  self_id: Survey',
        '',
      ].join('\n'),
    });
  });
  after(async () => {
    await node?.stop();
    transmitter?.kill('SIGKILL');
    if (dir !== undefined) await removeDir(dir);
  });

  const reasons = ({ prearm }: Readonly<Record<string, unknown>>): readonly unknown[] =>
    listOf(memberOf(prearm, 'reasons'))
      .filter((each) => memberOf(each, 'source') === 'remote_id')
      .map((each) => memberOf(each, 'text'));

  it('says what it misses, is told where the operator stands, and is ready', async () => {
    await telemetry(node, (now) => reasons(now)[0] === 'Remote ID: missing OP_LOC', headers);
    const before = await node.json('/api/remote-id', { headers });
    expect(before.body).to.deep.include({
      state: 'not_ready',
      reasons: ['missing OP_LOC'],
      operator_id_set: true,
      operator_place: null,
    });
    const stand = async (body: object) =>
      node.json('/api/remote-id/operator-place', {
        method: 'PUT',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    for (const wrong of [{ lat: 48 }, { lat: 91, lon: 0 }, { lat: 48, lon: 11, accuracy_m: 101 }])
      expect((await stand(wrong)).status, JSON.stringify(wrong)).to.equal(422);
    expect((await stand({ lat: 48.137, lon: -11.5, alt: 520, accuracy_m: 8 })).status).to.equal(200);
    await telemetry(node, (now) => reasons(now).length === 0, headers);
    const { body } = await node.json('/api/remote-id', { headers });
    expect(body).to.deep.include({ state: 'ready', reasons: [], operator_place: 'live' });
    expect(body['transmitter']).to.include({ system: 1, component: 236 });
    if (said === '') await once(transmitter.stdout ?? expect.fail(), 'data');
    expect(said).to.equal('FIN87astrdge12k8 Survey 48.1370 -11.5000 520.0 1 1');
  });
});
