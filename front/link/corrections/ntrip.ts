import type { Socket } from 'node:net';
import { isIPv6 } from 'node:net';
import { messageOf } from '../../../shared/errors.ts';
import { VERSION } from '../../../shared/version.ts';
import type { Clock, Timer } from '../clock.ts';
import { CasterAnswer, type Refusal } from './caster-answer.ts';
import { ggaOf, type KnownPlace } from './gga.ts';
import type { Connect, OpenStream, Stream, StreamEvents } from './stream.ts';

const CONNECT_MS = 10_000;
const ANSWER_MS = 10_000;
const PLACE_MS = 10_000;
const LOOK_MS = 1000;
/** A caster that does not read gets no more. */
const MAX_QUEUED_BYTES = 4096;

interface Caster {
  readonly host: string;
  readonly port: number;
  readonly mountpoint: string;
  /** Empty: no login. */
  readonly username: string;
  readonly password: string;
  readonly version: 'auto' | 1 | 2;
}

interface NtripOptions extends Caster {
  readonly clock: Clock;
  readonly connect: Connect;
  /** The event that says that the connection is open, and secure if it is to be. */
  readonly opened: 'connect' | 'secureConnect';
  /** For a virtual station: where the vehicle is, null while it is not known; absent: the caster is not told. */
  readonly place?: () => KnownPlace | null;
}

/** NTRIP: the stream of a mountpoint, by version 2 (HTTP/1.1) or 1. */
export function ntrip(options: NtripOptions): OpenStream {
  let known: 1 | 2 | null = options.version === 'auto' ? null : options.version;
  return (events) => {
    let current: Stream;
    const dial = (version: 1 | 2): Stream =>
      attempt(options, version, {
        ...events,
        onData: (bytes) => {
          known = version;
          events.onData(bytes);
        },
        onRefused: ({ problem, about, mountpoints }) => {
          if (about === 'version' && known === null && version === 2) current = dial(1);
          else if (about === 'mountpoint' && mountpoints === undefined) current = table(version, problem);
          else events.onEnd(problem, mountpoints);
        },
      });
    // A caster of version 2 answers 404, and gives its table to who asks for nothing.
    const table = (version: 1 | 2, problem: string): Stream =>
      attempt({ ...options, mountpoint: '' }, version, {
        ...events,
        onOpen: () => events.onEnd(problem),
        onRefused: ({ mountpoints }) => events.onEnd(problem, mountpoints),
      });
    current = dial(known ?? 2);
    return { close: () => current.close() };
  };
}

interface AttemptEvents extends StreamEvents {
  /** As of CasterAnswer, before anything came. */
  onRefused(refusal: Refusal): void;
}

/** One connection. */
function attempt(options: NtripOptions, version: 1 | 2, events: AttemptEvents): Stream {
  const { host, port, clock, connect, opened, place } = options;
  const socket = connect({ host, port, noDelay: true });
  let isConnected = false;
  let isOpen = false;
  let problem: string | null = null;
  let telling: Timer | null = null;
  let late = clock.after(CONNECT_MS, () => socket.destroy(new Error('no answer within 10 s')));
  const close = (): void => {
    late.cancel();
    telling?.cancel();
    socket.removeAllListeners('data').off('close', onClose);
    socket.destroy();
  };
  const refuse = (refusal: Refusal): void => {
    close();
    if (isOpen && refusal.about !== 'version') events.onEnd(refusal.problem);
    else events.onRefused(refusal);
  };
  const onClose = (): void => {
    if (problem === null) return answer.end('The caster has closed the connection.');
    const why = `The caster ${host}:${port} is not reached: ${problem}.`;
    refuse({ problem: why, about: isConnected && !isOpen ? 'version' : 'other' });
  };
  const answer = new CasterAnswer(options.mountpoint, {
    onAccepted: () => {
      late.cancel();
      isOpen = true;
      if (place !== undefined) telling = tellPlace(socket, clock, place);
      events.onOpen();
    },
    onData: (bytes) => events.onData(bytes),
    onRefused: refuse,
  });
  socket.on(opened, () => {
    isConnected = true;
    late.cancel();
    late = clock.after(ANSWER_MS, () => answer.end('The caster has not answered within 10 s.'));
    socket.setKeepAlive(true, CONNECT_MS);
    const known = place?.() ?? null;
    socket.write(requestOf(options, version, known === null ? null : ggaOf(known, clock.wall())));
  });
  socket.on('data', (bytes: Buffer) => answer.push(bytes));
  socket.on('error', (error) => {
    problem = messageOf(error);
  });
  socket.on('end', () => socket.destroy());
  socket.on('close', onClose);
  return { close };
}

/** Says where the vehicle is as soon as that is known, and then every 10 s. */
function tellPlace(socket: Socket, clock: Clock, place: () => KnownPlace | null): Timer {
  let toldAt = -Infinity;
  const look = (): void => {
    if (clock.now() - toldAt < PLACE_MS || socket.writableLength > MAX_QUEUED_BYTES) return;
    const known = place();
    if (known === null) return;
    toldAt = clock.now();
    socket.write(ggaOf(known, clock.wall()));
  };
  look();
  return clock.every(LOOK_MS, look);
}

function requestOf(
  { host, port, mountpoint, username, password }: Caster,
  version: 1 | 2,
  place: string | null,
): string {
  const login = Buffer.from(`${username}:${password}`).toString('base64');
  const lines = [
    `GET /${mountpoint} HTTP/1.${version - 1}`,
    ...(version === 1
      ? []
      : [`Host: ${isIPv6(host) ? `[${host}]` : host}:${port}`, 'Ntrip-Version: Ntrip/2.0']),
    `User-Agent: NTRIP svc/${VERSION}`,
    ...(username === '' ? [] : [`Authorization: Basic ${login}`]),
    ...(version === 1 || place === null ? [] : [`Ntrip-GGA: ${place.trim()}`]),
    ...(version === 1 ? [] : ['Connection: close']),
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}
