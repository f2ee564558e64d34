import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { DetectionFeed } from '../../residual/app/vision/detection-feed.ts';
import { DetectionSockets } from '../../residual/app/vision/detection-sockets.ts';
import { createLogger } from '../../shared/process/logger.ts';
import type { Batch } from '../../shared/schemas/vision.ts';
import { batchOf, detectionOf } from '../support/stub-vision.ts';

const BATCHES = 3000;

describe('a client that does not read detections', function () {
  this.timeout(60_000);

  it('gets the newest one when it reads again, and not all those that it has missed', async () => {
    const feed = new DetectionFeed();
    const sockets = new DetectionSockets({
      feed,
      running: () => true,
      now: () => performance.now(),
      log: createLogger('test', 'fatal'),
    });
    const server = createServer();
    server.on('upgrade', (req, socket, head) => sockets.upgrade({} as never, req, socket, head));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    try {
      await once(socket, 'open');
      socket.pause();
      const many = Array.from({ length: 100 }, () => detectionOf('x'.repeat(64)));
      for (let frame = 1; frame <= BATCHES; frame++) {
        feed.publish(batchOf(frame, ...many));
        await new Promise(setImmediate);
      }
      let count = 0;
      const last = new Promise<void>((resolve) => {
        socket.on('message', (data: Buffer) => {
          count++;
          if ((JSON.parse(data.toString()) as Batch).frame_id === BATCHES) resolve();
        });
      });
      socket.resume();
      await last;
      expect(count).to.be.below(BATCHES / 2);
    } finally {
      socket.terminate();
      sockets.stop();
      server.close();
    }
  });
});
