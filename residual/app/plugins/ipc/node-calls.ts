import { EXTENSION_HEADER } from '../../../../shared/auth/principal.ts';
import { errorWord, messageOf } from '../../../../shared/errors.ts';
import { requestNode } from '../../../../shared/http/node-request.ts';
import { parseJson, recordOf } from '../../../../shared/member.ts';

const MAX_BYTES = 2 * 1024 * 1024;

/** The API of the node, as an extension may use it by its grants: the edge judges and records each call like anybody's. */
export type NodeCalls = (extension: string, call: NodeCall) => Promise<unknown>;

interface NodeCall {
  readonly method: 'POST' | 'PUT';
  readonly path: string;
  readonly body: unknown;
  /** How long the answer may take, ms. */
  readonly timeoutMs: number;
}

/**
 * Asks svc-control on `control.sock` in the extension's name, without a name of a client: it is never pilot in command.
 * @throws Error `<code>: <sentence>` as the API refuses it, for the extension to read
 */
export function nodeCalls(controlSocket: string): NodeCalls {
  return async (extension, { method, path, body, timeoutMs }) => {
    const headers = { [EXTENSION_HEADER]: extension };
    const place = { socketPath: controlSocket };
    const answer = await requestNode(place, { method, path, headers, body, timeoutMs, maxBytes: MAX_BYTES });
    const value = read(answer.bytes.toString());
    if (answer.status < 400) return value;
    const refusal = recordOf(value);
    const [code, detail] = [errorWord(refusal), refusal['detail']];
    throw new Error(`${code ?? answer.status}: ${typeof detail === 'string' ? detail : 'refused'}`);
  };
}

function read(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw new Error(`the node did not answer in JSON: ${messageOf(error)}`, { cause: error });
  }
}
