import { STATEMENTS } from '../schemas/fleet-statements.ts';
import { type Contract, method, shape } from './contract.ts';

const { node, method: httpMethod, path, nonce, jti } = STATEMENTS['svc-call'].properties;

/**
 * The contract of a person's signer: `svc operator hold` on `hold.sock`, `svc operator confirm CODE` on `confirm-CODE.sock`, both
 * in the operator's directory. The connector asks; it never has the key.
 */
export const OPERATOR = {
  server: 'svc operator',
  methods: {
    /**
     * A `svc-confirm` over this request. `body` absent: it has none.
     * E_SCOPE: not a request that this signer signs. E_CODE: it waits for another call, or the person said no.
     */
    sign: method(
      {
        type: 'object',
        required: ['node', 'method', 'path', 'nonce', 'jti', 'code'],
        properties: {
          node,
          method: httpMethod,
          path,
          body: {},
          nonce,
          jti,
          code: { type: ['string', 'null'], maxLength: 16 },
        },
        additionalProperties: false,
      },
      shape<{ readonly jws: string }>(),
      120_000,
    ),
    /**
     * Shows a call of an AI client that is about to be sent because this person stands by, and for no other reason.
     * E_SCOPE: not a signer that stands by.
     */
    show: method(
      {
        type: 'object',
        required: ['tool', 'node', 'args'],
        properties: {
          tool: { type: 'string', maxLength: 128 },
          node,
          /** As JSON, without secrets; cut where it is longer. */
          args: { type: 'string', maxLength: 2000 },
        },
        additionalProperties: false,
      },
      shape<Record<string, never>>(),
      2000,
    ),
  },
  events: {},
} as const satisfies Contract;
