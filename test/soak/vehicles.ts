import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { join } from 'node:path';
import { targetOf } from '../../front/link/router/addresses.ts';
import { Framer } from '../../shared/mavlink/framer.ts';
import { MSG } from '../../shared/mavlink/messages.ts';
import { encodeAs, heartbeat } from '../link/mavlink-samples.ts';
import { ROOT } from '../support/node.ts';
import { ask, membersOf } from './ask.ts';
import type { Rig } from './rig.ts';

const OURS = 1;
const OTHER = 2;
/** Whatever it is addressed to. */
const CHANGES: ReadonlySet<number> = new Set([MSG.PARAM_SET, MSG.COMMAND_LONG, MSG.COMMAND_INT]);

/** The node's vehicle: a simulator on its UDP source, where others can be heard too. Ends with this program. */
export class Vehicle {
  readonly #port: number;
  #sim: ChildProcess;

  /** @param port of the node's source */
  constructor(port: number) {
    this.#port = port;
    this.#sim = this.#begin();
  }

  /** It is another one then, which has just been switched on. */
  async kill(): Promise<void> {
    await this.stop();
    this.#sim = this.#begin();
    // Not before: the last frames of the one before may still be on their way.
    if (this.#sim.stdout !== null) await once(this.#sim.stdout, 'data');
  }

  get pid(): number | null {
    return this.#sim.pid ?? null;
  }

  async stop(): Promise<void> {
    if (this.#sim.exitCode !== null || this.#sim.signalCode !== null) return;
    const gone = once(this.#sim, 'exit');
    this.#sim.kill('SIGKILL');
    await gone;
  }

  #begin(): ChildProcess {
    const program = [process.execPath, join(ROOT, 'bin/sim/main.ts'), '--udp-out', `127.0.0.1:${this.#port}`];
    const args = ['--pdeathsig', 'KILL', ...program, '--sysid', String(OURS)];
    return spawn('setpriv', args, { stdio: ['ignore', 'pipe', 'ignore'] });
  }
}

/** Another vehicle on the line, for some seconds, now and then armed; nobody has chosen it. @param port of the node's source */
export async function secondVehicle(rig: Rig, port: number): Promise<void> {
  const { vehicles } = rig.invariants;
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const framer = new Framer((frame) => {
    rig.count('frames that a second vehicle got');
    const { system } = targetOf(frame);
    vehicles.check(
      system !== OTHER && !(system === 0 && CHANGES.has(frame.id)),
      () => `frame ${frame.id} came to system ${OTHER}, for ${system}`,
    );
  });
  socket.on('message', (bytes) => framer.push(bytes, performance.now()));
  let beats = 0;
  await rig.repeat(1000, async () => {
    // 10 s there, 15 s away; every other time armed, but not to its last word.
    const turn = beats % 25;
    const armed = turn > 2 && turn < 8 && Math.floor(beats / 25) % 2 === 1;
    if (turn < 10) socket.send(encodeAs(heartbeat({ armed }), 'v2', beats & 0xff, OTHER), port, '127.0.0.1');
    beats++;
    const at = performance.now();
    for (const path of ['/api/status', '/api/telemetry']) {
      const answer = await ask(`${rig.node.url}${path}`, {});
      const { system_id: system } = membersOf(answer);
      if (answer.status !== 200) continue; // a fault
      // Null: not known yet, after a restart.
      const isCalm = rig.wellSince('node', at) && rig.wellSince('link', at);
      vehicles.check(
        system === OURS || (system === null && !isCalm),
        () => `${path} says system ${JSON.stringify(system)}`,
      );
    }
  });
  socket.close();
}
