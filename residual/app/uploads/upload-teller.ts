import { createHash } from 'node:crypto';
import { UPLOAD_FILE, type UploadDetail } from '../../../shared/fleet/flight.ts';
import type { FleetOutbox } from '../fleet-outbox.ts';
import type { LedgerEntry } from './ledger.ts';

/** As svc-link names a log that it has fetched: the vehicle's time at its end, s. */
const FETCHED = /_(\d+)\.log$/;

interface Uploaded extends Pick<LedgerEntry, 'id' | 'bytes' | 'uploaded_at'> {
  readonly kind: UploadDetail['kind'];
  readonly name: string;
  /** Of the object. */
  readonly url: string;
}

/** Tells the fleet where a file is. */
export class UploadTeller {
  readonly #outbox: FleetOutbox;

  constructor(outbox: FleetOutbox) {
    this.#outbox = outbox;
  }

  /** @returns false: not now, ask again; without a fleet nobody is to be told */
  async tell({ id, kind, name, url, bytes, uploaded_at }: Uploaded): Promise<boolean> {
    if (uploaded_at === null || !(await this.#outbox.isMember())) return true;
    if (!(await this.#outbox.hasRoom())) return false;
    const ended = kind === 'flight-logs' ? Number(FETCHED.exec(name)?.[1] ?? 0) : 0;
    const detail: UploadDetail = {
      kind,
      name,
      url,
      bytes,
      uploaded_at,
      logged_at: ended > 0 ? ended * 1000 : null,
    };
    const hash = createHash('sha256').update(id).digest('hex').slice(0, 32);
    await this.#outbox.put(`${UPLOAD_FILE}${hash}`, detail);
    return true;
  }
}
