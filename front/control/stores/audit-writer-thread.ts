/** The thread of audit-writer.ts. A disk that stands still holds it, and nobody else. */
import { parentPort, workerData } from 'node:worker_threads';
import { toOwner } from '../../../shared/async/own-thread.ts';
import { AuditChains } from './audit-chains.ts';
import type { ThreadData, ToThread } from './audit-writer.ts';

const { nowMs, options }: ThreadData = workerData;
const chains = new AuditChains(options);
chains.start(nowMs, toOwner);

parentPort?.on('message', (message: ToThread) => {
  if (message === 'stop') {
    chains.stop();
    parentPort?.close();
  } else if ('probe' in message) chains.probe(message.probe);
  else chains.write(message);
});
