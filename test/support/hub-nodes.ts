import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { newSigningKey, publicJwk } from '../../shared/fleet/signed.ts';

/** A node of a filled hub, by its number. */
export interface Filled {
  readonly name: string;
  readonly lat: number;
  readonly lon: number;
  readonly tags?: readonly string[];
  readonly group?: string | null;
}

export const filledId = (n: number): string => `node-${String(n).padStart(6, '0')}`;

/** Enrols many nodes at once, in the SQLite file of a hub that does not run: with a status as large as a real one. */
export function fillHub(folder: string, count: number, of: (n: number) => Filled): void {
  const db = new DatabaseSync(join(folder, 'hub.db'));
  const { x } = publicJwk(newSigningKey());
  const insert = db.prepare(
    'INSERT INTO nodes (id, name, profile, version, enrolled_at, key, seen_at, status, tags, group_name) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  );
  db.exec('BEGIN');
  for (let n = 0; n < count; n++) {
    const { name, lat, lon, tags = [], group = null } = of(n);
    const status = {
      at: 1,
      armed: false,
      fc_connected: true,
      fc_heartbeat_age_s: 0.1,
      mode: 'LOITER',
      battery_percent: n % 101,
      position: { lat, lon, alt_m: 500, relative_alt_m: 0, heading: n % 360 },
      nonce: 'bootboot.1',
      audit_head: { seq: n, hash: 'a'.repeat(64) },
      events_behind: 0,
      more: 'x'.repeat(600),
    };
    const said = JSON.stringify(status);
    insert.run(filledId(n), name, 'drone', '1.0.0', 1, x, 1000 + n, said, JSON.stringify(tags), group);
  }
  db.exec('COMMIT');
  db.close();
}
