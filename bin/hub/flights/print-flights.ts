import { listOf, memberOf, recordOf } from '../../../shared/member.ts';
import { plainText } from '../../../shared/plain-text.ts';

const REQUEST_MS = 10_000;
/** As long as a table of 100 000 rows may take. */
const TABLE_MS = 120_000;
const ID_CHARS = 20;

interface PrintOptions {
  /** Of the hub on this machine. */
  readonly url: string;
  readonly credential: string;
  /** All of them as the hub's table; the newest otherwise. */
  readonly csv: boolean;
  readonly node: string | undefined;
  readonly write: NodeJS.WritableStream;
}

/** Prints flights as the hub's API answers them. @throws Error with its refusal */
export async function printFlights({ url, credential, csv, node, write }: PrintOptions): Promise<void> {
  const query = node === undefined ? '' : `?${new URLSearchParams({ node }).toString()}`;
  const answer = await fetch(`${url}/v1/flights${csv ? '.csv' : ''}${query}`, {
    headers: { authorization: `Bearer ${credential}` },
    redirect: 'error',
    signal: AbortSignal.timeout(csv ? TABLE_MS : REQUEST_MS),
  });
  if (!answer.ok) {
    const { detail } = recordOf(await answer.json());
    throw new Error(typeof detail === 'string' ? detail : `the hub answered ${answer.status}`);
  }
  if (csv) {
    write.write(await answer.text());
    return;
  }
  const flights = listOf(memberOf(await answer.json(), 'flights'));
  if (flights.length === 0) write.write('no flights\n');
  else write.write(`${[HEAD, ...flights.map(lineOf)].join('\n')}\n`);
}

const HEAD = `${'STARTED (UTC)'.padEnd(17)} ${'NODE'.padEnd(ID_CHARS)} ${'MIN'.padStart(6)} ${'KM'.padStart(7)} ${'HEIGHT'.padStart(7)}  FINDINGS`;

function lineOf(flight: unknown): string {
  const figure = (name: string, by: number, digits: number): string => {
    const value = memberOf(flight, name);
    return typeof value === 'number' ? (value / by).toFixed(digits) : '-';
  };
  const started = new Date(Number(memberOf(flight, 'started_at'))).toISOString();
  const worst = memberOf(flight, 'worst');
  return [
    `${started.slice(0, 16).replace('T', ' ')} `,
    plainText(String(memberOf(flight, 'node')))
      .slice(0, ID_CHARS)
      .padEnd(ID_CHARS),
    figure('armed_s', 60, 1).padStart(6),
    figure('distance_m', 1000, 2).padStart(7),
    figure('max_height_m', 1, 0).padStart(7),
    typeof worst === 'string' ? ` ${worst}` : '',
  ].join(' ');
}
