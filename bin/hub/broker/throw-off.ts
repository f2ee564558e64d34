import { deferred } from '../../../shared/async/deferred.ts';
import { type Authority, issueCertificate } from '../../../shared/certificates/authority.ts';
import { certificateRequest, newCertificateKey } from '../../../shared/certificates/request.ts';
import { BrokerConnection } from '../../../shared/fleet/broker-connection.ts';

const LIMITS = { connectMs: 5000, keepaliveMs: 5000 } as const;
/** Each certificate is used once. */
const DAYS = 1;

/**
 * Ends connections of others at the broker, and with them what the broker has for them: another connection of the same id takes its
 * place (MQTT 5, 3.1.4), and goes. It is the only way that every broker has. A client may come back; what it may do then, the broker's
 * rules say.
 */
export class ThrowOff {
  readonly #url: string;
  readonly #authority: Authority;
  readonly #now: () => number;
  readonly #key = newCertificateKey();
  /** Made before it is needed: whoever fills the broker's memory goes on meanwhile. */
  readonly #ready: Promise<unknown>;

  /** @param url the broker's @param now wall clock, ms */
  constructor(url: string, authority: Authority, now: () => number) {
    this.#url = url;
    this.#authority = authority;
    this.#now = now;
    this.#ready = this.#certify('warm');
    this.#ready.catch(() => undefined); // said where it is needed
  }

  /** @throws Error where the broker does not take it in time */
  async end(id: string): Promise<void> {
    await this.#ready;
    const done = deferred();
    const connection = new BrokerConnection(
      {
        url: this.#url,
        clientId: id,
        ca: this.#authority.certificate,
        certificate: await this.#certify(id),
        key: this.#key,
        limits: LIMITS,
        receiveMaximum: 1,
        lateEnds: true,
      },
      {
        connected: done.resolve,
        message: () => undefined, // it has subscribed to nothing
        ended: (why) => done.reject(new Error(why)),
      },
    );
    await done.promise;
    await connection.end(false);
  }

  async #certify(id: string): Promise<string> {
    const { pem } = await certificateRequest(this.#key);
    return issueCertificate(this.#authority, pem, { client: id }, this.#now(), DAYS);
  }
}
