/**
 * A stand-in for wfb-server (wfb-ng 25.01): reads the configuration that the node wrote, does not start while a card of its list
 * is missing, ends as a whole when one goes, serves the JSON API of each profile, and answers on the control ports of its
 * senders. Its radio hears what the file `reports` beside the configuration has, a line every 20 ms.
 *   wfb-server.ts --profiles NAME… --wlans CARD…      WIFIBROADCAST_CFG, SVC_TEST_SYS (instead of /sys)
 */
import { createSocket } from 'node:dgram';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';

type Section = Readonly<Record<string, unknown>>;

/** Values are Python literals; of those, what the node writes is JSON but for quotes and names. */
function literal(text: string): unknown {
  return JSON.parse(
    text
      .replaceAll("'", '"')
      .replaceAll(/\bNone\b/g, 'null')
      .replaceAll(/\bTrue\b/g, 'true')
      .replaceAll(/\bFalse\b/g, 'false'),
  );
}

export function parseWfbConfig(text: string): ReadonlyMap<string, Section> {
  const sections = new Map<string, Record<string, unknown>>();
  let section: Record<string, unknown> = {};
  for (const line of text.split('\n')) {
    const name = /^\[(.+)\]$/.exec(line)?.[1];
    const [, key, value] = /^(\w+) = (.*)$/.exec(line) ?? [];
    if (name !== undefined) sections.set(name, (section = {}));
    else if (key !== undefined && value !== undefined) section[key] = literal(value);
    else if (line !== '' && !line.startsWith('#')) throw new Error(`not understood: ${line}`);
  }
  return sections;
}

interface Stream {
  readonly name: string;
  readonly keypair: string;
  readonly control_port?: number;
}

const CARD_POLL_MS = 100;
const LINE_MS = 20;
const SET_FEC = 1;
const SET_RADIO = 2;
const GET_FEC = 3;
const GET_RADIO = 4;
const EINVAL = 22;
const KEY_BYTES = 64;

/** Request: id (32 bits, big endian), command, arguments. Answer: id, result (32 bits), values. */
function control(port: number, fec: [number, number]): void {
  let radio = Buffer.from([1, 1, 0, 20, 1, 0, 1]); // stbc, ldpc, short GI, width, MCS, VHT, streams
  const socket = createSocket('udp4');
  socket.on('message', (message, { port: from, address }) => {
    const answer = (result: number, values: Buffer = Buffer.alloc(0)): void => {
      const head = Buffer.alloc(8);
      message.copy(head, 0, 0, 4);
      head.writeUInt32BE(result, 4);
      socket.send(Buffer.concat([head, values]), from, address);
    };
    const [k = 0, n = 0] = message.subarray(5);
    switch (message[4]) {
      case SET_FEC:
        if (message.length !== 7 || k === 0 || k > n) answer(EINVAL);
        else {
          fec.splice(0, 2, k, n);
          answer(0);
        }
        break;
      case SET_RADIO: // takes any MCS
        if (message.length !== 12) answer(EINVAL);
        else {
          radio = Buffer.from(message.subarray(5));
          answer(0);
        }
        break;
      case GET_FEC:
        answer(0, Buffer.from(fec));
        break;
      case GET_RADIO:
        answer(0, radio);
        break;
      default:
        answer(EINVAL);
    }
  });
  socket.bind(port, '127.0.0.1');
}

function serve(
  config: ReadonlyMap<string, Section>,
  profile: string,
  cards: readonly string[],
  file: string,
): void {
  const section = config.get(profile);
  if (section === undefined) throw new Error(`no profile ${profile}`);
  const clients = new Set<Socket>();
  const settings = {
    type: 'settings',
    profile,
    is_cluster: false,
    wlans: cards,
    settings: { common: { log_interval: 1000 } },
  };
  createServer((socket) => {
    clients.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => clients.delete(socket));
    socket.write(`${JSON.stringify(settings)}\n`);
  }).listen(Number(section['api_port']), '127.0.0.1');
  let next = 0;
  setInterval(() => {
    if (!existsSync(file)) return;
    const lines = readFileSync(file, 'utf8').trim().split('\n');
    const line = lines[next++ % lines.length] ?? '';
    for (const client of clients) client.write(`${line}\n`);
  }, LINE_MS);
  const fec = config.get('video');
  for (const { keypair, control_port: port, name } of section['streams'] as readonly Stream[]) {
    const key = readFileSync(join(String(config.get('path')?.['conf_dir']), keypair));
    if (key.length !== KEY_BYTES) throw new Error(`${keypair} is no key`);
    const video = name === 'video';
    if (port !== undefined)
      control(port, video ? [Number(fec?.['fec_k'] ?? 8), Number(fec?.['fec_n'] ?? 12)] : [1, 2]);
  }
}

if (import.meta.main) {
  const { values } = parseArgs({
    args: process.argv.slice(2).reduce<string[]>((args, word) => {
      const list = args.at(-1)?.startsWith('--') === true || word.startsWith('--');
      if (list) args.push(word);
      else args.splice(-1, 1, `${args.at(-1) ?? ''} ${word}`);
      return args;
    }, []),
    options: { profiles: { type: 'string', default: '' }, wlans: { type: 'string', default: '' } },
  });
  const file = process.env['WIFIBROADCAST_CFG'] ?? '/etc/wifibroadcast.cfg';
  const net = join(process.env['SVC_TEST_SYS'] ?? '/sys', 'class/net');
  const cards = values.wlans.split(' ');
  const check = (): void => {
    const gone = cards.find((card) => !existsSync(join(net, card)));
    if (gone === undefined) return;
    console.error(`no card ${gone}`);
    process.exit(1);
  };
  check();
  setInterval(check, CARD_POLL_MS);
  const config = parseWfbConfig(readFileSync(file, 'utf8'));
  for (const profile of values.profiles.split(' '))
    serve(config, profile, cards, join(dirname(file), 'reports'));
  console.log(`runs ${values.profiles} on ${values.wlans}`);
}
