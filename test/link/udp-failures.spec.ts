import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { expect } from 'chai';
import { UdpEndpoint } from '../../front/link/endpoints/udp-endpoint.ts';
import { UdpOutEndpoint } from '../../front/link/endpoints/udp-out-endpoint.ts';
import { LoopGuard } from '../../front/link/router/loop-guard.ts';
import { Router } from '../../front/link/router/router.ts';
import { WireGuard } from '../../front/link/router/wire-guard.ts';
import { UdpTransport } from '../../front/link/sources/udp-transport.ts';
import { freePort } from '../support/temp.ts';
import { FakeClock, settle } from './fake-clock.ts';
import { LinkProcess } from './link-process.ts';
import { encodeAs, heartbeat } from './mavlink-samples.ts';
import { SILENT_LOG } from './rig.ts';

/** No machine has these: a name that is reserved for having no address, and the broadcast address without its permission. */
const NOWHERE = ['no-such-host.invalid:14550'];

/** Real sockets whose sends fail from `break` on, as after the own address has changed. */
class FailingSockets {
  readonly opened: Socket[] = [];
  #broken = false;

  readonly create = (): Socket => {
    const socket = createSocket('udp4');
    const send = socket.send.bind(socket) as (...args: unknown[]) => void;
    const index = this.opened.push(socket);
    Object.assign(socket, {
      send: (...args: unknown[]) => {
        const done = args.at(-1);
        if (!this.#broken || index > 1) send(...args);
        else if (typeof done === 'function')
          done(Object.assign(new Error('send EINVAL'), { code: 'EINVAL' }));
      },
    });
    return socket;
  };

  break(): void {
    this.#broken = true;
  }
}

function routerOf(clock: FakeClock): Router {
  return new Router({
    clock,
    toSource: () => true,
    onVehicleFrame: () => undefined,
    guard: new WireGuard(() => true),
    loops: new LoopGuard(clock),
    seal: (frame) => frame.bytes(),
    autopilot: () => null,
    refusal: () => [],
    onProblem: () => undefined,
  });
}

describe('UDP that cannot send', () => {
  for (const nowhere of NOWHERE) {
    it(`an endpoint udpout:${nowhere} is said to be closed; svc-link lives`, async () => {
      const link = await LinkProcess.start('auto', [`endpoints: ["udpout:${nowhere}"]`]);
      const { problems } = await link.until((state) => state.problems.length > 0);
      expect(problems[0]?.code).to.equal('endpoint_closed');
      expect(problems[0]?.detail).to.include(nowhere);
      expect((await link.endpoints())[0]).to.include({ open: false });
      expect(await link.stop()).to.equal(0);
    });

    it(`a source udpout:${nowhere} stays closed; svc-link lives and tries again`, async () => {
      const link = await LinkProcess.start(`udpout:${nowhere}`);
      await link.nextState();
      await link.nextState();
      expect(link.state).to.include({ transport_open: false });
      expect(await link.stop()).to.equal(0);
      expect(link.stderr).to.match(/udpout:.*(?:ENOTFOUND|EAI_AGAIN|EACCES|ENETUNREACH)/);
    });
  }

  it('a source udpout is opened anew when its sends have failed for 2 s', async () => {
    const clock = new FakeClock();
    const sockets = new FailingSockets();
    const vehicle = createSocket('udp4');
    vehicle.bind(0, '127.0.0.1');
    await once(vehicle, 'listening');
    const events: string[] = [];
    const { port } = vehicle.address();
    const transport = new UdpTransport({
      mode: 'connect',
      host: '127.0.0.1',
      port,
      clock,
      log: SILENT_LOG,
      createSocket: sockets.create,
    });
    const opened = async (): Promise<void> => {
      while (!transport.open) await settle();
    };
    transport.start({
      onOpen: () => events.push('open'),
      onData: () => undefined,
      onClose: () => events.push('close'),
    });
    await opened();
    sockets.break();
    for (let count = 0; count < 21; count++) {
      transport.write(Buffer.from([count]));
      await clock.advance(100);
    }
    expect(events).to.deep.equal(['open', 'close']);
    await clock.advance(5000);
    await opened();
    const heard = once(vehicle, 'message');
    transport.write(Buffer.from('again'));
    expect(String((await heard)[0])).to.equal('again');
    await transport.stop();
    vehicle.close();
  });

  it('endpoints, too, and say so meanwhile', async () => {
    const clock = new FakeClock();
    const policy = { mayWrite: true, force: false, serialControl: false };
    const frame = encodeAs(heartbeat({ type: 6, autopilot: 8 }), 'v2', 0, 255, 190);
    for (const kind of ['udp', 'udpout'] as const) {
      const sockets = new FailingSockets();
      const router = routerOf(clock);
      const station = createSocket('udp4');
      station.bind(0, '127.0.0.1');
      await once(station, 'listening');
      const port = kind === 'udp' ? await freePort() : station.address().port;
      const options = { clock, router, policy, log: SILENT_LOG, host: '127.0.0.1', port };
      const Class = kind === 'udp' ? UdpEndpoint : UdpOutEndpoint;
      const endpoint = new Class({ ...options, createSocket: sockets.create });
      endpoint.start();
      const peered = async (): Promise<void> => {
        while (endpoint.status.peers.length === 0) {
          if (kind === 'udp') station.send(frame, port, '127.0.0.1');
          await settle();
        }
      };
      await peered();
      sockets.break();
      for (let count = 0; count < 21; count++) {
        router.broadcast(encodeAs(heartbeat(), 'v2', count));
        await clock.advance(100);
      }
      expect(endpoint.status, kind).to.deep.include({ open: false, problem: 'send EINVAL', peers: [] });
      await clock.advance(5000);
      await peered();
      expect(endpoint.status, kind).to.deep.include({ open: true, problem: null });
      await endpoint.stop();
      station.close();
    }
  });
});
