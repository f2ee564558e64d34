import { isSecretName, MASK, maskSecrets } from '../shared/mask.ts';
import type { JsonObject } from '../shared/member.ts';

/** Arguments of a call without their secrets: a config write names its key beside the value. */
export function maskArguments(args: JsonObject): unknown {
  const { key, value, confirm_id: code } = args;
  const named = typeof key === 'string' && isSecretName(key) && value !== undefined;
  return maskSecrets({
    ...args,
    ...(named ? { value: MASK } : {}),
    ...(code === undefined ? {} : { confirm_id: MASK }),
  });
}

/** Under which a person is asked about one call: for the audit, which others than the asked one read. */
const CONFIRM_CODE = /(\bconfirm(?:_id)?["\\: ]+)[A-HJKMNP-Z2-9]{8}\b/g;

/** @returns the text without the codes that a refusal says */
export function withoutCodes(text: string): string {
  return text.replaceAll(CONFIRM_CODE, `$1${MASK}`);
}
