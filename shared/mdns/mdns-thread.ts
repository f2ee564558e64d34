/** The thread of announcer.ts: whatever the network sends holds it, and nobody else. */
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { every } from '../async/every.ts';
import { toOwner } from '../async/own-thread.ts';
import { messageOf } from '../errors.ts';
import type { ThreadData, ToMdns } from './announcer.ts';
import { Publisher } from './publisher.ts';

const LOOK_MS = 2000;
/** Of this thread alone, as Linux counts it: a flood takes what the others leave. */
const NICE = 15;

setPriority(0, NICE);
const { bus }: ThreadData = workerData;
const publisher = new Publisher(bus, toOwner);
const look = (): void => {
  publisher.look().catch((error: unknown) => toOwner(messageOf(error)));
};
const timer = every(LOOK_MS, 'mDNS', look);

parentPort?.on('message', (message: ToMdns) => {
  if (message === 'stop') {
    clearInterval(timer);
    void publisher.stop().then(() => parentPort?.close());
  } else {
    publisher.publish(message);
    look();
  }
});
