/** Runs inside a network namespace: takes requests as JSON lines on stdin, makes them, answers as JSON lines. */
import { request } from 'node:http';
import { createInterface } from 'node:readline';
import type { RemoteRequest } from './netns.ts';

async function call({ url, method, headers, body }: RemoteRequest): Promise<unknown> {
  return new Promise((resolve) => {
    const req = request(
      url,
      { method: method ?? 'GET', headers: { ...headers }, agent: false, timeout: 10_000 },
      (res) => {
        const chunks: Buffer[] = [];
        res.on('data', (chunk: Buffer) => chunks.push(chunk));
        res.on('end', () => resolve({ status: res.statusCode, body: Buffer.concat(chunks).toString() }));
      },
    );
    req.on('timeout', () => req.destroy(new Error('timed out')));
    req.on('error', (error) => resolve({ error: error.message }));
    req.end(body);
  });
}

for await (const line of createInterface(process.stdin)) {
  process.stdout.write(`${JSON.stringify(await call(JSON.parse(line) as RemoteRequest))}\n`);
}
