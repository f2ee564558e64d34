import { ApiError, messageOf } from '../../shared/errors.ts';
import { confirmSocket, type OperatorFiles } from '../../shared/operator/operator-files.ts';
import { clientOf, type ParamsOf } from '../../shared/rpc/contract.ts';
import { OPERATOR } from '../../shared/rpc/operator.ts';
import type { CallStatement } from '../../shared/schemas/fleet-statements.ts';
import { Denial } from '../denial.ts';

interface ToSign extends Omit<CallStatement, 'within_ms'> {
  /** Of the call that a person has looked at; null: whoever stands by. */
  readonly code: string | null;
}

/**
 * A person's signature over one request to a node, by `svc operator hold` or `svc operator confirm` on this machine, which have
 * the key.
 * @throws Denial operator_present_stale, confirm_required, cancelled
 */
export async function askOperator(
  files: OperatorFiles,
  request: ToSign,
  signal: AbortSignal | undefined,
): Promise<string> {
  const { code } = request;
  const path = code === null ? files.holdSocket : confirmSocket(files, code);
  const client = clientOf(OPERATOR, { path });
  const cancelled = (): void => client.stop();
  signal?.addEventListener('abort', cancelled, { once: true });
  try {
    await client.connectOnce();
    return (await client.calls.sign(request)).jws;
  } catch (error) {
    if (signal?.aborted === true) throw new Denial('cancelled', 'The call was cancelled; nothing was sent.');
    if (error instanceof ApiError && error.code !== 'E_UPSTREAM_DOWN')
      throw new Denial(
        error.code === 'E_TIMEOUT' ? 'operator_present_stale' : 'confirm_required',
        error.message,
      );
    throw new Denial(
      'operator_present_stale',
      code === null
        ? 'The node wants the signature of a person. They must keep `svc operator hold` running on this machine, or sign this one call.'
        : `Nobody signs for ${code} any more. Call again without confirm_id for a new code; \`svc operator confirm\` must be running when the call is repeated.`,
    );
  } finally {
    signal?.removeEventListener('abort', cancelled);
    client.stop();
  }
}

/**
 * Shows who stands by (`svc operator hold`) the call that is about to be sent for it: what they do not see is not let through.
 * @throws Denial operator_present_stale
 */
export async function showOperator(
  { holdSocket }: OperatorFiles,
  call: ParamsOf<typeof OPERATOR, 'show'>,
): Promise<void> {
  const client = clientOf(OPERATOR, { path: holdSocket });
  try {
    await client.connectOnce();
    await client.calls.show(call);
  } catch (error) {
    throw new Denial(
      'operator_present_stale',
      `The call could not be shown to who stands by, so it was not sent (${messageOf(error)}). A person must keep \`svc operator hold\` running on this machine, or sign this one call.`,
    );
  } finally {
    client.stop();
  }
}
