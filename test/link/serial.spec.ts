import { once } from 'node:events';
import { mkdir, realpath, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { listSerialPorts } from '../../shared/flight/serial-ports.ts';
import { describeWith } from '../support/needs.ts';
import { SerialLine } from '../support/socat.ts';
import { removeDir, tempDir } from '../support/temp.ts';
import { LinkProcess } from './link-process.ts';
import { PeerVehicle } from './peer-vehicle.ts';
import { rtcm } from './rtcm-samples.ts';

const REPLUGS = 20;

describeWith('socat')('serial sources', function () {
  this.timeout(60_000);
  let dev = '';
  let vehicle: PeerVehicle;
  let far = '';

  beforeEach(async () => {
    dev = await tempDir();
    await mkdir(join(dev, 'serial/by-id'), { recursive: true });
    vehicle = new PeerVehicle();
    far = `TCP:127.0.0.1:${await vehicle.start()}`;
  });

  afterEach(async () => {
    vehicle.stop();
    await removeDir(dev);
  });

  const env = (): Record<string, string> => ({ SVC_DEV_DIR: dev, SVC_SYS_DIR: join(dev, 'sys') });

  it('lists each device once, by its by-id name, without the console and places without a chip', async () => {
    const sys = join(dev, 'sys');
    for (const name of ['ttyUSB1', 'ttyAMA0', 'ttyS0', 'ttyS1', 'tty1', 'random'])
      await writeFile(join(dev, name), '');
    await symlink('../../ttyUSB1', join(dev, 'serial/by-id/usb-radio'));
    await symlink(join(dev, 'ttyACM9'), join(dev, 'serial/by-id/usb-unplugged'));
    await mkdir(join(sys, 'class/tty/ttyS1'), { recursive: true });
    await mkdir(join(sys, 'class/tty/console'), { recursive: true });
    await writeFile(join(sys, 'class/tty/ttyS1/type'), '0\n');
    await writeFile(join(sys, 'class/tty/console/active'), 'tty0 ttyAMA0\n');
    const ports = await listSerialPorts(dev, sys);
    expect(ports).to.deep.equal([
      { path: join(dev, 'ttyS0'), byId: null },
      { path: join(dev, 'ttyUSB1'), byId: join(dev, 'serial/by-id/usb-radio') },
    ]);
    expect(await listSerialPorts(join(dev, 'nowhere'), sys)).to.deep.equal([]);
  });

  it('a configured port: connects, says which, loses it, and is back when it is', async () => {
    let line = await SerialLine.plug(join(dev, 'ttyACM0'), far);
    const pts = await realpath(line.path);
    const link = await LinkProcess.start(`serial:${pts}:115200`, undefined, env());
    try {
      const state = await link.until(({ mavlink_alive, params }) => mavlink_alive && params.cached > 10);
      expect(state).to.include({ fc_port: pts, fc_baud: 115_200, system_id: 5 });
      expect((await link.command('land')).status).to.equal('accepted');
      await line.unplug();
      const lost = await link.until(({ transport_open }) => !transport_open);
      expect(lost).to.include({ fc_port: null, fc_baud: null });
      line = await SerialLine.plug(join(dev, 'ttyACM0'), far); // the lowest free pty: the same one again
      if ((await realpath(line.path)) === pts) await link.until(({ mavlink_alive }) => mavlink_alive);
    } finally {
      await line.unplug();
      await link.stop();
    }
  });

  it('J1 auto: finds the port that has a heartbeat, holds no other, and follows it under another number', async () => {
    const silent = await SerialLine.plug(join(dev, 'ttyUSB0'), `PTY,link=${join(dev, 'other')},rawer`);
    const noise = await SerialLine.plug(
      join(dev, 'ttyUSB1'),
      'SYSTEM:cat /dev/urandom | head -c 200000; sleep 60',
    );
    let line = await SerialLine.plug(join(dev, 'ttyACM0'), far);
    const link = await LinkProcess.start('auto', undefined, env());
    try {
      const state = await link.until(({ mavlink_alive }) => mavlink_alive);
      expect(state).to.include({ fc_port: join(dev, 'ttyACM0'), source: 'auto', system_id: 5 });
      expect([57_600, 115_200, 921_600]).to.include(state.fc_baud);
      // What was probed meanwhile is closed again.
      while (link.openTerminals().length !== 1) await link.nextState();
      expect(link.openTerminals()).to.deep.equal([await realpath(line.path)]);
      for (let count = 1; count <= REPLUGS; count++) {
        await line.unplug();
        await link.until(({ transport_open, fc_port }) => !transport_open && fc_port === null);
        const name = join(dev, `ttyACM${count % 2}`);
        line = await SerialLine.plug(name, far);
        await link.until(({ mavlink_alive, fc_port }) => mavlink_alive && fc_port === name);
      }
      while (link.openTerminals().length !== 1) await link.nextState();
      expect(link.openTerminals()).to.deep.equal([await realpath(line.path)]);
    } finally {
      await Promise.all([line, silent, noise].map(async (each) => each.unplug()));
      await link.stop();
    }
  });

  it('J1 auto: the port of the corrections is not searched, and they come from there', async () => {
    let heard = 0;
    const receiver = createServer((socket) => {
      const timer = setInterval(() => socket.write(rtcm(1005, 19)), 100);
      socket.on('error', () => undefined);
      socket.on('data', (chunk: Buffer) => (heard += chunk.length));
      socket.on('close', () => clearInterval(timer));
    }).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const address = receiver.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const base = await SerialLine.plug(join(dev, 'ttyUSB0'), `TCP:127.0.0.1:${port}`);
    const line = await SerialLine.plug(join(dev, 'ttyUSB1'), far);
    const source = `serial:${await realpath(base.path)}:115200`;
    const link = await LinkProcess.start('auto', [`endpoints: []\nrtk:\n  source: ${source}`], env());
    try {
      await link.until(({ mavlink_alive, fc_port }) => mavlink_alive && fc_port === join(dev, 'ttyUSB1'));
      // What came before the line to the vehicle was open went nowhere.
      const { frames, dropped } = await link.calls.rtk({});
      while ((await link.calls.rtk({})).frames < frames + 10) await link.nextState();
      expect(await link.calls.rtk({})).to.include({ state: 'streaming', source, bad_frames: 0, dropped });
      expect(heard, 'of what a search sends').to.equal(0);
      await base.unplug();
      const isGone = /^\/dev\/pts\/\d+ (is gone|does not open)/;
      while (!isGone.test((await link.calls.rtk({})).problem ?? '')) await link.nextState();
      expect((await link.calls.rtk({})).state).to.equal('failed');
    } finally {
      await Promise.all([line, base].map(async (each) => each.unplug()));
      await link.stop();
      receiver.close();
    }
  });
});
