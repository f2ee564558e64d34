import { createPrivateKey } from 'node:crypto';
import { ApiError } from '../../../shared/errors.ts';
import { requestClass } from '../../../shared/fleet/request-class.ts';
import { bodySha256, publicJwk, signStatement, thumbprint } from '../../../shared/fleet/signed.ts';
import { type OperatorFiles, readOwnFile } from '../../../shared/operator/operator-files.ts';
import { type ParamsOf, type Server, serverOf } from '../../../shared/rpc/contract.ts';
import { OPERATOR } from '../../../shared/rpc/operator.ts';

type SignRequest = ParamsOf<typeof OPERATOR, 'sign'>;
export type ShownCall = ParamsOf<typeof OPERATOR, 'show'>;

interface OperatorSignerOptions {
  readonly files: OperatorFiles;
  readonly path: string;
  readonly how: 'hold' | 'confirm';
  /** Whether this request is signed. @throws ApiError with the reason why not */
  readonly allow: (request: SignRequest, scope: 'flight' | 'destructive') => Promise<void>;
  /** Of who stands by: shows a call that is let through for it. */
  readonly show?: (call: ShownCall) => void;
  readonly onError: (error: unknown) => void;
}

/** A person's signer for calls over a fleet (shared/rpc/operator.ts). It has the key; the connector only asks, on a socket that is the person's own. */
export function operatorSigner({
  files,
  path,
  how,
  allow,
  show,
  onError,
}: OperatorSignerOptions): Server<typeof OPERATOR> {
  return serverOf(OPERATOR, {
    path,
    mode: 0o600,
    onError,
    handlers: {
      sign: async (request) => {
        const scope = requestClass(request);
        if (scope !== 'flight' && scope !== 'destructive')
          throw new ApiError('E_SCOPE', 'This request needs no signature of a person.');
        await allow(request, scope);
        const { node, method, path: target, body, nonce, jti } = request;
        const body_sha256 = bodySha256(body);
        const { key, kid } = await operatorIdentity(files);
        const jws = await signStatement(
          'svc-confirm',
          { node, method, path: target, body_sha256, nonce, jti, how },
          key,
          kid,
        );
        return { jws };
      },
      show: (call) => {
        if (show === undefined) throw new ApiError('E_SCOPE', 'Nobody stands by here.');
        show(call);
        return {};
      },
    },
  });
}

/** The operator's key as a fleet knows it. `public`: what stands in `fleet.operators`. @throws Error without a key */
export async function operatorIdentity(files: OperatorFiles) {
  const pem = readOwnFile(files.key);
  if (pem === null) throw new Error(`there is no key at ${files.key}`);
  const key = createPrivateKey(pem);
  const jwk = publicJwk(key);
  return { key, kid: await thumbprint(jwk), public: jwk.x };
}
