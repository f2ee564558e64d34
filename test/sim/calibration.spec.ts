import { expect } from 'chai';
import { ardupilotmega, common } from 'node-mavlink';
import type { SimClient } from './sim-client.ts';
import { SimProcess } from './sim-process.ts';

const CALIBRATE = 241;
const POSITION = 42_429;
const { ACCEPTED, DENIED, FAILED, TEMPORARILY_REJECTED, UNSUPPORTED } = common.MavResult;
/** Its command as a plain number. */
type Ack = { readonly command: number; readonly result: number };
const GYRO = [1];
const ACCEL = [0, 0, 0, 0, 1];

/** The next pose or result that the vehicle tells by COMMAND_LONG. */
async function told(client: SimClient, wanted?: number): Promise<number> {
  const asks = ({ command, _param1 }: { command: number; _param1: number }): boolean =>
    command === POSITION && (wanted === undefined || _param1 === wanted);
  const { _param1: value } = await client.next(common.CommandLong, asks);
  return value;
}

describe('the simulated vehicle calibrates', () => {
  it('ardupilot: acknowledges at the end, and each repetition again', async () => {
    await using sim = await SimProcess.start('--speedup', '10');
    const client = await sim.ready();
    const results: number[] = [];
    const both = client.next(common.CommandAck, ({ command, result }: Ack) => {
      if (command === CALIBRATE) results.push(result);
      return results.length === 2;
    });
    client.order(CALIBRATE, ...GYRO);
    client.order(CALIBRATE, ...GYRO);
    await both;
    expect(results).to.deep.equal([ACCEPTED, ACCEPTED]);
    expect(await client.command(CALIBRATE)).to.equal(UNSUPPORTED);
    await client.command(176, 1, 4);
    await client.command(400, 1);
    const why = client.text('Disarm to allow calibration');
    expect(await client.command(CALIBRATE, ...GYRO)).to.equal(FAILED);
    await why;
    expect(await client.command(42_424)).to.equal(FAILED);
  });

  it('ardupilot: asks for a pose every second, takes no other, and repeats the result until the next time', async () => {
    await using sim = await SimProcess.start('--speedup', '20');
    const client = await sim.ready();
    const first = client.text('Place vehicle level and press any key.');
    expect(await client.command(CALIBRATE, ...ACCEL)).to.equal(ACCEPTED);
    await first;
    for (let pose = 1; pose <= 6; pose++) {
      expect(await told(client, pose)).to.equal(pose);
      expect(await client.command(POSITION, pose + 1)).to.equal(FAILED);
      expect(await client.command(POSITION, pose)).to.equal(ACCEPTED);
    }
    expect([await told(client, 16_777_215), await told(client)]).to.deep.equal([16_777_215, 16_777_215]);
    expect(client.texts.filter((text) => text.startsWith('Place vehicle'))).to.have.length(1);
    expect(await client.command(400, 1)).to.equal(FAILED);
    expect(client.texts).to.include('Arm: Accels calibrated requires reboot');
    await client.command(CALIBRATE, ...ACCEL);
    expect(await told(client)).to.equal(1);
  });

  it('ardupilot: tells of compasses only who has asked, and again until they are accepted', async () => {
    await using sim = await SimProcess.start('--speedup', '40');
    const client = await sim.ready();
    expect(await client.command(42_424)).to.equal(ACCEPTED);
    expect(await client.command(42_425), 'too early, and it stops').to.equal(FAILED);
    expect(await client.command(42_424, 1)).to.equal(ACCEPTED);
    const progress = client.packets.filter(({ header }) => header.msgid === 191);
    expect(progress, 'not asked for').to.have.length(0);
    client.order(511, common.MagCalReport.MSG_ID, 20_000);
    client.order(511, ardupilotmega.MagCalProgress.MSG_ID, 20_000);
    const report = await client.next(common.MagCalReport);
    expect(report).to.include({ compassId: 0, calMask: 1, calStatus: 4, autosaved: 0 });
    await client.next(common.MagCalReport);
    expect(await client.command(42_425)).to.equal(ACCEPTED);
  });

  it('px4: answers twice to a cancellation, and stops at the next step; or refuses what is no cancellation', async () => {
    // Not so fast that it has ended before this test, on a busy machine, says anything.
    await using sim = await SimProcess.start('--firmware', 'px4', '--speedup', '2');
    const client = await sim.ready();
    expect(await client.command(CALIBRATE, ...ACCEL)).to.equal(ACCEPTED);
    await client.text('[cal] calibration started: 2 accel');
    const results: number[] = [];
    const acks = client.next(common.CommandAck, ({ command, result }: Ack) => {
      if (command === CALIBRATE) results.push(result);
      return results.length === 4;
    });
    const denied = client.text('command denied during calibration: 241');
    client.order(CALIBRATE, ...GYRO);
    await denied;
    const cancelled = client.text('[cal] calibration cancelled');
    const failed = client.text('[cal] calibration failed: accel');
    client.order(CALIBRATE);
    await Promise.all([cancelled, failed, acks]);
    expect(results).to.deep.equal([TEMPORARILY_REJECTED, DENIED, TEMPORARILY_REJECTED, ACCEPTED]);
  });
});
