import { once } from 'node:events';
import { chmod, mkdir, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Serial } from '../../../../shared/async/serial.ts';
import { within } from '../../../../shared/async/within.ts';
import { ApiError, messageOf } from '../../../../shared/errors.ts';
import type { Profile } from '../../../../shared/profile.ts';
import type { ParamsOf } from '../../../../shared/rpc/contract.ts';
import type { HELPER } from '../../../../shared/rpc/helper.ts';
import type { Helper } from '../../../../shared/rpc/helper-client.ts';
import { type PluginStatus, UNIT_GRANTS } from '../../../../shared/rpc/plugin-unit.ts';
import { openFifo } from './fifo.ts';
import { OutputLines } from './lines.ts';
import { OUT_OF_MEMORY, signalName } from './running.ts';
import type { Ended, OnLine, RunningExtension, Sandbox, SandboxSpec } from './types.ts';

/** The operations of svc-helper that this needs. */
type PluginCalls = Pick<Helper, 'plugin_start' | 'plugin_stop' | 'plugin_status' | 'plugin_forget'>;

/** How long svc-helper may be busy with what others ask of it. */
const BUSY = { pauseMs: 500, tries: 60 } as const;
/** How often systemd is asked for an extension that has closed its output and still runs. */
const POLL_MS = { first: 100, longest: 5000 } as const;
/** From the start of the shell that opens its output. */
const OPEN_MS = 5000;
/** Unix time, ms. */
const FOLDER = /^\d{1,16}$/;
/** The longest path of a socket. */
const MAX_SOCKET_PATH = 107;

/**
 * Runs each extension as an instance of `svc-plugin@.service`, by way of svc-helper. The folders of its specification have to be
 * where the unit looks for them: `plugins/ID/INSTALLED_AT` below the state directory, `plugins/ID` below the run directory.
 */
export class SystemdSandbox implements Sandbox {
  readonly kind = 'systemd';
  readonly #calls: PluginCalls;
  /** svc-helper does one operation at a time. */
  readonly #serial = new Serial();

  constructor(calls: PluginCalls) {
    this.#calls = calls;
  }

  refusal({ id, grants, install, sockets }: SandboxSpec): string | null {
    if (basename(dirname(install)) !== id || !FOLDER.test(basename(install)) || basename(sockets) !== id)
      return `${id} is not in a folder of its name, where its unit looks for it.`;
    if (Buffer.byteLength(join(sockets, 'host.sock')) > MAX_SOCKET_PATH)
      return `${id} is too long a name: its socket's path would be longer than ${MAX_SOCKET_PATH} bytes.`;
    if (grants.has('network.listen') && !grants.has('network.outbound'))
      return 'network.listen needs network.outbound as well: without it, an extension has a network of its own that nobody else is in.';
    return null;
  }

  async start(spec: SandboxSpec, onLine: OnLine): Promise<RunningExtension> {
    const refused = this.refusal(spec);
    if (refused !== null) throw new Error(refused);
    await openSockets(spec.sockets);
    const [stdout, stderr] = await Promise.all(
      ['stdout', 'stderr'].map(async (name) => openFifo(join(spec.sockets, name))),
    );
    if (stdout === undefined || stderr === undefined) throw new Error('no pipes');
    let outOfMemory = false;
    const lines = new OutputLines(
      (stream, line) => {
        outOfMemory ||= stream === 'stderr' && OUT_OF_MEMORY.test(line);
        onLine(stream, line);
      },
      () => performance.now(),
    );
    const output = Promise.all([lines.follow('stdout', stdout), lines.follow('stderr', stderr)]);
    const { id } = spec;
    const opened = once(stdout, 'data');
    opened.catch(() => undefined); // awaited below, unless it does not start
    const params = await paramsOf(spec);
    try {
      await this.#ask(async () => this.#calls.plugin_start(params));
      // Until somebody has opened it for writing, a pipe does not end either.
      await within(opened, OPEN_MS, () => new Error(`${id} did not open its output`));
    } catch (error) {
      stdout.destroy();
      stderr.destroy();
      throw error;
    }
    const { pid } = await this.#calls.plugin_status({ id });
    return {
      pid: pid === 0 ? null : pid,
      ended: output.then(async () => endedOf(await this.#last(id), outOfMemory)),
      stop: async () => {
        await this.#ask(async () => this.#calls.plugin_stop({ id }));
        await output;
      },
    };
  }

  async forget(id: string): Promise<void> {
    await this.#ask(async () => this.#calls.plugin_forget({ id }));
  }

  /** Waits until systemd says that it has ended. An answer that does not come is asked for again: it may still run. */
  async #last(id: string): Promise<PluginStatus> {
    for (let ms: number = POLL_MS.first; ; ms = Math.min(ms * 2, POLL_MS.longest)) {
      const status = await this.#calls.plugin_status({ id }).catch(() => null);
      if (status?.active === 'inactive' || status?.active === 'failed') return status;
      await pause(ms, undefined, { ref: false });
    }
  }

  async #ask(call: () => Promise<unknown>): Promise<void> {
    await this.#serial.run(async () => {
      for (let tries = 1; ; tries++) {
        try {
          await call();
          return;
        } catch (error) {
          const busy = error instanceof ApiError && error.code === 'E_BUSY';
          if (!busy || tries === BUSY.tries) throw new Error(messageOf(error), { cause: error });
        }
        await pause(BUSY.pauseMs);
      }
    });
  }
}

/**
 * The extension's user is not the node's: it has to come in, make its socket, and use the host's. Others cannot: the folder above
 * is closed to them. Sticky: the extension can remove or replace only what it has made itself.
 */
async function openSockets(sockets: string): Promise<void> {
  await chmod(dirname(sockets), 0o700);
  await mkdir(sockets, { recursive: true });
  await chmod(sockets, 0o1777);
  await chmod(join(sockets, 'host.sock'), 0o666);
}

async function paramsOf(spec: SandboxSpec): Promise<ParamsOf<typeof HELPER, 'plugin_start'>> {
  const { id, install, runtime, entrypoint, http, resources, listenPorts, grants, closedDevices } = spec;
  const devices = await Promise.all(closedDevices.map(async (path) => realpath(path).catch(() => null)));
  return {
    id,
    installed_at: Number(basename(install)),
    runtime,
    entrypoint,
    http,
    profile: spec.profile as Profile, // svc-helper checks it
    grants: UNIT_GRANTS.filter((grant) => grants.has(grant)),
    ...resources,
    listen_ports: listenPorts,
    closed_devices: devices.filter((path) => path !== null),
  };
}

function endedOf({ result, status }: PluginStatus, outOfMemory: boolean): Ended {
  switch (result) {
    case 'success':
      // Also after a signal with which one is asked to end: systemd forgets which.
      return { exit: 'code 0' };
    case 'oom-kill':
      return { exit: 'out of memory' };
    case 'exit-code':
      return { exit: outOfMemory ? 'out of memory' : `code ${status}` };
    case 'signal':
    case 'core-dump':
      return { exit: outOfMemory ? 'out of memory' : (signalName(status) ?? `signal ${status}`) };
    case 'timeout':
      return { exit: 'SIGKILL' };
    default:
      return { exit: result };
  }
}
