import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { ardupilotmega, common, minimal, standard } from 'node-mavlink';
import { SimProcess } from './sim-process.ts';

describe('sim link', () => {
  it('says its address on stdout when it runs alone, and stops soon after SIGTERM', async () => {
    const main = join(import.meta.dirname, '../../bin/sim/main.ts');
    const child = spawn(process.execPath, [main, '--port', '0'], { stdio: ['ignore', 'pipe', 'ignore'] });
    const [line] = await once(child.stdout, 'data');
    const port = Number(/^svc-sim listening on tcp:127\.0\.0\.1:(\d+)\n$/.exec(String(line))?.[1]);
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'data');
    const gone = once(child, 'exit');
    const closed = once(socket, 'close');
    const at = performance.now();
    child.kill('SIGTERM');
    expect(await gone).to.deep.equal([0, null]);
    expect(performance.now() - at).to.be.lessThan(5000);
    await closed;
  });

  it('greets with the heartbeat of a disarmed ArduCopter quadrotor, and sends nothing else unasked', async () => {
    await using sim = await SimProcess.start();
    const client = await sim.connect();
    const heartbeat = await client.next(minimal.Heartbeat, undefined, 1000);
    expect(heartbeat).to.include({ type: 2, autopilot: 3, baseMode: 81, customMode: 0, systemStatus: 3 });
    await client.next(minimal.Heartbeat, undefined, 1200);
    const others = client.packets.filter(({ header }) => header.msgid !== 0 && header.msgid !== 253);
    expect(others).to.deep.equal([]);
    const { sysid, compid, magic } = client.packets[0]?.header ?? {};
    expect({ sysid, compid, magic }).to.deep.equal({ sysid: 1, compid: 1, magic: 0xfd });
  });

  it('numbers its frames without a gap', async () => {
    await using sim = await SimProcess.start();
    const client = await sim.ready();
    client.send(common.ParamRequestList, { targetSystem: 1, targetComponent: 1 });
    await client.next(common.ParamValue, ({ paramIndex }) => paramIndex === 60);
    const gaps = client.packets.filter(
      ({ header }, i) => i > 0 && header.seq !== (((client.packets[i - 1]?.header.seq ?? 0) + 1) & 0xff),
    );
    expect(gaps).to.deep.equal([]);
  });

  it('has one client at a time, as a serial line, and the next one when the first has gone', async () => {
    await using sim = await SimProcess.start();
    const first = await sim.ready();
    await first.next(minimal.Heartbeat);
    const second = await sim.connect();
    await once(second.socket, 'close');
    expect(second.packets).to.deep.equal([]);
    await first.next(minimal.Heartbeat);
    first.close();
    await once(first.socket, 'close');
    await sim.fault({}); // the process has seen the end of the first once it answers
    const third = await sim.connect();
    await third.next(minimal.Heartbeat, undefined, 1000);
  });

  it('streams what REQUEST_DATA_STREAM and SET_MESSAGE_INTERVAL ask for', async () => {
    await using sim = await SimProcess.start();
    const client = await sim.connect();
    client.send(common.RequestDataStream, {
      targetSystem: 1,
      targetComponent: 1,
      reqMessageRate: 20,
      startStop: 1,
    });
    await client.next(common.GpsRawInt, ({ lat }) => lat !== 0);
    const all = [
      client.next(common.SysStatus),
      client.next(common.SystemTime),
      client.next(common.Attitude),
      client.next(common.GlobalPositionInt),
      client.next(common.ServoOutputRaw),
      client.next(common.MissionCurrent),
      client.next(common.RcChannels),
      client.next(common.VfrHud),
      client.next(common.BatteryStatus),
      client.next(ardupilotmega.SimState),
      client.next(ardupilotmega.EkfStatusReport),
    ];
    await Promise.all(all);
    const extended = client.next(common.ExtendedSysState);
    expect(await client.command(511, common.ExtendedSysState.MSG_ID, 100_000)).to.equal(0);
    expect((await extended).landedState).to.equal(1);
    const interval = client.next(common.MessageInterval);
    expect(await client.command(510, common.ExtendedSysState.MSG_ID)).to.equal(0);
    expect((await interval).intervalUs).to.equal(100_000);
    expect(await client.command(511, 9999, 100_000)).to.equal(common.MavResult.DENIED);
  });

  it('tells its version, its place and its home on request', async () => {
    await using sim = await SimProcess.start('--home', '47.4,8.5,450,90', '--sysid', '1');
    const client = await sim.ready();
    const version = client.next(standard.AutopilotVersion);
    expect(await client.command(512, standard.AutopilotVersion.MSG_ID)).to.equal(0);
    expect((await version).flightSwVersion).to.equal(0x040507ff);
    expect((await version).uid !== 0n).to.equal(true);
    const home = client.next(common.HomePosition);
    expect(await client.command(410)).to.equal(0);
    expect(await home).to.include({ latitude: 474_000_000, longitude: 85_000_000, altitude: 450_000 });
    const position = await client.next(common.GlobalPositionInt);
    expect(position).to.include({
      lat: 474_000_000,
      lon: 85_000_000,
      alt: 450_000,
      relativeAlt: 0,
      hdg: 9000,
    });
  });

  it('survives unknown messages, noise and messages for another vehicle', async () => {
    await using sim = await SimProcess.start();
    const client = await sim.ready();
    client.write(Buffer.from('fd0900000001be30d4000102030405060708090a0bfd', 'hex'));
    client.write(Buffer.from(Array.from({ length: 500 }, (_, i) => (i * 37) & 0xff)));
    client.send(common.CommandLong, { command: 400, targetSystem: 7, targetComponent: 1 });
    client.order(31_999);
    const ack = await client.next(common.CommandAck);
    expect(ack).to.include({ command: 31_999, result: 3, targetSystem: 255, targetComponent: 190 });
  });
});
