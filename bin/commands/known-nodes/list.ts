import { shownFingerprint } from '../../../shared/certificates/fingerprint.ts';
import type { KnownNode } from '../../../shared/http/known-nodes.ts';
import { NodeCommand } from '../../cli/node-command.ts';

export default class KnownNodesListCommand extends NodeCommand {
  static override summary = 'List the nodes that are known by their certificates.';
  static override description = 'They are in ~/.svc/known_nodes.';
  static override examples = ['<%= config.bin %> known-nodes list'];

  async run(): Promise<readonly Omit<KnownNode, 'authority'>[]> {
    await this.parse(KnownNodesListCommand);
    const nodes = this.known.all.map(({ authority: _pem, ...node }) => node);
    for (const { device_id: id, authority_sha256: sha256, places } of nodes) {
      this.log(`${id}  ${shownFingerprint(sha256)}`);
      for (const { host, tls_port: port } of places)
        this.log(`  https://${host.includes(':') ? `[${host}]` : host}:${port}`);
    }
    if (nodes.length === 0) this.log('No node is known yet. Meet one: svc known-nodes add HOST');
    return nodes;
  }
}
