import { join } from 'node:path';
import { type ChildSpec, type DeclaredChild, WATCH_LIMITS } from '../../bin/supervisor/child.ts';
import { Supervisor } from '../../bin/supervisor/supervisor.ts';

/** A process that says it is ready, answers pings and ends when told; `then` is what else it does. */
export const script = (then = ''): string => `
  process.on('message', (message) => {
    if (message.type === 'ping') return process.send({ type: 'pong', seq: message.seq });
    process.send({ type: 'ready', info: {} });
    ${then}
  });
  process.on('SIGTERM', () => process.exit(0));
`;

export function child(name: string, more: Partial<DeclaredChild> = {}): DeclaredChild {
  return { name, args: ['-e', script()], env: { PATH: process.env['PATH'] }, memoryMiB: 256, ...more };
}

/** A supervisor of these processes, not started. @param onState called after each change of a state */
export function superviseIn(
  dir: string,
  plan: readonly ChildSpec[] | (() => Promise<readonly ChildSpec[]>),
  onState: () => void,
): Supervisor {
  return new Supervisor({
    plan: typeof plan === 'function' ? plan : async () => Promise.resolve(plan),
    socketPath: join(dir, 'supervisor.sock'),
    recordPath: join(dir, 'children.json'),
    heldPath: join(dir, 'held-config.json'),
    planned: () => null,
    onLine: () => undefined,
    onState: () => setImmediate(onState),
    onRestartSelf: () => undefined,
    limits: { ...WATCH_LIMITS, memoryMs: 100 },
  });
}
