import { Flags } from '@oclif/core';
import { authorityOf, shownFingerprint } from '../../shared/http/known-nodes.ts';
import { Untrusted } from '../../shared/http/reach-node.ts';
import type { Answer } from '../../shared/routes/typed-row.ts';
import { NodeCommand } from '../node-command.ts';

type Claim = Answer<'pairing.claim.post'>;

export default class PairCommand extends NodeCommand {
  static override summary = 'Claim the node on this machine, and print the pairing key once.';
  static override description =
    'From then on a caller from elsewhere needs the key in the header X-SVC-Key. The key is not shown again. The certificate authority of the node is kept in ~/.svc/known_nodes.';
  static override examples = ['<%= config.bin %> pair', '<%= config.bin %> pair --user alice'];
  static override flags = {
    user: Flags.string({ summary: 'who pairs', default: process.env['USER'] ?? 'operator' }),
  };

  async run(): Promise<Claim> {
    const { flags } = await this.parse(PairCommand);
    const { code } = await this.call('GET /api/pairing/code');
    const claim = await this.call('POST /api/pairing/claim', { body: { user_id: flags.user, code } });
    this.log(`${claim.name} (${claim.device_id}) is paired. Keep this key; it is not shown again:`);
    this.log(claim.api_key);
    if (claim.tls.port !== null && claim.tls.authority_sha256 !== null)
      await this.keep(claim, claim.tls.port, claim.tls.authority_sha256);
    return claim;
  }

  /** The claim's answer is what vouches for the node from now on. */
  private async keep({ device_id: id, mdns_host }: Claim, tlsPort: number, sha256: string): Promise<void> {
    this.log(`Its fingerprint, by which other machines know it again: ${shownFingerprint(sha256)}`);
    const { address } = this;
    if (address.drone !== undefined) return; // it was reached at no place of its own
    const chunks: Buffer[] = [];
    for await (const chunk of this.stream('GET /ca.crt')) chunks.push(chunk);
    const authority = authorityOf(Buffer.concat(chunks).toString());
    if (authority.authority_sha256 !== sha256)
      throw new Untrusted(`${id} is paired, but its certificate authority is not the one that it told.`);
    const isHere = 'socketPath' in address;
    const host = isHere ? mdns_host.toLowerCase() : address.host;
    const plain = isHere ? (await this.call('GET /api/config')).api.port : null;
    await this.known.remember({ device_id: id, ...authority }, { host, port: plain, tls_port: tlsPort });
  }
}
