import { Args, Flags } from '@oclif/core';
import { allowedOrigins } from '../../front/control/edge/cors.ts';
import { secretHash } from '../../front/control/edge/credentials.ts';
import { decide, rulesAsked } from '../../front/control/edge/decide.ts';
import {
  type CredentialChecks,
  type EdgeState,
  NO_OTHER_CREDENTIALS,
  type RequestHead,
} from '../../front/control/edge/decision.ts';
import { RELAY_CALLER_HEADER } from '../../front/control/edge/relay.ts';
import { rowValidator } from '../../front/control/edge/row-validator.ts';
import { settle } from '../../front/control/edge/settle.ts';
import { classifyAddress } from '../../shared/auth/address.ts';
import type { Principal } from '../../shared/auth/principal.ts';
import { TICKET_PROTOCOL } from '../../shared/auth/principal-mark.ts';
import { isScope, SCOPES, type Scope } from '../../shared/auth/scopes.ts';
import { enabledFeatures } from '../../shared/config/features.ts';
import { loadConfig } from '../../shared/config/load.ts';
import { ERRORS, messageOf } from '../../shared/errors.ts';
import type { Armed } from '../../shared/flight/armed.ts';
import type { Profile } from '../../shared/profile.ts';
import { type Raised, raisedByRequest } from '../../shared/routes/classes.ts';
import { compileTable, ROWS } from '../../shared/routes/table.ts';
import { EXIT } from '../cli/exit-codes.ts';
import { NodeCommand } from '../cli/node-command.ts';

const KEY = 'svc_explain';
const CALLERS = [
  'none',
  'key',
  'wrong-key',
  'local',
  'session',
  'onbox',
  'ticket',
  'relay',
  ...SCOPES.map((scope) => `token:${scope}`),
];

interface Explanation {
  readonly answer: 'pass' | 'refuse' | 'preflight' | 'redirect';
  readonly rule: string;
  /** The rules of the edge that were asked, in order; the last of them decided. */
  readonly asked: readonly string[];
  readonly status: number | null;
  readonly code: string | null;
  readonly detail: string | null;
  readonly row: string | null;
  readonly policy: Readonly<Record<string, string>> | null;
  /** The items in the request that need a class besides the row's, one of each class. */
  readonly raised: readonly Raised[];
}

/** Calls the same function that decides about real requests; nothing is sent. */
class ExplainCommand extends NodeCommand {
  static override summary = 'Say what the edge would answer to a request, and why; needs no running node.';
  static override examples = [
    '<%= config.bin %> explain POST /api/command --as token:read',
    '<%= config.bin %> explain GET /api/status --as none --from 10.0.0.5',
    '<%= config.bin %> explain POST /api/pairing/unpair --as key --armed true',
    '<%= config.bin %> explain POST /api/params/FENCE_ENABLE --as token:admin',
    "<%= config.bin %> explain GET '/api/video/snapshot?ticket=x'",
  ];
  static override args = {
    method: Args.string({
      description: 'GET, POST, PUT, PATCH, DELETE, or WS for a WebSocket upgrade',
      required: true,
    }),
    target: Args.string({ description: 'path, with a query where one matters', required: true }),
  };
  static override flags = {
    as: Flags.string({
      summary: `who asks: ${CALLERS.join(', ')}; scopes of a token joined by commas`,
      default: 'none',
    }),
    from: Flags.string({ summary: 'address of the caller', default: '10.0.0.5' }),
    tls: Flags.boolean({ summary: 'by HTTPS', default: false }),
    unpaired: Flags.boolean({ summary: 'as if the node were not paired', default: false }),
    armed: Flags.option({ options: ['true', 'false', 'unknown'] as const, default: 'false' as const })(),
    body: Flags.string({ summary: 'JSON body' }),
    header: Flags.string({ summary: 'a further header, "name: value"', multiple: true }),
    profile: Flags.option({ options: ['drone', 'ground-station'] as const })(),
  };

