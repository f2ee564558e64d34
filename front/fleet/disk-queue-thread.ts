/** The thread of disk-queue.ts: it has the database, and answers each change with what is in it then. */
import { parentPort, workerData } from 'node:worker_threads';
import { toOwner } from '../../shared/async/own-thread.ts';
import type { FromQueue, QueueThreadData, ToQueue } from './disk-queue.ts';
import { EventQueue } from './event-queue.ts';

const say: (message: FromQueue) => void = toOwner;
const data: QueueThreadData = workerData;
const queue = new EventQueue({
  ...data,
  log: {
    info: (text) => say({ kind: 'log', level: 'info', text }),
    warn: (text) => say({ kind: 'log', level: 'warn', text }),
    error: (text) => say({ kind: 'log', level: 'error', text }),
  },
  now: Date.now,
});
/** Also of a disk that did not take the deletion. */
let acknowledged = 0;

function handle(message: ToQueue): void {
  switch (message.kind) {
    case 'append':
      queue.append(message.events, message.facts, (seq) =>
        say({ kind: 'appended', id: message.id, seq, state: queue.state(acknowledged) }),
      );
      break;
    case 'acknowledge':
      queue.acknowledge(message.stream, message.seq);
      acknowledged = Math.max(acknowledged, message.seq);
      say({ kind: 'changed', state: queue.state(acknowledged) });
      break;
    case 'renew':
      queue.renewStream();
      say({ kind: 'changed', state: queue.state(acknowledged) });
      break;
    case 'stop':
      queue.close();
      parentPort?.close();
      break;
  }
}

parentPort?.on('message', handle);
say({ kind: 'opened', state: queue.state(acknowledged), facts: queue.facts() });
