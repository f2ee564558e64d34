import { ask, membersOf } from './ask.ts';
import type { Keeping } from './keeping.ts';
import type { Rig } from './rig.ts';

const PIN = '493817';
const MAX_REMEMBERED = 20;

interface Shown {
  readonly id: string;
  readonly current: boolean;
}

/** One person stays signed in; others come and go. */
export class SignIns implements Keeping {
  readonly #rig: Rig;
  readonly #ended: string[] = [];
  #kept: string | null = null;

  constructor(rig: Rig) {
    this.#rig = rig;
  }

  async run(): Promise<void> {
    await this.#rig.repeat(10_000, async () => {
      if (this.#kept === null) {
        this.#kept = await this.#open('/api/dashboard/pin/set');
        return;
      }
      const other = await this.#open('/api/dashboard/pin/verify');
      if (other === null) return;
      this.#rig.count('people who signed in');
      await this.#rig.flights.run(async () => this.#signOut(this.#kept ?? ''));
      // Not signed out where a fault or another vehicle that is armed came between: the next time.
      if ((await this.#use(other)) === 401) this.#ended.push(other);
      if (this.#ended.length > MAX_REMEMBERED) this.#ended.splice(1, 1); // the oldest stays
    });
  }

  async check(): Promise<void> {
    const { 'sign-in': rule } = this.#rig.invariants;
    for (const session of this.#ended) {
      const status = await this.#use(session);
      rule.check(status === 401, () => `who had signed out got ${status}`);
    }
    if (this.#kept === null) return;
    const status = await this.#use(this.#kept);
    rule.check(status === 200, () => `who is signed in got ${status}`);
    rule.number('signed out', this.#ended.length);
  }

  /** Everybody but this one: also those whose answer a fault has cut off. */
  async #signOut(kept: string): Promise<void> {
    const headers = { 'x-svc-dashboard-session': kept };
    const { sessions } = await this.#rig.json('/api/dashboard/sessions', { headers });
    for (const { id, current } of (sessions ?? []) as readonly Shown[])
      if (!current) await this.#rig.ask(`/api/dashboard/sessions/${id}`, { method: 'DELETE' }, [409]);
  }

  async #use(session: string): Promise<number | null> {
    const headers = { 'x-svc-dashboard-session': session };
    return (await ask(`${this.#rig.node.url}/api/status`, { headers })).status;
  }

  async #open(path: string): Promise<string | null> {
    const { session } = membersOf(await this.#rig.ask(path, { method: 'POST', body: { pin: PIN } }));
    return typeof session === 'string' ? session : null;
  }
}
