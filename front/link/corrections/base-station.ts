import { messageOf } from '../../../shared/errors.ts';
import type { Clock } from '../clock.ts';
import type { OpenSerial, SerialLine } from '../sources/serial-line.ts';
import type { Connect, OpenStream } from './stream.ts';

const CONNECT_MS = 10_000;

interface TcpBase {
  readonly host: string;
  readonly port: number;
  readonly clock: Clock;
  readonly connect: Connect;
}

/** A base station that sends its corrections to whoever connects. */
export function tcpBase({ host, port, clock, connect }: TcpBase): OpenStream {
  return (events) => {
    const socket = connect({ host, port, noDelay: true });
    let problem = 'The base station has closed the connection.';
    const late = clock.after(CONNECT_MS, () => socket.destroy(new Error('no answer within 10 s')));
    socket.on('connect', () => {
      late.cancel();
      socket.setKeepAlive(true, CONNECT_MS);
      events.onOpen();
    });
    socket.on('data', (chunk: Buffer) => events.onData(chunk));
    socket.on('error', (error) => {
      problem = `The base station ${host}:${port} is not reached: ${messageOf(error)}.`;
    });
    socket.on('end', () => socket.destroy());
    const onClose = (): void => {
      late.cancel();
      events.onEnd(problem);
    };
    socket.on('close', onClose);
    return {
      close: () => {
        late.cancel();
        socket.off('close', onClose);
        socket.removeAllListeners('data');
        socket.destroy();
      },
    };
  };
}

interface SerialBase {
  readonly path: string;
  readonly baud: number;
  readonly open: OpenSerial;
}

/** A receiver on a serial port of this machine. */
export function serialBase({ path, baud, open }: SerialBase): OpenStream {
  return (events) => {
    let line: SerialLine | null = null;
    let isClosed = false;
    const shut = (opened: SerialLine): void => {
      opened.close().catch(() => undefined); // it is gone, which is all that was wanted
    };
    open(path, baud).then(
      (opened) => {
        line = opened;
        if (isClosed) return shut(opened);
        events.onOpen();
        opened.listen(
          (chunk) => {
            if (!isClosed) events.onData(Buffer.from(chunk));
          },
          () => {
            if (!isClosed) events.onEnd(`${path} is gone. Plug the receiver in again.`);
          },
        );
      },
      (error: unknown) => {
        if (!isClosed) events.onEnd(`${path} does not open: ${messageOf(error)}.`);
      },
    );
    return {
      close: () => {
        isClosed = true;
        if (line !== null) shut(line);
      },
    };
  };
}
