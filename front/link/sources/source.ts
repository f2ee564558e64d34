/** Where the flight controller is (`mavlink.source`, spec/decisions.md 6). */
export type Source =
  | { readonly kind: 'tcp' | 'udp' | 'udpout'; readonly host: string; readonly port: number }
  | { readonly kind: 'serial'; readonly path: string; readonly baud: number }
  | { readonly kind: 'auto' };

const NETWORK = /^(tcp|udp|udpout):(.+):(\d{1,5})$/;
const SERIAL = /^serial:(\/dev\/[A-Za-z0-9._/:+-]+):(\d{1,8})$/;

/**
 * `auto`, `serial:/dev/ttyACM0:921600`, `udp:0.0.0.0:14550`, `udpout:host:port`, `tcp:host:port`; an IPv6 host may stand in
 * brackets. The supervisor has already turned `sim` into the TCP port of its simulator.
 * @throws Error a sentence that names the text and the forms that are accepted
 */
export function parseSource(text: string): Source {
  if (text === 'auto') return { kind: 'auto' };
  const network = NETWORK.exec(text);
  if (network !== null) {
    const [, kind, host = '', digits] = network;
    const port = Number(digits);
    if ((kind === 'tcp' || kind === 'udp' || kind === 'udpout') && port > 0 && port <= 65535) {
      return { kind, host: host.replace(/^\[(.*)\]$/, '$1'), port };
    }
  }
  const serial = SERIAL.exec(text);
  if (serial !== null) {
    const [, path = '', digits] = serial;
    const baud = Number(digits);
    if (baud > 0) return { kind: 'serial', path, baud };
  }
  throw new Error(
    `mavlink.source ${JSON.stringify(text)} is none of auto, serial:/dev/…:baud, udp:host:port, udpout:host:port, tcp:host:port.`,
  );
}
