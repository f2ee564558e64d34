import { Args } from '@oclif/core';
import { EXIT } from '../../cli/exit-codes.ts';
import { NodeCommand } from '../../cli/node-command.ts';

export default class KnownNodesForgetCommand extends NodeCommand {
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
