/** `wss://host[:port]/path`: where a network lets nothing but 443 through. */
const WEB_SOCKET = 'wss:';
const MQTT_TLS = 'mqtts:';

/** What clients of the broker speak: MQTT 5 over TLS, or over a WebSocket over TLS. */
export function isBrokerUrl(text: string, over: 'tls' | 'websocket'): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password, hash } = new URL(text);
  return (
    protocol === (over === 'tls' ? MQTT_TLS : WEB_SOCKET) &&
    hostname !== '' &&
    username + password + hash === ''
  );
}

/** The addresses of one broker: the one that worked last comes first, then the others in their order, round and round. */
export class BrokerWays {
  readonly urls: readonly string[];
  #at: number;
  /** Failed one after another since something worked. */
  #failed = 0;

  /** @param urls at least one, in the order in which they are tried @param known the one that worked last, also of another process */
  constructor(urls: readonly string[], known: string | null) {
    this.urls = urls;
    this.#at = Math.max(0, known === null ? 0 : urls.indexOf(known));
  }

  get url(): string {
    return this.urls[this.#at] ?? '';
  }

  worked(): void {
    this.#failed = 0;
  }

  /** The next attempt takes the next one. @returns whether that has not failed yet, so that there is nothing to wait for */
  failed(): boolean {
    this.#at = (this.#at + 1) % this.urls.length;
    this.#failed++;
    return this.#failed % this.urls.length !== 0;
  }
}
