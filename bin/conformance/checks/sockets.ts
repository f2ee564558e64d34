import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { parseJson } from '../../../shared/member.ts';
import { telemetryStream } from '../../../shared/routes/flight.ts';
import { must, mustFit, mustRefuse } from '../answers.ts';
import { Failed, NotRun, type Report } from '../report.ts';
import { ALL, isServed, type NodeFacts, targetOf } from '../rows.ts';
import type { Target } from '../target.ts';

const FRAMES = 3;
const FRAMES_MS = 20_000;

/** The head of a handshake, without a credential. */
function handshake(): readonly (readonly [string, string])[] {
  return [
    ['connection', 'Upgrade'],
    ['upgrade', 'websocket'],
    ['sec-websocket-version', '13'],
    ['sec-websocket-key', randomBytes(16).toString('base64')],
  ];
}

/** WebSockets: who gets none; and that telemetry is what it says. Nothing is ever sent. */
export async function checkSockets(report: Report, target: Target, facts: NodeFacts): Promise<void> {
  for (const row of ALL.filter(({ method }) => method === 'WS')) {
    const at = `WS ${row.path}`;
    const path = targetOf(row);
    await report.check(`${at}: refused without a credential`, async () => {
      mustRefuse(await target.ask({ target: path, headers: handshake(), keyed: false }), 'E_UNAUTHENTICATED');
    });
    if (row.scope === 'inner') continue;
    await report.check(`${at}: refused to a foreign web page`, async () => {
      const headers = [...handshake(), ['origin', 'http://evil.example'] as const];
      mustRefuse(await target.ask({ target: path, headers }), 'E_ORIGIN');
    });
  }
  await report.check(`WS ${telemetryStream.path}: refused with a ticket that is none`, async () => {
    const headers = [
      ...handshake(),
      ['sec-websocket-protocol', `svc-ws-ticket, ${randomBytes(24).toString('hex')}`] as const,
    ];
    mustRefuse(
      await target.ask({ target: telemetryStream.path, headers, keyed: false }),
      'E_UNAUTHENTICATED',
    );
  });
  await report.check(`WS ${telemetryStream.path}: sends telemetry`, async () => {
    if (!isServed(telemetryStream, facts)) throw new NotRun('the node does not have it');
    await target.turn();
    const url = new URL(telemetryStream.path, target.url);
    url.protocol = target.url.protocol === 'https:' ? 'wss:' : 'ws:';
    const socket = new WebSocket(url, {
      headers: target.credential,
      handshakeTimeout: 10_000,
      maxPayload: 1024 * 1024,
    });
    const signal = AbortSignal.timeout(FRAMES_MS);
    try {
      for (let frames = 0; frames < FRAMES; frames++) {
        const [data, binary]: readonly unknown[] = await once(socket, 'message', { signal });
        must(binary === false, 'A frame is binary.');
        mustFit(parsed(data), telemetryStream.responses[200].schema);
      }
    } catch (error) {
      throw signal.aborted
        ? new Failed(`It sent less than ${FRAMES} frames within ${FRAMES_MS / 1000} s.`)
        : error;
    } finally {
      socket.on('error', () => undefined); // it is ended
      socket.terminate();
    }
  });
}

function parsed(data: unknown): unknown {
  try {
    return parseJson(String(data));
  } catch {
    throw new Failed('A frame is not JSON.');
  }
}
