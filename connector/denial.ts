/**
 * Why a call was refused or failed, with a number for programs (`data.svcCode`, which stays the same). Each sentence tells what
 * to do.
 */
import type { JsonObject } from '../shared/member.ts';
export const DENIALS = {
  unauthorized: [
    4010,
    'The node is paired and does not accept the pairing key that this connector has, if any. Set SVC_MCP_AGENT_KEY, or `key` in the fleet file.',
  ],
  token_invalid: [4011, 'This is not a token of this node. Mint one with `svc mcp mint` on it.'],
  token_expired: [4012, 'The token has expired. Mint a new one with `svc mcp mint`.'],
  token_revoked: [
    4013,
    'The node does not honour the token: it was revoked, or `svc mcp enable` was never run.',
  ],
  scope_missing: [4030, 'The caller does not hold the scope that this call needs.'],
  operator_present_stale: [
    4030,
    'No operator is present. A person must keep `svc operator hold` running on this machine, or sign this one call.',
  ],
  ws_proxy_enforce_off: [
    4030,
    'Flight tools are off: start the connector with --flight-enforced, on a node whose MAVLink endpoints all enforce the armed guard.',
  ],
  precondition_failed: [4030, 'The node is not in the state that this call needs.'],
  armed_guard: [
    4031,
    'The node does this only while the vehicle is known to be disarmed. If it flies, land first; on the ground disarm it.',
  ],
  confirm_required: [4281, 'This needs a confirmation.'],
  rate_limited: [4290, 'Too many calls. Wait as long as retryAfterMs says.'],
  node_required: [4400, 'Say which node: the argument `node`.'],
  node_not_allowed: [4403, 'There is no such node here, or the caller may not reach it.'],
  unknown_tool: [4404, 'There is no such tool.'],
  not_found: [4404, 'The node has nothing with that name.'],
  invalid_arguments: [
    4422,
    'The arguments do not fit the schema of the tool, or the node does not take them.',
  ],
  too_far: [
    4423,
    "The place is further away than the node lets a command go, or beyond the vehicle's fence: see distance_m, bound and limit_m. Tell the user; allow_far: true is for whoever asks for just that place.",
  ],
  needs_sticks: [
    4424,
    "In the air this mode needs a pilot's sticks, and no radio is heard: without them the vehicle falls or drifts. Use GUIDED, flight_stop, flight_rtl or flight_land; call again with manual: true only if the user says that a pilot holds a radio.",
  ],
  not_supported: [5010, 'This node does not support that.'],
  audit_unavailable: [5011, 'The audit cannot be written, so nothing is changed.'],
  rest_down: [5031, 'The node does not answer.'],
  fc_unreachable: [5032, 'No flight controller is connected to the node.'],
  cancelled: [4990, 'The call was cancelled.'],
} as const satisfies Record<string, readonly [code: number, sentence: string]>;

export type Reason = keyof typeof DENIALS;

/**
 * A refusal or a failure of one call. `detail` goes to the client as it is: no secrets. The message is ours; what a node says, which
 * may hold words of the vehicle or of an extension, is `detail.said`.
 */
export class Denial extends Error {
  readonly reason: Reason;
  readonly svcCode: number;
  readonly detail: JsonObject;
  /** Whether the node may have carried it out all the same: a write was sent, and its outcome is not known. */
  readonly maybeDone: boolean;

  constructor(reason: Reason, message?: string, detail: JsonObject = {}, maybeDone = false) {
    super(message ?? DENIALS[reason][1]);
    this.maybeDone = maybeDone;
    this.name = 'Denial';
    this.reason = reason;
    this.svcCode = DENIALS[reason][0];
    this.detail = detail;
  }
}
