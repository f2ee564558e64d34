import { ApiError } from '../../../shared/errors.ts';
import type { PeerBudgets } from '../../../shared/http/edge/rate.ts';
import { changedBy } from '../edge/audited.ts';
import type { Pass, Refusal } from '../edge/decision.ts';
import type { Origin } from '../edge/origins.ts';
import type { Announced, AuditLog } from '../stores/audit.ts';

/** Records each decision, for requests and upgrades: its cost to the peer, and its entry in the audit. */
export class Records {
  readonly #budgets: PeerBudgets;
  readonly #audit: Pick<AuditLog, 'refused' | 'announce' | 'state'>;
  /** See EndedCredentials. */
  readonly unwritten: () => Promise<void> | null;

  /** @param unwritten what a refusal waits for: that a credential has ended is on the disk before anybody is told; null for nothing */
  constructor(
    budgets: PeerBudgets,
    audit: Pick<AuditLog, 'refused' | 'announce' | 'state'>,
    unwritten: () => Promise<void> | null = () => null,
  ) {
    this.unwritten = unwritten;
    this.#budgets = budgets;
    this.#audit = audit;
  }

  refused(refusal: Refusal, origin: Origin): void {
    if (refusal.counted) this.#budgets.spend(origin.peer);
    if (refusal.failedCredential) this.#budgets.fail(origin.peer);
    this.#audit.refused(origin.peer, { ...recordOf(refusal, origin), outcome: refusal.code });
  }

  /**
   * Records a change, or the reading of a secret, before it happens, so that an owner can see later who did it and when.
   * @returns undefined if the request is neither
   */
  announce(pass: Pass, body: unknown, origin: Origin): Announced | undefined {
    // Through the relay proxy the drone's route says what it is.
    const row = pass.row.scope === 'inner' ? pass.policy : pass.row;
    if (row.blast === 'none' && row.scope !== 'secret_read') return undefined;
    const changed = changedBy(pass, body);
    return this.#audit.announce(origin.peer, {
      ...recordOf(pass, origin),
      ...(changed === '' ? {} : { changed }),
    });
  }

  /** @throws ApiError E_AUDIT if the record of a change cannot be written, or was not within a second */
  async written(announced: Announced): Promise<void> {
    if (await announced.written()) return;
    const { stalled, problem } = this.#audit.state;
    const why = stalled ?? problem ?? 'the disk has not taken the record within a second';
    throw new ApiError('E_AUDIT', `The audit cannot be written: ${why}.`);
  }

  /** The disk stands still, in a sentence without its end; null: it does not. */
  get stalled(): string | null {
    return this.#audit.state.stalled;
  }
}

function recordOf(subject: Pass | Refusal, { ip }: Origin) {
  const { row, principal, rule } = subject;
  return {
    peer: ip,
    principal: principal.id,
    principal_kind: principal.kind,
    route: row === null ? null : `${row.method} ${row.path}`,
    rule,
    forced: subject.kind === 'pass' && subject.forced,
  };
}
