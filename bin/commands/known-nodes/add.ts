import { Args } from '@oclif/core';
import { placeOfNode } from '../../../shared/http/reach-node.ts';
import { NodeCommand } from '../../cli/node-command.ts';

export default class KnownNodesAddCommand extends NodeCommand {
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
