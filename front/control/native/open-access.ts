import { existsSync } from 'node:fs';
import type { PrincipalKind } from '../../../shared/auth/principal.ts';
import { bootTime } from '../../../shared/boot-clock.ts';
import { PeerBudgets } from '../../../shared/http/edge/rate.ts';
import { createLogger } from '../../../shared/process/logger.ts';
import { named } from '../../../shared/process/services.ts';
import { ROWS } from '../../../shared/routes/table.ts';
import { VERSION } from '../../../shared/version.ts';
import type { EdgeState } from '../edge/decision.ts';
import { PrincipalWatch } from '../edge/principal-watch.ts';
import { mayHaveReadTicket } from '../edge/read-ticket-right.ts';
import type { Base } from '../node/base.ts';
import type { BoundRadios } from '../relay/bound-radios.ts';
import { AuditLog } from '../stores/audit.ts';
import { AuditThread } from '../stores/audit-writer.ts';
import { Confirmations } from '../stores/confirmations.ts';
import { LivedTime } from '../stores/lived-time.ts';
import { PeerLocks } from '../stores/peer-locks.ts';
import { Credentials } from './credentials.ts';
import { dashboardHandlers } from './dashboard.ts';
import { mcpHandlers } from './mcp.ts';
import { pairingHandlers, type TlsOfNode } from './pairing.ts';

/** The kinds of caller that may set a PIN without the present one. */
const TRUSTED: ReadonlySet<PrincipalKind> = new Set<PrincipalKind>(['local', 'key', 'session', 'onbox']);

/** systemd-timesyncd makes it when a time server has answered since the boot. */
const SYNCHRONIZED = '/run/systemd/timesync/synchronized';

/** Who may do what: the credentials, their watch, the budgets of peers, the record. */
export function openAccess(base: Base, radios: BoundRadios) {
  const { config, paths, profile, identity, now, monotonic, log } = base;
  const lived = new LivedTime({
    file: paths.livedTime,
    monotonic,
    boot: bootTime,
    now,
    isSynchronized: () => existsSync(SYNCHRONIZED),
    log,
  });
  const credentials = new Credentials({
    paths,
    rows: ROWS,
    deviceId: identity.device_id,
    acceptTokens: config.mcp.token_accept_enabled,
    radios,
    now,
    monotonic,
    lived,
    log,
  });
  const places = { directory: paths.auditDir, keyFile: paths.auditKey, heads: paths.auditHeads };
  const audit = new AuditLog({
    ...places,
    writer: new AuditThread(places, now),
    now,
    believed: () => lived.believed(),
    monotonic,
    log,
    copy: createLogger('audit', 'info'),
  });
  const budgets = new PeerBudgets(monotonic, () => locks.changed());
  const locks = new PeerLocks({ file: paths.peerLocks, now, lived, log }, () => budgets.locks());
  const { pairing, pin, sessions, tickets, readTickets, tokens } = credentials;
  const confirmations = new Confirmations({
    monotonic,
    holds: (principal) => credentials.holds(principal),
    labelOf: (id) => tokens.status().tokens.find(({ token_id: each }) => each === id)?.label ?? '',
  });
  return {
    credentials,
    principalWatch: new PrincipalWatch((principal) => credentials.holds(principal)),
    audit,
    budgets,
    /** What is wrong with files of state, a sentence each that names the file. */
    problems: (): readonly string[] => [
      ...credentials.problems,
      ...[locks, lived].flatMap(({ problem }) => problem ?? []),
    ],
    paired: (): boolean => pairing.paired,
    handlers: (state: EdgeState, tls: TlsOfNode) => ({
      ...pairingHandlers({
        store: pairing,
        identity,
        profile,
        version: VERSION,
        requireCode: config.security.pairing.require_code,
        tls,
      }),
      ...dashboardHandlers({
        pin,
        sessions,
        tickets,
        readTickets,
        budgets,
        mayRead: (path, principal) => mayHaveReadTicket(path, principal, state),
        now,
        isKey: (headers) => credentials.isKey(headers),
        caller: ({ principal: { kind } }) => ({ trusted: TRUSTED.has(kind), gate: kind === 'gate' }),
      }),
      ...mcpHandlers(tokens, confirmations),
    }),
    services: [
      named('lived time', lived), // before all that ends by it
      named('audit', audit),
      {
        name: 'peer locks',
        start: async () => budgets.restore(await locks.read()),
        stop: () => locks.stop(),
      },
      named('credentials', credentials),
    ],
  };
}
