import { mkdir, writeFile } from 'node:fs/promises';
import { type Authority, issueCertificate, newAuthority } from '../../shared/certificates/authority.ts';
import { certificateRequest, newCertificateKey } from '../../shared/certificates/request.ts';
import type { Paths } from '../../shared/paths.ts';
import type { FleetHand, Signer } from './fleet-hand.ts';

export interface ByHand {
  readonly node: string;
  readonly hand: FleetHand;
  readonly signer: Signer;
  /** Default: where nobody listens. */
  readonly broker?: string;
  /** Of the broker's fleet; a new one unless given. */
  readonly authority?: Authority;
}

/** Writes the files of a node that has enrolled, as its own enrolment would have. */
export async function enrolByHand(
  paths: Paths,
  { node, hand, signer, broker = 'mqtts://127.0.0.1:9', authority: given }: ByHand,
): Promise<void> {
  const authority = given ?? (await newAuthority(`svc fleet ${hand.fleet}`, Date.now()));
  const key = newCertificateKey();
  const { pem } = await certificateRequest(key);
  const record = {
    version: 1,
    hub: 'https://127.0.0.1:9',
    fleet: hand.fleet,
    node,
    broker,
    ca: authority.certificate,
    certificate: await issueCertificate(authority, pem, { client: node }, Date.now()),
    certified_at: Date.now(),
    key,
    signing_key: signer.key.export({ type: 'pkcs8', format: 'pem' }).toString(),
    enrolled_at: Date.now(),
  };
  await mkdir(paths.state, { recursive: true });
  await writeFile(paths.deviceId, `${node}\n`);
  await writeFile(paths.fleet, JSON.stringify(record), { mode: 0o600 });
  await writeFile(paths.fleetPolicy, JSON.stringify({ version: 1, jws: await hand.policy() }), {
    mode: 0o600,
  });
}