  async run(): Promise<Explanation> {
    const { args, flags } = await this.parse(ExplainCommand);
    const state = await this.state(flags);
    const upgrade = args.method.toUpperCase() === 'WS';
    const headers = [
      'Host',
      'localhost',
      ...credentialHeaders(flags.as, (why) => this.error(why, { exit: EXIT.usage })),
    ];
    for (const line of flags.header ?? []) {
      const colon = line.indexOf(':');
      if (colon < 1) this.error(`not a header: ${line}`, { exit: EXIT.usage });
      headers.push(line.slice(0, colon).trim(), line.slice(colon + 1).trim());
    }
    const head: RequestHead = {
      method: upgrade ? 'GET' : args.method.toUpperCase(),
      target: args.target,
      rawHeaders: headers,
      upgrade,
      peer:
        flags.as === 'local'
          ? {
              kind: 'unix',
              address: 'loopback',
              secure: flags.tls,
              limitedFor: null,
              lockedFor: null,
              trusted: () => flags.as === 'onbox',
            }
          : {
              kind: flags.as === 'relay' ? 'relay' : 'tcp',
              ground: 'explained',
              address:
                flags.as === 'onbox'
                  ? 'loopback'
                  : classifyAddress(flags.from, {
                      // The addresses under which hotspot, USB link or cable reach a node.
                      local: flags.from.replace(/^(192\.168\.[47])\.\d+$/, '$1.1'),
                      isRoutable: () => false,
                    }),
              secure: flags.tls,
              limitedFor: null,
              lockedFor: null,
              trusted: () => flags.as === 'onbox',
            },
    };
    const first = decide(head, state);
    const decision = first.kind === 'pass' ? settle(first, this.body(flags.body), state) : first;
    const { row } = 'row' in decision ? decision : { row: null };
    const refusal = decision.kind === 'refuse' ? decision : null;
    const explanation: Explanation = {
      answer: decision.kind,
      rule: decision.rule,
      asked: rulesAsked(head, state),
      status: refusal === null ? null : statusOf(refusal.code),
      code: refusal?.code ?? null,
      detail:
        decision.kind === 'redirect' ? `${decision.status} ${decision.location}` : (refusal?.detail ?? null),
      row: row === null ? null : `${row.method} ${row.path}`,
      policy:
        row === null
          ? null
          : {
              access: row.access,
              scope: row.scope,
              relay: row.relay,
              armed: row.armed,
              feature: row.feature,
            },
      raised:
        first.kind === 'pass'
          ? raisedByRequest(first.policy.names, first.policyParams, this.body(flags.body))
          : [],
    };
    this.print(explanation);
    return explanation;
  }

  private print({ answer, rule, asked, status, code, detail, row, policy, raised }: Explanation): void {
    this.log(
      answer === 'pass'
        ? `passes (rule: ${rule})`
        : `${answer} ${status ?? ''} ${code ?? ''} (rule: ${rule})`,
    );
    this.log(`asked in order: ${asked.join(', ')}`);
    if (detail !== null) this.log(detail);
    if (row === null || policy === null) return;
    this.log(`row ${row}`);
    for (const [name, value] of Object.entries(policy)) this.log(`  ${name.padEnd(8)} ${value}`);
    for (const each of raised) this.log(`${each.name} also needs ${each.class}: it ${each.reason}`);
  }

  private body(text: string | undefined): unknown {
    if (text === undefined) return undefined;
    try {
      return JSON.parse(text);
    } catch (error) {
      return this.error(`--body is not JSON: ${messageOf(error)}`, { exit: EXIT.usage });
    }
  }

  private async state(flags: {
    readonly as: string;
    readonly unpaired: boolean;
    readonly armed: string;
    readonly profile: Profile | undefined;
  }): Promise<EdgeState> {
    const { config } = await loadConfig(this.paths);
    const profile = flags.profile ?? config.agent.profile;
    return {
      matcher: compileTable(ROWS).matcher,
      pairing: flags.unpaired ? { paired: false, keyHash: null } : { paired: true, keyHash: secretHash(KEY) },
      armed: ARMED[flags.armed] ?? 'unknown',
      anyArmed: ARMED[flags.armed] ?? 'unknown',
      profile,
      features: enabledFeatures({ ...config, agent: { ...config.agent, profile } }),
      residual: config.features.residual,
      origins: allowedOrigins(config.security.api),
      hosts: new Set(config.security.api.hosts),
      credentials: pretend(flags.as),
      validate: rowValidator(ROWS),
      port: config.api.port,
      tls: {
        required: config.security.require_tls,
        port: config.api.tls_port === 0 ? null : config.api.tls_port,
      },
      pilot: null,
    };
  }
}

const ARMED: Readonly<Record<string, Armed>> = { true: true, false: false, unknown: 'unknown' };

function statusOf(code: keyof typeof ERRORS): number {
  return ERRORS[code][0];
}

function scopesOf(caller: string): readonly Scope[] {
  return caller.slice('token:'.length).split(',').filter(isScope);
}

function credentialHeaders(caller: string, wrong: (why: string) => never): string[] {
  switch (caller) {
    case 'none':
    case 'local':
    case 'onbox':
      return [];
    case 'key':
      return ['X-SVC-Key', KEY];
    case 'wrong-key':
      return ['X-SVC-Key', 'svc_wrong'];
    case 'session':
      return ['x-svc-dashboard-session', 'explained'];
    case 'ticket':
      return ['Sec-WebSocket-Protocol', `${TICKET_PROTOCOL}, explained`];
    case 'relay':
      return [RELAY_CALLER_HEADER, 'key explained *'];
    default:
      if (!caller.startsWith('token:') || scopesOf(caller).length === 0)
        wrong(`unknown caller ${caller}: ${CALLERS.join(', ')}`);
      return ['x-svc-mcp-token', 'explained'];
  }
}

/** Every given credential counts as valid, to show what the rules do with it. */
function pretend(caller: string): CredentialChecks {
  const as = (kind: Principal['kind'], scopes: Principal['scopes'] = null): Principal => ({
    kind,
    id: caller,
    scopes,
  });
  return {
    ...NO_OTHER_CREDENTIALS,
    session: () => as('session'),
    ticket: () => as('ticket'),
    readTicket: () => as('ticket'),
    token: () => as('token', scopesOf(caller)),
  };
}

export default { explain: ExplainCommand };
