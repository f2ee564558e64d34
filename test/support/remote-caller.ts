/** Runs inside a network namespace: takes requests as JSON lines on stdin, makes them, answers as JSON lines. */
import { request } from 'node:http';
import { createInterface } from 'node:readline';
import type { RemoteRequest } from './netns.ts';

const HANDSHAKE = {
  connection: 'upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

async function call({ url, method, headers, body, from, upgrade }: RemoteRequest): Promise<unknown> {
  return new Promise((resolve) => {
    const req = request(
      url,
      {
        method: method ?? 'GET',
        headers: { ...(upgrade === true ? HANDSHAKE : {}), ...headers },
        agent: false,
        timeout: 40_000,
        ...(from === undefined ? {} : { localAddress: from }),
      },
      (res) => {
        if (res.headers['content-type'] === 'text/event-stream') {
          resolve({ status: res.statusCode, body: '{}' }); // let in, and without an end
          req.destroy();
          return;
        }
        const chunks: Buffer[] = [];
        res.on('data', (chunk: Buffer) => chunks.push(chunk));
        res.on('end', () => resolve({ status: res.statusCode, body: Buffer.concat(chunks).toString() }));
      },
    );
    req.on('upgrade', (_res, socket) => {
      socket.destroy();
      resolve({ status: 101, body: '{}' });
    });
    req.on('timeout', () => req.destroy(new Error('timed out')));
    req.on('error', (error) => resolve({ error: `${method ?? 'GET'} ${url}: ${error.message}` }));
    req.end(body);
  });
}

// Requests run side by side; their answers go out in the order in which they were asked for.
let answered = Promise.resolve();
for await (const line of createInterface(process.stdin)) {
  const answer = call(JSON.parse(line) as RemoteRequest);
  answered = answered.then(async () => {
    process.stdout.write(`${JSON.stringify(await answer)}\n`);
  });
}
await answered;
