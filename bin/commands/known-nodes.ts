import { Args } from '@oclif/core';
import { shownFingerprint } from '../../shared/certificates/fingerprint.ts';
import type { KnownNode } from '../../shared/http/known-nodes.ts';
import { placeOfNode } from '../../shared/http/reach-node.ts';
import { EXIT } from '../cli/exit-codes.ts';
import { NodeCommand } from '../cli/node-command.ts';

class KnownNodesListCommand extends NodeCommand {
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

class KnownNodesAddCommand extends NodeCommand {
  static override summary = 'Meet a node: compare its fingerprint, and know it from then on.';
  static override description =
    'Other commands and svc-mcp then speak to it by HTTPS alone. At a terminal it asks; without one --fingerprint says what it must be.';
  static override examples = [
    '<%= config.bin %> known-nodes add 192.168.4.1',
    '<%= config.bin %> known-nodes add https://kestrel.local:8443',
  ];
  static override args = {
    node: Args.string({ description: 'as with --host', required: true }),
  };

  async run(): Promise<{ readonly url: string; readonly https: boolean }> {
    const { args } = await this.parse(KnownNodesAddCommand);
    const reached = await this.reach('NODE', args.node, true);
    const { baseUrl: url } = placeOfNode(reached);
    if (reached.tls === undefined) this.log(`${args.node} serves no HTTPS: there is nothing to know it by.`);
    else if (reached.tls.ca === undefined)
      this.log(`${url} has an operator's own certificate: the authorities of this system judge it.`);
    else this.log(`${args.node} is known: ${url}`);
    return { url, https: reached.tls !== undefined };
  }
}

class KnownNodesForgetCommand extends NodeCommand {
  static override summary = 'Forget a node; the next time its fingerprint is asked about anew.';
  static override examples = ['<%= config.bin %> known-nodes forget 192.168.4.1'];
  static override args = {
    node: Args.string({ description: 'host, host:port or device id', required: true }),
  };

  async run(): Promise<{ readonly forgotten: readonly string[] }> {
    const { args } = await this.parse(KnownNodesForgetCommand);
    const forgotten = (await this.known.forget(args.node)).map(({ device_id: id }) => id);
    if (forgotten.length === 0)
      this.error(`No node is known as ${args.node}. See: svc known-nodes list`, { exit: EXIT.refused });
    for (const id of forgotten) this.log(`${id} is forgotten.`);
    return { forgotten };
  }
}

export default {
  'known-nodes:list': KnownNodesListCommand,
  'known-nodes:add': KnownNodesAddCommand,
  'known-nodes:forget': KnownNodesForgetCommand,
};
