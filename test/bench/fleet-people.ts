/** People at the hub's page, in a process of their own beside the fleet bench: they look, and they call. */
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { readEvents } from '../../shared/http/event-reader.ts';
import { newJti, newSigner, signCall } from '../support/fleet-hand.ts';

export interface Look {
  readonly type: 'look';
  readonly hub: string;
  /** Each looks at one node, with a credential of their own; eight may share one. */
  readonly lookers: readonly { readonly node: string; readonly credential: string }[];
  readonly hz: number;
  readonly seconds: number;
}
export interface Call {
  readonly type: 'call';
  readonly hub: string;
  readonly credential: string;
  readonly nodes: readonly string[];
  readonly count: number;
}
export type ToPeople = Look | Call;
/** Of looking: messages a second of each; of calling: ms of each, sorted. */
export type FromPeople = readonly number[];

/** The hub lets a person make so many calls and no more. */
const PACE_MS = 250;

async function look({ hub, lookers, hz, seconds }: Look): Promise<FromPeople> {
  const ended = new AbortController();
  const counts = lookers.map(() => 0);
  const streams = lookers.map(async ({ node, credential }, index) => {
    const answer = await fetch(`${hub}/v1/live?nodes=${node}&telemetry_hz=${hz}`, {
      headers: { authorization: `Bearer ${credential}` },
      signal: ended.signal,
    });
    if (answer.status !== 200 || answer.body === null) throw new Error(`live: ${answer.status}`);
    void (async () => {
      for await (const { event } of readEvents(Readable.fromWeb(answer.body as never)))
        if (event === 'telemetry') counts[index] = (counts[index] ?? 0) + 1;
    })().catch((error: unknown) => {
      if (!ended.signal.aborted) throw error;
    });
  });
  await Promise.all(streams);
  await delay(5000); // the nodes have been told by then
  counts.fill(0);
  await delay(seconds * 1000);
  const rates = counts.map((count) => count / seconds);
  ended.abort();
  return rates;
}

async function call({ hub, credential, nodes, count }: Call): Promise<FromPeople> {
  const signer = await newSigner();
  const ask = async (path: string, body: unknown): Promise<Readonly<Record<string, unknown>>> => {
    const answer = await fetch(`${hub}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const said = (await answer.json()) as Readonly<Record<string, unknown>>;
    if (answer.status !== 200) throw new Error(`${path}: ${JSON.stringify(said)}`);
    return said;
  };
  const { token } = await ask('/v1/me/token', { key: signer.jwk });
  const times: number[] = [];
  for (let n = 0; n < count; n++) {
    const node = nodes[(n * 7) % nodes.length] ?? '';
    const begun = performance.now();
    const statement = {
      method: 'GET',
      path: '/api/status',
      node,
      nonce: 'boot0000.1',
      jti: newJti(),
    } as const;
    const jws = await signCall({ signer, token: String(token) }, statement);
    await ask(`/v1/nodes/${node}/calls`, { call: jws });
    times.push(performance.now() - begun);
    await delay(PACE_MS);
  }
  return times.toSorted((a, b) => a - b);
}

process.on('message', (message: ToPeople) => {
  (message.type === 'look' ? look(message) : call(message)).then(
    (answer) => process.send?.(answer),
    (error: unknown) => {
      throw error;
    },
  );
});
process.once('disconnect', () => process.exit());
