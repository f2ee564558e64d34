import { ApiError } from '../../../shared/errors.ts';
import { changedBy, needsAudit } from '../edge/audited.ts';
import type { Pass, Refusal } from '../edge/decision.ts';
import type { Origin } from '../edge/origins.ts';
import type { PeerBudgets } from '../edge/rate.ts';
import type { Announced, AuditLog } from '../stores/audit.ts';

/** Records each decision, for requests and upgrades: its cost to the peer, and its entry in the audit. */
export class Records {
  readonly #budgets: PeerBudgets;
  readonly #audit: Pick<AuditLog, 'refused' | 'announce'>;

  constructor(budgets: PeerBudgets, audit: Pick<AuditLog, 'refused' | 'announce'>) {
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
   * @throws ApiError E_AUDIT for a change that needs the audit while it cannot be written
   */
  announce(pass: Pass, body: unknown, origin: Origin): Announced | undefined {
    // Through the relay proxy the drone's route says what it is.
    const row = pass.row.scope === 'inner' ? pass.policy : pass.row;
    if (row.blast === 'none' && row.scope !== 'secret_read') return undefined;
    const changed = changedBy(pass, body);
    const announced = this.#audit.announce(origin.peer, {
      ...recordOf(pass, origin),
      ...(changed === '' ? {} : { changed }),
    });
    if (announced === null && needsAudit(pass, body)) throw new ApiError('E_AUDIT');
    return announced ?? undefined;
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
