import { once } from 'node:events';
import { expect } from 'chai';
import { common, minimal } from 'node-mavlink';
import { SimProcess } from './sim-process.ts';

const { ACCEPTED, FAILED, IN_PROGRESS, TEMPORARILY_REJECTED, UNSUPPORTED } = common.MavResult;

describe('sim faults', () => {
  it('loses the next acks and no more; the command is carried out all the same', async () => {
    await using sim = await SimProcess.start('--lose-acks', '1');
    const client = await sim.connect();
    client.order(511, minimal.Heartbeat.MSG_ID, 20_000);
    client.order(400, 1, 2989);
    const ack = await client.next(common.CommandAck);
    expect(ack.command).to.equal(400);
    await client.armed(true);
    await sim.fault({ loseAcks: 2 });
    client.order(400, 0);
    client.order(400, 0);
    client.order(410);
    expect((await client.next(common.CommandAck)).command).to.equal(410);
  });

  it('sends IN_PROGRESS first and the final ack after the delay', async () => {
    await using sim = await SimProcess.start('--in-progress', '--ack-delay', '250');
    const client = await sim.connect();
    const first = client.next(common.CommandAck);
    const last = client.next(common.CommandAck, ({ result }) => result !== IN_PROGRESS);
    client.order(400, 1, 2989);
    expect((await first).result).to.equal(IN_PROGRESS);
    const at = performance.now();
    expect((await last).result).to.equal(ACCEPTED);
    expect(performance.now() - at).to.be.within(150, 5000);
    await sim.fault({ inProgress: false, ackDelay: 0 });
    expect(await client.command(400, 0)).to.equal(ACCEPTED);
  });

  it('falls silent and speaks again while TCP stays open', async () => {
    await using sim = await SimProcess.start();
    const client = await sim.connect();
    client.order(511, minimal.Heartbeat.MSG_ID, 20_000);
    await client.next(minimal.Heartbeat);
    await sim.fault({ silence: true });
    const heard = await client.next(minimal.Heartbeat, undefined, 150).catch(() => undefined);
    const before = heard === undefined ? 0 : 1; // one may have been on its way
    expect(await client.next(minimal.Heartbeat, undefined, 200).catch(() => 'silence')).to.equal('silence');
    expect(before).to.be.at.most(1);
    await sim.fault({ silence: false });
    await client.next(minimal.Heartbeat, undefined, 1000);
  });

  it('sends noise with false start bytes between frames, the same for the same seed', async () => {
    await using sim = await SimProcess.start('--garbage', '0.5', '--seed', '5');
    const client = await sim.connect();
    const bytes: Buffer[] = [];
    client.socket.on('data', (chunk) => bytes.push(chunk));
    client.order(511, minimal.Heartbeat.MSG_ID, 20_000);
    await client.next(minimal.Heartbeat);
    for (let i = 0; i < 4; i++) await client.next(minimal.Heartbeat);
    const good = client.packets.reduce((sum, { buffer }) => sum + buffer.length, 0);
    const all = Buffer.concat(bytes);
    expect(all.length).to.be.greaterThan(good + 20);
    expect(all.filter((byte) => byte === 0xfd).length).to.be.greaterThan(client.packets.length);
  });

  it('sprinkles frames of a message id that no dialect knows', async () => {
    await using sim = await SimProcess.start('--unknown-ids');
    const client = await sim.connect();
    const bytes: Buffer[] = [];
    client.socket.on('data', (chunk) => bytes.push(chunk));
    client.order(511, minimal.Heartbeat.MSG_ID, 20_000);
    for (let i = 0; i < 20; i++) await client.next(minimal.Heartbeat);
    const id = Buffer.from([0xfd, 24, 0, 0]);
    expect(Buffer.concat(bytes).includes(id)).to.equal(true);
  });

  it('does not arm for the reason that it is given, until that is taken back', async () => {
    await using sim = await SimProcess.start('--arm-refuse', 'Compass not calibrated');
    const client = await sim.ready();
    const reason = client.text('Arm: Compass not calibrated');
    expect(await client.command(400, 1)).to.equal(FAILED);
    expect((await reason).severity).to.equal(common.MavSeverity.CRITICAL);
    await sim.fault({ armRefuse: '' });
    expect(await client.command(400, 1)).to.equal(ACCEPTED);
  });

  it('reboots: hangs up and stands disarmed at its place, with its parameters', async () => {
    await using sim = await SimProcess.start('--speedup', '20');
    const client = await sim.ready();
    client.send(common.ParamSet, {
      targetSystem: 1,
      targetComponent: 1,
      paramId: 'LAND_SPEED',
      paramValue: 60,
      paramType: 4,
    });
    await client.flyUp(5);
    const closed = once(client.socket, 'close');
    await sim.fault({ reboot: true });
    await closed;
    const again = await sim.connect();
    const heartbeat = await again.next(minimal.Heartbeat);
    expect(heartbeat).to.include({ baseMode: 81, customMode: 0, systemStatus: 3 });
    const time = again.next(common.SystemTime);
    await again.command(512, common.SystemTime.MSG_ID);
    expect((await time).timeBootMs).to.be.lessThan(20_000); // simulated, 20 times as fast
    const param = again.next(common.ParamValue);
    again.send(common.ParamRequestRead, {
      targetSystem: 1,
      targetComponent: 1,
      paramId: 'LAND_SPEED',
      paramIndex: -1,
    });
    expect((await param).paramValue).to.equal(60);
  });

  it('reboots on the command too, after its ack, and not while armed', async () => {
    await using sim = await SimProcess.start();
    const client = await sim.ready();
    await client.command(400, 1);
    expect(await client.command(246, 1)).to.equal(FAILED);
    await client.command(400, 0);
    const closed = once(client.socket, 'close');
    expect(await client.command(246, 1)).to.equal(ACCEPTED);
    await closed;
  });

  it('answers a command with the result that it is told, and does not carry it out', async () => {
    await using sim = await SimProcess.start(
      '--ack-result',
      '176=TEMPORARILY_REJECTED',
      '--ack-result',
      '21=3',
    );
    const client = await sim.ready();
    expect(await client.command(176, 1, 4)).to.equal(TEMPORARILY_REJECTED);
    expect(await client.command(21)).to.equal(UNSUPPORTED);
    expect((await client.next(minimal.Heartbeat)).customMode).to.equal(0);
    await sim.fault({ ackResults: { 400: 4 } });
    expect(await client.command(400, 1)).to.equal(FAILED);
    expect(await client.command(176, 1, 4)).to.equal(ACCEPTED);
  });

  it('knows no SET_MESSAGE_INTERVAL, and still REQUEST_DATA_STREAM', async () => {
    await using sim = await SimProcess.start('--no-message-interval');
    const client = await sim.connect();
    expect(await client.command(511, common.Attitude.MSG_ID, 20_000)).to.equal(UNSUPPORTED);
    const target = { targetSystem: 1, targetComponent: 1 };
    client.send(common.RequestDataStream, { ...target, reqStreamId: 10, reqMessageRate: 20, startStop: 1 });
    await client.next(common.Attitude);
  });

  it('loses frames of either direction, and their numbers with them', async () => {
    await using sim = await SimProcess.start('--drop-frames', '0.5', '--seed', '4');
    const client = await sim.connect();
    const acks: number[] = [];
    const some = client.next(common.CommandAck, () => acks.push(1) === 8);
    for (let i = 0; i < 100; i++) client.order(520, 1);
    await some;
    await sim.fault({ dropFrames: 0 });
    client.order(410);
    await client.ack(410);
    const numbers = client.packets.map(({ header }) => header.seq);
    const gaps = numbers.filter((seq, i) => i > 0 && seq !== (((numbers[i - 1] ?? 0) + 1) & 0xff));
    expect(gaps.length).to.be.greaterThan(5);
    const answered = client.packets.filter(({ header }) => header.msgid === common.CommandAck.MSG_ID).length;
    expect(answered).to.be.within(8, 50); // of 100: half of the orders and half of their answers are lost
  });

  it('fills up with other names where it acts as a real vehicle', async () => {
    await using sim = await SimProcess.start('--param-count', '600', '--not-simulated');
    const client = await sim.connect();
    const last = client.next(common.ParamValue, ({ paramIndex }) => paramIndex === 599);
    client.send(common.ParamRequestRead, { targetSystem: 1, targetComponent: 1, paramIndex: 599 });
    expect((await last).paramId).to.match(/^USER_FILL_\d{4}$/);
    expect((await last).paramCount).to.equal(600);
  });

  it('fills the parameters up, keeps one as it is, clips another', async () => {
    const limits = ['--param-readonly', 'RTL_ALT', '--param-clamp', 'WPNAV_SPEED=100..900'];
    await using sim = await SimProcess.start('--param-count', '1400', ...limits);
    const client = await sim.connect();
    const set = async (paramId: string, paramValue: number): Promise<common.ParamValue> => {
      const answer = client.next(common.ParamValue, (param) => param.paramId === paramId);
      const target = { targetSystem: 1, targetComponent: 1 };
      client.send(common.ParamSet, { ...target, paramId, paramValue, paramType: 9 });
      return answer;
    };
    expect(await set('RTL_ALT', 3000)).to.include({ paramValue: 1500, paramCount: 1400 });
    expect((await set('WPNAV_SPEED', 2000)).paramValue).to.equal(900);
    expect((await set('SIM_FILL_0800', 5)).paramValue).to.equal(5);
    await sim.fault({ paramReadonly: [], paramClamp: { RTL_ALT: [0, 2500] } });
    expect((await set('RTL_ALT', 3000)).paramValue).to.equal(2500);
    expect((await set('WPNAV_SPEED', 2000)).paramValue).to.equal(2000);
  });
});
