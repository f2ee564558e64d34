import { Flags } from '@oclif/core';
import { shownFingerprint } from '../../shared/certificates/fingerprint.ts';
import { messageOf } from '../../shared/errors.ts';
import { authorityOf } from '../../shared/http/known-nodes.ts';
import { Untrusted } from '../../shared/http/reach-node.ts';
import type { Answer } from '../../shared/routes/typed-row.ts';
import { NodeCommand } from '../cli/node-command.ts';

type Claim = Answer<'pairing.claim.post'>;

class PairCommand extends NodeCommand {
  static override summary = 'Claim the node on this machine, and print the pairing key once.';
  static override description =
    'From then on a caller from elsewhere needs the key in the header X-SVC-Key. The key is not shown again. Of another node (--host) the certificate authority is kept in ~/.svc/known_nodes.';
  static override examples = ['<%= config.bin %> pair', '<%= config.bin %> pair --user alice'];
  static override flags = {
    user: Flags.string({ summary: 'who pairs', default: process.env['USER'] ?? 'operator' }),
  };

  async run(): Promise<Claim> {
    const { flags } = await this.parse(PairCommand);
    const { code } = await this.call('GET /api/pairing/code');
    const claim = await this.call('POST /api/pairing/claim', { body: { user_id: flags.user, code } });
    const { port, authority_sha256: sha256 } = claim.tls;
    if (port !== null && sha256 !== null) {
      this.log(`Its fingerprint, by which other machines know it: ${shownFingerprint(sha256)}`);
      // Whatever becomes of it, the key is shown: there is no other time.
      await this.keep(claim, port, sha256).catch((error: unknown) => this.warn(messageOf(error)));
    }
    // The key comes last, where scripts take it from.
    this.log(`${claim.name} (${claim.device_id}) is paired. Keep this key; it is not shown again:`);
    this.log(claim.api_key);
    return claim;
  }

  /** The claim's answer is what vouches for the node from now on. */
  private async keep({ device_id: id }: Claim, tlsPort: number, sha256: string): Promise<void> {
    const { address } = this;
    // Neither this machine's own socket nor the relay is a place at which it is known by HTTPS.
    if (address.drone !== undefined || 'socketPath' in address) return;
    const chunks: Buffer[] = [];
    for await (const chunk of this.stream('GET /ca.crt')) chunks.push(chunk);
    const authority = authorityOf(Buffer.concat(chunks).toString());
    if (authority.authority_sha256 !== sha256)
      throw new Untrusted(`${id} is paired, but its certificate authority is not the one that it told.`);
    const { host, port, tls } = address;
    const place = { host, port: tls === undefined ? port : null, tls_port: tlsPort };
    await this.known.remember({ device_id: id, ...authority }, place);
  }
}

export default { pair: PairCommand };
