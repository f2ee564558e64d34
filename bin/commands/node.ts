import { Args } from '@oclif/core';
import { shownFingerprint } from '../../shared/certificates/fingerprint.ts';
import { NodeCommand } from '../cli/node-command.ts';
import { requestCommand } from '../cli/request-command.ts';

interface Named {
  readonly name: string;
  /** Processes that take the new name at their next start. */
  readonly restart_required: readonly string[];
}

class NodeNameCommand extends NodeCommand {
  static override summary = 'Show the name of the node, or give it another one.';
  static override examples = ['<%= config.bin %> node name', '<%= config.bin %> node name kestrel'];
  static override args = {
    name: Args.string({ description: 'the new name; "" for the one made from its device id' }),
  };

  async run(): Promise<Named> {
    const { args } = await this.parse(NodeNameCommand);
    if (args.name === undefined) {
      const { name } = await this.call('GET /api/pairing/info');
      this.log(name);
      return { name, restart_required: [] };
    }
    const body = { key: 'agent.name', value: args.name };
    const { restart_required: restart } = await this.call('PUT /api/config', { body });
    this.log(args.name === '' ? 'Its name is made from its device id.' : `Its name is ${args.name}.`);
    if (restart.length > 0) this.log(`in force after: svc services restart ${restart.join(' and ')}`);
    return { name: args.name, restart_required: restart };
  }
}

export default {
  'node:name': NodeNameCommand,
  'node:fingerprint': requestCommand('GET /api/tls', {
    summary: 'Show the fingerprint by which other machines know the node.',
    description:
      'It is the SHA-256 of its certificate authority: the first 32 digits to compare, all 64 for --fingerprint.',
    examples: ['node fingerprint'],
    *lines({ authority_sha256: sha256, problem }) {
      if (sha256 !== null) yield* [shownFingerprint(sha256), sha256];
      else
        yield "It has no certificate authority of its own: HTTPS is off, or the certificate is an operator's.";
      if (problem !== null) yield `HTTPS is not served as it should be: ${problem}`;
    },
  }),
};
