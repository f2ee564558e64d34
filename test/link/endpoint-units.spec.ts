import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { expect } from 'chai';
import type { MavLinkData } from 'node-mavlink';
import type { VehicleView } from '../../front/control/node/vehicle-view.ts';
import { telemetrySocket } from '../../front/control/sockets/telemetry.ts';
import type { Target } from '../../front/link/encode.ts';
import { ComponentRule } from '../../front/link/endpoints/component-rule.ts';
import { MessageFilter } from '../../front/link/endpoints/message-filter.ts';
import { UdpEndpoint } from '../../front/link/endpoints/udp-endpoint.ts';
import { LoopGuard } from '../../front/link/router/loop-guard.ts';
import { Router } from '../../front/link/router/router.ts';
import { WireGuard } from '../../front/link/router/wire-guard.ts';
import { frameAt } from '../../shared/mavlink/frame.ts';
import { Framer } from '../../shared/mavlink/framer.ts';
import type { LinkState } from '../../shared/rpc/link-state.ts';
import { freePort } from '../support/temp.ts';
import { FakeClock } from './fake-clock.ts';
import { attitude, commandAck, encodeAs, heartbeat } from './mavlink-samples.ts';
import { SILENT_LOG } from './rig.ts';

describe('the parts of an endpoint', () => {
  it('a UDP peer is who has sent a whole frame; it expires after 12 s of silence, and not before; the 65th takes the place of the most silent', async () => {
    const clock = new FakeClock();
    const port = await freePort();
    const router = new Router({
      clock,
      toSource: () => true,
      onVehicleFrame: () => undefined,
      guard: new WireGuard(() => true),
      loops: new LoopGuard(clock),
      seal: (frame) => frame.bytes(),
      autopilot: () => null,
      refusal: () => [],
      onProblem: (sentence) => {
        throw new Error(sentence);
      },
    });
    const own = createSocket('udp4');
    const endpoint = new UdpEndpoint({
      clock,
      router,
      log: SILENT_LOG,
      policy: { mayWrite: true, force: false, serialControl: false },
      host: '127.0.0.1',
      port,
      createSocket: () => own,
    });
    endpoint.start();
    await once(own, 'listening');
    const senders = Array.from({ length: 65 }, () => createSocket('udp4'));
    const peers = (): number => endpoint.status.peers.length;
    const frame = encodeAs(heartbeat({ type: 6, autopilot: 8 }), 'v2', 0, 255, 190);
    senders[0]?.send(frame, port, '127.0.0.1');
    await once(own, 'message');
    expect(peers()).to.equal(1);
    const broken = Buffer.from(frame);
    broken.writeUInt8(broken.readUInt8(12) ^ 1, 12);
    const nothing = [Buffer.from('no MAVLink'), Buffer.of(0xfd), frame.subarray(0, -1), broken];
    for (const bytes of nothing) {
      senders[1]?.send(bytes, port, '127.0.0.1');
      await once(own, 'message');
    }
    expect([peers(), endpoint.status.peers_turned_away]).to.deep.equal([1, nothing.length]);
    const names = (): string[] => endpoint.status.peers.map(({ name }) => name);
    const [first] = names();
    await clock.advance(500);
    for (const sender of senders.slice(1)) {
      sender.send(frame, port, '127.0.0.1');
      await once(own, 'message');
    }
    expect(peers()).to.equal(64);
    expect(names(), 'the most silent').to.not.include(first);
    await clock.advance(11_000);
    expect(peers()).to.equal(64);
    senders[0]?.send(frame, port, '127.0.0.1');
    await once(own, 'message');
    await clock.advance(2000);
    expect(peers()).to.equal(1);
    await clock.advance(12_000);
    expect(peers()).to.equal(0);
    for (const sender of senders) sender.close();
    await endpoint.stop();
  });

  it('a filter keeps the rate that was asked for, over jitter and pauses', async () => {
    const clock = new FakeClock();
    const filter = MessageFilter.parse('ATTITUDE@5', clock);
    if (typeof filter === 'string') throw new Error(filter);
    let passed = 0;
    const framer = new Framer((frame) => {
      if (filter.accepts(frame)) passed++;
    });
    for (let index = 0; index < 200; index++) {
      framer.push(encodeAs(attitude(index), 'v2', index & 0xff), clock.now());
      await clock.advance(index % 2 === 0 ? 47 : 53); // 20 Hz with jitter, 10 s
    }
    expect(passed).to.be.within(49, 51);
    for (const wrong of ['', 'attitude', 'ATTITUDE@0', 'ATTITUDE@2000', 'NO_SUCH', 'ATTITUDE@'])
      expect(MessageFilter.parse(wrong, clock), wrong).to.be.a('string');
  });

  it('a component of the vehicle says what it is for, in its own name and that of the vehicle; its heartbeat is the node’s', () => {
    let vehicle: Target | null = null;
    const id = 100;
    const rule = new ComponentRule({ id, type: 30, messages: [0, 30] }, () => vehicle);
    const said = (message: MavLinkData, system = 7, component = id): boolean =>
      rule.allows(frameAt(encodeAs(message, 'v2', 0, system, component)));
    expect(said(attitude(1)), 'no vehicle yet').to.equal(false);
    expect(rule.heartbeat()).to.equal(null);
    vehicle = { system: 7, component: 1 };
    expect(said(attitude(1))).to.equal(true);
    expect(said(heartbeat()), 'its heartbeat, though listed').to.equal(false);
    expect(said(commandAck(400, 0)), 'what is not listed').to.equal(false);
    expect(said(attitude(1), 8), 'another vehicle').to.equal(false);
    for (const other of [1, 101]) expect(said(attitude(1), 7, other), `component ${other}`).to.equal(false);
    const beat = rule.heartbeat();
    expect(beat).to.include({ id: 0, system: 7, component: id });
    expect(beat?.buffer[beat.payloadStart + 4], 'MAV_TYPE').to.equal(30);
  });

  it('a telemetry reader that is behind loses snapshots, and gets the next one when it has caught up', () => {
    let listener: (state: LinkState) => void = () => undefined;
    const vehicle = {
      state: null,
      subscribe: (given: typeof listener) => {
        listener = given;
        return () => true;
      },
    } as unknown as VehicleView;
    const socket = {
      readyState: 1,
      OPEN: 1,
      bufferedAmount: 0,
      sent: 0,
      on: () => undefined,
      send: () => socket.sent++,
    };
    telemetrySocket(vehicle)({ query: '' } as never, socket as never, new AbortController().signal);
    const state = { telemetry: { armed: false }, params: {}, statustext: [] } as unknown as LinkState;
    listener(state);
    socket.bufferedAmount = 1 << 20;
    for (let count = 0; count < 100; count++) listener(state);
    socket.bufferedAmount = 0;
    listener(state);
    expect(socket.sent).to.equal(2);
  });
});
