import { connectAsync } from 'mqtt';
import { type Authority, issueCertificate } from '../../../shared/certificates/authority.ts';
import { certificateRequest, newCertificateKey } from '../../../shared/certificates/request.ts';

const CONNECT_MS = 5000;
/** The certificate is used once. */
const DAYS = 1;

/**
 * Ends the connection that this client has at the broker, and with it what the broker keeps for it: another connection of the same id
 * takes its place (MQTT 5, 3.1.4), and goes. It is the only way that every broker has. A client may come back; what it may then the
 * broker's rules say.
 * @param url the broker's @param now wall clock, ms @throws Error where the broker does not take it in time
 */
export async function throwOff(url: string, authority: Authority, id: string, now: number): Promise<void> {
  const key = newCertificateKey();
  const { pem } = await certificateRequest(key);
  const cert = await issueCertificate(authority, pem, { client: id }, now, DAYS);
  const client = await connectAsync(url, {
    ca: authority.certificate,
    cert,
    key,
    clientId: id,
    protocolVersion: 5,
    clean: true,
    connectTimeout: CONNECT_MS,
    reconnectPeriod: 0,
  });
  client.on('error', () => undefined); // it has done its work
  await client.endAsync(true);
}
