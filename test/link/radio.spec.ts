import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { expect } from 'chai';
import { common } from 'node-mavlink';
import { freePort } from '../support/temp.ts';
import { GroundStation, paramSet } from './ground-station.ts';
import { LinkProcess } from './link-process.ts';
import { encodeAs, heartbeat } from './mavlink-samples.ts';
import { PeerVehicle } from './peer-vehicle.ts';

const ATTITUDE = 30;
const PARAM_SET = 23;
/** Where wfb-ng on a drone listens. */
const TO_RADIO = 14_560;
/** What wfb-ng puts into the stream is from here. */
const RADIO = { system: 3, component: 68 } as const;

function radioStatus(seq: number): Buffer {
  const message = new common.RadioStatus();
  Object.assign(message, {
    rssi: 211,
    remrssi: 0,
    txbuf: 100,
    noise: 161,
    remnoise: 0,
    rxerrors: 0,
    fixed: 0,
  });
  return encodeAs(message, 'v2', seq, RADIO.system, RADIO.component);
}

describe('MAVLink through the radio', () => {
  it('a drone gives its frames to wfb-ng and takes those of the ground station from it, where it has a radio', async () => {
    const vehicle = new PeerVehicle();
    const source = `tcp:127.0.0.1:${await vehicle.start()}`;
    const wfb = await GroundStation.udp(TO_RADIO, true);
    const link = await LinkProcess.start(source, ['endpoints: []\nradio:\n  mode: external']);
    const without = await LinkProcess.start(source);
    try {
      await wfb.next(ATTITUDE);
      wfb.send(encodeAs(paramSet('OUT', 1), 'v2', 0, 255, 190));
      await vehicle.hears(PARAM_SET);
      expect((await link.endpoints()).map(({ name }) => name)).to.include(`udpout:127.0.0.1:${TO_RADIO}`);
      expect((await without.endpoints()).map(({ name }) => name)).to.not.include(
        `udpout:127.0.0.1:${TO_RADIO}`,
      );
    } finally {
      wfb.close();
      vehicle.stop();
      await Promise.all([link.stop(), without.stop()]);
    }
  });

  it('the status of the radio is no vehicle, before one is heard and after; the vehicle behind it is', async () => {
    const port = await freePort();
    const link = await LinkProcess.start(`udp:127.0.0.1:${port}`);
    const wfb = createSocket('udp4');
    wfb.bind(0, '127.0.0.1');
    await once(wfb, 'listening');
    const send = (bytes: Buffer): void => wfb.send(bytes, port, '127.0.0.1');
    let seq = 0;
    const told = setInterval(() => send(radioStatus(seq++)), 50);
    try {
      const alone = await link.until(({ counters }) => counters.rx_frames >= 5);
      expect(alone).to.include({ mavlink_alive: false, heard: false, system_id: null, armed: false });
      send(encodeAs(heartbeat(), 'v2', 0, 7));
      const both = await link.until(({ mavlink_alive }) => mavlink_alive);
      expect(both).to.include({ system_id: 7, component_id: 1 });
      const later = await link.until(({ counters }) => counters.rx_frames >= both.counters.rx_frames + 5);
      expect(later).to.include({ system_id: 7, component_id: 1 });
      expect(later.counters.rx_lost).to.equal(0);
    } finally {
      clearInterval(told);
      wfb.close();
      await link.stop();
    }
  });
});
